// Merges of partial results: seven honest ones, and others with one mistake each, of kinds that have been reported.
#include <algorithm>

#include "audit/zoo/operator/merge_kernel.hpp"

ATTEST_MERGE(merge_by_maximum, no_bug, "", "parts are weighed by the largest LSE, and divided once at the end") {};

ATTEST_MERGE(merge_falling, no_bug, "", "the same, the last part first") {
  static constexpr bool falling = true;
};

ATTEST_MERGE(merge_weights_first, no_bug, "", "weights are divided before they meet O") {
  static constexpr bool weights_first = true;
};

ATTEST_MERGE_UNDER("f32-split", merge_undivided, no_bug, "", "weights are exp(LSE_s - LSE), and nothing is divided") {
  static constexpr merge_form form = merge_form::undivided;
};

ATTEST_MERGE_UNDER("f32-ring", merge_pairs, no_bug, "", "one part after the other, divided each time") {
  static constexpr merge_form form = merge_form::pairs;
};

ATTEST_MERGE_UNDER("f32-ring-sigmoid", merge_sigmoid, no_bug, "",
                   "one part after the other, o - sigmoid(LSE_s - LSE)*(o - o_s)") {
  static constexpr merge_form form = merge_form::sigmoid;
};

ATTEST_MERGE_UNDER("f32-ring-sigmoid", merge_two_sigmoids, no_bug, "",
                   "the sigmoids of both differences, LSE by the larger of two") {
  static constexpr merge_form form = merge_form::two_sigmoids;
  static F merged_lse(F a, F b) {
    return honest_merge<F>::log_sum(std::max(a, b), 1 + honest_merge<F>::exp(-std::abs(a - b)));
  }
};

ATTEST_MERGE_UNDER("f32-ring-sigmoid", merge_sigmoid_reversed, bug_class::lse, "no public report",
                   "each part is weighed by the sigmoid of LSE - LSE_s") {
  static constexpr merge_form form = merge_form::sigmoid;
  static F ahead(F a, F b) { return a - b; }
};

ATTEST_MERGE_UNDER("f32-ring-sigmoid", merge_sigmoid_of_last_lse, bug_class::lse, "no public report",
                   "the LSE after a merge is its last part's") {
  static constexpr merge_form form = merge_form::sigmoid;
  static F merged_lse(F, F b) { return b; }
};

ATTEST_MERGE_UNDER("f32-split", merge_weights_sum_above_1, bug_class::lse, "no public report",
                   "weights are exp of the distance to the largest LSE, and nothing is divided") {
  static constexpr merge_form form = merge_form::undivided;
  static F weight_reference(F M, F) { return M; }
};

ATTEST_MERGE_UNDER("f32-ring", merge_pairs_keep_maximum, bug_class::lse, "no public report",
                   "the LSE of a pair, which weighs it in the next merge, is the larger of the two") {
  static constexpr merge_form form = merge_form::pairs;
  static F log_sum(F M, F) { return M; }
};

ATTEST_MERGE(merge_all_empty_nan, bug_class::lse, "flashinfer#4051, vllm PR#39148, vllm#27491",
             "a row that no part saw is NaN") {
  static F empty_output() { return std::numeric_limits<F>::quiet_NaN(); }
};

ATTEST_MERGE(merge_reads_empty_parts, bug_class::lse, "vllm PR#49294",
             "the O of a part that saw nothing meets the weight 0") {
  static bool reads(F) { return true; }
};

ATTEST_MERGE(merge_loses_last_part, bug_class::lse, "no public report", "the last of several parts is left out") {
  static std::int64_t parts(std::int64_t given) { return std::max<std::int64_t>(given - 1, 1); }
};

ATTEST_MERGE(merge_unshifted, bug_class::lse, "NATTEN PR#202", "weights are exp of the LSE itself") {
  static F shift(F) { return 0; }
};

ATTEST_MERGE_UNDER("f32-ring", merge_log_one_plus, bug_class::lse, "ring-flash-attention PR#30",
                   "LSE is a + log(1 + exp(b - a)), whichever is larger") {
  static constexpr merge_form form = merge_form::pairs;
  static F pair_reference(F a, F) { return a; }
};

ATTEST_MERGE(merge_lse_is_maximum, bug_class::lse, "no public report", "the LSE is the largest of the parts") {
  static F log_sum(F M, F) { return M; }
};

ATTEST_MERGE(merge_lse_unwritten, bug_class::memory, "no public report", "the LSE is not written") {
  static constexpr bool writes_lse = false;
};

ATTEST_MERGE(merge_256_parts, bug_class::lse, "FlashMLA PR#199", "parts behind the 256th are left out") {
  static std::int64_t parts(std::int64_t given) { return std::min<std::int64_t>(given, 256); }
};

ATTEST_MERGE(merge_strides_of_first, bug_class::lse, "local-inference-lab/vllm PR#15",
             "every part is read with the strides of the first") {
  static std::int64_t strides_of(std::int64_t) { return 0; }
};

ATTEST_MERGE(merge_base_2, bug_class::lse, "attention-gym PR#205, flashinfer#2113",
             "a natural LSE is taken for one in base 2") {
  static F exp(F x) { return static_cast<F>(std::exp2(static_cast<double>(x))); }
  static F log_sum(F M, F l) { return M + static_cast<F>(std::log2(static_cast<double>(l))); }
};
