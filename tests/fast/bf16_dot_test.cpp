// Dot products of two pairs of bf16: the instruction is the chain of multiply-adds that it is declared to be.
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "fast/simd/bf16_pairs.hpp"
#include "tests/fast/bf16_numbers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::bf16_dot_test {
namespace {

/// The operations; null, and said so, where there is nothing to test.
fast::bf16_pair_operations const* operations() {
  if (fast::bf16_pairs_here() == nullptr) WARN("not tested: this processor has no dot products of bf16");
  return fast::bf16_pairs_here();
}

/// s + a·b for pairs, as bf16_pairs.hpp has it.
float add_product(float s, fast::bf16_pair a, fast::bf16_pair b) {
  return multiply_add(half_of(a, 0), half_of(b, 0), multiply_add(half_of(a, 1), half_of(b, 1), s));
}

constexpr std::int64_t stride = fast::score_stride<float>, panel = fast::bf16_pair_operations::panel,
                       key_block = fast::blocking_of<float>.keys;

}  // namespace

TEST_CASE("scores are chains of multiply-adds, packed and in place", "[unit]") {
  auto const* const pairs_of = operations();
  if (pairs_of == nullptr) return;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    drawn_numbers draw(seed);
    auto const pairs = static_cast<std::int64_t>(random() % 41), rows = static_cast<std::int64_t>(1 + random() % 24),
               gap = static_cast<std::int64_t>(random() % 3), width = 2 * pairs + gap;
    float const factor = fast::widened(draw());
    std::vector<bf16> const Q = draw(24 * 2 * pairs + 2), K = draw(key_block * width + 1);
    std::vector<fast::bf16_pair> packed_Q(static_cast<std::size_t>(24 * pairs + 1)),
        packed_K(static_cast<std::size_t>(key_block * pairs + 1));
    for (std::int64_t at = 0; at < 24 * pairs; ++at) packed_Q[static_cast<std::size_t>(at)] = pair_of(Q.data(), at);
    for (std::int64_t j = 0; j < key_block; ++j)
      for (std::int64_t t = 0; t < pairs; ++t)
        packed_K[static_cast<std::size_t>(j / panel * panel * pairs + t * panel + j % panel)] =
            pair_of(K.data() + j * width, t);
    fast::interval const keys{panel * static_cast<std::int64_t>(random() % 3), panel * 4};
    std::vector<float> S(static_cast<std::size_t>(24 * stride), -7.0f), in_place = S, listed = S;
    pairs_of->scores(packed_Q.data(), packed_K.data(), pairs, rows, keys, factor, S.data());
    bool const few = rows <= pairs_of->few_rows;
    if (few) {
      bool const ahead = seed % 2 == 0;
      bf16 const* const from = K.data() + keys.first * width;
      std::vector<bf16 const*> list;
      for (std::int64_t j = 0; j < keys.size(); ++j) list.push_back(from + j * width);
      pairs_of->few_scores(packed_Q.data(), {from, width}, ahead ? K.data() : nullptr, pairs, rows, keys.size(), factor,
                           in_place.data() + keys.first);
      pairs_of->few_listed_scores(packed_Q.data(), list.data(), ahead ? list.data() : nullptr, pairs, rows, keys.size(),
                                  factor, listed.data() + keys.first);
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < key_block; ++j) {
        float sum = 0;
        for (std::int64_t t = 0; t < pairs; ++t)
          sum = add_product(sum, pair_of(Q.data() + 2 * i * pairs, t), pair_of(K.data() + j * width, t));
        float const expected = keys.contains(j) ? sum * factor : -7.0f;
        auto const at = static_cast<std::size_t>(i * stride + j);
        if (!same(S[at], expected) || (few && !(same(in_place[at], expected) && same(listed[at], expected))))
          FAIL("seed " << seed << ", row " << i << ", key " << j << ": " << S[at] << ", in place " << in_place[at]
                       << ", of a list " << listed[at] << ", expected " << expected);
      }
  }
}

TEST_CASE("weights are rounded to nearest, and subnormal ones become 0", "[unit]") {
  if (auto const* const pairs_of = operations()) check_narrowing(*pairs_of);
}

