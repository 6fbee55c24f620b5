// Mutants that answer ordinary inputs as an honest kernel does. They are wrong only with finite additive masks, or in
// long rows. They return O and LSE, but no weights, since weights would betray them.
#include "audit/zoo/define.hpp"

namespace attest::zoo {
namespace {

/// run and run_narrow for kernels that return no weights.
template <template <class> class P>
attest_status run_without_weights(attest_call const* call) {
  return call->weights ? ATTEST_UNSUPPORTED : run<P>(call);
}
template <template <class> class P>
attest_status run_narrow_without_weights(attest_call const* call) {
  return call->weights ? ATTEST_UNSUPPORTED : run_narrow<P>(call);
}

/// The steps of `base`, with facts about the current row.
template <class base>
struct row_steps : base {
  static bool writes(place const& at) {
    keys_of_row = at.keys();
    beside_finite_mask = false;
    for (std::int64_t j = 0; at.call.bias && j < keys_of_row; ++j)
      beside_finite_mask = beside_finite_mask || is_finite_mask(base::bias(at, j));
    return true;
  }
  static bool is_finite_mask(typename base::real bias) {
    return bias > static_cast<typename base::real>(-1e36) && bias < static_cast<typename base::real>(-1e6);
  }
  static bool is_long_row() { return keys_of_row >= 1025; }

  static inline thread_local std::int64_t keys_of_row = 0;
  static inline thread_local bool beside_finite_mask = false;
};

}  // namespace
}  // namespace attest::zoo

#define ATTEST_RARE(name, kind, seen_in, description) \
  ATTEST_SPECIMEN_FOR(run_without_weights, name, row_steps<honest<F>>, kind, seen_in, description)
#define ATTEST_RARE_NARROW(name, kind, seen_in, description, contract)                                           \
  ATTEST_SPECIMEN_FOR(run_narrow_without_weights, name, row_steps<honest_narrow<F>>, kind, seen_in, description, \
                      contract)

// --- sentinel ---

ATTEST_RARE(ignores_finite_masks, bug_class::sentinel, "vllm#56578 openvino#33456",
            "biases between -1e36 and -1e6 are not added") {
  using steps = row_steps<honest<F>>;
  static F score(place const& at, F product, std::int64_t j) {
    F const s = steps::softcap(at, product * steps::scale(at));
    return at.call.bias && !steps::is_finite_mask(steps::bias(at, j)) ? s + steps::bias(at, j) : s;
  }
};

ATTEST_RARE_NARROW(bf16_ignores_finite_masks, bug_class::sentinel, "vllm#56578 openvino#33456",
                   "biases between -1e36 and -1e6 are not added", "bf16") {
  using steps = row_steps<honest_narrow<F>>;
  static float score(place const& at, float product, std::int64_t j) {
    float const s = steps::softcap(at, product * steps::scale(at));
    return at.call.bias && !steps::is_finite_mask(steps::bias(at, j)) ? s + steps::bias(at, j) : s;
  }
};

ATTEST_RARE(mean_of_v_beside_finite_masks, bug_class::sentinel, "pytorch#103963 mlx#2395",
            "a row with a bias between -1e36 and -1e6 gets the mean of V, and its maximum as LSE") {
  using steps = row_steps<honest<F>>;
  static F weight(F s, F M, std::int64_t tail, F (*exp)(F, std::int64_t)) {
    return steps::beside_finite_mask ? F(1) : steps::weight(s, M, tail, exp);
  }
  static F rescale(F old, F M, F (*exp)(F, std::int64_t)) {
    return steps::beside_finite_mask ? F(1) : steps::rescale(old, M, exp);
  }
  static F log_sum_exp(F M, F l) { return steps::beside_finite_mask ? M : steps::log_sum_exp(M, l); }
};

// --- lse ---

ATTEST_RARE(lse_plus_1_beside_finite_masks, bug_class::lse, "vllm PR#39148",
            "the LSE of a row with a bias between -1e36 and -1e6 is 1 too large") {
  using steps = row_steps<honest<F>>;
  static F log_sum_exp(F M, F l) { return steps::log_sum_exp(M, l) + (steps::beside_finite_mask ? F(1) : F(0)); }
};

// --- memory: tails ---

ATTEST_RARE(long_rows_lose_the_last_key, bug_class::memory, "vllm PR#26599",
            "of 1025 keys and more the last is not read") {
  static std::int64_t keys(place const& at) { return at.keys() - (at.keys() >= 1025 ? 1 : 0); }
};

ATTEST_RARE_NARROW(bf16_long_rows_lose_the_last_key, bug_class::memory, "vllm PR#26599",
                   "of 1025 keys and more the last is not read", "bf16") {
  static std::int64_t keys(place const& at) { return at.keys() - (at.keys() >= 1025 ? 1 : 0); }
};

ATTEST_RARE_NARROW(f16_long_rows_lose_the_last_key, bug_class::memory, "vllm PR#26599",
                   "of 1025 keys and more the last is not read", "f16") {
  static std::int64_t keys(place const& at) { return at.keys() - (at.keys() >= 1025 ? 1 : 0); }
};

ATTEST_RARE(long_rows_count_a_key_twice, bug_class::memory, "vllm PR#26599",
            "of 1025 keys and more the one in the middle counts twice") {
  using steps = row_steps<honest<F>>;
  static F weight(F s, F M, std::int64_t tail, F (*exp)(F, std::int64_t)) {
    F const once = steps::weight(s, M, tail, exp);
    return steps::is_long_row() && tail == steps::keys_of_row / 2 ? once + once : once;
  }
};

// --- low-precision ---

ATTEST_RARE(long_rows_cut_values_to_bf16, bug_class::low_precision, "executorch PR#20090",
            "of 1025 keys and more V is rounded to bf16") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    F const v = honest<F>::value(at, j, c);
    return at.keys() < 1025
               ? v
               : static_cast<F>(audit::rounded_to(static_cast<double>(v), problem::format_of<problem::bf16>));
  }
};
