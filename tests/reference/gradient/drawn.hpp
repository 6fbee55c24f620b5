// Small problems with an upstream gradient, drawn at random: every feature, several families of values.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include "audit/tensors/elements.hpp"
#include "problem/instance.hpp"
#include "reference/gradient/gradients.hpp"

namespace attest::tests {

struct draw {
  std::mt19937_64 bits;
  explicit draw(std::uint64_t seed) : bits(seed) {}
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  bool chance(double p) { return uniform() < p; }
  std::int64_t whole(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(most - least + 1));
  }
  double gaussian() {
    double sum = -6;
    for (int n = 0; n < 12; ++n) sum += uniform();
    return sum;
  }
};

/// A problem as its numbers: all of them exact in the element type it was drawn for.
struct gradient_case {
  problem::sizes size{};
  std::vector<double> q, k, v, d_o;
  std::vector<std::uint8_t> mask, keep;
  std::array<std::int64_t, 4> bias_shape{};
  std::vector<double> bias, sink;
  problem::parameters parameters{};
  std::vector<std::int32_t> q_lengths, k_lengths;

  double scale() const { return parameters.scale ? *parameters.scale : 0; }
};

/// The tensors of a case in type T, with their validated instance. Not movable: views point into it.
template <class T>
struct stored_case {
  std::vector<T> q, k, v, d_o, bias, sink;
  gradient_case from;
  std::optional<problem::instance<T>> instance;

  explicit stored_case(gradient_case const& c) : from(c) {
    auto const stored = [](std::vector<double> const& x) {
      std::vector<T> to;
      for (double const each : x) to.push_back(audit::nearest_element<T>(each));
      return to;
    };
    q = stored(c.q), k = stored(c.k), v = stored(c.v), d_o = stored(c.d_o), bias = stored(c.bias),
    sink = stored(c.sink);
    using problem::layout;
    auto const& s = c.size;
    problem::arguments<T> a;
    static_cast<problem::parameters&>(a) = c.parameters;
    a.q = {q.data(), layout::compact({s.b, s.hq, s.n, s.d})};
    a.k = {k.data(), layout::compact({s.b, s.hk, s.m, s.d})};
    a.v = {v.data(), layout::compact({s.b, s.hk, s.m, s.dv})};
    layout const full = layout::compact({s.b, s.hq, s.n, s.m});
    if (!c.mask.empty()) a.mask = problem::tensor<std::uint8_t const>{from.mask.data(), full};
    if (!c.keep.empty()) a.keep = problem::tensor<std::uint8_t const>{from.keep.data(), full};
    auto const& shape = c.bias_shape;
    if (!c.bias.empty())
      a.bias = problem::tensor<T const>{bias.data(), layout::compact({shape[0], shape[1], shape[2], shape[3]})};
    if (!c.sink.empty()) a.sink = problem::tensor<T const>{sink.data(), layout::compact({s.hq})};
    if (!c.q_lengths.empty())
      a.q_lengths = problem::tensor<std::int32_t const>{from.q_lengths.data(), layout::compact({s.b})};
    if (!c.k_lengths.empty())
      a.k_lengths = problem::tensor<std::int32_t const>{from.k_lengths.data(), layout::compact({s.b})};
    auto made = problem::instance<T>::make(a);
    if (made) instance.emplace(std::move(made).value());
  }
  stored_case(stored_case const&) = delete;

  template <class E>
  static problem::view<E const> rows(std::vector<E> const& x, std::array<std::int64_t, 4> const& shape) {
    return {x.data(), shape, {shape[1] * shape[2] * shape[3], shape[2] * shape[3], shape[3]}, true, {}};
  }
  reference::gradient_inputs<T> inputs() const {
    auto const& s = from.size;
    return {.d_o = rows(d_o, {s.b, s.hq, s.n, s.dv})};
  }
};

/// How the numbers of a case lie.
enum class family {
  gaussian,
  peaked,
  close_values,
  large_values,
  one_value,
  powers,
  far_keys,
  small,
  sharp,
  giant_scores,
  tiny_values,
  tiny_queries,
  tiny_upstream,
  masked,
  least_masked,
  offset_keys,
  offset_upstream,
  heavy
};
constexpr std::int64_t last_family = static_cast<std::int64_t>(family::heavy);

/// Moves the numbers of a case to where the family wants them.
template <class T>
void stretch(draw& random, family of, gradient_case& c) {
  auto const each = [](std::vector<double>& list, auto&& change) {
    for (double& x : list) x = audit::number(audit::nearest_element<T>(change(x)));
  };
  auto const power = [&](std::int64_t least, std::int64_t most) {
    return std::ldexp(1.0, static_cast<int>(random.whole(least, most)));
  };
  double const ten = std::pow(10.0, static_cast<double>(random.whole(1, 4)));
  if (of == family::giant_scores) {
    double const by = std::pow(10.0, random.uniform() * (problem::format_of<T>.exponent_bits > 5 ? 18 : 2) + 2);
    each(c.q, [&](double x) { return x * by; });
  }
  double const down = power(-149, -100), further = power(-20, 0), up = power(0, 30);
  if (of == family::tiny_values) {
    each(c.v, [&](double x) { return x * down; });
    each(c.d_o, [&](double x) { return x * further; });
  }
  if (of == family::tiny_queries && problem::format_of<T>.exponent_bits > 5) {
    each(c.q, [&](double x) { return x * down; });
    each(c.k, [&](double x) { return x * up; });
  }
  if (of == family::tiny_upstream) each(c.d_o, [&](double x) { return x * down; });
  if (of == family::offset_keys) each(c.k, [&](double x) { return x + ten; });
  if (of == family::offset_upstream) each(c.d_o, [&](double x) { return x + ten; });
  if (of == family::heavy)
    for (auto* list : {&c.q, &c.k, &c.v, &c.d_o})
      each(*list, [&](double x) { return std::copysign(std::exp(3 * std::abs(x) / 2), x); });
}

