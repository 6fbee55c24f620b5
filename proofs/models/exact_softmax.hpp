// "The blocked algorithm is softmax". The proof runs absorb_block and merge of fast/algorithm/online_softmax.hpp over
// exact numbers, for every choice of keys and every way of cutting them. They are the functions that the kernel calls.
//
// Base 2 stands for e: scores are integers, so that every weight 2^(s−m) is a power of two and every step is exact.
// (Nothing in the template knows the base: it asks A::weight.) Values are v_j = 64^j: in units of 1/8 a weight is at
// most 8·2^τ ≤ 32, so that the 64-adic digits of O are the weights themselves, and one column proves them all.
// Linearity in V follows from the linearity of + and ·.
//
// Covered: the order of a block's steps, partial rows and merging, which are the kernel's own code. The steps
// themselves (the reference point, rescaling, the lanes of l), the fold of l and the final division come from
// proofs/models/online_softmax.hpp. Lazy rescaling is a model only, which no kernel in fast/ runs.
// Not covered: the vector loops that stand for the model's steps in the kernel; how P·V is multiplied (multiply() here
// is three lines); rounding; and the mask's and band's way into the scores (band_proof.cpp has the band's).
// tests/fast/online_softmax_test.cpp compares the vector loops with the model on every instruction set; the
// differential tests of the kernel cover the rest.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fast/algorithm/online_softmax.hpp"
#include "proofs/models/online_softmax.hpp"

namespace attest::proofs {

/// over/under exactly, under a power of two ≥ 1; −∞ is −1/0. A quotient may have any under.
struct rational {
  std::int64_t over = 0, under = 1;

  friend constexpr rational operator+(rational const& a, rational const& b) noexcept {
    if (a.under == 0) return a;
    if (a.under == b.under) return {a.over + b.over, a.under};
    return a.under > b.under ? rational{a.over + b.over * (a.under / b.under), a.under}
                             : rational{a.over * (b.under / a.under) + b.over, b.under};
  }
  friend constexpr rational operator*(rational const& a, rational const& b) noexcept {
    return {a.over * b.over, a.under * b.under};
  }
  friend constexpr bool operator<(rational const& a, rational const& b) noexcept {
    return a.over * b.under < b.over * a.under;
  }
  friend constexpr bool operator==(rational const& a, rational const& b) noexcept {
    return a.over * b.under == b.over * a.under;
  }
};

struct exact_arithmetic {
  using number = rational;
  static constexpr rational minus_infinity() noexcept { return {-1, 0}; }
  static constexpr rational larger(rational const& a, rational const& b) noexcept { return a < b ? b : a; }
  static constexpr rational weight(rational const& s, rational const& m) noexcept {
    if (s.under == 0) return {};
    return m.over < s.over ? rational{std::int64_t{1} << (s.over - m.over), 1}
                           : rational{1, std::int64_t{1} << (m.over - s.over)};
  }
  static constexpr rational quotient(rational const& x, rational const& l) noexcept {
    return {x.over * l.under, x.under * l.over};
  }
};
static_assert(fast::softmax_arithmetic<exact_arithmetic>);

inline constexpr std::size_t most_keys = 8;

/// The kinds of a key. A masked key has score −∞ and its value is never read.
enum class key_kind : std::uint8_t { masked, minus_infinity, zero, one, three };
inline constexpr int key_kinds = 5;

constexpr rational score_of(key_kind key) noexcept {
  switch (key) {
    case key_kind::zero: return {0, 1};
    case key_kind::one: return {1, 1};
    case key_kind::three: return {3, 1};
    default: return exact_arithmetic::minus_infinity();
  }
}
/// 2^s, 0 for what is masked or −∞: the definition, not the algorithm.
constexpr std::int64_t power_of(key_kind key) noexcept {
  return key == key_kind::zero ? 1 : key == key_kind::one ? 2 : key == key_kind::three ? 8 : 0;
}
constexpr std::int64_t value_of_key(std::size_t j) noexcept { return std::int64_t{1} << (6 * j); }

/// τ of the scores 0, 1, 3. With 1 the reference point stays from 0 to 1 and moves from 1 to 3, with 2 it is the other
/// way round.
using lazily = lazy_rescaling<rational>;
using eagerly = eager_rescaling;
constexpr rational tau_of(lazily const& how) noexcept { return how.tau; }
constexpr rational tau_of(eagerly const&) noexcept { return {}; }

/// (m, l, O) of one row with one column, l in `lanes` lanes.
template <std::int64_t lanes>
struct running_row {
  rational m = exact_arithmetic::minus_infinity(), factor{};
  std::array<rational, static_cast<std::size_t>(lanes)> l{};
  rational O{};

