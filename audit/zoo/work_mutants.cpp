// Mistakes in how work is divided among heads, columns, tiles and rows, and in rows of NaN.
#include "audit/zoo/define.hpp"

namespace attest::zoo {

/// A tensor over the keys whose rows lie as close together as they fit.
template <class E>
E load_without_gaps(DLTensor const& from, place const& at, std::int64_t j) {
  DLTensor t = from;
  std::int64_t strides[4]{t.strides[0], t.strides[1], t.shape[3], t.strides[3]};
  t.strides = strides;
  return load<E>(t, at.b, at.h, at.i, j);
}

}  // namespace attest::zoo

// --- rows ---

ATTEST_MUTANT(nan_rows_are_empty, bug_class::nan_swallowed, "no public report",
              "a row whose sum l is not above 0, as of NaN, is answered as a row without keys") {
  static bool breaks(F) { return false; }
  static F quotient(F O, F l) { return l > 0 ? O / l : F(0); }
  static F log_sum_exp(F M, F l) { return l > 0 ? honest<F>::log_sum_exp(M, l) : -honest<F>::infinity; }
};

ATTEST_MUTANT(last_tiles_unanswered, bug_class::accuracy, "no public report",
              "tiles of 16 queries are dealt out to 8 workers, and what is left over is 0") {
  static std::int64_t keys(place const& at) {
    std::int64_t const tiles = (at.queries() + 15) / 16, all = at.call.q->shape[0] * at.query_heads() * tiles;
    std::int64_t const mine = (at.b * at.query_heads() + at.h) * tiles + at.i / 16;
    return all > 8 && mine >= all / 8 * 8 ? 0 : at.keys();
  }
};

// --- heads and columns ---

ATTEST_MUTANT(key_head_of_four, bug_class::head_mapping, "no public report",
              "query heads are taken four at a time, with K and V of the first of them") {
  static std::int64_t key_head(place const& at) { return at.h / 4 * 4 / (at.query_heads() / at.key_heads()); }
};

ATTEST_MUTANT(last_columns_not_rescaled, bug_class::accuracy, "no public report",
              "columns of O behind a multiple of 8 are not rescaled when the maximum moves") {
  static bool keeps_column(place const& at, std::int64_t c) { return c >= at.columns() / 8 * 8; }
};

// --- tiles ---

ATTEST_MUTANT(values_of_last_tile_late, bug_class::memory, "no public report",
              "V of the last tile of 16 keys is not fetched: it is V two tiles before, or 0") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    std::int64_t const last = (at.keys() - 1) / 16;
    if (last == 0 || j / 16 < last) return honest<F>::value(at, j, c);
    return last == 1 ? F(0) : honest<F>::value(at, j - 32, c);
  }
};

ATTEST_MUTANT(window_from_wider_tile, bug_class::window_edge, "no public report",
              "a window begins with the first whole tile of 32 keys behind its left edge, for tiles of 16 queries") {
  static bool in_band(place const& at, std::int64_t j) {
    return honest<F>::in_band(at, j) && (at.call.left < 0 || j >= first_whole_tile(at, 32));
  }
};

ATTEST_MUTANT(
    merges_beside_first_part, bug_class::accuracy, "no public report",
    "four parts of the keys are merged beside the maximum of the first that has any, so that others overflow") {
  static constexpr std::int64_t splits = 4;
  static constexpr bool merges_beside_first = true;
};

// --- strides ---

ATTEST_MUTANT(mask_without_gaps, bug_class::memory, "no public report", "the stride between rows of the mask is m") {
  static bool attends(place const& at, std::int64_t j) {
    return !at.call.mask || load_without_gaps<std::uint8_t>(*at.call.mask, at, j) != 0;
  }
};

ATTEST_MUTANT(bias_without_gaps, bug_class::memory, "no public report", "the stride between rows of the bias is m") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = honest<F>::softcap(at, product * honest<F>::scale(at));
    return at.call.bias ? s + load_without_gaps<F>(*at.call.bias, at, j) : s;
  }
};

// --- scores ---

ATTEST_MUTANT(softcap_flat_from_3, bug_class::softcap_order, "no public report", "tanh is 1 from 3 on, and -1 below") {
  static F score(place const& at, F product, std::int64_t j) {
    F const s = product * honest<F>::scale(at), c = static_cast<F>(at.call.softcap);
    F const capped = c > 0 && std::abs(s) > 3 * c ? std::copysign(c, s) : honest<F>::softcap(at, s);
    return at.call.bias ? capped + honest<F>::bias(at, j) : capped;
  }
};
