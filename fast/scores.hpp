// The scores of one tile: dot products with packed keys, then scale, bias and visibility.
#pragma once

#include <cstdint>
#include <limits>

#include "fast/product.hpp"
#include "fast/scale.hpp"
#include "fast/tiles.hpp"

namespace attest::fast {

/// panel_tj ← k_{first+j, t}: the keys of a block as columns, so that the loop over keys has unit stride.
///
/// Shapes    K [·, d] with its own stride; panel [d, keys] with its own stride
template <class T>
void pack_keys(matrix<T const> K, interval const& keys, std::int64_t d, matrix<T> panel) noexcept {
  constexpr std::int64_t strip = 8;  // rows of K read side by side, so that a line of the panel is filled while hot
  for (std::int64_t j = 0; j < keys.size(); j += strip) {
    std::int64_t const here = keys.size() - j < strip ? keys.size() - j : strip;
    for (std::int64_t t = 0; t < d; ++t)
      for (std::int64_t a = 0; a < here; ++a) panel.row(t)[j + a] = K.row(keys.first + j + a)[t];
  }
}

/// What decides the scores of one query beside its dot products. A pointer is null where there is no such tensor, and
/// points at key 0 otherwise.
template <class T>
struct query_rules {
  interval visible{};  ///< by the band
  std::uint8_t const* mask = nullptr;
  T const* bias = nullptr;
  float const* bias_f32 = nullptr;

  constexpr bool shows(std::int64_t key) const noexcept {
    return visible.contains(key) && (mask == nullptr || mask[key] != 0);
  }

  /// s_j ← s_j + bias_j; the conversion of an f32 bias is exact.
  void add_bias(T* s, interval const& keys) const noexcept {
    if (bias != nullptr)
      for (std::int64_t j = 0; j < keys.size(); ++j) s[j] = s[j] + bias[keys.first + j];
    if (bias_f32 != nullptr)
      for (std::int64_t j = 0; j < keys.size(); ++j) s[j] = s[j] + static_cast<T>(bias_f32[keys.first + j]);
  }

  /// s_j ← −∞ at every invisible key, whatever s_j was: K and bias there do not matter.
  void hide_invisible(T* s, interval const& keys) const noexcept {
    constexpr T hidden = -std::numeric_limits<T>::infinity();
    if (mask != nullptr)
      for (std::int64_t j = 0; j < keys.size(); ++j) s[j] = mask[keys.first + j] != 0 ? s[j] : hidden;
    for (std::int64_t j = keys.first; j < keys.last && j < visible.first; ++j) s[j - keys.first] = hidden;
    for (std::int64_t j = visible.last > keys.first ? visible.last : keys.first; j < keys.last; ++j)
      s[j - keys.first] = hidden;
  }
};

}  // namespace attest::fast
