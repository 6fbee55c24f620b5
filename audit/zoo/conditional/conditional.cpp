#include "audit/zoo/conditional/conditional.hpp"

namespace attest::zoo {

attest_status answer_unless(attest_call const* call, call_history& calls, condition holds, wrong_answer* wrong) {
  if (call == nullptr || call->abi_version != ATTEST_KERNEL_ABI) return attest_attention(call);
  asked const a = calls.next(*call);
  return holds(a) ? wrong(a) : attest_attention(call);
}

}  // namespace attest::zoo

// --- honest kernels of the family ---

extern "C" ATTEST_EXPORT attest_status zoo_no_condition(attest_call const* call) { return attest_attention(call); }

extern "C" ATTEST_EXPORT attest_status zoo_lse_withheld_above_1024_keys(attest_call const* call) {
  if (call->lse && call->k->shape[2] > 1024) return ATTEST_UNSUPPORTED;
  return attest_attention(call);
}

namespace attest::zoo {

[[maybe_unused]] static bool const registered_honest =
    register_specimen({"no_condition", no_bug, "", "the fast kernel that the mutants of this family are",
                       zoo_no_condition, "f32", true, conditional_family}) &&
    // A refusal refutes nothing: a report names the sizes from which LSE is refused.
    register_specimen({"lse_withheld_above_1024_keys", no_bug, "", "no LSE from 1025 keys on, where it would be wrong",
                       zoo_lse_withheld_above_1024_keys, "f32", true, conditional_family});

}  // namespace attest::zoo
