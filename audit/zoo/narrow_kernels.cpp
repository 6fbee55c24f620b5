// Kernels for 16-bit tensors: honest designs, and mutants that keep 16 bits although the contract demands a float.
#include <bit>

#include "audit/zoo/define.hpp"

ATTEST_NARROW(bf16_in_memory, no_bug, "", "bf16 tensors, float arithmetic", "bf16-ieee") {};

ATTEST_NARROW(f16_in_memory, no_bug, "", "f16 tensors, float arithmetic", "f16-ieee") {};

ATTEST_NARROW(bf16_weights, no_bug, "", "weights are rounded to bf16 before they meet V, and summed before",
              "bf16-ieee") {
  static float for_values(float p) { return honest_narrow<F>::narrowed(p); }
};

ATTEST_NARROW(f16_weights, no_bug, "", "weights are rounded to f16 before they meet V, and summed before", "f16-ieee") {
  static float for_values(float p) { return honest_narrow<F>::narrowed(p); }
};

// --- low-precision ---

// With weights in float, cut outputs would err no more than honestly rounded weights do, which bf16-ieee allows. Hence
// this mutant rounds weights, too.
ATTEST_NARROW(bf16_outputs_cut, bug_class::low_precision, "executorch PR#20090",
              "weights are rounded to bf16, and O is cut to it, not rounded", "bf16-ieee") {
  static float for_values(float p) { return honest_narrow<F>::narrowed(p); }
  static F output(float x) {
    return {static_cast<std::uint16_t>(std::isnan(x) ? 0x7fc0 : std::bit_cast<std::uint32_t>(x) >> 16)};
  }
};

ATTEST_NARROW(bf16_weights_cut, bug_class::low_precision, "executorch PR#20090",
              "weights are cut to bf16, not rounded, before they meet V", "bf16-ieee") {
  static float for_values(float p) { return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) & 0xffff0000u); }
};

ATTEST_NARROW(bf16_sums, bug_class::low_precision, "executorch PR#20090", "O and l are kept in bf16 between blocks",
              "bf16-ieee") {
  static float kept_sum(float x) { return honest_narrow<F>::narrowed(x); }
};

ATTEST_NARROW(bf16_logits, bug_class::low_precision, "tract PR#2586", "scores are kept in bf16", "bf16-ieee") {
  static float kept(float s) { return honest_narrow<F>::narrowed(s); }
};

ATTEST_NARROW(f16_logits, bug_class::low_precision, "tract PR#2586", "scores are kept in f16, and overflow above 65504",
              "f16-ieee") {
  static float kept(float s) { return honest_narrow<F>::narrowed(s); }
};

ATTEST_NARROW(f16_dot_products, bug_class::low_precision, "tract PR#2586", "q.k is added up in f16", "f16-ieee") {
  static float dot(std::span<float const> a, std::span<float const> b) {
    float sum = 0;
    for (std::size_t t = 0; t < a.size(); ++t) sum = honest_narrow<F>::narrowed(sum + a[t] * b[t]);
    return sum;
  }
};

// --- sentinel ---

ATTEST_NARROW(f16_lowest_for_hidden, bug_class::sentinel, "vllm#56578",
              "hidden keys score -65504, which finite scores reach", "f16-ieee") {
  template <class Score>
  static std::optional<float> hidden(place const&, Score&&) {
    return -65504.0f;
  }
  static constexpr bool reads_hidden_values = true;
};

ATTEST_NARROW(bf16_scaled_queries, bug_class::low_precision, "no public report",
              "Q times the scale is rounded to bf16 before it meets K", "bf16") {
  static float query(place const& at, std::int64_t t) {
    return honest_narrow<F>::narrowed(honest_narrow<F>::query(at, t) * honest_narrow<F>::scale(at));
  }
  static float score(place const& at, float product, std::int64_t j) {
    float const s = honest_narrow<F>::softcap(at, product);
    return at.call.bias ? s + honest_narrow<F>::bias(at, j) : s;
  }
};

// --- fast-math ---

ATTEST_NARROW(f16_flushes_outputs, bug_class::fast_math, "pytorch PR#115151", "outputs below 2^-14 become 0",
              "f16-ieee") {
  static F output(float x) { return honest_narrow<F>::output(std::abs(x) < 0x1p-14f ? std::copysign(0.0f, x) : x); }
};
