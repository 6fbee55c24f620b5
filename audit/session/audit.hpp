// The audit: runs a kernel over cases, or takes recorded answers, judges all of it, and reports.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "audit/cases/case.hpp"
#include "audit/contract/contract.hpp"
#include "audit/files/problem_file.hpp"
#include "audit/isolation/isolated_kernel.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// Told before each case: how many are done, of how many, and the name of the next.
using progress = std::function<void(std::int64_t done, std::int64_t all, std::string const& next)>;

using names = std::set<std::string, std::less<>>;

/// Part `index` of `of`, counted from 1.
struct shard {
  std::int64_t index = 1, of = 1;
};

struct audit_options {
  std::string kernel = "builtin";   ///< "builtin", "builtin:SET" or PATH[:SYMBOL]
  contract const* claim = nullptr;  ///< required
  std::string contract_argument;    ///< as the user gave it, for reproducers
  std::uint64_t seed = 0;
  names only;    ///< names of checks, or CHECK/CASE; empty = all
  names waived;  ///< bug classes that do not refute
  bool quick = false, fail_fast = false;
  bool reproducible = false;     ///< answers may not depend on threads, batch position, company
  int jobs = 1;                  ///< kernels asked at the same time
  std::optional<double> budget;  ///< seconds from `begun` on
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::optional<shard> part;
  std::optional<std::filesystem::path> replay;         ///< these cases instead of generated ones
  std::filesystem::path findings = "attest-findings";  ///< folder of the shrunk inputs; empty: they are not shrunk
  std::atomic<bool> const* stop = nullptr;             ///< set by Ctrl-C: report what is known
  progress on_progress = [](auto...) {};
};

/// Audits a kernel. An error (a kernel that does not load, an unknown name) is the user's to mend: exit 2.
problem::result<report> run_audit(audit_options const& options);
/// The same on these cases, whatever options.only says.
problem::result<report> run_audit(audit_options const& options, std::vector<audit_case> const& cases);

/// How long a kernel may take: --quick has no patience.
isolation_limits limits_of(audit_options const& options);

/// The cases that these options ask, in the order of the report (a shard has its part).
problem::result<std::vector<audit_case>> chosen_cases(audit_options const& options);

struct verify_options {
  std::filesystem::path inputs;
  std::optional<std::filesystem::path> outputs;
  contract const* claim = nullptr;  ///< none: the preset of each problem's element type
  std::string contract_argument;
  flag_overrides flags;
  names waived;
  bool reproducible = false;
  std::atomic<bool> const* stop = nullptr;  ///< set by Ctrl-C: report what is known
  progress on_progress = [](auto...) {};
};

/// Judges recorded answers.
problem::result<report> run_verify(verify_options const& options);

/// The cases of an audit as a safetensors file, for a kernel that runs elsewhere.
problem::result<std::vector<std::byte>> run_gen(audit_options const& options);

}  // namespace attest::audit
