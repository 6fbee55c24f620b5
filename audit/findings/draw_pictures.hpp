// The pictures of a finding: drawn from the oracle and from outputs of the kernel.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/judge/case_result.hpp"
#include "audit/report/pictures.hpp"

namespace attest::audit {

/// The source of the outputs to draw. A function returns nothing if there are none.
struct output_source {
  /// The outputs of the call that has the violation.
  std::function<std::optional<owned_outputs>()> of_call;
  /// The kernel's outputs for any problem; empty if the outputs come from a file.
  std::function<std::optional<owned_outputs>(owned_problem const&)> of_problem = {};
};

/// Why a violation of a case cannot be drawn; empty if it can.
std::string not_drawn(audit_case const& kernel_case, violation const& wrong);

/// The pictures of a violation of a case. Returns nothing if not_drawn gives a reason. The weights that the kernel
/// applies are its outputs for the same problem with columns of the identity for V.
/// Cost      at most 24 rows of the oracle, and 32/dv calls of the kernel, rounded up
std::optional<finding_pictures> draw_pictures(audit_case const& kernel_case, violation const& wrong,
                                              contract const& claim, output_source const& from);

/// The elements of all tensors of a problem if they are at most 96; else nothing.
std::vector<input_listing> list_inputs(owned_problem const& problem);

}  // namespace attest::audit
