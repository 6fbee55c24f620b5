// Products of tiles of bf16: every table of them, by AMX and by multiply-adds, has the sums that bf16_tiles.hpp
// declares.
#include "fast/simd/bf16_tiles.hpp"

#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fast/algorithm/storage.hpp"
#include "fast/float_environment.hpp"
#include "tests/fast/bf16_numbers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::bf16_tiles_test {
namespace {

constexpr std::int64_t stride = fast::score_stride<float>, panel = fast::bf16_pair_operations::panel,
                       key_block = fast::blocking_of<float>.keys, rows_of_strip = fast::strip_rows;

/// The tables that are here, by name; says which are not.
std::vector<std::pair<std::string, fast::bf16_pair_operations const*>> tables() {
  std::vector<std::pair<std::string, fast::bf16_pair_operations const*>> found;
  if (auto const* const by = fast::bf16_tiles_by_fma()) found.emplace_back("by multiply-adds", by);
  else WARN("not tested: this processor has no AVX2 and FMA");
  if (auto const* const by = fast::bf16_tiles_by_amx()) found.emplace_back("by AMX", by);
  else WARN("not tested: this processor has no AMX for bf16");
  return found;
}

/// Between begin() and end(), with subnormal numbers as 0.
class computing {
 public:
  explicit computing(fast::bf16_pair_operations const* by) : by_(by) {
    if (by_->begin != nullptr) by_->begin();
  }
  ~computing() {
    if (by_->end != nullptr) by_->end();
  }
  computing(computing const&) = delete;
  computing& operator=(computing const&) = delete;

 private:
  fast::bf16_pair_operations const* by_;
  fast::float_environment environment_;
};

/// Σ_p a(p)·b(p) over chunks of 16 pairs.
template <class A, class B>
float sum_of_tiles(std::int64_t first, std::int64_t last, A&& a, B&& b) {
  float sum = 0;
  for (std::int64_t at = first; at < last; at += 16) {
    float even = 0, odd = 0;
    for (std::int64_t p = at; p < at + 16; ++p) {
      even = multiply_add(half_of(a(p), 0), half_of(b(p), 0), even);
      odd = multiply_add(half_of(a(p), 1), half_of(b(p), 1), odd);
    }
    sum = flushed(sum + flushed(even + odd));
  }
  return sum;
}

std::size_t index(std::int64_t at) { return static_cast<std::size_t>(at); }

}  // namespace

TEST_CASE("scores are sums of chunks of 16 pairs", "[unit]") {
  for (auto const& [name, by] : tables())
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      std::mt19937_64 random(seed);
      drawn_numbers draw(seed);
      auto const pairs = static_cast<std::int64_t>(16 * (random() % 5)),
                 rows = static_cast<std::int64_t>(1 + random() % 24);
      float const factor = fast::widened(draw());
      std::vector<bf16> const Q = draw(rows_of_strip * 2 * pairs), K = draw(key_block * 2 * pairs);
      std::vector<fast::bf16_pair> packed_Q(index(rows_of_strip * pairs)), packed_K(index(key_block * pairs));
      for (std::int64_t at = 0; at < rows_of_strip * pairs; ++at) packed_Q[index(at)] = pair_of(Q.data(), at);
      auto const K_at = [&](std::int64_t j, std::int64_t p) -> fast::bf16_pair& {
        return packed_K[index(j / panel * panel * pairs + p * panel + j % panel)];
      };
      for (std::int64_t j = 0; j < key_block; ++j)
        for (std::int64_t p = 0; p < pairs; ++p) K_at(j, p) = pair_of(K.data() + j * 2 * pairs, p);
      fast::interval const keys{panel * static_cast<std::int64_t>(random() % 3), panel * 4};
      std::vector<float> S(index(rows_of_strip * stride), -7.0f), in_place = S, listed = S;
      bool const few = rows <= by->few_rows, ahead = seed % 2 == 0;
      std::vector<bf16 const*> list;
      for (std::int64_t j = keys.first; j < keys.last; ++j) list.push_back(K.data() + j * 2 * pairs);
      {
        computing const within(by);
        by->scores(packed_Q.data(), packed_K.data(), pairs, rows, keys, factor, S.data());
        if (few) {
          by->few_scores(packed_Q.data(), {K.data() + keys.first * 2 * pairs, 2 * pairs}, ahead ? K.data() : nullptr,
                         pairs, rows, keys.size(), factor, in_place.data() + keys.first);
          by->few_listed_scores(packed_Q.data(), list.data(), ahead ? list.data() : nullptr, pairs, rows, keys.size(),
                                factor, listed.data() + keys.first);
        }
      }
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t j = 0; j < key_block; ++j) {
          float const sum = sum_of_tiles(
              0, pairs, [&](std::int64_t p) { return packed_Q[index(i * pairs + p)]; },
              [&](std::int64_t p) { return K_at(j, p); });
          float const expected = keys.contains(j) ? flushed(sum * flushed(factor)) : -7.0f;
          auto const at = index(i * stride + j);
          INFO(name << ", seed " << seed << ", row " << i << ", key " << j);
          if (!same(S[at], expected)) FAIL(S[at] << ", expected " << expected);
          if (few && !same(in_place[at], expected)) FAIL("in place: " << in_place[at] << ", expected " << expected);
          if (few && !same(listed[at], expected)) FAIL("of a list: " << listed[at] << ", expected " << expected);
        }
    }
}

