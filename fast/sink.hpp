// Sinks: one more term of l, which belongs to no key.
//
// Behind all keys of a row its sink is absorbed like a key block with one key and no value: m ← max(m, t), l and O are
// rescaled, and l gains 2^(t − m). So no finite sink overflows, and a row's keys are summed as they are without a sink.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "fast/algorithm/exp2.hpp"
#include "fast/algorithm/storage.hpp"
#include "problem/instance.hpp"

namespace attest::fast {

/// The sink t of query head h of entry b, as stored; −∞ if there is none. Every NaN is the same NaN.
template <class E>
working<E> sink_of(problem::instance<E> const& instance, std::int64_t b, std::int64_t h) noexcept {
  using T = working<E>;
  T t = -std::numeric_limits<T>::infinity();
  if (instance.sink_f32()) t = static_cast<T>(instance.sink_f32()(b, h, 0, 0));
  else if (instance.sink()) {
    if constexpr (is_narrow<E>) t = widened(instance.sink()(b, h, 0, 0));
    else t = instance.sink()(b, h, 0, 0);
  }
  return t == t ? t : std::numeric_limits<T>::quiet_NaN();
}

/// t in units of log₂. A finite t is clamped to ±2^127 (2^1023), beyond which it would become infinite.
///
/// Ensures  f32: one rounding, and a relative error of 2^−52 before it. f64: two roundings, of log₂ e and of the
/// product
template <std::floating_point T>
T sink_in_log2(T t) noexcept {
  constexpr T limit = std::numeric_limits<T>::max() / 2;
  T const clamped = t - t == 0 ? std::clamp(t, -limit, limit) : t;
  return static_cast<T>(static_cast<double>(clamped) * log2_e);
}

/// Roundings that t meets on its way into the exponent.
template <std::floating_point T>
inline constexpr int sink_roundings = std::is_same_v<T, float> ? 1 : 2;

}  // namespace attest::fast