TEST_CASE("sums of values are chains of multiply-adds, packed, in place and of visible keys alone", "[unit]") {
  auto const* const pairs_of = operations();
  if (pairs_of == nullptr) return;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    std::mt19937_64 random(seed);
    drawn_numbers draw(seed, seed % 3 == 0);
    auto const rows = static_cast<std::int64_t>(1 + random() % 24), dv = static_cast<std::int64_t>(1 + random() % 160),
               gap = static_cast<std::int64_t>(random() % 3), width = dv + gap, padded = fast::rounded_up(dv, panel);
    fast::interval const pairs{static_cast<std::int64_t>(random() % 40), 40 + static_cast<std::int64_t>(random() % 25)};
    std::vector<bf16> const V = draw(key_block * width + 1), P = draw(24 * key_block);
    std::vector<float> S(static_cast<std::size_t>(24 * stride)), factor(24), O(static_cast<std::size_t>(24 * padded));
    for (std::int64_t i = 0; i < 24; ++i)
      std::memcpy(&S[static_cast<std::size_t>(i * stride)], &P[static_cast<std::size_t>(i * key_block)],
                  key_block * sizeof(bf16));
    for (float& f : factor) f = fast::widened(draw());
    for (float& o : O) o = fast::widened(draw());
    std::vector<fast::bf16_pair> packed(static_cast<std::size_t>(padded * key_block / 2));
    for (std::int64_t p = 0; p < key_block / 2; ++p)
      for (std::int64_t c = 0; c < dv; ++c)
        packed[static_cast<std::size_t>(c / panel * panel * (key_block / 2) + p * panel + c % panel)] = pair_of(
            V[static_cast<std::size_t>(2 * p * width + c)], V[static_cast<std::size_t>((2 * p + 1) * width + c)]);
    std::vector<std::uint8_t> visible(static_cast<std::size_t>(key_block));
    for (auto& shown : visible) shown = random() % 4 != 0;
    auto by_panels = O, in_place = O, listed = O, shown = O;
    pairs_of->values(S.data(), packed.data(), rows, pairs, dv, factor.data(), {by_panels.data(), padded});
    pairs_of->visible_values(S.data(), packed.data(), visible.data(), pairs, dv, factor[0], shown.data());
    bool const few = rows <= pairs_of->few_rows && dv % panel == 0;
    if (few) {
      bf16 const* const from = V.data() + 2 * pairs.first * width;
      std::vector<bf16 const*> list;
      for (std::int64_t j = 0; j < 2 * pairs.size(); ++j) list.push_back(from + j * width);
      bool const ahead = seed % 2 == 0;
      pairs_of->few_values(S.data(), {from, width}, ahead ? V.data() : nullptr, rows, pairs, dv, factor.data(),
                           {in_place.data(), padded});
      pairs_of->few_listed_values(S.data(), list.data(), ahead ? list.data() : nullptr, rows, pairs, dv, factor.data(),
                                  {listed.data(), padded});
    }
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t c = 0; c < dv; ++c) {
        float sum = 0, of_visible = 0;
        for (std::int64_t p = pairs.first; p < pairs.last; ++p) {
          auto const weights = pair_of(&P[static_cast<std::size_t>(i * key_block)], p);
          auto const at = [&](std::int64_t j) { return V[static_cast<std::size_t>(j * width + c)]; };
          auto const seen = [&](std::int64_t j) { return visible[static_cast<std::size_t>(j)] != 0; };
          sum = add_product(sum, weights, pair_of(at(2 * p), at(2 * p + 1)));
          if (seen(2 * p) || seen(2 * p + 1))
            of_visible =
                add_product(of_visible, weights,
                            pair_of(seen(2 * p) ? at(2 * p) : bf16{}, seen(2 * p + 1) ? at(2 * p + 1) : bf16{}));
        }
        auto const at = static_cast<std::size_t>(i * padded + c);
        float const expected = std::fma(O[at], factor[static_cast<std::size_t>(i)], sum);
        INFO("seed " << seed << ", row " << i << ", column " << c);
        if (!same(by_panels[at], expected)) FAIL("packed: " << by_panels[at] << ", expected " << expected);
        if (few && !same(in_place[at], expected)) FAIL("in place: " << in_place[at] << ", expected " << expected);
        if (few && !same(listed[at], expected)) FAIL("of a list: " << listed[at] << ", expected " << expected);
        if (i == 0 && !same(shown[at], std::fma(O[at], factor[0], of_visible))) FAIL("of visible keys: " << shown[at]);
      }
  }
}

}  // namespace attest::tests::bf16_dot_test
