// Mutants that compute with too few bits, with a wrong function or in the wrong order.
#include "audit/tensors/elements.hpp"
#include "audit/zoo/define.hpp"

namespace attest::zoo {
namespace {

template <class F>
F as_f16(F x) {
  return static_cast<F>(audit::rounded_to(static_cast<double>(x), problem::format_of<problem::f16>));
}
template <class F>
F as_bf16(F x) {
  return static_cast<F>(audit::rounded_to(static_cast<double>(x), problem::format_of<problem::bf16>));
}

/// f64 tensors, f32 arithmetic.
template <class F>
using honest_in_float = honest<F, float>;

/// e^x by the Taylor polynomial of degree 4 on |r| ≤ ln2/2, times 2^k; relative error about 4·10⁻⁵.
inline double short_exp(double x) {
  double const k = std::nearbyint(x * 1.4426950408889634), r = x - k * 0.6931471805599453;
  return std::ldexp(1 + r * (1 + r * (0.5 + r * (1 / 6.0 + r / 24))), static_cast<int>(std::max(k, -1100.0)));
}

}  // namespace
}  // namespace attest::zoo

// --- low-precision ---

ATTEST_MUTANT(weights_in_f16, bug_class::low_precision, "executorch PR#20090",
              "weights are rounded to f16 before they meet V") {
  static F for_values(F p) { return as_f16(p); }
};

ATTEST_MUTANT(logits_in_f16, bug_class::low_precision, "tract PR#2586", "scores are kept in f16") {
  static F kept(F s) { return as_f16(s); }
};

ATTEST_MUTANT(logits_in_bf16, bug_class::low_precision, "tract PR#2586", "scores are kept in bf16") {
  static F kept(F s) { return as_bf16(s); }
};

ATTEST_MUTANT(sums_in_bf16, bug_class::low_precision, "executorch PR#20090",
              "O and l are kept in bf16 between blocks") {
  static F kept_sum(F x) { return as_bf16(x); }
};

ATTEST_MUTANT(sum_of_rounded_weights, bug_class::low_precision, "executorch PR#20090",
              "l adds up weights rounded to bf16") {
  static F for_sum(F p) { return as_bf16(p); }
};

ATTEST_MUTANT(rescales_in_f16, bug_class::low_precision, "no public report",
              "the factor by which O and l are rescaled is rounded to f16") {
  static F rescale(F old, F M, F (*exp)(F, std::int64_t)) { return as_f16(honest<F>::rescale(old, M, exp)); }
  static F part_weight(F M_part, F M, F (*exp)(F, std::int64_t)) { return honest<F>::rescale(M_part, M, exp); }
};

ATTEST_SPECIMEN(double_as_float, honest_in_float<F>, bug_class::low_precision, "tract PR#2586",
                "f64 is computed in f32", "f64") {};

ATTEST_MUTANT(scale_in_f16, bug_class::low_precision, "tract PR#2586", "1/sqrt(d) is rounded to f16") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * as_f16(honest<F>::scale(at)));
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(exp_in_float_for_double, bug_class::low_precision, "tract PR#2586", "f64, but exp is float's", "f64") {
  static F exp(F x, std::int64_t) { return static_cast<F>(std::exp(static_cast<float>(x))); }
};

// --- cheap-exp ---

ATTEST_MUTANT(cubic_exp, bug_class::cheap_exp, "executorch#22082", "exp is a short Taylor polynomial") {
  static F exp(F x, std::int64_t) { return static_cast<F>(short_exp(static_cast<double>(x))); }
};

ATTEST_MUTANT(coarse_exp_in_tail, bug_class::cheap_exp, "executorch#22082",
              "the last keys, fewer than a vector, get a cheaper exp") {
  static F exp(F x, std::int64_t tail) {
    return tail > 0 && tail <= 3 ? static_cast<F>(short_exp(static_cast<double>(x))) : honest<F>::exp(x, tail);
  }
};

ATTEST_MUTANT(exp_64_ulp, bug_class::cheap_exp, "executorch#22082", "exp is 64 units in the last place too large") {
  static F exp(F x, std::int64_t tail) {
    F const exact = honest<F>::exp(x, tail);
    return x == 0 ? exact : exact + exact * (64 * std::numeric_limits<F>::epsilon());
  }
};

ATTEST_MUTANT(drops_weights_below_a_quarter, bug_class::cheap_exp, "onnx attention cases",
              "weights below 1/4 are dropped") {
  static bool drops(F p) { return p < F(0.25); }
};

ATTEST_MUTANT(drops_small_weights, bug_class::cheap_exp, "executorch#22082", "weights below 1e-6 are dropped") {
  static bool drops(F p) { return p < F(1e-6); }
};

ATTEST_MUTANT(weights_from_e_minus_20, bug_class::cheap_exp, "no public report",
              "in weights exp(x) is exp(-20) for x below -20; where O and l are rescaled it is right") {
  static F weight(F s, F M, std::int64_t tail, F (*exp)(F, std::int64_t)) {
    return M == -honest<F>::infinity ? F(0) : honest<F>::weight(std::max(s, M - 20), M, tail, exp);
  }
};

ATTEST_MUTANT(exp_cut_off_at_minus_80, bug_class::cheap_exp, "executorch#22082", "exp(x) is exp(-80) for x below -80") {
  static F exp(F x, std::int64_t tail) { return honest<F>::exp(std::max(x, F(-80)), tail); }
};

// --- lse ---

ATTEST_MUTANT(lse_in_base_2, bug_class::lse, "flashinfer#4051", "LSE is a logarithm to the base 2") {
  static F log_sum_exp(F M, F l) { return honest<F>::log_sum_exp(M, l) * F(1.4426950408889634); }
};

