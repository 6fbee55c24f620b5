// What a file says of the calls of a case, beside their outputs, as violations and counts.
#pragma once

#include "audit/files/case_file.hpp"
#include "audit/judge/judge_case.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// Adds a violation for each call that ended in an error, by a signal or not at all (crash and hang), and for each
/// output of a wrong shape or type. The class of those is `memory`: none of their elements was compared with a truth;
/// what is wrong is where the elements of the answer lie. Who waives `accuracy` does not waive them. An O in the other
/// order of axes is judged in that order, and the violation says what came of it. Ensures   into.unsupported where a
/// call has no O, and no such violation of its own says why
void take_recorded(recorded_case const& recorded, contract const& claim, case_result& into, recorded_endings& counted);

/// Says of each violation of an O whether the O is within its bound when its elements are read in the other order of
/// axes: [b, n, h, d] for [b, h, n, d], or the reverse, as the file says; of packed rows [rows, heads, width] and
/// [heads, rows, width].
/// Cost      that of judging the call again; nothing above 2²⁶ products, or where both orders are the same
void tell_other_order(recorded_case const& recorded, contract const& claim, case_result& into);

/// Why a case whose earlier calls should show in its first one does not ask that: those calls have no answer, or the
/// file does not say in which order its calls were made. Empty where it does ask it, or there are no such calls.
std::string not_prepared(recorded_case const& recorded);

/// "12 calls: 9 answered, 2 errors, 1 killed": those that there are.
std::string words_of(recorded_endings const& endings);

}  // namespace attest::audit
