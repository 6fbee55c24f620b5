// absorb_block and merge of fast/algorithm/online_softmax.hpp make softmax: by the compiler for up to 4 keys, here; for
// up to 8 by tests/proofs/online_softmax_exact_test.cpp, over the same arithmetic. proofs/models/exact_softmax.hpp
// states the scope of the proof.
#include "proofs/models/exact_softmax.hpp"

namespace attest::proofs {
namespace {

static_assert(blocks_are_softmax<1>(1) && blocks_are_softmax<1>(2) && blocks_are_softmax<1>(3),
              "up to 3 keys from {masked, -inf, 0, 1, 3}, every cutting into blocks: the blocked algorithm is softmax");
static_assert(blocks_are_softmax<1>(4),
              "4 keys from {masked, -inf, 0, 1, 3}, every cutting into blocks: the blocked algorithm is softmax");
static_assert(blocks_are_softmax<2>(2) && blocks_are_softmax<2>(3),
              "up to 3 keys, every cutting into blocks, l summed in 2 lanes: softmax");
static_assert(
    partial_rows_are_softmax<2>(2) && partial_rows_are_softmax<2>(3),
    "up to 3 keys, every cutting into blocks and partial rows, merged in the order of the keys, l in 2 lanes: "
    "softmax");

/// Merging with a partial row that saw no key changes nothing, on either side.
static_assert(
    [] {
      std::array<key_kind, most_keys> const keys{key_kind::one, key_kind::three, key_kind::masked};
      running_row<2> row, left;
      row.absorb(keys, 0, 3);
      running_row<2> right = row;
      left.merge(row);
      right.merge({});
      return left.m == row.m && left.l == row.l && left.O == row.O && right.m == row.m && right.l == row.l &&
             right.O == row.O;
    }(),
    "an empty partial row is neutral in a merge");

/// Longer rows than a reduction has lanes: 40 elements and fewer, each counted once.
static_assert(
    [] {
      std::array<rational, 40> x{};
      for (std::int64_t j = 0; j < 40; ++j) x[static_cast<std::size_t>(j)] = {j * j + 1, 1};
      std::int64_t expected = 0;
      for (std::int64_t count = 0; count <= 40; ++count) {
        if (reduce(x.data(), count, rational{}, [](rational const& a, rational const& b) { return a + b; }) !=
            rational{expected, 1})
          return false;
        expected += count * count + 1;
      }
      return true;
    }(),
    "a reduction in lanes takes every element once, for 0 to 40 elements");

}  // namespace
}  // namespace attest::proofs
