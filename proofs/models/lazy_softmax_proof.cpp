// A model: absorb_block and merge of fast/algorithm/online_softmax.hpp with the lazy steps of
// proofs/models/online_softmax.hpp, which no kernel in fast/ runs, are softmax too. By the compiler for up to 4 keys,
// here; for more by tests/proofs/online_softmax_exact_test.cpp.
#include "proofs/models/exact_softmax.hpp"

namespace attest::proofs {
namespace {

constexpr lazily tau_0{{0, 1}}, tau_1{{1, 1}}, tau_2{{2, 1}};

static_assert(blocks_are_softmax<1>(1, tau_1) && blocks_are_softmax<1>(2, tau_1) && blocks_are_softmax<1>(3, tau_1) &&
                  blocks_are_softmax<1>(4, tau_1),
              "up to 4 keys, every cutting into blocks, the reference up to 1 below the maximum: softmax");
static_assert(blocks_are_softmax<1>(1, tau_2) && blocks_are_softmax<1>(2, tau_2) && blocks_are_softmax<1>(3, tau_2) &&
                  blocks_are_softmax<1>(4, tau_2),
              "up to 4 keys, every cutting into blocks, the reference up to 2 below the maximum: softmax");
static_assert(partial_rows_are_softmax<2>(3, tau_1) && partial_rows_are_softmax<2>(3, tau_2),
              "3 keys, every cutting into blocks and partial rows, lazily rescaled, l in 2 lanes: softmax");
static_assert(blocks_are_softmax<1>(3, tau_0), "3 keys, lazily with tau = 0: the reference is the maximum");

/// The reference after the blocks {a} and {b}.
constexpr rational reference_after(key_kind a, key_kind b, lazily const& how) {
  running_row<1> row;
  std::array<key_kind, most_keys> const keys{a, b};
  row.absorb(keys, 0, 1, how);
  row.absorb(keys, 1, 2, how);
  return row.m;
}
using enum key_kind;
static_assert(reference_after(zero, one, tau_1) == rational{0, 1} &&
                  reference_after(one, three, tau_2) == rational{1, 1},
              "lazy: a maximum that grows by no more than tau leaves the reference where it is");
static_assert(reference_after(one, three, tau_1) == rational{3, 1} &&
                  reference_after(zero, three, tau_2) == rational{3, 1},
              "lazy: a maximum that grows by more than tau becomes the reference");
static_assert(reference_after(three, zero, tau_1) == rational{3, 1}, "lazy: the reference never falls");
static_assert(reference_after(masked, zero, tau_2) == rational{0, 1},
              "lazy: the first finite score becomes the reference, whatever tau is");

}  // namespace
}  // namespace attest::proofs
