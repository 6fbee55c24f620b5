// Dropout: o_c = Σ_j π_j·v_jc·[keep_j]/(1 − p). The weights, Z and the LSE do not depend on it.
#pragma once

#include <cstdint>

#include "problem/instance.hpp"
#include "reference/real/ball.hpp"
#include "reference/real/element.hpp"

namespace attest::reference {

/// Is the weight of key j dropped? Requires  the key visible
template <class T>
constexpr bool is_dropped(problem::instance<T> const& p, std::int64_t b, std::int64_t h, std::int64_t i,
                          std::int64_t j) noexcept {
  return p.keep().present && p.keep()(b, h, i, j) == 0;
}

/// p of a problem with dropout, else 0.
template <class T>
constexpr double dropout_of(problem::instance<T> const& p) noexcept {
  return p.keep().present ? p.parameters().dropout : 0;
}

/// 1 − p, exactly 1 if nothing is scaled.
template <unsigned W, class T>
constexpr ball<W> kept_part(problem::instance<T> const& p) noexcept {
  return ball<W>(1) - ball<W>::from(value_of(dropout_of(p)));
}

}  // namespace attest::reference