  constexpr fast::row_states<rational> states() noexcept { return {&m, l.data(), &factor}; }

  /// Absorbs keys first … last − 1 as one block, as the kernel does.
  template <class Rescaling = eagerly>
  constexpr void absorb(std::array<key_kind, most_keys> const& keys, std::size_t first, std::size_t last,
                        Rescaling const& rescaling = {}) noexcept {
    std::array<rational, most_keys> S{};
    for (std::size_t j = first; j < last; ++j) S[j] = score_of(keys[j]);
    plain_rows<exact_arithmetic, lanes, Rescaling> const operations{static_cast<std::int64_t>(most_keys), rescaling};
    fast::interval const block{static_cast<std::int64_t>(first), static_cast<std::int64_t>(last)};
    fast::absorb_block(operations, S.data(), 1, block, states(), [&] {
      O = O * factor;
      for (std::size_t j = first; j < last; ++j)
        if (keys[j] != key_kind::masked) O = O + S[j] * rational{value_of_key(j), 1};
    });
  }
  constexpr void merge(running_row other) noexcept {
    fast::merge<exact_arithmetic, lanes>(states(), &O, other.states(), &other.O, 1);
  }
  /// Σ 2^(s−m), the lanes folded.
  constexpr rational normaliser() const noexcept {
    return reduce(l.data(), lanes, rational{}, [](rational const& x, rational const& y) { return x + y; });
  }
};

/// How many choices of keys and cuttings were tried, and how many of them are not softmax.
struct tally {
  std::int64_t tried = 0, wrong = 0;
  constexpr void add(bool right) noexcept { ++tried, wrong += right ? 0 : 1; }
  friend constexpr bool operator==(tally const&, tally const&) noexcept = default;
};

/// Σ 2^s, Σ 2^s·v and max s of some keys: the definition, one key after the other.
struct definition {
  std::int64_t sum = 0, weighted = 0;
  rational m = exact_arithmetic::minus_infinity();

  constexpr void add(definition const& other) noexcept {
    sum += other.sum;
    weighted += other.weighted;
    if (m < other.m) m = other.m;
  }
  /// O/l = Σ 2^s·v/Σ 2^s, m at most τ below the maximum and l = Σ 2^(s−m); all 0 and −∞ where no key has weight.
  template <std::int64_t lanes>
  constexpr bool is(running_row<lanes> const& row, rational const& tau) const noexcept {
    rational const l = row.normaliser();
    rational result{};
    finish<exact_arithmetic>(l, &row.O, 1, &result);
    if (sum == 0) return result == rational{} && l == rational{} && row.m == m;
    return result == rational{weighted, sum} && row.m.under == 1 && !(m < row.m) && !(row.m + tau < m) &&
           l * rational{std::int64_t{1} << row.m.over, 1} == rational{sum, 1};
  }
};

/// Tries all choices of `count` keys and all cuttings; what several of them share is computed once.
template <std::int64_t lanes, class Rescaling = eagerly>
class exhaustion {
  using row_type = running_row<lanes>;