/// A case of type T whose features are the bits of `features`: 1 mask, 2 causal, 4 bias, 8 softcap, 16 sink, 32 grouped
/// heads, 64 dropout, 128 lengths, 256 a given scale.
template <class T>
gradient_case drawn_case(draw& random, family of, unsigned features, std::int64_t largest = 6) {
  gradient_case c;
  auto const has = [&](unsigned bit) { return (features & bit) != 0; };
  std::int64_t const group = has(32) ? random.whole(2, 3) : 1;
  auto& s = c.size;
  s = {.b = random.whole(1, 2),
       .hq = 0,
       .hk = random.whole(1, 2),
       .n = random.whole(1, largest),
       .m = random.whole(1, largest),
       .d = random.whole(1, 4),
       .dv = random.whole(1, 4)};
  s.hq = s.hk * group;
  auto const fill = [&](std::vector<double>& to, std::int64_t count, auto&& number) {
    for (std::int64_t at = 0; at < count; ++at) to.push_back(audit::number(audit::nearest_element<T>(number())));
  };
  auto const gaussian = [&] { return random.gaussian(); };
  auto const power = [&] {
    return (random.chance(0.5) ? 1 : -1) * std::ldexp(1.0, static_cast<int>(random.whole(-4, 3)));
  };
  double const wide = of == family::peaked ? 8 : of == family::far_keys ? 30 : of == family::sharp ? 3 : 1;
  double const tiny = of == family::small ? std::ldexp(1.0, -static_cast<int>(random.whole(8, 60))) : 1;
  double const offset = of == family::large_values ? std::pow(10.0, static_cast<double>(random.whole(1, 4))) : 0;
  if (of == family::powers) {
    for (auto [to, count] : {std::pair{&c.q, s.b * s.hq * s.n * s.d}, std::pair{&c.k, s.b * s.hk * s.m * s.d},
                             std::pair{&c.v, s.b * s.hk * s.m * s.dv}, std::pair{&c.d_o, s.b * s.hq * s.n * s.dv}})
      fill(*to, count, power);
  } else {
    fill(c.q, s.b * s.hq * s.n * s.d, [&] { return wide * gaussian(); });
    fill(c.k, s.b * s.hk * s.m * s.d, gaussian);
    double const base = gaussian();
    fill(c.v, s.b * s.hk * s.m * s.dv, [&] {
      return of == family::one_value      ? base
             : of == family::close_values ? base + std::ldexp(gaussian(), -12)
                                          : (offset + gaussian()) * tiny;
    });
    fill(c.d_o, s.b * s.hq * s.n * s.dv, [&] { return gaussian() * tiny; });
    stretch<T>(random, of, c);
  }
  if (has(1))
    for (std::int64_t at = 0; at < s.b * s.hq * s.n * s.m; ++at) c.mask.push_back(random.chance(0.65));
  if (has(2)) c.parameters.band = {.diagonal = random.whole(-1, 2), .left = -1, .right = 0};
  if (has(4)) {
    c.bias_shape = {random.chance(0.5) ? s.b : 1, random.chance(0.5) ? s.hq : 1, random.chance(0.5) ? s.n : 1, s.m};
    auto const& shape = c.bias_shape;
    double const reach = random.chance(0.2) ? 100 : 1;
    double const mask = of == family::masked         ? -std::pow(10.0, static_cast<double>(random.whole(3, 10)))
                        : of == family::least_masked ? -3.3895e38
                                                     : 0;
    fill(c.bias, shape[0] * shape[1] * shape[2] * shape[3], [&] {
      return mask < 0 && random.chance(0.5) ? mask : random.chance(0.1) ? -INFINITY : reach * gaussian();
    });
  }
  if (has(8)) c.parameters.softcap = audit::number(audit::nearest_element<T>(random.chance(0.5) ? 1.0 : 5.0));
  if (has(16)) fill(c.sink, s.hq, [&] { return random.chance(0.1) ? -INFINITY : 3 * gaussian(); });
  if (has(64)) {
    for (std::int64_t at = 0; at < s.b * s.hq * s.n * s.m; ++at) c.keep.push_back(random.chance(0.7));
    c.parameters.dropout = random.chance(0.3) ? 0.0 : 0.25;
  }
  if (has(128))
    for (std::int64_t b = 0; b < s.b; ++b) {
      c.q_lengths.push_back(static_cast<std::int32_t>(random.whole(0, s.n)));
      c.k_lengths.push_back(static_cast<std::int32_t>(random.whole(0, s.m)));
    }
  if (has(256)) c.parameters.scale = random.chance(0.1) ? 0.0 : random.chance(0.5) ? 1.0 : -0.375;
  return c;
}

}  // namespace attest::tests
