// Rows of many keys in which each key counts once, with all bits of its values. O alone shows this, at any number of
// keys.
#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "audit/cases/random.hpp"

namespace attest::audit {
namespace {

/// A constant column of V: it needs 21 bits, and no error of a weight reaches its exact answer.
constexpr double constant_value = 1 + 0x1p-9 + 0x1p-20;

/// Keys 0 … m − 1 in a random order that begins with the first and the last.
std::vector<std::int64_t> shuffled_keys(std::int64_t m, random_stream& random) {
  std::vector<std::int64_t> keys(static_cast<std::size_t>(m));
  std::iota(keys.begin(), keys.end(), 0);
  if (m > 2) std::swap(keys[1], keys.back());
  for (std::int64_t at = m - 1; at > 2; --at)
    std::swap(keys[static_cast<std::size_t>(at)], keys[static_cast<std::size_t>(2 + random.below(at - 1))]);
  return keys;
}

/// Equal scores (Q = 0). A column of V holds 2^0 … 2^(D−1) at D keys of its own, so O = (Σ 2^digit)/m tells which of
/// them count and how often. A lost or doubled key changes its column by at least 2^−D of it. D = 6, but 5 in bf16,
/// where O and the weights are rounded by 2^−8. The heads together have a column for every key, or for as many keys as
/// `most_heads` heads have room for.
void add_equal(case_list& to, std::string const& name, std::int64_t n, std::int64_t m, std::int64_t most_heads) {
  constexpr std::int64_t columns = 63;
  std::int64_t const digits = to.type() == problem::element_type::bf16 ? 5 : 6, keys_per_head = columns * digits;
  std::int64_t const heads = std::min(most_heads, (m + keys_per_head - 1) / keys_per_head);
  auto random = to.random("every-key", name);
  problem_draft draft = blank({1, heads, heads, n, m, columns + 1, columns + 1}, to.type());
  fill(draft.k, [](auto, auto, auto j, auto t) { return static_cast<double>((j * 5 + t) % 7) - 3; });
  auto const keys = shuffled_keys(m, random);
  for (std::int64_t at = 0; at < std::min(m, heads * keys_per_head); ++at) {
    std::int64_t const in_head = at % keys_per_head;
    store(draft.v, offset_of(draft.v, 0, at / keys_per_head, keys[static_cast<std::size_t>(at)], in_head / digits),
          std::ldexp(1.0, static_cast<int>(in_head % digits)));
  }
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t j = 0; j < m; ++j) store(draft.v, offset_of(draft.v, 0, h, j, columns), constant_value);
  to.add("every-key", name, std::move(draft));
}

constexpr std::int64_t sign_count = 64;  ///< d of pair rows: the signs of a key are the bits of a word

std::int64_t product(std::uint64_t a, std::uint64_t b) { return sign_count - 2 * std::popcount(a ^ b); }

/// The lead of keys i and j, which have one score in the row q = k_i + k_j, over every other key.
std::int64_t lead_of(std::vector<std::uint64_t> const& keys, std::size_t i, std::size_t j) {
  std::int64_t next = -2 * sign_count;
  for (std::size_t other = 0; other < keys.size(); ++other)
    if (other != i && other != j) next = std::max(next, product(keys[i], keys[other]) + product(keys[j], keys[other]));
  return sign_count + product(keys[i], keys[j]) - next;
}

/// Pair rows: k_j ∈ {−1, 1}^64, q = k_i + k_j for n pairs (i, j), scale 1. Both keys of a pair have the same integer as
/// score. The others lie at least 24 below it (the partner is the best of `candidates`), so O is the mean of two rows
/// of V: the binary digits of i and j, as −1 and 1. A lost or doubled key, or one with the V of another, moves a digit
/// by at least 1/3. (Digits 0 and 1 would do, but a column of the far keys alone is tiny and slow to certify.)
void add_pair_rows(case_list& to, std::string const& name, std::int64_t n, std::int64_t m) {
  constexpr int candidates = 32;
  auto random = to.random("every-key", name);
  auto const digits = static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(m - 1)));
  problem_draft draft = blank({1, 1, 1, n, m, sign_count, sign_count}, to.type());
  draft.scale = 1;
  std::vector<std::uint64_t> keys(static_cast<std::size_t>(m));
  for (std::uint64_t& key : keys) key = random.bits();
  auto const sign = [&](std::size_t j, std::int64_t t) { return keys[j] >> t & 1 ? 1.0 : -1.0; };
  fill(draft.k, [&](auto, auto, auto j, auto t) { return sign(static_cast<std::size_t>(j), t); });
  for (std::int64_t row = 0; row < n; ++row) {
    auto const i = static_cast<std::size_t>(row == 0 ? m - 1 : row == 1 ? 0 : random.below(m));
    std::size_t partner = i;
    std::int64_t lead = -1;
    for (int tried = 0; tried < candidates; ++tried) {
      auto const j = (i + 1 + static_cast<std::size_t>(random.below(m - 1))) % keys.size();
      if (std::int64_t const found = lead_of(keys, i, j); found > lead) partner = j, lead = found;
    }
    for (std::int64_t t = 0; t < sign_count; ++t)
      store(draft.q, offset_of(draft.q, 0, 0, row, t), sign(i, t) + sign(partner, t));
  }
  fill(draft.v, [&](auto, auto, auto j, auto c) {
    return c >= digits ? constant_value : (j >> c & 1) != 0 ? 1.0 : -1.0;
  });
  to.add("every-key", name, std::move(draft));
}

