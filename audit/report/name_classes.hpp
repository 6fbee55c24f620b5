// The classes of findings that nothing but their check or one row suggests.
#pragma once

#include "audit/report/report.hpp"

namespace attest::audit {

/// A class that a check suspects, or a row fits, gives way to the class of the one mistake that explains every failing
/// input that was tried. Without such a class: where another check has plain calls that are wrong, too, what this one
/// adds to them is not what is wrong, and its class is accuracy. What was judged stays in `judged`, so that the reports
/// of shards can be joined.
void name_classes(report& of);

}  // namespace attest::audit
