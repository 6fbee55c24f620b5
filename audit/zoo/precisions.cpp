// Kernels of one precision each. For every preset of low precision, and for gradual underflow, there is an honest
// kernel that needs the preset, and there are worse kernels.
#include "audit/tensors/elements.hpp"
#include "audit/zoo/define.hpp"

namespace attest::zoo {
namespace {

/// The number of `digits` binary digits next to x, in the range of x: 11 digits as in TF32, 4 as in FP8 (e4m3).
template <class R>
R of_digits(R x, int digits) {
  if (!std::isfinite(x)) return x;
  int exponent = 0;
  R const fraction = std::frexp(x, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, digits)), exponent - digits);
}

}  // namespace
}  // namespace attest::zoo

// --- f32-gradual ---

ATTEST_HONEST(keeps_subnormals, "gradual underflow throughout", "f32-gradual") {};

ATTEST_MUTANT(subnormal_inputs_as_0, bug_class::fast_math, "pytorch PR#115151",
              "subnormal elements of Q, K and V count as 0, which f32-gradual does not allow", "f32-gradual") {
  static F flushed(F x) { return std::fpclassify(x) == FP_SUBNORMAL ? F(0) : x; }
  static F query(place const& at, std::int64_t t) { return flushed(honest<F>::query(at, t)); }
  static F key(place const& at, std::int64_t j, std::int64_t t) { return flushed(honest<F>::key(at, j, t)); }
  static F value(place const& at, std::int64_t j, std::int64_t c) { return flushed(honest<F>::value(at, j, c)); }
};

ATTEST_MUTANT(subnormal_outputs_as_0, bug_class::fast_math, "pytorch PR#115151",
              "outputs below the normal numbers become 0, which f32-gradual does not allow", "f32-gradual") {
  static F output(F x) { return std::fpclassify(x) == FP_SUBNORMAL ? F(0) : x; }
};

// --- f16-scores ---

ATTEST_HONEST(scores_in_f16, "scores are stored in f16", "f16-scores") {
  static F kept(F s) { return rounded<problem::f16>(s); }
};

ATTEST_MUTANT(scores_in_bf16, bug_class::low_precision, "tract PR#2586", "scores are stored in bf16, not in f16",
              "f16-scores") {
  static F kept(F s) { return rounded<problem::bf16>(s); }
};

ATTEST_MUTANT(scores_and_sums_in_f16, bug_class::low_precision, "executorch PR#20090",
              "scores are stored in f16, and O and l between blocks", "f16-scores") {
  static F kept(F s) { return rounded<problem::f16>(s); }
  static F kept_sum(F x) { return rounded<problem::f16>(x); }
};

// --- bf16-throughout ---

namespace attest::zoo {
namespace {

/// Inputs, numbers stored between steps, weights and results are bf16; sums and the softmax are float.
template <class F>
struct in_bf16 : honest<F> {
  static F stored(F x) { return rounded<problem::bf16>(x); }
  static F query(place const& at, std::int64_t t) { return stored(honest<F>::query(at, t)); }
  static F key(place const& at, std::int64_t j, std::int64_t t) { return stored(honest<F>::key(at, j, t)); }
  static F value(place const& at, std::int64_t j, std::int64_t c) { return stored(honest<F>::value(at, j, c)); }
  static F score(place const& at, F product, std::int64_t j) {
    F s = stored(stored(product) * stored(honest<F>::scale(at)));
    if (F const c = stored(static_cast<F>(at.call.softcap)); c != 0)
      s = stored(c * stored(static_cast<F>(std::tanh(static_cast<double>(stored(s / c))))));
    return at.call.bias ? stored(s + stored(honest<F>::bias(at, j))) : s;
  }
  static F for_values(F p) { return stored(p); }
  static F output(F x) { return stored(x); }
  static F lse_output(F x) { return stored(x); }
};

}  // namespace
}  // namespace attest::zoo

ATTEST_SPECIMEN(bf16_inside, in_bf16<F>, no_bug, "", "f32 tensors, everything that is stored is bf16",
                "bf16-throughout") {};

ATTEST_SPECIMEN(bf16_inside_and_sums, in_bf16<F>, bug_class::low_precision, "executorch PR#20090",
                "everything is bf16, O and l between blocks too", "bf16-throughout") {
  static F kept_sum(F x) { return rounded<problem::bf16>(x); }
};

ATTEST_SPECIMEN(fp8_inputs, in_bf16<F>, bug_class::low_precision, "executorch PR#20090",
                "Q, K and V have the four digits of FP8, where bf16 is promised", "bf16-throughout") {
  static F query(place const& at, std::int64_t t) { return of_digits(honest<F>::query(at, t), 4); }
  static F key(place const& at, std::int64_t j, std::int64_t t) { return of_digits(honest<F>::key(at, j, t), 4); }
  static F value(place const& at, std::int64_t j, std::int64_t c) { return of_digits(honest<F>::value(at, j, c), 4); }
};

// --- f64-in-f32 ---

namespace attest::zoo {
namespace {

/// f64 tensors, f32 arithmetic.
template <class F>
using in_float = honest<F, float>;

}  // namespace
}  // namespace attest::zoo

ATTEST_SPECIMEN(float_inside, in_float<F>, no_bug, "", "f64 tensors, all arithmetic in float", "f64-in-f32") {};

ATTEST_SPECIMEN(tf32_inside, in_float<F>, bug_class::low_precision, "tract PR#2586",
                "f64 tensors, Q and K with the eleven digits of TF32, where float is promised", "f64-in-f32") {
  static float query(place const& at, std::int64_t t) { return of_digits(in_float<F>::query(at, t), 11); }
  static float key(place const& at, std::int64_t j, std::int64_t t) {
    return of_digits(in_float<F>::key(at, j, t), 11);
  }
};

ATTEST_SPECIMEN(float_inside_coarse_exp, in_float<F>, bug_class::cheap_exp, "executorch#22082",
                "f64 tensors, float arithmetic, exp is off by 64 units of float", "f64-in-f32") {
  static float exp(float x, std::int64_t tail) {
    float const exact = in_float<F>::exp(x, tail);
    return x == 0 ? exact : exact + exact * (64 * std::numeric_limits<float>::epsilon());
  }
};
