// The honest kernel of 16-bit tensors.
#pragma once

#include "audit/elements.hpp"
#include "audit/zoo/honest.hpp"

namespace attest::zoo {

inline float rounded_to(problem::bf16, float x) { return static_cast<float>(audit::number(audit::to_bf16(static_cast<double>(x)))); }
inline float rounded_to(problem::f16, float x) { return static_cast<float>(audit::number(audit::to_f16(static_cast<double>(x)))); }

/// E in memory, float in between; O and weights are rounded to E once, to nearest. LSE is a float.
template <class E>
struct honest_narrow : honest<float> {
  using element = E;
  static constexpr bool is_narrow = true;

  static float query(place const& at, std::int64_t t) { return read(*at.call.q, at.b, at.h, at.i, t); }
  static float key(place const& at, std::int64_t j, std::int64_t t) { return read(*at.call.k, at.b, at.hk, j, t); }
  static float value(place const& at, std::int64_t j, std::int64_t c) { return read(*at.call.v, at.b, at.hk, j, c); }
  static float bias(place const& at, std::int64_t j) { return read(*at.call.bias, at.b, at.h, at.i, j); }
  static float score(place const& at, float product, std::int64_t j) {
    float const s = softcap(at, product * scale(at));
    return at.call.bias ? s + bias(at, j) : s;
  }
  /// x as E holds it.
  static float narrowed(float x) { return rounded_to(E{}, x); }
  static E output(float x) {
    if constexpr (std::is_same_v<E, problem::bf16>) return audit::to_bf16(static_cast<double>(x));
    else return audit::to_f16(static_cast<double>(x));
  }

 private:
  static float read(DLTensor const& t, std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return static_cast<float>(audit::number(load<E>(t, b, h, i, j)));
  }
};

}  // namespace attest::zoo
