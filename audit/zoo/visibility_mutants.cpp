// Mutants that attend to the wrong keys, or fail where no key is visible.
#include "audit/zoo/define.hpp"

// --- empty-row ---

ATTEST_MUTANT(nan_empty_row, bug_class::empty_row, "pytorch#103749 pytorch#110213", "0/0 where a query sees no key") {
  static bool is_empty(F) { return false; }
};

ATTEST_MUTANT(mean_empty_row, bug_class::empty_row, "pytorch#103963 mlx#2395 onnx PR#8068",
              "a query that sees no key gets the mean of V") {
  static F empty_output(place const& at, std::int64_t c) {
    F sum = 0;
    for (std::int64_t j = 0; j < at.keys(); ++j) sum += honest<F>::value(at, j, c);
    return sum / static_cast<F>(std::max<std::int64_t>(at.keys(), 1));
  }
};

ATTEST_MUTANT(unwritten_empty_row, bug_class::empty_row, "iree#24175",
              "rows without keys are skipped and keep what was there") {
  static bool writes(place const& at) {
    for (std::int64_t j = 0; j < at.keys(); ++j)
      if (honest<F>::in_band(at, j) && honest<F>::attends(at, j)) return true;
    return false;
  }
};

ATTEST_MUTANT(lse_0_of_empty_row, bug_class::empty_row, "cubecl PR#1070", "the LSE of a row without keys is 0") {
  static F empty_lse() { return 0; }
};

// --- empty-block ---

ATTEST_MUTANT(nan_empty_block, bug_class::empty_block, "pytorch#127055",
              "-inf - -inf where the first block is masked out") {
  static F rescale(F old, F M, F (*exp)(F, std::int64_t)) { return exp(old - M, 0); }
  static bool is_empty(F M) { return M == -honest<F>::infinity; }
  static F first_maximum() { return -honest<F>::infinity; }
};

ATTEST_MUTANT(empty_block_ends_row, bug_class::empty_block, "flashinfer PR#1178", "a masked-out block ends the row") {
  static bool stops_at_empty_block() { return true; }
};

// --- sentinel ---

ATTEST_MUTANT(sentinel_million_in_base_2, bug_class::sentinel, "flashinfer#4267",
              "-1e6 is added to the scores of masked keys in base 2, and nothing else hides them") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&& score) {
    return score() - F(1e6 * 0.693147180559945309417);
  }
  static constexpr bool reads_hidden_values = true;
};

ATTEST_MUTANT(sentinel_ten_thousand, bug_class::sentinel, "flashinfer#4267 burn PR#4697",
              "masked keys have the score -1e4") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&&) {
    return F(-1e4);
  }
};

ATTEST_MUTANT(sentinel_finfo_min, bug_class::sentinel, "vllm#56578",
              "masked keys have the most negative finite score") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&&) {
    return std::numeric_limits<F>::lowest();
  }
  static constexpr bool reads_hidden_values = true;
};

ATTEST_MUTANT(sentinel_maximum_from_0, bug_class::sentinel, "openvino#33456", "the running maximum starts at 0") {
  static F first_maximum() { return 0; }
  static F rescale(F old, F M, F (*exp)(F, std::int64_t)) { return exp(old - M, 0); }
};

ATTEST_MUTANT(sentinel_maximum_from_minus_100, bug_class::sentinel, "openvino#33456",
              "the running maximum starts at -100") {
  static F first_maximum() { return -100; }
};

ATTEST_MUTANT(sentinel_in_bias, bug_class::sentinel, "burn PR#4697", "a bias below -1e4 counts as -1e4") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * honest<F>::scale(at));
    return at.call.bias ? s + std::max(honest<F>::bias(at, j), F(-1e4)) : s;
  }
};

// --- causal-alignment ---

ATTEST_MUTANT(always_top_left, bug_class::causal_alignment, "flash-attention#517 mlx#2835",
              "bands are aligned top-left") {
  static bool in_band(place const& at, std::int64_t j) { return zoo::in_band(at.i, j, 0, at.call.left, at.call.right); }
};

