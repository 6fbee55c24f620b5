// Calls that attack the bound of a known kernel, drawn and changed.
#pragma once

#include <bit>
#include <cstdio>
#include <string>

#include "audit/contract/contract.hpp"
#include "tests/support/attacked_row.hpp"
#include "tests/support/bound_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/known_kernels.hpp"
#include "tests/support/known_models.hpp"
#include "tests/support/known_run.hpp"

namespace attest::tests {

/// A call of a kernel: all that the attack may change.
struct attacked_call {
  written<float> row;
  directions up;
  std::size_t block;
};

inline constexpr int kinds_of_row = families + 12;

inline double between(generator& random, double least, double most) { return least + (most - least) * uniform(random); }

/// Rows in addition to attacked_row's: one column, and as many keys as the kernel asks for.
inline written<float> long_row(known_kernel const& kernel, int kind, generator& random) {
  auto const m = 2 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kernel.most_keys - 1));
  std::int64_t const d = 1 + static_cast<std::int64_t>(random() % 4);
  written<float> row(m, d, 1);
  double const size = kind == 1 ? 6 : kind == 2 ? 1e-3 : kind == 3 ? 40 : 1;
  for (auto& x : row.q.values) x = static_cast<float>(gaussian(random) * size);
  for (auto& x : row.k.values) x = static_cast<float>(gaussian(random));
  for (auto& x : row.v.values) x = static_cast<float>(gaussian(random) + (kind == 4 ? 1 : 0));
  if (kind == 5)
    for (std::size_t j = 0; j < row.v.values.size(); ++j) row.v.values[j] = static_cast<float>(j % 2);
  if (kind == 6)
    for (auto& x : row.v.values) x = 1;
  if (kind == 7 || kind == 8) {  // scores near one size, up to where large scores end
    double const near = kind == 7 ? between(random, 100, 1000) : std::ldexp(1.0, 10 + static_cast<int>(random() % 16));
    row.scale = 1;
    for (auto& x : row.q.values) x = static_cast<float>(1 + 0.1 * uniform(random));
    for (auto& x : row.k.values)
      x = static_cast<float>((near + gaussian(random) * std::max(1.0, near * 0x1p-22)) / static_cast<double>(d));
  }
  if (kind == 9) {  // V at the end of float16
    for (auto& x : row.v.values) x = static_cast<float>(65504 - 32 * (random() % 3));
  }
  if (kind == 10) {  // a scale that flushes, or nearly
    row.scale = std::ldexp(1 + uniform(random), -129 + static_cast<int>(random() % 5));
    for (auto& x : row.q.values) x = static_cast<float>(std::ldexp(gaussian(random), 63));
    for (auto& x : row.k.values)
      x = static_cast<float>(std::ldexp(gaussian(random), 61 + static_cast<int>(random() % 4)));
  }
  if (kind == 11) {  // values and weights that underflow
    for (auto& x : row.v.values)
      x = static_cast<float>(std::ldexp(gaussian(random), -14 - static_cast<int>(random() % 112)));
    for (auto& x : row.q.values) x = static_cast<float>(gaussian(random) * 8);
  }
  return row;
}

