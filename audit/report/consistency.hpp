// What the numbers of one report imply about each other. `merge` reads files that other programs may have edited: one
// that contradicts itself is refused, so that a verdict never rests on a list that was cut off.
#pragma once

#include "audit/report/report.hpp"

namespace attest::audit {

/// Requires nothing of `part`, which was read from a file.
/// Throws    report_fault, with the name of the field, where one of these does not hold:
///           checks       names differ; failed, undecided, unsupported ≤ cases; a case failed exactly where there are
///                        faults, and is undecided exactly where elements are; by output and size, dull ≤ judged and
///                        the ratios add to judged; these add to the elements judged by a bound; without faults the
///                        largest error is at most 1 bound, and 0 where no bound judged
///           systematic   calls ≤ rows ≤ elements ≤ those of the output that a bound judged; sums that so many calls can have
///           outside      no more elements judged, and outside, than the check has
///           failing      every failed case once (at most report::kept_failing), with its classes; a finding for
///                        each class of each check
///           findings     of a failing case, of one of its classes, each output once; waived exactly where 'waive' names it
///           unanswered   none where the report is complete, a reason or a case where it is not
///           cases        numbers from 1 to the number of cases of all shards; of a complete shard exactly its part of
///                        these, where the report has 'all_draws', but for draws that 'not_asked' names
///           replayed     there where the options name --replay and the report has 'all_draws'
///           coverage     counts the same elements and draws as the checks
///           curves       failed exactly where the case failed
///           contract     the revision is that of its numbers
///           told         as many observations of a kind as its count says, at most report_builder::listed_per_kind
///           verdict      that of the findings and counts, by report_builder::finish
/// Cost      that of a copy of the report
void require_consistent(report const& part);

}  // namespace attest::audit
