// What decides the scores of one query beside its dot products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "fast/algorithm/band.hpp"
#include "fast/simd/operations.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

/// The kernel's rows of one kv head: queries of all the heads that read it, head after head.
struct query_place {
  std::int64_t h = 0, i = 0;
};

/// `count` numbers as the kernel computes with them: the row itself, or a copy of it in `room`.
template <class E, class T>
T const* converted(operations<T> const& does, E const* row, std::int64_t count, T* room) noexcept {
  if constexpr (std::is_same_v<E, T>) return row;
  else if constexpr (is_narrow<E>) std::get<row_conversions<E>>(does.stored).widen(row, count, room);
  else std::copy_n(row, count, room);  // an f32 bias beside f64
  return room;
}

/// A pointer is null where there is no such tensor, and points at key 0 otherwise.
template <class E>
struct query_rules {
  using T = working<E>;

  interval visible{};  ///< by the band
  std::uint8_t const* mask = nullptr;
  E const* bias = nullptr;
  float const* bias_f32 = nullptr;
  int exponent = 0;  ///< 2^exponent is what score_scale::fold() left to the scores

  static query_rules of(problem::instance<E> const& asked, std::int64_t b, query_place const& at) noexcept {
    auto const row_of = [&](auto const& tensor) { return tensor ? tensor.row(b, at.h, at.i) : nullptr; };
    return {visible_keys(asked.band(), at.i, asked.size().m), row_of(asked.mask()), row_of(asked.bias()),
            row_of(asked.bias_f32()), 0};
  }

  constexpr bool shows(std::int64_t key) const noexcept {
    return visible.contains(key) && (mask == nullptr || mask[key] != 0);
  }

  /// s_j ← s_j + log₂(e)·bias_j for keys = [first, last), a block at most; s is the score of key `first`. Conversions of
  /// a bias are exact.
  void add_bias(operations<T> const& does, T* s, interval const& keys) const noexcept {
    T room[blocking_of<T>.keys];
    if (bias != nullptr) does.add_bias(s, converted(does, bias + keys.first, keys.size(), room), keys.size());
    if (bias_f32 != nullptr) does.add_bias(s, converted(does, bias_f32 + keys.first, keys.size(), room), keys.size());
  }

  /// s_j ← −∞ at every invisible key, whatever s_j was: K and bias there do not matter. The scores are those of keys
  /// `computed`; `present` are the ones of them that exist.
  void hide_invisible(operations<T> const& does, T* s, interval const& computed,
                      interval const& present) const noexcept {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    interval const seen = intersection(visible, present);
    std::int64_t const first = seen.empty() ? computed.last : seen.first;
    std::int64_t const last = seen.empty() ? computed.last : seen.last;
    for (std::int64_t j = computed.first; j < first; ++j) s[j - computed.first] = hidden;
    for (std::int64_t j = last; j < computed.last; ++j) s[j - computed.first] = hidden;
    if (mask != nullptr && !seen.empty())
      does.hide_masked(s + (seen.first - computed.first), mask + seen.first, seen.size());
  }
};

}  // namespace attest::fast