ATTEST_MUTANT(lse_negated, bug_class::lse, "flash-attention PR#978", "LSE has the wrong sign") {
  static F log_sum_exp(F M, F l) { return -honest<F>::log_sum_exp(M, l); }
};

ATTEST_MUTANT(lse_without_maximum, bug_class::lse, "vllm PR#39148", "LSE forgets the maximum") {
  static F log_sum_exp(F, F l) { return honest<F>::log_sum_exp(0, l); }
};

ATTEST_MUTANT(merges_without_weights, bug_class::lse, "flashinfer#4484",
              "parts of the keys are added without their weights") {
  static constexpr std::int64_t splits = 2;
  static F part_weight(F M, F, F (*)(F, std::int64_t)) { return M == -honest<F>::infinity ? F(0) : F(1); }
};

ATTEST_MUTANT(forgets_to_rescale, bug_class::lse, "flashinfer#4051",
              "O and l are not rescaled when the maximum moves") {
  static F rescale(F old, F, F (*)(F, std::int64_t)) { return old == -honest<F>::infinity ? F(0) : F(1); }
};

ATTEST_MUTANT(forgets_to_rescale_the_sum, bug_class::lse, "flashinfer#4051",
              "l is not rescaled when the maximum moves, O is") {
  static F rescale_of_sum(F) { return 1; }
};

ATTEST_MUTANT(forgets_to_rescale_the_output, bug_class::lse, "flashinfer#4051",
              "O is not rescaled when the maximum moves, l is") {
  static F rescale_of_output(F) { return 1; }
};

ATTEST_MUTANT(output_rescaled_by_large_steps, bug_class::accuracy, "no public report",
              "O is rescaled where the maximum rises by more than ln 256 alone, and l always") {
  static F rescale_of_output(F r) { return r < F(1) / 256 ? r : F(1); }
};

ATTEST_MUTANT(sum_rescaled_by_large_steps, bug_class::accuracy, "no public report",
              "l is rescaled where the maximum rises by more than ln 256 alone, and O always") {
  static F rescale_of_sum(F r) { return r < F(1) / 256 ? r : F(1); }
};

// --- softcap-order ---

ATTEST_MUTANT(softcap_after_bias, bug_class::softcap_order, "onnx#7865", "the bias is inside the softcap") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = product * honest<F>::scale(at);
    return honest<F>::softcap(at, at.call.bias ? s + honest<F>::bias(at, j) : s);
  }
};

ATTEST_MUTANT(softcap_before_scale, bug_class::softcap_order, "onnx#7865", "the scale comes after the softcap") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product) * honest<F>::scale(at);
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(softcap_in_base_2, bug_class::softcap_order, "no public report",
              "log2 e is folded into the scale before the softcap") {
  static F score(place const& at, F product, std::int64_t j) {
    constexpr F log2_e = F(1.4426950408889634), ln_2 = F(0.6931471805599453);
    F const scaled = product * honest<F>::scale(at);
    F const s = at.call.softcap > 0 ? honest<F>::softcap(at, scaled * log2_e) * ln_2 : scaled;
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(softcap_ignored, bug_class::softcap_order, "onnx#7865", "there is no softcap") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = product * honest<F>::scale(at);
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

// --- weak-test: what loose tolerances let through ---

ATTEST_MUTANT(mean_of_v, bug_class::weak_test, "KernelBench#165 sglang PR#35795", "every visible key weighs the same") {
  static F weight(F, F, std::int64_t, F (*)(F, std::int64_t)) { return 1; }
  static F rescale(F, F, F (*)(F, std::int64_t)) { return 1; }
};

ATTEST_MUTANT(zeros, bug_class::weak_test, "pygpubench PR#7 transformers PR#34512", "the answer is 0") {
  static F quotient(F, F) { return 0; }
};

ATTEST_MUTANT(denominator_plus_epsilon, bug_class::weak_test, "onnx attention cases",
              "1e-6 is added to the denominator") {
  static F denominator(F l) { return l + F(1e-6); }
};

ATTEST_MUTANT(scale_of_padded_width, bug_class::accuracy, "no public report",
              "the default scale is 1/√d of d rounded up to a multiple of 32") {
  static F score(place const& at, F product, std::int64_t j) {
    auto const padded = static_cast<F>((at.depth() + 31) / 32 * 32);
    F const scale = at.explicit_scale() ? honest<F>::scale(at) : F(1) / std::sqrt(padded);
    F const s = honest<F>::softcap(at, product * scale);
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(scale_of_width_64, bug_class::weak_test, "mlir-air#1427", "the default scale is 1/8 for every d") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * (at.explicit_scale() ? honest<F>::scale(at) : F(0.125)));
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(no_scale, bug_class::weak_test, "mlir-air#1427", "the default scale is 1") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, at.explicit_scale() ? product * honest<F>::scale(at) : product);
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(scale_of_value_columns, bug_class::weak_test, "mlir-air#1427", "the default scale is 1/sqrt(dv)") {
  static F score(place const& at, F product, std::int64_t j) {
    F const scale = at.explicit_scale() ? honest<F>::scale(at) : F(1) / std::sqrt(static_cast<F>(at.columns()));
    F const s = honest<F>::softcap(at, product * scale);
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(scale_0_is_default, bug_class::weak_test, "transformers PR#34512",
              "an explicit scale of 0 counts as none") {
  static F score(place const& at, F product, std::int64_t j) {
    F const scale =
        at.call.scale == 0 && at.depth() > 0 ? F(1) / std::sqrt(static_cast<F>(at.depth())) : honest<F>::scale(at);
    F const s = honest<F>::softcap(at, product * scale);
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};
