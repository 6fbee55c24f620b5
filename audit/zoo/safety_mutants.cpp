// Mutants that spread or swallow NaN, access memory that is not theirs, or give other outputs at the second call.
#include <atomic>
#include <cfenv>
#include <csignal>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "audit/zoo/define.hpp"

// --- masked-read ---

ATTEST_MUTANT(zero_times_masked_value, bug_class::masked_read, "pytorch#101967 flash-attention#2374",
              "masked rows of V are multiplied with a weight of 0") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&&) {
    return -honest<F>::infinity;
  }
  static constexpr bool reads_hidden_values = true;
};

ATTEST_MUTANT(masked_key_plus_minus_infinity, bug_class::masked_read, "flash-attention#1745",
              "-inf is added to the scores of masked keys: a NaN stays NaN") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&& score) {
    F const s = score();
    return s + -honest<F>::infinity;
  }
};

ATTEST_MUTANT(padding_is_read, bug_class::masked_read, "flashinfer#941",
              "V behind the band's right edge is multiplied with 0") {
  template <class Score>
  static std::optional<F> hidden(place const& at, Score&&) {
    if (at.call.mask || at.call.right < 0) return std::nullopt;
    return -honest<F>::infinity;
  }
  static constexpr bool reads_hidden_values = true;
};

// --- nan-swallowed ---

ATTEST_MUTANT(nan_score_is_no_score, bug_class::nan_swallowed, "pytorch#141128", "a NaN score counts as -inf") {
  static F kept(F s) { return std::isnan(s) ? -honest<F>::infinity : s; }
};

ATTEST_MUTANT(infinite_score_is_largest_score, bug_class::nan_swallowed, "torch-xpu-ops PR#5022",
              "+inf counts as the largest number") {
  static F kept(F s) { return s == honest<F>::infinity ? std::numeric_limits<F>::max() : s; }
};

ATTEST_MUTANT(nan_value_is_zero, bug_class::nan_swallowed, "torch-xpu-ops PR#5022", "a NaN in V counts as 0") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    F const v = honest<F>::value(at, j, c);
    return std::isnan(v) ? F(0) : v;
  }
};

ATTEST_MUTANT(nan_query_is_zero, bug_class::nan_swallowed, "pytorch#141128", "a NaN in q counts as 0") {
  static F query(place const& at, std::int64_t t) {
    F const q = honest<F>::query(at, t);
    return std::isnan(q) ? F(0) : q;
  }
};

// --- fast-math ---

ATTEST_MUTANT(infinity_folded_away, bug_class::fast_math, "tensorflow PR#21541",
              "a row whose scores are all -inf is 0/0") {
  static F weight(F s, F M, std::int64_t tail, F (*exp)(F, std::int64_t)) { return exp(s - M, tail); }
  static bool is_empty(F) { return false; }
};

ATTEST_MUTANT(nan_check_folded_away, bug_class::fast_math, "TransformerEngine (ROCm) PR#69",
              "no score is ever NaN, says the compiler") {
  static bool breaks(F) { return false; }
  static F weight(F s, F M, std::int64_t tail, F (*exp)(F, std::int64_t)) {
    return s > -honest<F>::infinity ? exp(s - M, tail) : F(0);  // false for NaN
  }
};

ATTEST_MUTANT(leaves_flush_to_zero, bug_class::fast_math, "pytorch PR#115151", "flush-to-zero is on when it returns") {
  static void after(attest_call const&) {
#if defined(__SSE2__)
    _mm_setcsr(_mm_getcsr() | 0x8040u);
#else
    std::fesetround(FE_UPWARD);
#endif
  }
};

ATTEST_MUTANT(rounds_upward, bug_class::fast_math, "pytorch PR#115151", "the rounding mode stays upward") {
  static void after(attest_call const&) { std::fesetround(FE_UPWARD); }
};

// --- nondeterminism ---

namespace attest::zoo {
inline std::atomic<unsigned> calls_so_far{0};
}

