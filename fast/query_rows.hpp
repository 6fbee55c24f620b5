// One query's part of a problem: where it is, which keys it sees, and its bias.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "fast/algorithm/band.hpp"
#include "fast/algorithm/block_mask.hpp"
#include "fast/simd/operations.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

/// A query's head and index. The rows of one kv head are the queries of all heads that read it, head after head.
struct query_place {
  std::int64_t h = 0, i = 0;
};

/// `count` numbers in the working type T: the row itself, or a converted copy in `buffer`.
template <class E, class T>
T const* converted(operations<T> const& ops, E const* row, std::int64_t count, T* buffer) noexcept {
  if constexpr (std::is_same_v<E, T>) return row;
  else if constexpr (is_narrow<E>) std::get<row_conversions<E>>(ops.stored).widen(row, count, buffer);
  else std::copy_n(row, count, buffer);  // an f32 bias beside f64
  return buffer;
}

/// The parts of a problem that decide the scores of one query, except its dot products. A pointer is null if there is
/// no such tensor, and else points to the element of key 0.
template <class E>
struct query_rules {
  using T = working<E>;

  interval visible{};  ///< the keys of its entry that the band leaves visible
  std::uint8_t const* mask = nullptr;
  E const* bias = nullptr;
  float const* bias_f32 = nullptr;
  block_row blocks{};
  int exponent = 0;  ///< the scores still lack the factor 2^exponent (score_scale::fold)

  /// Sets all except `exponent`. `band` is the band of entry b. (Returned by value, the rules of a row were written
  /// twice, and the second time waited for the first: 4 % of n = m = 64.)
  void describe(problem::instance<E> const& instance, std::int64_t b, problem::band const& band,
                query_place const& at) noexcept {
    auto const row_of = [&](auto const& tensor) { return tensor ? tensor.row(b, at.h, at.i) : nullptr; };
    auto const [first, last] = visible_keys(band, at.i, instance.keys(b));
    visible.first = first, visible.last = last;
    mask = row_of(instance.mask()), bias = row_of(instance.bias()), bias_f32 = row_of(instance.bias_f32());
    auto const& block_mask = instance.block_mask();
    blocks.set = block_mask ? block_mask.row(b, at.h, at.i / instance.parameters().block_q) : nullptr;
    blocks.keys = instance.parameters().block_k;
  }

  constexpr bool shows(std::int64_t key) const noexcept {
    return visible.contains(key) && (mask == nullptr || mask[key] != 0) && blocks.shows(key);
  }

  /// Is any key visible? Looks at them one by one.
  bool shows_any() const noexcept {
    for (std::int64_t j = visible.first; j < visible.last; ++j)
      if (shows(j)) return true;
    return false;
  }

  /// s_j ← s_j + log₂(e)·bias_j for the keys [first, last), at most one key block; s points to the score of key
  /// `first`. Conversions of a bias are exact.
  void add_bias(operations<T> const& ops, T* s, interval const& keys) const noexcept {
    T buffer[blocking_of<T>.keys];
    if (bias != nullptr) ops.add_bias(s, converted(ops, bias + keys.first, keys.size(), buffer), keys.size());
    if (bias_f32 != nullptr) ops.add_bias(s, converted(ops, bias_f32 + keys.first, keys.size(), buffer), keys.size());
  }

  /// s_j ← −∞ at every invisible key, whatever s_j was, so K and bias there have no effect. The scores belong to the
  /// keys `computed`; only the keys `present` of them exist.
  void hide_invisible(operations<T> const& ops, T* s, interval const& computed,
                      interval const& present) const noexcept {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    interval const seen = intersection(visible, present);
    std::int64_t const first = seen.empty() ? computed.last : seen.first;
    std::int64_t const last = seen.empty() ? computed.last : seen.last;
    for (std::int64_t j = computed.first; j < first; ++j) s[j - computed.first] = hidden;
    for (std::int64_t j = last; j < computed.last; ++j) s[j - computed.first] = hidden;
    if (mask != nullptr && !seen.empty())
      ops.hide_masked(s + (seen.first - computed.first), mask + seen.first, seen.size());
    blocks.each_hidden(
        seen, [&](interval const& some) { std::fill_n(s + (some.first - computed.first), some.size(), hidden); });
  }
};

}  // namespace attest::fast
