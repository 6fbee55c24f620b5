// The reports of all shards of one audit, joined: `attest merge`.
#pragma once

#include <string>
#include <vector>

#include "audit/report/report.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// The file of a report: its name and its contents.
struct report_file {
  std::string name, text;
};

/// Joins the reports of all shards of one audit, as `attest audit --shard` wrote them with --json, into the reports of
/// the unsharded audit, one for each kernel. Only the times differ.
/// Requires  nothing: the files may hold anything
/// Ensures   an error names the file and its fault: another kernel, contract, seed or list of options than the first
///           file has (shard_rules.hpp); a shard that is there twice or is missing; a shard that was changed after it
///           was written (shard_file.hpp); or no report at all. A contract is identified by all its numbers, a kernel
///           by its name and its build; with `same_kernel` the builds may differ, and the verdict then names them
problem::result<std::vector<report>> join_reports(std::vector<report_file> const& files, bool same_kernel = false);

}  // namespace attest::audit
