// The search for the cause of failing inputs: every hypothesis is tried as the problem, or the contract, that the
// recorded answers may satisfy, by the judge of ordinary answers.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/cause/cause.hpp"
#include "audit/cause/hypotheses/hypothesis.hpp"
#include "audit/judge/judgement.hpp"
#include "audit/tensors/row_index.hpp"

namespace attest::audit {

/// What a kernel does beside a wrong number; its row is in event_hypotheses().
enum class call_event : std::uint8_t { crash, hang, outside, inputs, unusable, unwritten, environment, differs };

struct event_row {
  call_event id;
  std::string_view name, sentence;
};
std::vector<event_row> const& event_hypotheses();

/// A case with the answers of its calls, in the order in which they were made.
struct answered_case {
  struct judged_call {
    answered_call call;
    std::vector<row_index> rows;   ///< those that are judged; empty: all
    std::vector<violation> wrong;  ///< by the claim
  };
  std::vector<judged_call> calls;
  std::set<call_event> events;

  /// Judges an answer by its claim and adds it.
  void add(owned_problem const& problem, owned_outputs const& outputs, contract const& claim,
           std::vector<row_index> rows);
  bool is_wrong() const;
};

enum class fit : std::uint8_t {
  unconcerned,  ///< the hypothesis says nothing of this case
  certified,    ///< under the hypothesis every answer is certified, the elements that are wrong without it among them
  refuted,      ///< an answer is wrong under the hypothesis, or one that is wrong without it stays so
  open,         ///< the judge decides neither
};
/// Cost      judging the wrong rows once, and where they are right the whole case
/// `worst` becomes the largest error in the wrong rows, in units of the bound that it allows.
fit fit_of(hypothesis const& tried, answered_case const& answers, double* worst = nullptr);

/// A case of a report.
struct searched_case {
  std::string check, name;
  std::int64_t number = 0;
  std::vector<std::string> classes = {};  ///< bug classes of its violations

  std::string full_name() const { return check + "/" + name; }
};

/// Another contract under which failing cases were judged already.
struct holding_contract {
  std::string name, sentence;
  contract claim;
  bool less_precise = true;      ///< throughout; false: it allows another thing
  std::set<std::int64_t> cases;  ///< the numbers of those that are certified by it
};

struct cause_question {
  /// In the order in which they are tried, but that of failing ones the smaller come first in each turn of the checks.
  std::vector<searched_case> failing, passing;
  std::vector<holding_contract> contracts;
  /// Nothing where the case cannot be asked.
  std::function<std::optional<answered_case>(searched_case const&)> answers;
  /// Would the hypothesis change the problem of this case? It keeps the kernel from being asked in vain.
  std::function<bool(searched_case const&, hypothesis const&)> concerns;
  /// The multiplications of a case: small ones are tried first.
  std::function<double(searched_case const&)> products;
  /// Is this share of the time over?
  std::function<bool(double share)> late;
};

/// The smallest set of hypotheses that explains the most failing cases, with what passing cases say of them; where one
/// failing case alone was tried, all hypotheses of a sort that explain it.
/// Ensures   the same result for the same answers, where it is not late before the end
std::optional<named_cause> find_cause(cause_question const& asked);

}  // namespace attest::audit
