// Rows of chosen scores: a few calls whose answers show what a kernel rounds inside, to which type, and how far its
// exponential is off.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

#include "audit/cause/hypotheses/hypothesis.hpp"
#include "audit/tensors/owned_outputs.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// Nothing where the kernel does not answer.
using problem_asker = std::function<std::optional<owned_outputs>(owned_problem const&)>;

struct seen_step {
  std::string sentence = {};  ///< with the numbers that were read; empty: the sentence of the hypothesis holds
  double number = 0;  ///< of step_of_cutoff: the least distance without a weight; of step_of_exp: the largest error
};

/// The steps that the rows confirm: hypothesis::step, or "contract-" and a preset.
using seen_arithmetic = std::map<std::string, seen_step, std::less<>>;

/// Does what was seen confirm this hypothesis? Its threshold must be near to the number that was read.
bool confirms(seen_arithmetic const& seen, hypothesis const& tried);

/// Each row has two keys with scores a and a − x; the weights of the others are 0. V is 1 at one of the two in two
/// columns, and 1 and 2⁻¹⁰ in a third. A hypothesis predicts every element: ô = F(K(Σ W(p)·v)/K(Σ L(p))) with p =
/// e^(S(s) − max S(s)), where S, W, L, K, F round, cut, or change nothing. It is confirmed if all elements are what it
/// predicts, up to roundings of float32, or of float64, and a right kernel's are not. Without such a hypothesis: an
/// exponential that depends on x alone, with weights that sum to 1, is off by the largest error seen; weights that are
/// 0 from some x on, and right before, are cut off there.
/// `shapes` are tried until one is answered.
/// Cost      four small calls
seen_arithmetic read_arithmetic(problem::element_type type, std::span<problem::sizes const> shapes,
                                problem_asker const& ask);

}  // namespace attest::audit
