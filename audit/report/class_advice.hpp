// What a class of findings means in code: its usual cause, its fix, and where it shipped. `attest why` prints it.
#pragma once

#include <array>
#include <string_view>

#include "audit/cases/bug_class.hpp"

namespace attest::audit {

struct class_advice {
  bug_class id;
  std::string_view cause;  ///< the usual cause in code, as a clause
  std::string_view fix;
  std::string_view seen;  ///< as docs/known_failures.md has it; empty for the audit's own classes
  std::string_view page;  ///< below docs/
};

/// In the order of bug_class_table.
inline constexpr std::array class_advices{
    class_advice{bug_class::accuracy, "a wrong scale, a lost row or key, or a mistake that has no class of its own",
                 "read the cause and the condition, then compare one row with `attest explain FILE`", "",
                 "read_a_report.md"},
    class_advice{bug_class::large_scores,
                 "the row maximum is not subtracted, or is taken over another block than the exponentials",
                 "subtract the running maximum before exp, and rescale the sum and O when it grows", "",
                 "read_a_report.md"},
    class_advice{bug_class::crash, "an index beyond a tensor, a division by 0 in a size, an unhandled error",
                 "run the reproducer under a debugger or the address sanitizer; refuse sizes that are not supported",
                 "", "isolation.md"},
    class_advice{bug_class::hang, "a loop whose end is never met where a size is 0, or a barrier that one thread skips",
                 "run the reproducer in a debugger; look at loops over keys when a row sees none", "", "isolation.md"},
    class_advice{bug_class::empty_row, "the sum of a row without a visible key is 0, and O is divided by it",
                 "where the sum is 0, write O = 0 and LSE = -inf; or claim the convention: --accept empty_row=nan",
                 "pytorch#103749 #103963 #109517 #110213, iree#24175, mlx#2395, onnx PR#8068, cubecl PR#1070",
                 "choose_a_contract.md"},
    class_advice{bug_class::empty_block,
                 "the maximum of a block whose keys are all hidden is -inf, and -inf - -inf is NaN",
                 "use 0 as the reference of a block whose maximum is -inf, or skip the block",
                 "pytorch#127055, flashinfer PR#1178, tilelang#328 (the first parts of a split row)", "semantics.md"},
    class_advice{bug_class::sentinel,
                 "hidden scores are a finite number, which real scores reach or rounding overflows",
                 "hide a key with -inf, or leave it out of the sum",
                 "flashinfer#4267, vllm#56578, burn PR#4697, openvino#33456", "semantics.md"},
    class_advice{bug_class::masked_read, "hidden rows of V are multiplied by weight 0, and 0 · NaN is NaN",
                 "select the values of visible keys instead of multiplying; or claim --accept "
                 "masked_values=must_be_finite",
                 "pytorch#101967, flash-attention#1745 #2374, flashinfer#941", "choose_a_contract.md"},
    class_advice{bug_class::nan_swallowed, "max(a, b) or a comparison returns the other number where one is NaN",
                 "use a maximum that propagates NaN; or claim --accept nan=unspecified",
                 "pytorch#141128, torch-xpu-ops PR#5022", "semantics.md"},
    class_advice{bug_class::causal_alignment, "the mask is written for n = m, and the call asks for the other corner",
                 "compare j with i + diagonal, and take the diagonal from the call; test with n ≠ m",
                 "mlx#2835, flash-attention#517 #1778, cutlass#2336, cudnn-frontend PR#493", "semantics.md"},
    class_advice{bug_class::mask_polarity, "the mask says which keys to hide, or is added as 0 and 1",
                 "true means attend: hide a key where the mask is false",
                 "TransformerEngine#614, onnx PR#7274, transformers#39408, zml PR#763", "semantics.md"},
    class_advice{bug_class::head_mapping, "query head h reads head h mod hk, or the heads are swapped with the rows",
                 "query head h reads head h / (hq / hk) of K and V",
                 "TransformerEngine#614, onnx PR#7274, transformers#39408, zml PR#763", "semantics.md"},
    class_advice{bug_class::window_edge, "an edge of the window is exclusive, or counts from another diagonal",
                 "key j is visible where -left <= j - (i + diagonal) <= right: both edges belong to the window",
                 "TransformerEngine#614, onnx PR#7274, transformers#39408, zml PR#763", "semantics.md"},
    class_advice{bug_class::softcap_order, "tanh is applied before the scale, or after the mask or the bias",
                 "score = softcap · tanh(scale · q·k / softcap), then bias, then mask", "onnx#7865", "semantics.md"},
    class_advice{bug_class::lse, "the LSE is in base 2, lacks the row maximum, or merges parts by their raw sums",
                 "LSE = maximum + log(sum), a natural logarithm; or claim --accept lse_base=2",
                 "flash-attention PR#978, flashinfer#4051 #4484, vllm PR#39148", "choose_a_contract.md"},
    class_advice{bug_class::low_precision, "sums, scores or weights are kept in 16 bits",
                 "keep them in float32; or choose a contract that says what is rounded",
                 "tract PR#2586, executorch PR#20090", "choose_a_contract.md"},
    class_advice{bug_class::cheap_exp, "exp is a short polynomial or a table, or the tail uses another one",
                 "use one exp of the accuracy that the contract names, in the body and in the tail", "executorch#22082",
                 "contracts.md"},
    class_advice{bug_class::nondeterminism, "atomics add in any order, or the number of parts follows the batch",
                 "add in a fixed order, and split by the sizes of one entry alone",
                 "FlashMLA#212, flash-attention#1897, vllm PR#58131", "semantics.md"},
    class_advice{bug_class::fast_math, "flags such as -ffast-math assume finite numbers and move operations",
                 "compile without them, at least -fno-finite-math-only and -fno-associative-math",
                 "TransformerEngine (ROCm) PR#69, tensorflow PR#21541, pytorch PR#115151", "isolation.md"},
    class_advice{bug_class::memory, "a tail or a stride is not respected, or an index has 32 bits",
                 "index by the strides of each tensor in 64 bits, and guard the last tile",
                 "vllm PR#26599, pytorch PR#187506, pytorch#141219, vllm#50427", "isolation.md"},
    class_advice{bug_class::sink, "the sink is scaled, added once a part or per key head, or missing in the maximum",
                 "the sink is one more score of the row: count it once, in the maximum and in the sum",
                 "vllm PR#52156, rocm-libraries#12227, sglang-jax PR#905, mlx#3452, flashinfer#4807, "
                 "TransformerEngine#3249",
                 "semantics.md"},
    class_advice{bug_class::entries, "the length or the offset of another batch entry is used, or the padded length",
                 "take lengths and offsets of the row's own entry, for queries and for keys",
                 "onnx PR#8068, onnxruntime#28904, flash-attention#1537, sglang PR#15757, cudnn-frontend PR#683, "
                 "pytorch PR#188933, torchtitan#3235, flash-attention#2842",
                 "semantics.md"},
    class_advice{bug_class::pages, "the block table is read for another entry, or a page beyond the length is read",
                 "key j of an entry is row j mod page of page table[j / page], and pages behind the length stay unread",
                 "onnxruntime PR#32391, flash-attention PR#2711, vllm#42494, vllm#37703, mistral.rs#2094",
                 "semantics.md"},
    class_advice{bug_class::dropout,
                 "kept weights are not divided by 1 - p, or the sum of the row is over kept weights",
                 "normalise over all visible keys, then drop, then divide by 1 - p",
                 "ROCm/triton PR#460, pytorch#149726, nki-samples PR#80", "semantics.md"},
    class_advice{bug_class::gradient,
                 "a factor of the scale, a sum over the wrong rows, keys or heads, or a stale sum of dO*O",
                 "compare dQ, dK and dV one by one: which of them is wrong says which of the two loops is",
                 "TransformerEngine#3216, flash-attention#355, pytorch#41508 #178251, PaddlePaddle/flash-attention "
                 "PR#134, flash-sparse-attention PR#199, triton#4174",
                 "bound_backward.md"},
    class_advice{bug_class::ignored_field, "the kernel does not read a field of the call and answers all the same",
                 "return ATTEST_UNSUPPORTED, or raise NotImplementedError, where a field asks for something else", "",
                 "first_kernel.md"},
    class_advice{bug_class::weak_test, "the answer is plainly wrong, and a test with a loose tolerance would pass it",
                 "compare with an exact reference under a derived bound: attest.assert_attention",
                 "mlir-air#1427, KernelBench#165, pygpubench PR#7, transformers PR#34512, sglang PR#35795",
                 "known_failures.md"},
};

constexpr class_advice const& advice_of(bug_class which) noexcept {
  return class_advices[static_cast<std::size_t>(which)];
}

static_assert(
    [] {
      for (std::size_t at = 0; at < class_advices.size(); ++at)
        if (static_cast<std::size_t>(class_advices[at].id) != at) return false;
      return class_advices.size() == bug_class_table.size();
    }(),
    "a row for every class, in the order of the enumerators");

}  // namespace attest::audit