ATTEST_MUTANT(order_of_the_moment, bug_class::nondeterminism, "flash-attention#1897 FlashMLA#212",
              "every other call adds up in the opposite order") {
  static void before(attest_call const&) { ++calls_so_far; }
  static F dot(std::span<F const> a, std::span<F const> b) {
    if (calls_so_far % 2 == 0) return honest<F>::dot(a, b);
    F sum = 0;
    for (std::size_t t = a.size(); t-- > 0;) sum = sum + a[t] * b[t];
    return sum;
  }
};

ATTEST_MUTANT(splits_of_the_moment, bug_class::nondeterminism, "vllm PR#58131",
              "l is added up in another order every other call") {
  static void before(attest_call const&) { ++calls_so_far; }
  static F sum(std::span<F const> x) {
    if (calls_so_far % 2 == 0) return honest<F>::sum(x);
    F total = 0;
    for (std::size_t t = x.size(); t-- > 0;) total = total + x[t];
    return total;
  }
};

// --- memory ---

ATTEST_MUTANT(forgets_the_tail, bug_class::memory, "pytorch PR#187506",
              "keys beyond the last multiple of four are not looked at") {
  static std::int64_t keys(place const& at) { return at.keys() < 4 ? at.keys() : at.keys() / 4 * 4; }
};

ATTEST_MUTANT(assumes_compact_rows, bug_class::memory, "pytorch#141219",
              "the stride between rows of V is not looked at") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    DLTensor compact = *at.call.v;
    std::int64_t strides[4]{compact.strides[0], compact.strides[1], compact.shape[3], 1};
    compact.strides = strides;
    return load<F>(compact, at.b, at.hk, j, c);
  }
};

ATTEST_MUTANT(sixteen_bit_index, bug_class::memory, "vllm#50427", "the index of an element of V wraps at 2^16") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    std::int64_t const row = at.call.v->strides[2], index = (j * row + c) % 65536;
    return row > 0 ? honest<F>::value(at, index / row, index % row) : honest<F>::value(at, j, c);
  }
};

ATTEST_MUTANT(reads_past_keys, bug_class::memory, "vllm PR#26599", "the last row of K is read four numbers too far",
              "f32", false) {
  static F key(place const& at, std::int64_t j, std::int64_t t) {
    bool const last = j == at.keys() - 1 && t == at.depth() - 1;
    F const volatile beyond = last ? honest<F>::key(at, j, t + 4) : F(0);
    (void)beyond;
    return honest<F>::key(at, j, t);
  }
};

ATTEST_MUTANT(writes_past_out, bug_class::memory, "vllm PR#26599", "one number behind the last of out is written",
              "f32", false) {
  static void after(attest_call const& call) {
    auto const* s = call.out->shape;
    if (s[0] * s[1] * s[2] * s[3] > 0) store(*call.out, s[0] - 1, s[1] - 1, s[2] - 1, s[3], F(1));
  }
};

ATTEST_MUTANT(scales_queries_in_place, bug_class::memory, "pytorch#141219", "q is multiplied where it lies", "f32",
              false) {
  static void before(attest_call const& call) {
    if (call.q->shape[0] * call.q->shape[1] * call.q->shape[2] * call.q->shape[3] == 0) return;
    store(*call.q, 0, 0, 0, 0, F(2) * load<F>(*call.q, 0, 0, 0, 0));
  }
};

ATTEST_MUTANT(forgets_the_last_row, bug_class::memory, "pytorch PR#187506", "the last query of a call gets no answer") {
  static bool writes(place const& at) { return at.i + 1 < at.queries() || at.queries() < 2; }
};

ATTEST_MUTANT(divides_by_no_keys, bug_class::crash, "cubecl PR#1070", "without keys it divides by their number", "f32",
              false) {
  static void before(attest_call const& call) {
    if (call.k->shape[2] == 0) std::raise(SIGFPE);
  }
};
