// The shapes for measuring the fast kernel, and the targets to compare with. The targets come from the kernel's design
// (docs/speed.md).
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "fast/attention.hpp"
#include "problem/instance.hpp"

namespace attest::bench {

using fast::bf16_arithmetic;

enum class element_type : std::uint8_t { f32, f64, bf16 };

/// What 100 percent is.
enum class limit : std::uint8_t {
  multiply_adds,  ///< register-only multiply-adds; a causal problem counts its visible half
  reading,        ///< reading K and V from memory, once
  shape,          ///< the speed of another shape (per visible pair), or its time where `ragged`
};

struct shape {
  char const* name;
  problem::sizes size;  ///< b, hq, hk, n, m, d, dv
  double target = 0;    ///< percent
  limit of = limit::multiply_adds;
  char const* beside = "";
  int threads = 1;
  bool causal = false, mask = false, bias = false, ragged = false, subnormal = false;
  double softcap = 0;
  element_type type = element_type::f32;
  bool sink = false;
  bool packed = false;     ///< queries and keys of b entries, one behind the other
  std::int64_t page = 0;   ///< keys in pages of this size, in random order; 0 = not paged
  double blocks = 0;       ///< the share of blocks of 64 × 64 that a block mask sets; 0 = there is none
  std::int64_t parts = 0;  ///< merges that many partial results [b, hq, n, dv] instead, beside a plain loop
  bf16_arithmetic by = bf16_arithmetic::f32;  ///< left out where the processor has no instruction for it
  bool backward = false;                      ///< the backward pass, beside O and LSE of the forward pass
};

constexpr problem::sizes square(std::int64_t n, std::int64_t d, std::int64_t hk = 8) { return {1, 8, hk, n, n, d, d}; }

inline constexpr shape shapes[]{
    // clang-format off: a row a line
    {"n=m=512 d=64", square(512, 64), 80},
    {"n=m=2048 d=64", square(2048, 64), 82},
    {"n=m=4096 d=64", square(4096, 64), 82},
    {"n=m=2048 d=128", square(2048, 128), 85},
    {"n=m=2048 d=32", square(2048, 32), 68},
    {.name = "causal 2048 d=64", .size = square(2048, 64), .target = 72, .causal = true},
    {.name = "causal 2048 d=128", .size = square(2048, 128), .target = 76, .causal = true},
    {"n=m=64 d=64", square(64, 64), 60},
    {.name = "2 threads 2048 d=64", .size = square(2048, 64), .target = 80, .threads = 2},
    {.name = "2 threads causal 2048 d=64", .size = square(2048, 64), .target = 70, .threads = 2, .causal = true},
    {.name = "f64 n=m=2048 d=64", .size = square(2048, 64), .target = 75, .type = element_type::f64},
    {.name = "decode m=4096 32 heads d=64", .size = {1, 32, 32, 1, 4096, 64, 64}, .target = 100, .of = limit::reading,
     .threads = 2},
    {.name = "decode m=32768 1 head d=128", .size = {1, 1, 1, 1, 32768, 128, 128}, .target = 100, .of = limit::reading,
     .threads = 2},
    {.name = "1 thread decode m=4096 32 heads d=64", .size = {1, 32, 32, 1, 4096, 64, 64}, .target = 95,
     .of = limit::reading},
    {.name = "1 thread decode m=32768 1 head d=128", .size = {1, 1, 1, 1, 32768, 128, 128}, .target = 95,
     .of = limit::reading},
    {.name = "1 thread decode m=4096 32 heads on 8 d=128", .size = {1, 32, 8, 1, 4096, 128, 128}, .target = 95,
     .of = limit::reading},
    {.name = "decode m=4096 32 heads on 8 d=128", .size = {1, 32, 8, 1, 4096, 128, 128}, .target = 95,
     .of = limit::reading,
     .threads = 2},
    {.name = "1 thread decode m=32768 32 heads on 8 d=128", .size = {1, 32, 8, 1, 32768, 128, 128}, .target = 95,
     .of = limit::reading},
    {.name = "decode m=32768 32 heads on 8 d=128", .size = {1, 32, 8, 1, 32768, 128, 128}, .target = 95,
     .of = limit::reading,
     .threads = 2},
    {.name = "bf16 1 thread decode m=32768 32 heads on 8 d=128", .size = {1, 32, 8, 1, 32768, 128, 128}, .target = 95,
     .of = limit::reading, .type = element_type::bf16},
    {.name = "bf16 decode m=32768 32 heads on 8 d=128", .size = {1, 32, 8, 1, 32768, 128, 128}, .target = 95,
     .of = limit::reading, .threads = 2, .type = element_type::bf16},
    {.name = "bf16 1 thread decode m=4096 32 heads d=64", .size = {1, 32, 32, 1, 4096, 64, 64}, .target = 95,
     .of = limit::reading, .type = element_type::bf16},
    {.name = "bf16 1 thread decode m=32768 1 head d=128", .size = {1, 1, 1, 1, 32768, 128, 128}, .target = 95,
     .of = limit::reading, .type = element_type::bf16},
    {.name = "bf16 decode m=4096 32 heads d=64", .size = {1, 32, 32, 1, 4096, 64, 64}, .target = 95,
     .of = limit::reading,
     .threads = 2, .type = element_type::bf16},
    // Beside another shape.
    {.name = "bf16 2048 d=64", .size = square(2048, 64), .target = 100, .of = limit::shape, .beside = "n=m=2048 d=64",
     .type = element_type::bf16},
    {.name = "bf16 dot 2048 d=64", .size = square(2048, 64), .of = limit::shape, .beside = "n=m=2048 d=64",
     .type = element_type::bf16, .by = bf16_arithmetic::dot_products},
    {.name = "bf16 dot 2048 d=128", .size = square(2048, 128), .of = limit::shape, .beside = "n=m=2048 d=128",
     .type = element_type::bf16, .by = bf16_arithmetic::dot_products},
    {.name = "bf16 dot 512 d=64", .size = square(512, 64), .of = limit::shape, .beside = "n=m=512 d=64",
     .type = element_type::bf16, .by = bf16_arithmetic::dot_products},
    {.name = "bf16 dot 64 d=64", .size = square(64, 64), .of = limit::shape, .beside = "n=m=64 d=64",
     .type = element_type::bf16, .by = bf16_arithmetic::dot_products},
    {.name = "bf16 dot causal 2048 d=64", .size = square(2048, 64), .of = limit::shape, .beside = "causal 2048 d=64",
     .causal = true, .type = element_type::bf16, .by = bf16_arithmetic::dot_products},
    {.name = "bf16 dot 1 thread decode m=4096 32 heads d=64", .size = {1, 32, 32, 1, 4096, 64, 64}, .target = 95,
     .of = limit::reading, .type = element_type::bf16, .by = bf16_arithmetic::dot_products},
    {.name = "bf16 dot 1 thread decode m=32768 1 head d=128", .size = {1, 1, 1, 1, 32768, 128, 128}, .target = 95,
     .of = limit::reading, .type = element_type::bf16, .by = bf16_arithmetic::dot_products},
    {.name = "bf16 dot decode m=4096 32 heads d=64", .size = {1, 32, 32, 1, 4096, 64, 64}, .target = 95,
     .of = limit::reading, .threads = 2, .type = element_type::bf16, .by = bf16_arithmetic::dot_products},
    {.name = "bf16 tiles 2048 d=64", .size = square(2048, 64), .of = limit::shape, .beside = "n=m=2048 d=64",
     .type = element_type::bf16, .by = bf16_arithmetic::tile_products},
    {.name = "bf16 tiles 2048 d=128", .size = square(2048, 128), .of = limit::shape, .beside = "n=m=2048 d=128",
     .type = element_type::bf16, .by = bf16_arithmetic::tile_products},
    {.name = "bf16 tiles 512 d=64", .size = square(512, 64), .of = limit::shape, .beside = "n=m=512 d=64",
     .type = element_type::bf16, .by = bf16_arithmetic::tile_products},
    {.name = "bf16 tiles 64 d=64", .size = square(64, 64), .of = limit::shape, .beside = "n=m=64 d=64",
     .type = element_type::bf16, .by = bf16_arithmetic::tile_products},
    {.name = "bf16 tiles causal 2048 d=64", .size = square(2048, 64), .of = limit::shape, .beside = "causal 2048 d=64",
     .causal = true, .type = element_type::bf16, .by = bf16_arithmetic::tile_products},
    {.name = "bf16 tiles 1 thread decode m=4096 32 heads d=64", .size = {1, 32, 32, 1, 4096, 64, 64}, .target = 95,
     .of = limit::reading, .type = element_type::bf16, .by = bf16_arithmetic::tile_products},
    {.name = "bf16 tiles 1 thread decode m=32768 1 head d=128", .size = {1, 1, 1, 1, 32768, 128, 128}, .target = 95,
     .of = limit::reading, .type = element_type::bf16, .by = bf16_arithmetic::tile_products},
    {.name = "bf16 tiles decode m=4096 32 heads d=64", .size = {1, 32, 32, 1, 4096, 64, 64}, .target = 95,
     .of = limit::reading, .threads = 2, .type = element_type::bf16, .by = bf16_arithmetic::tile_products},
    {.name = "mask 2048 d=64", .size = square(2048, 64), .target = 70, .of = limit::shape, .beside = "n=m=2048 d=64",
     .mask = true},
    {.name = "mask 2048 d=128", .size = square(2048, 128), .target = 75, .of = limit::shape, .beside = "n=m=2048 d=128",
     .mask = true},
    {.name = "bias 2048 d=64", .size = square(2048, 64), .target = 70, .of = limit::shape, .beside = "n=m=2048 d=64",
     .bias = true},
    {.name = "bias 2048 d=128", .size = square(2048, 128), .target = 75, .of = limit::shape, .beside = "n=m=2048 d=128",
     .bias = true},
    {.name = "softcap 2048 d=64", .size = square(2048, 64), .target = 70, .of = limit::shape, .beside = "n=m=2048 d=64",
     .softcap = 50},
    {.name = "softcap 2048 d=128", .size = square(2048, 128), .target = 75, .of = limit::shape,
     .beside = "n=m=2048 d=128", .softcap = 50},
    {.name = "8 heads on 2, 2048 d=64", .size = square(2048, 64, 2), .target = 70, .of = limit::shape,
     .beside = "n=m=2048 d=64"},
    {.name = "8 heads on 2, 2048 d=128", .size = square(2048, 128, 2), .target = 75, .of = limit::shape,
     .beside = "n=m=2048 d=128"},
    {.name = "ragged n=m=2045 d=63", .size = square(2045, 63), .target = 87, .of = limit::shape,
     .beside = "n=m=2048 d=64", .ragged = true},
    {.name = "ragged n=m=509 d=61", .size = square(509, 61), .target = 87, .of = limit::shape, .beside = "n=m=512 d=64",
     .ragged = true},
    // The same entries dense, packed, paged.
    {.name = "sink 2048 d=64", .size = square(2048, 64), .target = 100, .of = limit::shape, .beside = "n=m=2048 d=64",
     .sink = true},
    {.name = "sink 512 d=64", .size = square(512, 64), .target = 100, .of = limit::shape, .beside = "n=m=512 d=64",
     .sink = true},
    {.name = "4 entries 512 d=64", .size = {4, 8, 8, 512, 512, 64, 64}, .target = 80},
    {.name = "packed 4 entries 512 d=64", .size = {4, 8, 8, 512, 512, 64, 64}, .target = 90, .of = limit::shape,
     .beside = "4 entries 512 d=64", .packed = true},
    {.name = "pages of 16, 4 entries 512 d=64", .size = {4, 8, 8, 512, 512, 64, 64}, .target = 90, .of = limit::shape,
     .beside = "4 entries 512 d=64", .page = 16},
    {.name = "pages of 64, 4 entries 512 d=64", .size = {4, 8, 8, 512, 512, 64, 64}, .target = 90, .of = limit::shape,
     .beside = "4 entries 512 d=64", .page = 64},
    {.name = "pages of 16, 2048 d=64", .size = square(2048, 64), .target = 90, .of = limit::shape,
     .beside = "n=m=2048 d=64", .page = 16},
    {.name = "pages of 1, 2048 d=64", .size = square(2048, 64), .of = limit::shape, .beside = "n=m=2048 d=64",
     .page = 1},
    {.name = "1 thread decode m=4096 8 heads d=64", .size = {1, 8, 8, 1, 4096, 64, 64}, .target = 100,
     .of = limit::reading},
    {.name = "pages of 16, 1 thread decode m=4096 8 heads d=64", .size = {1, 8, 8, 1, 4096, 64, 64}, .target = 90,
     .of = limit::shape, .beside = "1 thread decode m=4096 8 heads d=64", .page = 16},
    {.name = "pages of 128, 1 thread decode m=4096 8 heads d=64", .size = {1, 8, 8, 1, 4096, 64, 64}, .target = 90,
     .of = limit::shape, .beside = "1 thread decode m=4096 8 heads d=64", .page = 128},
    {.name = "pages of 1, 1 thread decode m=4096 8 heads d=64", .size = {1, 8, 8, 1, 4096, 64, 64}, .of = limit::shape,
     .beside = "1 thread decode m=4096 8 heads d=64", .page = 1},
    // As many keys a row as the block masks below leave.
    {"n=2048 m=512 d=64", {1, 8, 8, 2048, 512, 64, 64}},
    {"n=2048 m=128 d=64", {1, 8, 8, 2048, 128, 64, 64}},
    // Per set block: 100 percent is time in proportion to set blocks.
    {.name = "1/4 of blocks 2048 d=64", .size = square(2048, 64), .target = 80, .of = limit::shape,
     .beside = "n=m=2048 d=64", .blocks = 0.25},
    {.name = "1/16 of blocks 2048 d=64", .size = square(2048, 64), .of = limit::shape, .beside = "n=m=2048 d=64",
     .blocks = 0.0625},
    // The backward pass: five products. A causal problem counts its visible half.
    {.name = "backward 512 d=64", .size = square(512, 64), .target = 80, .backward = true},
    {.name = "backward 2048 d=64", .size = square(2048, 64), .target = 84, .backward = true},
    {.name = "backward 4096 d=64", .size = square(4096, 64), .target = 84, .backward = true},
    {.name = "backward 512 d=128", .size = square(512, 128), .target = 82, .backward = true},
    {.name = "backward 2048 d=128", .size = square(2048, 128), .target = 86, .backward = true},
    {.name = "backward 4096 d=128", .size = square(4096, 128), .target = 86, .backward = true},
    {.name = "backward causal 512 d=64", .size = square(512, 64), .target = 72, .causal = true, .backward = true},
    {.name = "backward causal 2048 d=64", .size = square(2048, 64), .target = 82, .causal = true, .backward = true},
    {.name = "backward causal 4096 d=64", .size = square(4096, 64), .target = 83, .causal = true, .backward = true},
    {.name = "backward causal 512 d=128", .size = square(512, 128), .target = 73, .causal = true, .backward = true},
    {.name = "backward causal 2048 d=128", .size = square(2048, 128), .target = 83, .causal = true, .backward = true},
    {.name = "backward causal 4096 d=128", .size = square(4096, 128), .target = 84, .causal = true, .backward = true},
    {.name = "backward 2 threads 2048 d=64", .size = square(2048, 64), .target = 80, .threads = 2, .backward = true},
    {.name = "backward 2 threads 2048 1 head d=64", .size = {1, 1, 1, 2048, 2048, 64, 64}, .target = 58, .threads = 2,
     .backward = true},
    {.name = "backward f64 2048 d=64", .size = square(2048, 64), .target = 78, .type = element_type::f64,
     .backward = true},
    {.name = "backward bf16 2048 d=64", .size = square(2048, 64), .target = 95, .of = limit::shape,
     .beside = "backward 2048 d=64", .type = element_type::bf16, .backward = true},
    {.name = "backward mask 2048 d=64", .size = square(2048, 64), .target = 80, .of = limit::shape,
     .beside = "backward 2048 d=64", .mask = true, .backward = true},
    {.name = "backward bias 2048 d=64", .size = square(2048, 64), .target = 80, .of = limit::shape,
     .beside = "backward 2048 d=64", .bias = true, .backward = true},
    {.name = "backward softcap 2048 d=64", .size = square(2048, 64), .target = 80, .of = limit::shape,
     .beside = "backward 2048 d=64", .softcap = 50, .backward = true},
    {.name = "backward 8 heads on 2, 2048 d=64", .size = square(2048, 64, 2), .target = 95, .of = limit::shape,
     .beside = "backward 2048 d=64", .backward = true},
    // Merges, compared with a plain loop over the same parts.
    {.name = "merge 2 parts, 32768 rows d=128", .size = {1, 8, 8, 4096, 0, 128, 128}, .of = limit::shape, .parts = 2},
    {.name = "merge 8 parts, 8192 rows d=128", .size = {1, 8, 8, 1024, 0, 128, 128}, .of = limit::shape, .parts = 8},
    {.name = "merge 64 parts, 32 rows d=128", .size = {1, 32, 32, 1, 0, 128, 128}, .of = limit::shape, .parts = 64},
    {.name = "subnormal 2048 d=64", .size = square(2048, 64), .target = 33, .of = limit::shape,
     .beside = "n=m=2048 d=64", .subnormal = true},
};

/// Requires a name of `shapes`.
inline shape const& shape_named(std::string_view name) {
  for (shape const& each : shapes)
    if (each.name == name) return each;
  std::fprintf(stderr, "no shape %s\n", std::string(name).c_str());
  std::abort();
}

/// Time and memory against n and threads: one head, and the eight heads of the memory target.
inline std::vector<shape> scaling_shapes() {
  static std::deque<std::string> names;
  std::vector<shape> made;
  auto const add = [&](std::int64_t heads, std::int64_t n, int threads) {
    names.push_back("scaling n=m=" + std::to_string(n) + " heads=" + std::to_string(heads) +
                    " threads=" + std::to_string(threads));
    made.push_back({.name = names.back().c_str(), .size = {1, heads, heads, n, n, 64, 64}, .threads = threads});
  };
  for (int const threads : {1, 2})
    for (std::int64_t n = 512; n <= 16384; n *= 2) add(1, n, threads);
  for (int const threads : {1, 2}) add(8, 16384, threads);
  return made;
}

/// Multiply-adds count twice; a causal problem counts its visible half.
inline double operations(shape const& asked) {
  auto const& s = asked.size;
  double const n = static_cast<double>(s.n), m = static_cast<double>(s.m);
  double const pairs = (asked.causal ? n * (n + 1) / 2 : n * m) * (asked.blocks > 0 ? asked.blocks : 1);
  return 2 * pairs * static_cast<double>(s.b * s.hq * (asked.backward ? 3 * s.d + 2 * s.dv : s.d + s.dv));
}

/// N(0, 1), the same ones each time.
class normal_numbers {
 public:
  double operator()() { return distribution_(random_); }

 private:
  std::mt19937 random_{1};
  std::normal_distribution<double> distribution_;
};
// clang-format on

/// x as a stored number; bf16 by truncation.
template <class T>
T stored(double x) {
  if constexpr (std::is_same_v<T, problem::bf16>)
    return {static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(x)) >> 16)};
  else return static_cast<T>(x);
}

}  // namespace attest::bench
