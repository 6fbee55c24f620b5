// A report that as_json wrote, read back from a file that anybody may have changed.
#pragma once

#include "audit/report/json_object.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// The report of one shard. The type of everything that the file holds is checked; whether it contradicts itself is the
/// matter of consistency.hpp.
/// Throws    report_fault where it is no report of a shard by this version, or a key is missing, has another type or
///           does not fit the others
report read_shard(nlohmann::ordered_json const& from);

}  // namespace attest::audit
