// The pictures of a finding, drawn: from the oracle, and from what the kernel answers when it is asked again.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/judge/judge_case.hpp"
#include "audit/report/pictures.hpp"

namespace attest::audit {

/// Answers to draw; nothing where there is none.
struct answer_source {
  std::function<std::optional<owned_outputs>()> answer;  ///< to the call of the violation
  std::function<std::optional<owned_outputs>(owned_problem const&)> another =
      {};  ///< to another problem; empty: of a file
};

/// Why one violation of a case cannot be drawn; empty where it can.
std::string not_drawn(audit_case const& each, violation const& wrong);

/// The pictures of one violation of a case; nothing where not_drawn says why.
/// `from.another` is asked the same problem with V := columns of the identity.
/// Cost      at most 24 rows of the oracle, and one question for each dv of 32 keys
std::optional<finding_pictures> draw_pictures(audit_case const& each, violation const& wrong, contract const& claim,
                                              answer_source const& from);

/// Every number of a problem of at most 96 numbers; nothing for larger ones.
std::vector<input_listing> list_inputs(owned_problem const& asked);

}  // namespace attest::audit
