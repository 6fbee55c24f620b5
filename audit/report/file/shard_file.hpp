// The file of a shard: `shard` of a JSON report, from which `attest merge` reads everything it joins.
//
//   "shard": {"format": 3, "sha256": of "facts" as compact JSON with its keys in order,
//             "facts": {"index", "of", "reports": [the facts of facts.hpp, for each kernel]}}
//
// The rest of the JSON is computed from the same facts, for readers. merge reads nothing of it except `attest`, the
// version.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "audit/report/file/fact_archive.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// The value of `shard`, in one line.
/// Requires  reports of one shard, each with one contract
std::string shard_text(std::span<report const> all);

/// The reports in the JSON of a shard, at least one; verdicts are not set. The keys of the JSON may be in another
/// order, and there may be further keys next to `facts`.
/// Throws    report_fault if this version of attest did not write the shard, or if its hash does not match its facts.
///           Also if a fact is missing, has another type or is outside its limits
std::vector<report> read_shard(nlohmann::ordered_json const& from);

}  // namespace attest::audit
