// Defects of shipping libraries, and honest kernels that look like them: special values with few keys, hidden keys that
// are read, stand-ins for −∞, calls without work, flushed inputs.
#include <csignal>

#include "audit/zoo/define.hpp"

// --- special values ---

ATTEST_HONEST(negative_nan, "NaN rows are NaN with the sign bit") {
  static constexpr F not_a_number = -std::numeric_limits<F>::quiet_NaN();
};

// --- hidden keys ---

ATTEST_MUTANT(future_key_plus_minus_infinity, bug_class::masked_read, "flash-attention#1745",
              "-inf is added to the scores behind the band's right edge, where there is no mask") {
  template <class Score>
  static std::optional<F> hidden(place const& at, Score&& score) {
    if (at.call.mask || at.call.right < 0) return std::nullopt;
    F const s = score();
    return s + -honest<F>::infinity;
  }
};

ATTEST_HONEST(drops_hidden_scores, "the scores of hidden keys are computed, and not looked at") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&& score) {
    [[maybe_unused]] F const volatile unread = score();
    return std::nullopt;
  }
};

ATTEST_MUTANT(sentinel_1e30, bug_class::sentinel, "openvino#33456", "masked keys have the score -1e30") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&&) {
    return F(-1e30);
  }
};

ATTEST_HONEST(hidden_keys_weigh_0, "hidden keys stay in their block, with a score of -inf and a weight of 0") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&&) {
    return -honest<F>::infinity;
  }
};

// --- nothing there ---

ATTEST_MUTANT(divides_by_no_heads, bug_class::crash, "cubecl PR#1070", "without heads it divides by their number",
              "f32", false, conditional_family) {
  static void before(attest_call const& call) {
    if (call.q->shape[1] == 0) std::raise(SIGFPE);
  }
};

ATTEST_MUTANT(no_lse_without_columns, bug_class::memory, "iree#24175", "where dv = 0 nothing is written, LSE neither") {
  static bool writes(place const& at) { return at.columns() > 0; }
};

ATTEST_MUTANT(zero_without_depth, bug_class::empty_row, "cubecl PR#1070",
              "where d = 0 the answer is 0, not the mean of V") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    return at.depth() == 0 ? F(0) : honest<F>::value(at, j, c);
  }
};

// --- subnormals ---

ATTEST_HONEST(flushes_inputs, "subnormal elements of Q, K and V count as 0, as the presets of f32 allow") {
  static F flushed(F x) { return std::fpclassify(x) == FP_SUBNORMAL ? F(0) : x; }
  static F query(place const& at, std::int64_t t) { return flushed(honest<F>::query(at, t)); }
  static F key(place const& at, std::int64_t j, std::int64_t t) { return flushed(honest<F>::key(at, j, t)); }
  static F value(place const& at, std::int64_t j, std::int64_t c) { return flushed(honest<F>::value(at, j, c)); }
};

// --- long rows ---

ATTEST_NARROW(f16_sums, bug_class::low_precision, "executorch PR#20090", "O and l are kept in f16 between blocks",
              "f16-ieee") {
  static float kept_sum(float x) { return honest_narrow<F>::narrowed(x); }
};