  /// visit(row, wanted) for all choices of keys first … last − 1 and all their cuttings into blocks.
  template <class Visit>
  constexpr void for_each_row(std::size_t first, std::size_t last, Visit const& visit) {
    extend(first, last, {}, {}, visit);
  }

  template <class Visit>
  constexpr void extend(std::size_t at, std::size_t last, row_type const& row, definition const& wanted,
                        Visit const& visit) {
    if (at == last) return visit(row, wanted);
    for (std::size_t end = at + 1; end <= last; ++end) choose(at, at, end, last, row, wanted, visit);
  }

  /// Chooses keys j … end − 1 of the block [at, end), then absorbs it.
  template <class Visit>
  constexpr void choose(std::size_t j, std::size_t at, std::size_t end, std::size_t last, row_type const& row,
                        definition const& wanted, Visit const& visit) {
    if (j == end) {
      row_type longer = row;
      longer.absorb(keys_, at, end, rescaling_);
      return extend(end, last, longer, wanted, visit);
    }
    for (int kind = 0; kind < key_kinds; ++kind) {
      auto const key = keys_[j] = static_cast<key_kind>(kind);
      definition with_key = wanted;
      with_key.add({power_of(key), power_of(key) * value_of_key(j), score_of(key)});
      choose(j + 1, at, end, last, row, with_key, visit);
    }
  }

  std::size_t count_;
  Rescaling rescaling_;
  std::array<key_kind, most_keys> keys_{};

 public:
  constexpr explicit exhaustion(std::size_t count, Rescaling const& rescaling = {}) noexcept
      : count_(count), rescaling_(rescaling) {}

  /// Every gap between two keys holds nothing or the end of a block.
  constexpr tally blocks() {
    tally found;
    rational const tau = tau_of(rescaling_);
    for_each_row(0, count_, [&](row_type const& row, definition const& wanted) { found.add(wanted.is(row, tau)); });
    return found;
  }

  /// Every gap holds nothing, or the end of a block, or the end of a partial row. Partial rows are merged one after the
  /// other, in the order of the keys.
  constexpr tally partial_rows() {
    struct prefix {
      row_type row{};
      definition wanted{};
    };
    std::array<std::vector<prefix>, most_keys + 1> before{};  // all that can have become of keys 0 … index − 1
    tally found;
    for (std::size_t last = 1; last <= count_; ++last)
      for (std::size_t first = 0; first < last; ++first)
        for_each_row(first, last, [&](row_type const& row, definition const& wanted) {
          auto const keep = [&](prefix const& kept) {
            if (last == count_) found.add(kept.wanted.is(kept.row, tau_of(rescaling_)));
            else before[last].push_back(kept);
          };
          if (first == 0) keep({row, wanted});
          for (prefix const& left : before[first]) {
            prefix merged = left;
            merged.row.merge(row);
            merged.wanted.add(wanted);
            keep(merged);
          }
        });
    return found;
  }
};

/// 5^count · 2^(count−1), or 3^(count−1) ways with partial rows.
constexpr std::int64_t evaluations(std::size_t count, std::int64_t ways_of_a_gap) noexcept {
  std::int64_t all = key_kinds;
  for (std::size_t j = 1; j < count; ++j) all *= key_kinds * ways_of_a_gap;
  return all;
}

/// Is every cutting of every choice of `count` keys softmax?
template <std::int64_t lanes, class Rescaling = eagerly>
constexpr bool blocks_are_softmax(std::size_t count, Rescaling const& how = {}) {
  return exhaustion<lanes, Rescaling>(count, how).blocks() == tally{evaluations(count, 2), 0};
}
template <std::int64_t lanes, class Rescaling = eagerly>
constexpr bool partial_rows_are_softmax(std::size_t count, Rescaling const& how = {}) {
  return exhaustion<lanes, Rescaling>(count, how).partial_rows() == tally{evaluations(count, 3), 0};
}

}  // namespace attest::proofs