/// Gaussian scores. V has 15 columns of the identity, among them the columns of the first and the last key, and a
/// constant one.
void add_one_hot(case_list& to, std::string const& name, std::int64_t n, std::int64_t m) {
  constexpr std::int64_t columns = 15;
  auto random = to.random("every-key", name);
  problem_draft draft = blank({1, 1, 1, n, m, 16, columns + 1}, to.type());
  fill(draft.q, [&](auto...) { return random.normal(); });
  fill(draft.k, [&](auto...) { return random.normal(); });
  auto const keys = shuffled_keys(m, random);
  fill(draft.v, [&](auto, auto, auto j, auto c) {
    return c == columns ? constant_value : keys[static_cast<std::size_t>(c)] == j ? 1.0 : 0.0;
  });
  to.add("every-key", name, std::move(draft));
}

/// Anchored rows: every aligned group of 16 keys holds a key with the largest score of the row, at a drawn place. So in
/// every order of blocks of 16 keys and more, the running maximum is known from the first block on. With it, it is
/// known how each weight rounds to 16 bits (docs/bound.md). q ≥ 0 ≥ k, except in the last dimension, which adds
/// `height` to every score; an anchor's k is 0 except there.
void add_anchored(case_list& to, double height, std::int64_t n, std::int64_t m) {
  constexpr std::int64_t group = 16, d = 16, last = d - 1;
  std::string const name = fmt::format("anchored-at{:g}-m{}", height, m);
  auto random = to.random("every-key", name);
  problem_draft draft = blank({1, 1, 1, n, m, d, d}, to.type());
  draft.scale = 0.125;
  fill(draft.q, [&](auto, auto, auto, auto t) { return t == last ? 1.0 : std::abs(random.normal()); });
  for (std::int64_t first = 0; first < m; first += group) {
    std::int64_t const size = std::min(group, m - first), anchor = first + random.below(size);
    for (std::int64_t j = first; j < first + size; ++j) {
      double const below = j == anchor ? 0 : std::ldexp(1.0, static_cast<int>(random.below(4)) - 1);
      for (std::int64_t t = 0; t < d; ++t)
        store(draft.k, offset_of(draft.k, 0, 0, j, t),
              t == last ? height / draft.scale.value() : -below * std::abs(random.normal()));
    }
  }
  fill(draft.v, [&](auto...) { return random.normal(); });
  to.add("every-key", name, std::move(draft));
}

}  // namespace

/// Equal scores ask all keys of rows of 1025, 2049 and 4200 keys, since m keys need m/(63 D) rows there. Pair rows
/// would need m/2 rows of m keys, so eight a size are drawn, four of the drawn size. In the rows of drawn size the keys
/// are drawn too.
void add_every_key(case_list& to) {
  constexpr std::int64_t every_head = 1 << 20;
  add_equal(to, "equal-m1025", 1, 1025, every_head);
  add_equal(to, "equal-m64-square", 64, 64, every_head);
  add_pair_rows(to, "pairs-m129", 4, 129);
  add_one_hot(to, "one-hot-m129", 2, 129);
  add_one_hot(to, "one-hot-m64-square", 64, 64);
  bool const narrow = problem::size_of(to.type()) == 2;
  if (narrow)
    for (double const height : {0.0, 3.0}) add_anchored(to, height, 8, 64);
  if (to.options().quick) return;
  add_pair_rows(to, "pairs-m129-square", 129, 129);
  add_one_hot(to, "one-hot-m300-square", 300, 300);
  add_equal(to, "equal-m2049", 1, 2049, every_head);
  add_equal(to, "equal-m4200", 1, 4200, every_head);
  auto drawn = to.random("every-key", "drawn");
  add_equal(to, "equal-drawn", 1, 1025 + drawn.below(16384 - 1025 + 1), 2);
  for (std::int64_t const m : {1025, 2049, 4200}) {
    add_pair_rows(to, fmt::format("pairs-m{}", m), 8, m);
    add_one_hot(to, fmt::format("one-hot-m{}", m), 2, m);
  }
  add_pair_rows(to, "pairs-drawn", 4, 1025 + drawn.below(16384 - 1025 + 1));
  add_one_hot(to, "one-hot-drawn", 2, 1025 + drawn.below(16384 - 1025 + 1));
  if (!narrow) return;
  for (double const height : {0.0, 3.0})
    for (std::int64_t const m : {512, 1024, 4096}) add_anchored(to, height, m < 4096 ? 8 : 2, m);
}

}  // namespace attest::audit