TEST_CASE("sums of values are sums of chunks of 16 pairs of keys", "[unit]") {
  for (auto const& [name, by] : tables())
    for (std::uint64_t seed = 1; seed <= 60; ++seed) {
      std::mt19937_64 random(seed);
      drawn_numbers draw(seed, seed % 3 == 0);
      auto const rows = static_cast<std::int64_t>(1 + random() % 24),
                 dv = static_cast<std::int64_t>(seed % 2 == 0 ? 32 * (1 + random() % 5) : 1 + random() % 160),
                 padded = fast::rounded_up(dv, panel);
      fast::interval const pairs{static_cast<std::int64_t>(16 * (random() % 3)),
                                 static_cast<std::int64_t>(32 + 16 * (random() % 3))};
      std::vector<bf16> const V = draw(key_block * padded), P = draw(rows_of_strip * key_block);
      std::vector<float> S(index(rows_of_strip * stride)), factor(index(rows_of_strip)),
          O(index(rows_of_strip * padded));
      for (std::int64_t i = 0; i < rows_of_strip; ++i)
        std::memcpy(&S[index(i * stride)], &P[index(i * key_block)], key_block * sizeof(bf16));
      for (float& f : factor) f = flushed(fast::widened(draw()));
      for (float& o : O) o = flushed(fast::widened(draw()));
      std::vector<fast::bf16_pair> packed(index(padded * key_block / 2));
      auto const V_at = [&](std::int64_t p, std::int64_t c) -> fast::bf16_pair& {
        return packed[index(c / panel * panel * (key_block / 2) + p * panel + c % panel)];
      };
      for (std::int64_t p = 0; p < key_block / 2; ++p)
        for (std::int64_t c = 0; c < padded; ++c)
          V_at(p, c) = pair_of(V[index(2 * p * padded + c)], V[index((2 * p + 1) * padded + c)]);
      std::vector<std::uint8_t> visible(index(key_block));
      for (auto& shown : visible) shown = random() % 4 != 0;
      auto all = O, of_visible = O, in_place = O, listed = O;
      bool const few = rows <= by->few_rows && dv % panel == 0, ahead = seed % 2 == 0;
      bf16 const* const from = V.data() + 2 * pairs.first * padded;
      std::vector<bf16 const*> list;
      for (std::int64_t j = 0; j < 2 * pairs.size(); ++j) list.push_back(from + j * padded);
      {
        computing const within(by);
        if (few) {
          by->few_values(S.data(), {from, padded}, ahead ? V.data() : nullptr, rows, pairs, dv, factor.data(),
                         {in_place.data(), padded});
          by->few_listed_values(S.data(), list.data(), ahead ? list.data() : nullptr, rows, pairs, dv, factor.data(),
                                {listed.data(), padded});
        }
        by->values(S.data(), packed.data(), rows, pairs, dv, factor.data(), {all.data(), padded});
        by->visible_values(S.data(), packed.data(), visible.data(), pairs, dv, factor[0], of_visible.data());
      }
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t c = 0; c < dv; ++c) {
          auto const weights = [&](std::int64_t p) { return pair_of(&P[index(i * key_block)], p); };
          auto const shown = [&](std::int64_t p) -> fast::bf16_pair {
            return V_at(p, c) &
                   ((visible[index(2 * p)] != 0 ? 0xffffu : 0u) | (visible[index(2 * p + 1)] != 0 ? 0xffff0000u : 0u));
          };
          auto const at = index(i * padded + c);
          INFO(name << ", seed " << seed << ", row " << i << ", column " << c);
          float const sum = sum_of_tiles(pairs.first, pairs.last, weights, [&](std::int64_t p) { return V_at(p, c); });
          float const expected = flushed(std::fma(O[at], factor[index(i)], sum));
          if (!same(all[at], expected)) FAIL(all[at] << ", expected " << expected);
          if (few && !same(in_place[at], expected)) FAIL("in place: " << in_place[at] << ", expected " << expected);
          if (few && !same(listed[at], expected)) FAIL("of a list: " << listed[at] << ", expected " << expected);
          if (i != 0) continue;
          float const seen = flushed(std::fma(O[at], factor[0], sum_of_tiles(pairs.first, pairs.last, weights, shown)));
          if (!same(of_visible[at], seen)) FAIL("of visible keys: " << of_visible[at] << ", expected " << seen);
        }
      // Rows behind `rows` belong to other strips.
      for (std::int64_t at = rows * padded; at < rows_of_strip * padded; ++at)
        if (!same(all[index(at)], O[index(at)]))
          FAIL(name << ", seed " << seed << ": row " << at / padded << " was written");
    }
}

TEST_CASE("a sum that is rounded below the normal numbers is 0", "[unit]") {
  // 2^-126 - 2^-150 has 24 bits, and lies half a subnormal step below the smallest normal number.
  constexpr std::int64_t pairs = 16;
  std::vector<fast::bf16_pair> Q(index(rows_of_strip * pairs)), K(index(key_block * pairs));
  auto const power = [](int exponent) { return bf16{static_cast<std::uint16_t>((exponent + 127) << 7)}; };
  Q[0] = pair_of(power(-63), bf16{}), Q[1] = pair_of(power(-75), bf16{});
  K[0] = pair_of(power(-63), bf16{}),
  K[panel] = pair_of(bf16{static_cast<std::uint16_t>(power(-75).bits | 0x8000u)}, bf16{});
  for (auto const& [name, by] : tables()) {
    std::vector<float> S(index(rows_of_strip * stride));
    {
      computing const within(by);
      by->scores(Q.data(), K.data(), pairs, 1, {0, panel}, 1, S.data());
    }
    INFO(name);
    CHECK(S[0] == 0);
  }
}

TEST_CASE("weights of tiles are rounded to nearest, and subnormal ones become 0", "[unit]") {
  for (auto const& [name, by] : tables()) {
    INFO(name);
    check_narrowing(*by);
  }
}

}  // namespace attest::tests::bf16_tiles_test
