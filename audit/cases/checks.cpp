// The table of checks: what a pass of each proves, and what it cannot prove.
#include <algorithm>

#include "audit/cases/random.hpp"
#include "problem/operators.hpp"

namespace attest::audit {

std::vector<check> const& checks() {
  constexpr bool reaches_beyond = true;
  static std::vector<check> const all{
      {"worked-examples", bug_class::accuracy, "the documents' worked examples come out right",
       "anything about other inputs"},
      {"real-data", bug_class::accuracy, "two layers of a sentence encoder, with key padding, come out right",
       "other models, longer sequences"},
      {"accuracy", bug_class::accuracy, "Gaussian problems of many sizes stay inside the bound",
       "small errors at large n: a worst-case bound is loose there"},
      {"sharp", bug_class::cheap_exp,
       "two to eight keys at chosen score gaps: exp is as good as claimed, weights down to 2^-149",
       "errors that need many keys"},
      {"large-scores", bug_class::large_scores,
       "scores to 1e30, equal, rising, falling or dominated, give stable answers",
       "scores that overflow the element type", reaches_beyond},
      {"value-range", bug_class::low_precision,
       "values with a large offset, near overflow or subnormal keep their precision",
       "values above 2^126/n, which are not judged", reaches_beyond},
      {"subnormals", bug_class::fast_math,
       "numbers of Q, K and V below the smallest normal one count, under a contract by which underflow is gradual: "
       "f32-gradual",
       "anything about them under a contract that permits flushing, as f32, f64 and bf16 do", reaches_beyond},
      {"beyond-range", bug_class::large_scores,
       "nothing: it reports from which size of V and of q*k on O is infinite or NaN",
       "that an answer out there is right; elements inside the hypotheses are judged as everywhere", reaches_beyond},
      {"scale", bug_class::accuracy, "default (1/√d), explicit, negative and zero scales are applied",
       "scales too small to change the result"},
      {"softcap", bug_class::softcap_order, "softcap is c·tanh(s/c), after the scale, before bias and mask",
       "caps of other shapes"},
      {"bias", bug_class::sentinel, "biases, also -inf and finfo.min as additive masks, are added after the scale",
       "biases of other types than the inputs"},
      {"additive-masks", bug_class::sentinel,
       "a finite bias of -1e6 to -2^123 hides the keys it is at: one, half, the first 16 to 128, all but one, all",
       "biases between these; -inf and finfo.min, which bias asks", reaches_beyond},
      {"masked-against-live", bug_class::sentinel,
       "keys that a mask, padding or causal hides stay hidden where their scores are 1e3 to 1e30 above the live ones; "
       "additive masks are numbers that such scores pass",
       "a stand-in for -inf below -1e30", reaches_beyond},
      {"masks", bug_class::mask_polarity,
       "every byte but 0 attends, masks broadcast over every subset of batch, head and query", "masks of other types"},
      {"empty-rows", bug_class::empty_row, "a row without a visible key answers 0, its LSE -inf", "-"},
      {"empty-blocks", bug_class::empty_block,
       "masked stretches at the start, in the middle or at the end of live rows are harmless",
       "stretches longer than 300 keys"},
      {"bands", bug_class::causal_alignment,
       "causal and banded visibility, n = m and n != m, diagonals that are negative, beyond the keys, or saturate",
       "diagonals between these"},
      {"windows", bug_class::window_edge, "the first and last key of a window are inside", "-"},
      {"heads", bug_class::head_mapping, "query head h reads key-value head h/(hq/hk)", "-"},
      {"poison", bug_class::masked_read,
       "NaN, infinities and huge numbers at masked keys, and at keys a causal query does not see yet, change nothing",
       "reads that do not change the answer"},
      {"visible-nan", bug_class::nan_swallowed, "a NaN or infinity that is visible reaches the outputs it must reach",
       "which NaN it is"},
      {"special-values", bug_class::nan_swallowed,
       "NaN and infinities in one or all elements of queries, keys, values and bias reach their rows of 1 to 65 keys, "
       "with and without causal",
       "rows of other numbers of keys; masks"},
      {"tails", bug_class::memory,
       "every number of keys from 1 to 40, every d, dv and number of queries from 1 to 33, head dimensions to 576, "
       "indices past 2^16",
       "vectors wider than 16 elements, tails of other combinations, indices past 2^31"},
      {"edges", bug_class::memory,
       "the smallest, next and large lengths of the kernel's domain, each head size, each feature at each head size; "
       "of "
       "a kernel without limits whole tiles at usual head sizes, decoding, and each feature beyond one tile",
       "lengths between them, which are drawn"},
      {"nothing-there", bug_class::crash,
       "no batch, heads, queries, keys, dimensions or columns: no crash, and the answer that semantics.md says",
       "several sizes that are 0 at once, but queries and keys"},
      {"strides", bug_class::memory,
       "padded, overlapping and repeated rows of inputs, V inside K, gaps in outputs, byte offsets, heads 2^31 "
       "elements apart; each tensor in each form while the others are compact, pools and packed rows, too",
       "negative strides (forbidden)"},
      {"stale", bug_class::empty_row, "an earlier answer does not show through an empty or shorter problem", "-"},
      {"sequences", bug_class::nondeterminism,
       "each of up to 15 calls in turn, growing and shrinking, masked and not, of two conversations, is answered as if "
       "it were the only one",
       "state that shows after more calls, or in other orders"},
      {"determinism", bug_class::nondeterminism,
       "the same call twice gives the same bits; thread counts, batch entries, heads and rows alone: with "
       "--reproducible",
       "races that did not happen, other machines"},
      {"earlier-outputs", bug_class::memory,
       "inputs and outputs of 16 calls, alive at the same time, are what they were after each, when the last is made",
       "outputs that are older than 15 calls"},
      {"concurrent-calls", bug_class::nondeterminism,
       "problems that two or four threads of the caller ask at the same time are answered as one by one; what is wrong "
       "is an observation, without --require-concurrent-calls: the interface promises no such calls",
       "races that did not happen"},
      {"split-and-merge", bug_class::lse,
       "parts of the keys, merged by their LSE, answer the whole under the bound of such a merge",
       "kernels that give no LSE; the merge of the caller's own code"},
      {"weights-through-v", bug_class::accuracy,
       "with V = columns of the identity O is the weights: non-negative, 0 where masked, their sum 1 within its bound",
       "weights at inputs where V is not the identity (a kernel could tell)"},
      {"visibility-probe", bug_class::mask_polarity,
       "with Q = 0 the digits of O tell which keys each query read: those it was asked to",
       "reads of keys that end up with weight 0"},
      {"every-key", bug_class::accuracy,
       "in rows of up to 16384 keys each key counts once, with all bits of its values",
       "keys that no column of V tells apart, where the number of keys is drawn; longer rows"},
      {"long-sums", bug_class::low_precision, "sums of 512 to 70000 equal terms grow to their end, in O and in the LSE",
       "sums of unequal terms; longer ones"},
      {"far-blocks", bug_class::cheap_exp,
       "blocks of 16 to 128 keys that lie 3 to 80 (f16: 9) below the maximum count, before and after its block",
       "blocks whose weights are below the smallest normal number; skipping that changes no answer beyond its bound"},
      {"sinks", bug_class::sink,
       "one more score of each head, without key and value, counts once, whatever its size, and is in the LSE",
       "kernels that leave the sink out of the LSE by design, without a contract that says so", reaches_beyond},
      {"lengths", bug_class::entries,
       "each entry has its own queries and keys, bands hang on its own end; nothing behind a length is read",
       "slots of more than 512 keys, which drawn asks"},
      {"packed", bug_class::entries,
       "entries one behind the other, of queries, of keys or of both, do not see each other; rows behind the last "
       "belong "
       "to no entry",
       "offsets beyond 100, which drawn asks"},
      {"pages", bug_class::pages,
       "in pages of 1 to 256 keys, scrambled, shared or alone, the keys that the table names are read; unneeded "
       "columns are not followed",
       "pools beyond 2^31 elements"},
      {"block-masks", bug_class::mask_polarity,
       "blocks that are set are seen, within mask and band; partial blocks, rows of blocks with none or all",
       "blocks larger than 128 keys"},
      {"dropout", bug_class::dropout,
       "kept weights are divided by 1 - p behind the softmax; LSE and weights do not know of it",
       "kernels that draw their own mask: they cannot be asked"},
      {problem::merge.name, bug_class::lse,
       "attest_merge of 1 to 4,096 parts: LSE equal, nearly equal and far apart; parts that saw no key are not read",
       "LSE in base 2, answers of another type than the parts"},
      {problem::backward.name, bug_class::gradient,
       "attest_attention_backward: dQ, dK, dV, dBias and dSink of small calls of the other checks, of dP near its "
       "mean, "
       "of rows without keys, grouped heads, and each shape of a bias",
       "a gradient into the LSE; gradients of a pool of pages; calls above 2^21 multiplications", reaches_beyond},
      {"pairs", bug_class::accuracy,
       "causal, windows, masks over each axis, padding, biases, grouped heads, decode, scale and softcap, two at a "
       "time, with n = m and n != m",
       "three at a time"},
      {"support", bug_class::accuracy, "each feature of a call alone, and each two of them, at one small size",
       "three at a time, which drawn asks"},
      {"domain", bug_class::accuracy,
       "calls by which the domain of the kernel was found: calls that it answered wrongly, and calls outside its "
       "domain that ended its process are asked again",
       "that calls outside the domain are refused: few of them are made"},
      {"production", bug_class::accuracy,
       "attention problems that models run, whole or cut to what the time allows: a sample of the rows is judged",
       "rows that were not judged, except that their numbers are finite"},
      {"drawn", bug_class::accuracy,
       "shapes, features and thread counts drawn anew by every seed; small calls in changing order",
       "defects that strike a smaller fraction of the draws than 3 over their number"},
      {"stability", bug_class::large_scores,
       "the error in units of the bound against score range, keys, d and value offset",
       "points between the points of the curves", reaches_beyond},
  };
  return all;
}

check const* find_check(std::string_view name) {
  auto const at = std::ranges::find(checks(), name, &check::name);
  return at == checks().end() ? nullptr : &*at;
}

namespace {

/// A function that adds cases, and the checks to which it adds some.
struct family {
  void (*add)(case_list&);
  std::vector<std::string_view> checks;
};

// In the order of the report.
family const families[]{
    {add_worked_examples, {"worked-examples"}},
    {add_numbers, {"accuracy", "sharp", "large-scores", "value-range", "scale"}},
    {add_subnormals, {"subnormals"}},
    {add_beyond_range, {"beyond-range"}},
    {add_softcap, {"softcap"}},
    {add_visibility, {"bias", "masks", "empty-rows", "empty-blocks", "bands", "windows", "heads"}},
    {add_additive_masks, {"additive-masks"}},
    {add_masked_against_live, {"masked-against-live"}},
    {add_infinities, {"poison", "visible-nan"}},
    {add_causal_poison, {"poison"}},
    {add_special_values, {"special-values"}},
    {add_shapes, {"tails"}},
    {add_strides_of_tensors, {"strides"}},
    {add_nothing_there, {"nothing-there"}},
    {add_sequences, {"stale", "determinism", "split-and-merge"}},
    {add_conversations, {"sequences"}},
    {add_groups, {"earlier-outputs", "concurrent-calls"}},
    {add_probes, {"weights-through-v", "visibility-probe"}},
    {add_every_key, {"every-key"}},
    {add_long_sums, {"long-sums"}},
    {add_far_blocks, {"far-blocks"}},
    {add_sinks, {"sinks"}},
    {add_entries, {"lengths", "packed"}},
    {add_pages, {"pages"}},
    {add_block_masks, {"block-masks"}},
    {add_dropouts, {"dropout"}},
    {add_pairs, {"pairs"}},
    {add_stability, {"stability"}},
};

}  // namespace

std::vector<audit_case> generated_cases(case_options const& options) {
  case_list list(options);
  auto const wanted = [&](std::string_view check) { return options.wants(check); };
  for (family const& one : families)
    if (std::ranges::any_of(one.checks, wanted)) one.add(list);
  std::vector<audit_case> cases = list.take();
  std::erase_if(cases, [&](audit_case const& made) { return !wanted(made.check); });
  return cases;
}

}  // namespace attest::audit
