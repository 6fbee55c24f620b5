// What the shards of one audit must share, and how they divide its cases.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "audit/report/report.hpp"
#include "problem/result.hpp"

namespace attest::audit {

/// Requires  shards that read_shard read
/// Throws    report_fault with the first difference of `other` from `first`, whose file is `first_name`: revision of
///           the theorem, kernel and its build (except with `same_kernel`), contract and its numbers, seed, replayed
///           file, number of shards, options, numbers of cases and draws
void require_same_audit(report const& first, report const& other, std::string const& first_name, bool same_kernel);

/// Throws    report_fault if a shard that asked all that it must has not exactly its share of the cases.
///           The same holds for its share of the draws, except that draws may be missing if `not_asked` says so.
void require_whole_share(report const& shard);

/// The error if two shards report one case, or if together they have more cases than there are. `names` are their
/// files.
std::optional<problem::error> not_apart(std::vector<report> const& shards, std::vector<std::string> const& names);

}  // namespace attest::audit
