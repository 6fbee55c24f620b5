// Mistakes about tiles of keys: what fills the last one, where a loop over them ends, a buffer of another tile.
#include "audit/zoo/define.hpp"

// --- the last tile ---

ATTEST_MUTANT(zeros_fill_last_tile, bug_class::accuracy, "no public report",
              "the last tile is filled with keys and values of 0, which no mask hides") {
  static bool exists(place const& at, std::int64_t j) { return j < at.keys(); }
  static bool supports(attest_call const& call) { return !call.weights; }
  static std::int64_t keys(place const& at) { return (at.keys() + 15) / 16 * 16; }
  static F key(place const& at, std::int64_t j, std::int64_t t) {
    return exists(at, j) ? honest<F>::key(at, j, t) : F(0);
  }
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    return exists(at, j) ? honest<F>::value(at, j, c) : F(0);
  }
  static bool attends(place const& at, std::int64_t j) { return !exists(at, j) || honest<F>::attends(at, j); }
  static F score(place const& at, F product, std::int64_t j) {
    return exists(at, j) ? honest<F>::score(at, product, j) : F(0);
  }
};

ATTEST_MUTANT(last_tile_moved_back, bug_class::accuracy, "no public report",
              "a last tile of fewer than 16 keys is moved back to end with the last key") {
  static std::int64_t place_of(place const& at, std::int64_t j) {
    std::int64_t const m = at.keys(), tail = m / 16 * 16;
    return j >= tail && m > 16 ? m - 16 + (j - tail) : j;
  }
  static bool supports(attest_call const& call) { return !call.weights; }
  static std::int64_t keys(place const& at) { return at.keys() > 16 ? (at.keys() + 15) / 16 * 16 : at.keys(); }
  static F key(place const& at, std::int64_t j, std::int64_t t) { return honest<F>::key(at, place_of(at, j), t); }
  static F value(place const& at, std::int64_t j, std::int64_t c) { return honest<F>::value(at, place_of(at, j), c); }
  static bool attends(place const& at, std::int64_t j) { return honest<F>::attends(at, place_of(at, j)); }
  static bool in_band(place const& at, std::int64_t j) { return honest<F>::in_band(at, place_of(at, j)); }
  static F score(place const& at, F product, std::int64_t j) { return honest<F>::score(at, product, place_of(at, j)); }
};

ATTEST_MUTANT(reached_last_tile_moved_back, bug_class::accuracy, "no public report",
              "a last tile of fewer than 16 keys that 16 queries reach is moved back to end with the last key") {
  using moved = last_tile_moved_back<F>;
  static bool is_reached(place const& at) {
    std::int64_t const last = std::min(at.i / 16 * 16 + 16, at.queries()) - 1, tail = at.keys() / 16 * 16;
    return zoo::in_band(last, tail, at.call.diagonal, -1, at.call.right);
  }
  static std::int64_t place_of(place const& at, std::int64_t j) { return is_reached(at) ? moved::place_of(at, j) : j; }
  static bool supports(attest_call const& call) { return !call.weights; }
  static std::int64_t keys(place const& at) { return is_reached(at) ? moved::keys(at) : at.keys(); }
  static F key(place const& at, std::int64_t j, std::int64_t t) { return honest<F>::key(at, place_of(at, j), t); }
  static F value(place const& at, std::int64_t j, std::int64_t c) { return honest<F>::value(at, place_of(at, j), c); }
  static bool attends(place const& at, std::int64_t j) { return honest<F>::attends(at, place_of(at, j)); }
  static bool in_band(place const& at, std::int64_t j) { return honest<F>::in_band(at, place_of(at, j)); }
  static F score(place const& at, F product, std::int64_t j) { return honest<F>::score(at, product, place_of(at, j)); }
};

// --- buffers ---

ATTEST_MUTANT(values_of_tile_before, bug_class::accuracy, "no public report",
              "a tile of 16 keys meets V of the tile before, as of a buffer that was not yet filled") {
  static F value(place const& at, std::int64_t j, std::int64_t c) {
    return honest<F>::value(at, j < 16 ? j : j - 16, c);
  }
};

ATTEST_MUTANT(keys_of_tile_before, bug_class::accuracy, "no public report",
              "a tile of 16 keys has K of the tile before, as of a buffer that was not yet filled") {
  static F key(place const& at, std::int64_t j, std::int64_t t) { return honest<F>::key(at, j < 16 ? j : j - 16, t); }
};

ATTEST_MUTANT(keys_swapped_in_pairs, bug_class::accuracy, "no public report", "rows of K are swapped in pairs") {
  static F key(place const& at, std::int64_t j, std::int64_t t) {
    return honest<F>::key(at, (j ^ 1) < at.keys() ? j ^ 1 : j, t);
  }
};

ATTEST_MUTANT(mask_of_first_tile, bug_class::mask_polarity, "no public report",
              "every tile of 16 keys uses the mask of the first") {
  static bool attends(place const& at, std::int64_t j) { return honest<F>::attends(at, j % 16); }
};

ATTEST_MUTANT(mask_not_in_last_tile, bug_class::mask_polarity, "no public report",
              "the mask is not applied to the last tile of 32 keys, if there are several") {
  static bool attends(place const& at, std::int64_t j) {
    return (at.keys() > 32 && j >= (at.keys() - 1) / 32 * 32) || honest<F>::attends(at, j);
  }
};

// --- loops and sums ---

ATTEST_MUTANT(diagonal_tile_unread, bug_class::causal_alignment, "no public report",
              "the loop of a band ends before the tile of 16 keys with the diagonal, except the first") {
  static bool in_band(place const& at, std::int64_t j) {
    if (at.call.right < 0) return honest<F>::in_band(at, j);
    std::int64_t const last = saturated_sum(saturated_sum(at.i, at.call.diagonal), at.call.right);
    std::int64_t const end = last < 0 ? 0 : last / 16 * 16;
    return honest<F>::in_band(at, j) && j < (end > 0 ? end : 16);
  }
};

ATTEST_MUTANT(sum_of_last_tile, bug_class::accuracy, "no public report", "l is the sum of the last tile alone") {
  static F rescale_of_sum(F) { return 0; }
  static bool leaves_out(F largest, F) { return largest == -honest<F>::infinity; }
};
