// The command that shows the row of a wrong element.
#pragma once

#include <string>
#include <string_view>

#include "audit/report/report.hpp"
#include "audit/tensors/owned_problem.hpp"

namespace attest::audit {

/// "attest explain FILE --row 0,1,2 --problem PREFIX --contract f32", in the axes of the parts of a merge.
/// Requires  `of.file` holds the problem under the prefix, or, without a prefix, alone; `of` is not restated
///           (in_rows_of_parts)
/// Ensures   returns nothing if no file was written, if what is wrong is no element, or if its row has no query
std::string explain_command(shrunk_finding const& of, owned_problem const& problem, std::string_view prefix,
                            std::string_view contract);

}  // namespace attest::audit
