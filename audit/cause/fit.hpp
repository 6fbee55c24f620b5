// Whether recorded answers fit a hypothesis: the judge of ordinary answers judges them under the problem, or the
// contract, that the hypothesis supposes.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "audit/cause/call_event.hpp"
#include "audit/cause/hypotheses/hypothesis.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/row_index.hpp"

namespace attest::audit {

/// A case with the answers of its calls, in the order in which they were made.
struct answered_case {
  struct judged_call {
    answered_call call;
    std::vector<row_index> rows;   ///< the judged rows; empty: all
    std::vector<violation> wrong;  ///< by the claim
  };
  std::vector<judged_call> calls;
  std::set<call_event> events;
  std::vector<answered_call> unanswered = {};  ///< calls that ended without an answer

  /// Judges an answer by its claim and adds it.
  void add(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
           std::vector<row_index> rows, memory_form const& memory = {});
  bool is_wrong() const;
  /// Is every wrong element a 0 in the place of a number below the normal ones?
  bool is_flushed() const;
};

enum class fit : std::uint8_t {
  unconcerned,  ///< the hypothesis says nothing of this case
  certified,    ///< under the hypothesis every answer is certified, the elements that are wrong without it among them
  refuted,      ///< a right answer becomes wrong under the hypothesis, or a wrong one stays wrong
  open,         ///< nothing is refuted, and the judge does not certify all: under the hypothesis less is promised
};
/// Judges the wrong rows and then, if they are right, the whole case. `worst` becomes the largest error in the wrong
/// rows, in units of the bound that the hypothesis allows.
fit fit_of(hypothesis const& tried, answered_case const& answers, double* worst = nullptr);

/// Did a call end without an answer where a kernel with this mistake reads past an input, and was it seen to do so? The
/// other answers are right.
bool ends_calls(hypothesis const& tried, answered_case const& answers);

/// Does the hypothesis say anything of this call?
bool concerns(hypothesis const& tried, answered_call const& call);

/// Is the wrong row right in one of the supposed calls, and wrong in none? `worst` becomes the largest error in it, as
/// above.
fit fit_of_row(std::vector<answered_call> const& supposed, violation const& wrong, double& worst);

}  // namespace attest::audit
