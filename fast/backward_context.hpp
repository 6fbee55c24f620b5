// The data that the tasks of one backward call share, and the numbers of one row that it prepares once.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "fast/backward.hpp"
#include "fast/query_rows.hpp"
#include "fast/scale.hpp"
#include "fast/simd/gradient_operations.hpp"
#include "fast/sink.hpp"

namespace attest::fast {

/// The data that all tasks of a backward call share.
template <class E>
struct backward_context {
  using T = working<E>;

  problem::instance<E> const& instance;
  backward_inputs<E> const& given;
  gradients<E> const& wanted;
  operations<T> const& ops;
  gradient_operations<T> const& gradient_ops;
  score_scale<T> scale;
  score_cap<T> cap;
  T sigma = 0;        ///< σ, rounded
  T kept_factor = 1;  ///< 1/(1 − p) of dropout, rounded
};

/// The entry and kv head of some rows and keys.
struct head_place {
  std::int64_t b = 0, kv_head = 0;
};

/// An LSE in units of log₂: f32 with one rounding, f64 with two. −∞, which a row without keys has, becomes +∞, beside
/// which every weight is 0. +∞ becomes NaN: such a row has a score of +∞.
template <std::floating_point T>
T lse_in_log2(T lse) noexcept {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  if (lse == infinity) return std::numeric_limits<T>::quiet_NaN();
  return lse == -infinity ? infinity : sink_in_log2(lse);
}

/// σ in T: the explicit scale, or 1/√d if there is none.
template <class E>
working<E> sigma_of(problem::instance<E> const& instance) noexcept {
  auto const d = static_cast<double>(instance.size().d);
  return static_cast<working<E>>(instance.scale() ? *instance.scale() : d > 0 ? 1 / std::sqrt(d) : 0);
}

/// to ← from·factor, of `count` numbers; rounded to E if E is narrow, by way of `buffer`.
template <class E, class To>
void write_row(backward_context<E> const& call, working<E> const* from, working<E> factor, std::int64_t count, To* to,
               working<E>* buffer) noexcept {
  if constexpr (std::is_same_v<To, working<E>>) {
    call.gradient_ops.finish(from, factor, count, to);
  } else {
    call.gradient_ops.finish(from, factor, count, buffer);
    if constexpr (std::is_same_v<To, E>) std::get<row_conversions<E>>(call.ops.stored).narrow(buffer, count, to);
    else std::transform(buffer, buffer + count, to, [](working<E> x) { return static_cast<To>(x); });
  }
}

/// Δ of one row: dO·O. d_o is its dO in T; `buffer` holds a row.
template <class E>
working<E> delta_of(backward_context<E> const& call, std::int64_t b, query_place const& at, working<E> const* d_o,
                    working<E>* buffer) noexcept {
  std::int64_t const dv = call.instance.size().dv;
  if (dv == 0) return 0;
  return call.gradient_ops.dot(d_o, converted(call.ops, call.given.o.row(b, at.h, at.i), dv, buffer), dv);
}

}  // namespace attest::fast
