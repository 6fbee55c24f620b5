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
/// the
///           theorem, kernel and its build (except with `same_kernel`), contract and its numbers, seed, replayed file,
///           number of shards, options, numbers of cases and draws
void require_same_audit(report const& first, report const& other, std::string const& first_name, bool same_kernel);

/// Throws    report_fault unless a shard that got an answer to every mandatory case has exactly its share of the cases,
/// and of
///           the draws all that `not_asked` does not name
void require_whole_share(report const& shard);

/// The error where two shards tell of one case, or have more cases together than there are. `names` are their files.
std::optional<problem::error> not_apart(std::vector<report> const& shards, std::vector<std::string> const& names);

}  // namespace attest::audit
