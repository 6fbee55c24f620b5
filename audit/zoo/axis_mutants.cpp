// Mistakes about an axis that is taken for another, and about scores: a factor, a bound, a softcap in another form.
#include "audit/zoo/define.hpp"

// --- axes ---

ATTEST_MUTANT(heads_clamped, bug_class::head_mapping, "no public report", "query head h reads kv head min(h, hk - 1)") {
  static std::int64_t key_head(place const& at) { return std::min(at.h, at.key_heads() - 1); }
};

ATTEST_MUTANT(heads_from_next, bug_class::head_mapping, "no public report",
              "the last query head of each group reads the next kv head, where groups have several") {
  static std::int64_t key_head(place const& at) {
    if (at.query_heads() == at.key_heads()) return at.h;
    return std::min((at.h + 1) / (at.query_heads() / at.key_heads()), at.key_heads() - 1);
  }
};

ATTEST_MUTANT(query_heads_modulo_4, bug_class::head_mapping, "no public report",
              "the query heads of a group are read modulo 4") {
  static F query(place const& at, std::int64_t t) {
    std::int64_t const group = at.query_heads() / at.key_heads();
    place other = at;
    other.h = at.h / group * group + at.h % group % 4;
    return honest<F>::query(other, t);
  }
};

ATTEST_MUTANT(bias_of_next_head, bug_class::head_mapping, "no public report",
              "query head h uses the bias of head h + 1, and the last head the bias of head 0") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * honest<F>::scale(at));
    return at.call.bias ? s + load<F>(*at.call.bias, at.b, (at.h + 1) % at.query_heads(), at.i, j) : s;
  }
};

ATTEST_MUTANT(diagonal_without_sign, bug_class::causal_alignment, "no public report",
              "the diagonal of a band is |diagonal|") {
  static bool in_band(place const& at, std::int64_t j) {
    std::int64_t const diagonal = at.call.diagonal;
    return zoo::in_band(at.i, j, diagonal < 0 ? saturated_sum(0, -std::max(diagonal, -INT64_MAX)) : diagonal,
                        at.call.left, at.call.right);
  }
};

ATTEST_MUTANT(left_edge_top_left, bug_class::window_edge, "no public report",
              "the left edge of a window is aligned top-left, the right one as asked") {
  static bool in_band(place const& at, std::int64_t j) {
    return zoo::in_band(at.i, j, at.call.diagonal, -1, at.call.right) && zoo::in_band(at.i, j, 0, at.call.left, -1);
  }
};

ATTEST_MUTANT(bias_transposed, bug_class::accuracy, "no public report",
              "a square bias is read with its last two axes swapped") {
  static F bias(place const& at, std::int64_t j) {
    place other = at;
    DLTensor const& of = *at.call.bias;
    if (of.shape[2] != of.shape[3] || of.shape[2] == 1) return honest<F>::bias(at, j);
    other.i = j;
    return honest<F>::bias(other, at.i);
  }
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * honest<F>::scale(at));
    return at.call.bias ? s + bias(at, j) : s;
  }
};

// --- scores ---

ATTEST_MUTANT(large_biases_hide, bug_class::accuracy, "no public report",
              "a bias of -10000 and below is taken for a mask") {
  static bool attends(place const& at, std::int64_t j) {
    return honest<F>::attends(at, j) && !(at.call.bias && honest<F>::bias(at, j) <= F(-10000));
  }
};

ATTEST_MUTANT(infinite_biases_hide, bug_class::nan_swallowed, "no public report",
              "a bias of -inf is taken for a mask: a NaN of its key or value is lost") {
  static bool attends(place const& at, std::int64_t j) {
    return honest<F>::attends(at, j) && !(at.call.bias && honest<F>::bias(at, j) == -honest<F>::infinity);
  }
};

ATTEST_MUTANT(bias_in_base_2, bug_class::accuracy, "no public report",
              "scores are brought to base 2, and the bias is not") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * honest<F>::scale(at));
    return at.call.bias ? s + honest<F>::bias(at, j) * F(0.6931471805599453) : s;
  }
};

ATTEST_MUTANT(softcap_not_multiplied, bug_class::softcap_order, "no public report",
              "the softcap c makes tanh(s/c), not c tanh(s/c)") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = product * honest<F>::scale(at), c = static_cast<F>(at.call.softcap);
    F const capped = c == 0 ? s : static_cast<F>(std::tanh(static_cast<double>(s / c)));
    return at.call.bias ? capped + honest<F>::bias(at, j) : capped;
  }
};

ATTEST_MUTANT(scores_clamped, bug_class::cheap_exp, "no public report", "scores above 20 count as 20") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::score(at, product, j);
    return s > 20 && s < honest<F>::infinity ? F(20) : s;
  }
};

ATTEST_MUTANT(log2_e_of_three_digits, bug_class::accuracy, "no public report",
              "log2 e is 1.44 where scores meet it, and 1/ln 2 where the LSE does") {
  static F score(place const& at, F product, std::int64_t j) {
    return honest<F>::score(at, product, j) * F(1.44 / 1.4426950408889634);
  }
};

ATTEST_MUTANT(scale_of_whole_root, bug_class::accuracy, "no public report", "the default scale is 1/floor(sqrt(d))") {
  static F score(place const& at, F product, std::int64_t j) {
    F const scale =
        at.explicit_scale() ? honest<F>::scale(at) : F(1) / std::floor(std::sqrt(static_cast<F>(at.depth())));
    F const s = honest<F>::softcap(at, product * scale);
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

ATTEST_MUTANT(hidden_score_0, bug_class::mask_polarity, "no public report",
              "hidden scores are 0, as of a product with the mask") {
  template <class Score>
  static std::optional<F> hidden(place const&, Score&&) {
    return F(0);
  }
  static constexpr bool reads_hidden_values = true;
};
