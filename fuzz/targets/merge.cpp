// Merges by the exported C function, sound and wrecked: none leaves its memory, and sound ones are inside their bound.
//
// Bytes → an attest_merge_call, sound at first and then wrecked (ranks, shapes, strides, types, NULLs, lists, numbers,
// contents, memory that tensors share). The exported C function of the built-in kernel gets it. A malformed call is
// FAILED, a call of an unknown version UNSUPPORTED, and neither touches anything. Any other is OK and touches elements
// of its outputs alone. The certified reference judges each element under the roundings that the kernel declares for
// merges. Another call gives the same bits, whatever was there before.
#include <cstdio>

#include "audit/judge/judge_outputs.hpp"
#include "audit/tensors/problem_draft.hpp"
#include "fast/algorithm/model.hpp"
#include "fast/simd/operations.hpp"
#include "fuzz/support/merge_call.hpp"
#include "fuzz/support/require.hpp"

namespace {

using namespace attest;
using fuzz::merge_under_test;
using fuzz::require;

/// The claim of the built-in kernel: fast::merge_model, and one rounding to the type of the answer if that is narrower.
template <class T>
audit::contract claim_of(problem::element_type answer) {
  audit::contract claim;
  claim.name = "fast::merge_model";
  claim.fixed = fast::merge_model<T>;
  problem::binary_format const &format = problem::row_of(answer).format, working = problem::format_of<T>;
  if (format.fraction_bits >= working.fraction_bits) return claim;
  using problem::formats::power_of_two;
  claim.fixed.u_out = power_of_two(-format.fraction_bits - 1);
  claim.fixed.omega_out = power_of_two(format.smallest() - 1);
  claim.fixed.out_limit = power_of_two(format.above_largest()) * (1 - claim.fixed.u_out / 2);
  return claim;
}

void judge(merge_under_test const& tested) {
  problem::element_type const type = tested.lse_type();
  audit::problem_draft const draft = audit::merge_draft(tested.parts(), type);
  auto const instance = problem::make_instance(draft.arguments());
  require(instance.has_value(), "the parts of a sound call are a problem", tested);
  audit::contract const claim = type == problem::element_type::f64 ? claim_of<double>(tested.answer_type())
                                                                   : claim_of<float>(tested.answer_type());
  audit::judgement const judged = audit::judge(instance.value(), tested.answer(), claim);
  for (audit::violation const& wrong : judged.violations) std::fprintf(stderr, "%s\n", wrong.sentence.c_str());
  require(judged.failed == 0 && judged.undecided == 0, "every element is within its bound", tested);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  merge_under_test tested({data, size});
  if (!tested.inside_memory()) return 0;  // the kernel cannot know
  attest_status const expected = tested.expected();
  if (expected == ATTEST_OK && !tested.affordable()) return 0;
  static auto const sets = fast::simd_targets();
  require(fast::use_simd_target(sets[tested.instruction_set % sets.size()]), "instruction sets can be chosen", tested);

  merge_under_test const before(tested);
  attest_status const status = tested.ask();
  require(tested.same_inputs(before), "inputs, descriptors and lists stay as they were", tested);
  require(status == expected, "the status is that of the rules", tested);
  if (status != ATTEST_OK) {
    require(tested.same_outputs(before), "outputs of a call that is not answered stay as they were", tested);
    return 0;
  }
  require(tested.same_gaps(before), "gaps stay as they were", tested);
  merge_under_test again(before);
  again.fill_outputs(std::byte{0x5a});
  require(again.ask() == ATTEST_OK && again.same_elements(tested), "asked again, it has the same bits", tested);
  require(tested.copies_single_parts(), "where one part is read, the answer is that part", tested);
  if (tested.has_rows()) judge(tested);
  return 0;
}