inline attacked_call drawn(known_kernel const& kernel, generator& random) {
  int const kind = static_cast<int>(random() % kinds_of_row);
  attacked_call call{
      kind < families ? attacked_row<float>(kind, random) : long_row(kernel, kind - families, random), {}, 1};
  auto const m = static_cast<std::size_t>(call.row.v.layout.shape[0]);
  call.row.bias.values.clear();
  int const smaller = kernel.how.narrow_throughout ? 8 : 0;  // a bias of 2^12 is rounded by more than 1 in bfloat16
  if (kernel.biased)
    for (std::size_t j = 0; j < m; ++j)
      call.row.bias.values.push_back(static_cast<float>(
          kind == 10 ? 1e4 : std::ldexp(1 + uniform(random), static_cast<int>(random() % 12) - smaller)));
  if (kernel.masked) {
    constexpr double sizes[]{1e4, 1e6, 1e7, 1e8, 1e9, 1.4e9};
    auto const mask = static_cast<float>(-sizes[random() % std::size(sizes)]);
    std::size_t const shape = random() % 4, kept = random() % m;  // the first half, every other key, all but one, all
    for (std::size_t j = 0; j < m; ++j) {
      bool const masked = shape == 0 ? j < m / 2 : shape == 1 ? j % 2 == 0 : shape == 2 ? j != kept : true;
      call.row.bias.values.push_back(masked ? mask : 0.0f);
    }
  }
  if (kernel.capped) {
    constexpr double caps[]{0.5, 1, 2, 4, 8, 16, 30, 50, 1000};
    call.row.softcap = caps[random() % std::size(caps)];
  }
  if (kernel.sink != sink_place::none) {
    double top = -std::numeric_limits<double>::infinity();
    auto const d = static_cast<std::size_t>(call.row.k.layout.shape[1]);
    double const scale = call.row.scale.value_or(1 / std::sqrt(static_cast<double>(d)));
    for (std::size_t j = 0; j < m; ++j) {
      double dot = 0;
      for (std::size_t t = 0; t < d; ++t)
        dot += static_cast<double>(call.row.q.values[t]) * static_cast<double>(call.row.k.values[j * d + t]);
      top = std::max(top,
                     scale * dot + (call.row.bias.values.empty() ? 0 : static_cast<double>(call.row.bias.values[j])));
    }
    double const places[]{0,          1,        -1,       top,        top + 1,   top + std::log(static_cast<double>(m)),
                          top - 3,    top + 3,  top - 16, top + 16,   top + 40,  top + 80,
                          top + 85.9, top - 86, top - 90, top + 1000, top + 1e5, -1e4,
                          -1e9,       -3e38};
    call.row.sink.values = {static_cast<float>(places[random() % std::size(places)])};
  }
  if (kernel.drops != drop_place::none) {
    constexpr double probabilities[]{0, 0.25, 0.5, 0.75, 1 - 0x1p-3, 1 - 0x1p-10, 1 - 0x1p-20};
    call.row.dropout = probabilities[random() % std::size(probabilities)];
    for (std::size_t j = 0; j < m; ++j) call.row.keep.values.push_back(random() % 4 != 0);
  }
  for (int at = 0; at < 64; ++at) call.up.push_back(static_cast<std::uint8_t>(random() & 1));
  // No chain of more than 64 parts (f32-ring), nor more than 128 (f32-split).
  call.block = 1 + random() % 3 + m / 64;
  return call;
}

/// One number, or one direction, changed; false where the row leaves the ranges of the attack.
inline bool changed(attacked_call& call, bool has_masks, generator& random) {
  auto const what = random() % 8;
  if (what == 0) return call.up[random() % call.up.size()] ^= 1, true;
  if (what == 7 && !call.row.sink.values.empty() && random() % 2) {
    float& t = call.row.sink.values.front();
    t = random() % 2 ? static_cast<float>(t * (1 + 0x1p-20 * gaussian(random)))
                     : t + static_cast<float>(gaussian(random));
    return true;
  }
  auto& values = what < 3                                                   ? call.row.q.values
                 : what < 6                                                 ? call.row.k.values
                 : what == 6 && !call.row.bias.values.empty() && !has_masks ? call.row.bias.values
                                                                            : call.row.v.values;
  float& x = values[random() % values.size()];
  float const before = std::abs(x);
  x = random() % 2
          ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(random() % 65) - 32)
          : x * static_cast<float>(1 + 0.1 * gaussian(random));
  return std::isfinite(x) && std::abs(x) <= std::max(1e5f, 2 * before);
}

inline std::string described(attacked_call const& call) {
  std::string text = "block " + std::to_string(call.block);
  auto const list = [&](char const* name, std::vector<float> const& numbers) {
    text += std::string("; ") + name;
    char number[40];
    for (float const x : numbers) std::snprintf(number, sizeof number, " %a", static_cast<double>(x)), text += number;
  };
  char number[80];
  std::snprintf(number, sizeof number, "; scale %a; softcap %a", call.row.scale.value_or(0), call.row.softcap);
  text += number;
  list("q", call.row.q.values), list("k", call.row.k.values), list("v", call.row.v.values),
      list("bias", call.row.bias.values), list("sink", call.row.sink.values);
  text += "; up ";
  for (auto const up : call.up) text += up ? '1' : '0';
  return text;
}

}  // namespace attest::tests
