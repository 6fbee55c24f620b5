// What a file says of the calls of a case, in addition to their outputs, as violations and counts.
#pragma once

#include <span>

#include "audit/files/case_file.hpp"
#include "audit/judge/case_result.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// One of these is an answer of a recorded call: O; or any gradient, since often one kernel forms dQ, another dK and
/// dV.
std::span<output_kind const> answers_of(problem::operator_row const& of);

/// Was an answer of this call recorded?
bool has_answer(recorded_case const& entry, std::size_t call);

/// Adds a violation for each call that ended in an error, by a signal or not at all (crash and hang). Also adds one for
/// each output of a wrong shape or type. Its class is `memory`, since its elements lie in the wrong places and none was
/// compared with a truth. A waiver of `accuracy` does not waive it. An O in the other order of axes is judged in that
/// order, and the violation reports the result.
/// Ensures   into.unsupported if a call has no answer, and no such violation of its own says why
void take_recorded(recorded_case const& recorded, contract const& claim, case_result& into, recorded_endings& counted);

/// For each violation of an O, says whether the O is within its bound when its elements are read in the other order of
/// axes: [b, n, h, d] for [b, h, n, d], or the reverse, as the file says. Packed rows have [rows, heads, width] and
/// [heads, rows, width].
/// Cost      judging the call again; nothing above 2²⁶ products, or if both orders are the same
void tell_other_order(recorded_case const& recorded, contract const& claim, case_result& into);

/// For each wrong element of an O that the file has as [b, n, h, d] or [n, b, h, d], says where it is there: reports
/// name elements in the order [b, h, n, d].
void tell_place_in_file(recorded_case const& recorded, case_result& into);

/// Why a case whose earlier calls should show in its first one does not ask that. Its earlier calls have no answer, or
/// the file does not say in which order its calls were made. Empty if it does ask it, or has no such calls.
std::string not_prepared(recorded_case const& recorded);

/// "12 calls: 9 answered, 2 errors, 1 killed": the counts that are not 0.
std::string words_of(recorded_endings const& endings);

}  // namespace attest::audit