ATTEST_MUTANT(causal_without_own_key, bug_class::causal_alignment, "flash-attention#517",
              "where the band ends at the diagonal, a query does not see its own key: j < i") {
  static bool in_band(place const& at, std::int64_t j) {
    std::int64_t const diagonal = at.call.right == 0 ? at.call.diagonal - 1 : at.call.diagonal,
                       left = at.call.right == 0 && at.call.left > 0 ? at.call.left - 1 : at.call.left;
    return zoo::in_band(at.i, j, diagonal, left, at.call.right);
  }
};

ATTEST_MUTANT(always_bottom_right, bug_class::causal_alignment, "flash-attention#1778 cutlass#2336",
              "bands are aligned bottom-right") {
  static bool in_band(place const& at, std::int64_t j) {
    return zoo::in_band(at.i, j, at.keys() - at.queries(), at.call.left, at.call.right);
  }
};

ATTEST_MUTANT(decoding_is_not_causal, bug_class::causal_alignment, "cudnn-frontend PR#493",
              "a single query sees every key") {
  static bool in_band(place const& at, std::int64_t j) { return at.queries() == 1 || honest<F>::in_band(at, j); }
};

// --- mask-polarity ---

ATTEST_MUTANT(inverted_mask, bug_class::mask_polarity, "TransformerEngine#614", "true hides instead of attending") {
  static bool attends(place const& at, std::int64_t j) { return !at.call.mask || !honest<F>::attends(at, j); }
};

ATTEST_MUTANT(ignored_mask, bug_class::mask_polarity, "transformers#39408", "the mask is not looked at") {
  static bool attends(place const&, std::int64_t) { return true; }
};

ATTEST_MUTANT(mask_of_the_first_head, bug_class::mask_polarity, "zml PR#763", "every head uses the mask of head 0") {
  static bool attends(place const& at, std::int64_t j) {
    return honest<F>::attends({at.call, at.b, 0, at.hk, at.i}, j);
  }
};

ATTEST_MUTANT(mask_of_the_first_batch, bug_class::mask_polarity, "transformers#39408",
              "every batch entry uses the first mask") {
  static bool attends(place const& at, std::int64_t j) {
    return honest<F>::attends({at.call, 0, at.h, at.hk, at.i}, j);
  }
};

ATTEST_MUTANT(band_or_mask, bug_class::mask_polarity, "transformers#39408", "with a mask, the band is forgotten") {
  static bool in_band(place const& at, std::int64_t j) { return at.call.mask || honest<F>::in_band(at, j); }
};

// --- head-mapping ---

ATTEST_MUTANT(heads_interleaved, bug_class::head_mapping, "onnx PR#7274",
              "query head h reads key-value head h mod hk") {
  static std::int64_t key_head(place const& at) { return at.h % at.key_heads(); }
};

ATTEST_MUTANT(first_head_only, bug_class::head_mapping, "zml PR#763",
              "with fewer key-value heads, all read the first") {
  static std::int64_t key_head(place const& at) { return at.query_heads() == at.key_heads() ? at.h : 0; }
};

// --- window-edge ---

ATTEST_MUTANT(window_without_first_key, bug_class::window_edge, "transformers#39408",
              "the left edge of a window is outside") {
  static bool in_band(place const& at, std::int64_t j) {
    std::int64_t const left = at.call.left > 0 ? at.call.left - 1 : at.call.left;
    return zoo::in_band(at.i, j, at.call.diagonal, left, at.call.right);
  }
};

ATTEST_MUTANT(window_with_one_key_more, bug_class::window_edge, "zml PR#763",
              "the right edge of a window is one key too far") {
  static bool in_band(place const& at, std::int64_t j) {
    std::int64_t const right =
        at.call.left >= 0 && at.call.right >= 0 ? saturated_sum(at.call.right, 1) : at.call.right;
    return zoo::in_band(at.i, j, at.call.diagonal, at.call.left, right);
  }
};
