// The order in which the calls of a case are made, and words for a call by its place there.
#pragma once

#include <string>
#include <vector>

#include "audit/cases/case.hpp"

namespace attest::audit {

/// Numbers of calls as audit_case::call takes them: what warms up, the first call, the others.
std::vector<std::size_t> order_of_calls(audit_case const& of);

/// "call 3 of 15 of this input, with b=1 hq=2 hk=2 n=1 m=17 d=8 dv=8". Empty of a first call that nothing warms up.
std::string words_of_call(audit_case const& of, std::size_t call);

}  // namespace attest::audit
