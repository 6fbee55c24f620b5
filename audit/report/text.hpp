// Reports for people and for programs.
#pragma once

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "audit/report/report.hpp"

namespace attest::audit {

/// The version that the top CMakeLists.txt gives the project.
extern char const* const version;

/// "certified", "refuted" or "undecided".
std::string_view name_of(verdict answer) noexcept;

/// The verdict in a sentence: of what it is, and what is not claimed.
std::string verdict_sentence(report const& what);

/// "ok", "FAILED", "undecided" or "unsupported".
std::string_view state_of(check_result const& row);

std::int64_t unsupported_cases(report const& what);

/// The table of checks, the findings, the observations, the verdict.
std::string as_text(report const& what);

/// The schema of docs/audit.md, with a trailing newline. Numbers that matter are hex floats in strings.
std::string as_json(report const& what);

/// 1234567 as "1,234,567".
std::string grouped(std::int64_t n);

/// An error in units of the bound: four decimals, or four digits where it is 10⁵ or more, "inf", "nan".
std::string in_bounds(double x);

/// A report's file: its name and what it holds.
struct report_file {
  std::string name, text;
};

/// The reports of all shards of one audit, as `attest audit --shard` wrote them with --json, joined into that of the
/// unsharded audit, but for times: one report a kernel.
/// Requires  nothing: the files are anybody's
/// Ensures   an error names the file, and what does not fit: another kernel, contract, seed or options, a shard twice
/// or
///           missing, something that is no report
problem::result<std::vector<report>> join_reports(std::vector<report_file> const& files);

/// JUnit XML, as Jenkins and GitLab read it: for each report a testsuite, with a testcase for each check and one for
/// the verdict.
std::string as_junit(std::span<report const> all);

}  // namespace attest::audit
