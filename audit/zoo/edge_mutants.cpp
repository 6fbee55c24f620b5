// Mistakes about the edges of a band, about tiles that an edge or the end cuts, about scores and a row's maximum.
#include "audit/zoo/define.hpp"

namespace attest::zoo {
namespace {
/// Is key j of the band with these edges? `diagonal` as the call has it.
bool with_edges(place const& at, std::int64_t j, std::int64_t left, std::int64_t right) {
  return in_band(at.i, j, at.call.diagonal, left, right);
}
/// The first key, or query, of the tile of 16.
std::int64_t tile_of(std::int64_t j) { return j / 16 * 16; }
/// The last query of the tile of 16.
std::int64_t last_of_tile(place const& at) { return std::min(tile_of(at.i) + 16, at.queries()) - 1; }
}  // namespace
}  // namespace attest::zoo

// --- edges ---

ATTEST_MUTANT(left_0_is_none, bug_class::window_edge, "no public report", "`if (left)`: an edge of 0 is no edge") {
  static bool in_band(place const& at, std::int64_t j) {
    return with_edges(at, j, at.call.left ? at.call.left : -1, at.call.right);
  }
};

ATTEST_MUTANT(window_is_symmetric, bug_class::window_edge, "no public report",
              "a window reaches as far to the right as to the left") {
  static bool in_band(place const& at, std::int64_t j) {
    return with_edges(at, j, at.call.left, at.call.left >= 0 ? at.call.left : at.call.right);
  }
};

ATTEST_MUTANT(edges_exchanged, bug_class::window_edge, "no public report", "left and right are exchanged") {
  static bool in_band(place const& at, std::int64_t j) { return with_edges(at, j, at.call.right, at.call.left); }
};

ATTEST_MUTANT(diagonal_from_0, bug_class::causal_alignment, "no public report", "the diagonal is max(m - n, 0)") {
  static bool in_band(place const& at, std::int64_t j) {
    return zoo::in_band(at.i, j, std::max<std::int64_t>(at.call.diagonal, 0), at.call.left, at.call.right);
  }
};

ATTEST_MUTANT(diagonal_tile_unmasked, bug_class::causal_alignment, "no public report",
              "the tile of 16 keys with the right edge is seen whole") {
  static bool in_band(place const& at, std::int64_t j) {
    return with_edges(at, j, at.call.left, -1) && with_edges(at, tile_of(j), -1, at.call.right);
  }
};

ATTEST_MUTANT(left_tile_unmasked, bug_class::window_edge, "no public report",
              "the tile of 16 keys with the left edge is seen whole") {
  static bool in_band(place const& at, std::int64_t j) {
    return with_edges(at, tile_of(j) + 15, at.call.left, -1) && with_edges(at, j, -1, at.call.right);
  }
};

ATTEST_MUTANT(band_of_packed_queries, bug_class::causal_alignment, "no public report",
              "the queries of a group of g heads are rows i·g + h mod g, by which the band goes") {
  static bool in_band(place const& at, std::int64_t j) {
    std::int64_t const group = at.query_heads() / at.key_heads();
    return zoo::in_band(at.i * group + at.h % group, j, at.call.diagonal, at.call.left, at.call.right);
  }
};

ATTEST_MUTANT(left_edge_in_cut_tiles, bug_class::window_edge, "no public report",
              "a left edge hides whole tiles of 16 by 16 alone, unless the right edge cuts them") {
  static bool in_band(place const& at, std::int64_t j) {
    if (at.call.left < 0) return honest<F>::in_band(at, j);
    std::int64_t const i0 = tile_of(at.i), end = tile_of(j) + 15;
    bool const cut = !zoo::in_band(i0, end, at.call.diagonal, -1, at.call.right);
    if (cut || !zoo::in_band(i0, end, at.call.diagonal, at.call.left, -1)) return honest<F>::in_band(at, j);
    return with_edges(at, j, -1, at.call.right);
  }
};

ATTEST_MUTANT(right_edge_in_last_tile, bug_class::causal_alignment, "no public report",
              "of the tiles of 16 keys that 16 queries reach, the right edge hides keys in the last one alone") {
  static bool in_band(place const& at, std::int64_t j) {
    std::int64_t const end = saturated_sum(saturated_sum(last_of_tile(at), at.call.diagonal), at.call.right);
    bool const whole = at.call.right >= 0 && j < tile_of(std::max<std::int64_t>(end, 0));
    return with_edges(at, j, at.call.left, whole ? -1 : at.call.right);
  }
};

ATTEST_MUTANT(window_of_last_query, bug_class::window_edge, "no public report",
              "16 queries begin with the tile of 16 keys in which the window of the last of them begins") {
  static bool in_band(place const& at, std::int64_t j) {
    if (at.call.left < 0) return honest<F>::in_band(at, j);
    std::int64_t const begin = saturated_sum(saturated_sum(last_of_tile(at), at.call.diagonal), -at.call.left);
    return honest<F>::in_band(at, j) && j >= tile_of(std::max<std::int64_t>(begin, 0));
  }
};

ATTEST_MUTANT(mask_ignored_with_band, bug_class::mask_polarity, "no public report", "beside a band no mask is read") {
  static bool attends(place const& at, std::int64_t j) {
    return at.call.left >= 0 || at.call.right >= 0 || honest<F>::attends(at, j);
  }
};

// --- the last tile ---

ATTEST_MUTANT(values_of_tail_moved_back, bug_class::accuracy, "no public report",
              "the last tile of fewer than 16 keys reads V of a tile that ends with the last key") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    std::int64_t const m = at.keys();
    return honest<F>::value(at, m > 16 && j >= tile_of(m) ? m - 16 + j % 16 : j, c);
  }
};

// --- scores ---

ATTEST_MUTANT(softcap_rational, bug_class::softcap_order, "no public report",
              "x(27 + x²)/(27 + 9x²), cut at ±1, stands for the tanh of the softcap") {
  static F score(place const& at, F product, std::int64_t j) {
    F s = product * honest<F>::scale(at);
    if (auto const cap = static_cast<F>(at.call.softcap); cap > 0) {
      F const x = s / cap;
      s = cap * std::clamp(x * (27 + x * x) / (27 + 9 * x * x), F(-1), F(1));
    }
    return at.call.bias ? s + honest<F>::bias(at, j) : s;
  }
};

// --- the maximum ---

ATTEST_MUTANT(maximum_of_first_tile, bug_class::large_scores, "no public report",
              "the maximum is the maximum of the first 16 keys") {
  static constexpr F lazy = honest<F>::infinity;
};

ATTEST_MUTANT(no_maximum, bug_class::large_scores, "no public report", "no maximum is subtracted") {
  static constexpr F lazy = honest<F>::infinity;
  static F first_maximum() { return 0; }
};
