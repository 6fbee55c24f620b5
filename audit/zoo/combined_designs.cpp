// Honest kernels of designs that a preset does not promise: their contracts are a preset with fields of their own.
#include "audit/zoo/define.hpp"

ATTEST_HONEST(leaves_out_blocks, "blocks 17 below the running maximum are left out, and their V is not read",
              R"(f32 {"x0": 17})") {
  static bool leaves_out(F largest, F M) { return largest - M < -17; }
};

ATTEST_HONEST(lse_first, "l and the LSE first, then O by the weights exp(s - LSE)", R"(f32 {"normalise": "lse"})") {
  static constexpr bool weighs_by_lse = true;
};

ATTEST_HONEST(rescales_always, "every block rescales, and exp(0) is 4 units below 1",
              R"(f32 {"unchanged_rescale": "rounded"})") {
  static constexpr std::int64_t block = 64;
  static F rescale(F old, F M, F (*exp)(F, std::int64_t)) {
    return old == -honest<F>::infinity ? F(0) : exp(old - M, 0) * (1 - 2 * std::numeric_limits<F>::epsilon());
  }
};

ATTEST_HONEST(flash_attention_1,
              "O is divided by l after every block of 64 keys, and multiplied by it before the next") {
  static constexpr std::int64_t block = 64;
  static constexpr bool divides_blocks = true;
};

ATTEST_HONEST(states_in_bf16, "five finished parts, rounded to bf16, merged by their LSE",
              R"(f32-any {"u_state": "0x1p-8", "omega_state": "0x1p-134", "state_limit": 3e38})") {
  static constexpr std::int64_t splits = 5;
  static constexpr bool merges_by_lse = true;
  static F state(F o) { return rounded<problem::bf16>(o); }
};

ATTEST_HONEST(split_undivided, "five finished parts by the weights exp(LSE_s - LSE), and no division", "f32-split") {
  static constexpr std::int64_t splits = 5;
  static constexpr bool merges_by_lse = true;
  static constexpr bool merges_undivided = true;
};

ATTEST_HONEST(maximum_less_5, "the reference lies 5 below the maximum, so that weights use more of a narrow format",
              "f32-any") {
  static F weight(F s, F M, std::int64_t tail, F (*exp)(F, std::int64_t)) {
    return s == -honest<F>::infinity ? F(0) : exp(s - (M - 5), tail);
  }
  static F log_sum_exp(F M, F l) { return (M - 5) + static_cast<F>(std::log(static_cast<double>(l))); }
};

ATTEST_HONEST(online_normaliser, "M and l in one online pass; a second pass forms the weights of O anew",
              R"(f32 {"normalise": "first_pass"})") {
  static constexpr bool weighs_again = true;
};
