// Numbers for tests of products of bf16, and their arithmetic in plain C++.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <random>
#include <vector>

#include "fast/algorithm/blocking.hpp"
#include "fast/algorithm/storage.hpp"
#include "fast/simd/bf16_pairs.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

using problem::bf16;

inline float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
/// a·b + s, where subnormal numbers count as 0.
inline float multiply_add(float a, float b, float s) { return flushed(std::fma(flushed(a), flushed(b), flushed(s))); }

/// The first (0) or the second (1) number of a pair.
inline float half_of(fast::bf16_pair pair, int which) {
  return fast::widened(bf16{static_cast<std::uint16_t>(pair >> (16 * which))});
}
inline fast::bf16_pair pair_of(bf16 first, bf16 second) {
  return first.bits | static_cast<std::uint32_t>(second.bits) << 16;
}
/// Pair t of a row that begins at `row`.
inline fast::bf16_pair pair_of(bf16 const* row, std::int64_t t) { return pair_of(row[2 * t], row[2 * t + 1]); }

/// The same bits, or NaN both.
inline bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

/// Numbers of every kind: near 1, near the ends of the range, subnormal, 0, ∞, NaN.
class drawn_numbers {
 public:
  explicit drawn_numbers(std::uint64_t seed, bool finite = false) : random_(seed), finite_(finite) {}
  bf16 operator()() {
    std::uint64_t const x = random_();
    auto const bits = static_cast<std::uint16_t>(x);
    int const kind = static_cast<int>(x >> 32 & 63);
    auto const exponent = kind == 0   ? x >> 16 & 0xff          // any
                          : kind == 1 ? x >> 16 & 1             // 0 and subnormal, or the smallest normal
                          : kind == 2 ? 190 + (x >> 16 & 0x1f)  // products overflow
                          : kind < 20 ? 50 + (x >> 16 & 0x1f)   // products underflow
                                      : 120 + (x >> 16 & 0x0f);
    auto const e = finite_ && exponent == 0xff ? 127 : exponent;
    return {static_cast<std::uint16_t>((bits & 0x807f) | e << 7)};
  }
  std::vector<bf16> operator()(std::int64_t count) {
    std::vector<bf16> made(static_cast<std::size_t>(count));
    std::ranges::generate(made, std::ref(*this));
    return made;
  }

 private:
  std::mt19937_64 random_;
  bool finite_;
};

/// narrow() rounds floats of every kind, and midpoints of bf16, to nearest, and subnormal ones to 0.
inline void check_narrowing(fast::bf16_pair_operations const& by) {
  constexpr std::int64_t panel = fast::bf16_pair_operations::panel;
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> S(static_cast<std::size_t>(fast::score_stride<float>));
    for (float& s : S) {
      auto const bits = static_cast<std::uint32_t>(random());
      s = std::bit_cast<float>(random() % 4 == 0 ? bits : (bits & 0x03ffffffu) | 0x3c000000u);
      if (random() % 16 == 0) s = std::bit_cast<float>((bits & 0xffff0000u) | 0x8000u);  // a midpoint
    }
    std::vector<float> const before = S;
    fast::interval const keys{panel * static_cast<std::int64_t>(random() % 3), panel * 4};
    by.narrow(S.data(), keys);
    for (std::int64_t j = keys.first; j < keys.last; ++j) {
      bf16 got;
      std::memcpy(&got, reinterpret_cast<bf16 const*>(S.data()) + j, sizeof got);
      float const from = before[static_cast<std::size_t>(j)], to = fast::widened(got);
      if (!same(to, fast::widened(fast::narrowed<bf16>(flushed(from))))) FAIL(from << " became " << to);
    }
  }
}

}  // namespace attest::tests
