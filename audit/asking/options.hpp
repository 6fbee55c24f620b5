// The options of an audit.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "audit/cases/domain/call_domain.hpp"
#include "audit/contract/contract.hpp"
#include "audit/files/file_words.hpp"
#include "audit/isolation/isolated_kernel.hpp"
#include "audit/judge/case_result.hpp"
#include "audit/report/report.hpp"
#include "audit/support/interruption.hpp"

namespace attest::audit {

/// Called before each case: the number of cases done, the number of all cases, and the name of the next.
using progress = std::function<void(std::int64_t done, std::int64_t all, std::string const& next)>;

using names = std::set<std::string, std::less<>>;

/// Shard `index` of `of`, counted from 1.
struct shard {
  std::int64_t index = 1, of = 1;
};

struct audit_options {
  std::string kernel = "builtin";   ///< a word of library_of (audit/builtin/kernel_spec.hpp)
  int channel = -1;                 ///< the descriptor through which a process serves the kernel; negative: none
  contract const* claim = nullptr;  ///< required
  std::string contract_argument;    ///< the contract as the user named it, for reproducers
  std::uint64_t seed = 0;
  names only;    ///< names of checks or CHECK/CASE; empty: all
  names waived;  ///< checks or CHECK/CASE whose findings do not refute
  /// Names of support_names() (audit/report/coverage/coverage_words.hpp) and sizes (size_word): without their support
  /// the audit is undecided.
  std::vector<std::string> required_support;
  double outside = allowed_outside;  ///< the share of an output that may lie outside the hypotheses of the bound
  bool quick = false, fail_fast = false;
  std::optional<call_domain> domain;  ///< declared: all calls are asked inside it; none: it is found
  outputs_rule outputs{};             ///< of the declared domain, or of the domain that was found
  bool strict_refusals = false;       ///< an error that the kernel answers outside its domain is a finding, too
  bool reproducible = false;          ///< outputs may not depend on threads, batch position or the rest of the batch
  bool require_concurrent_calls = false;      ///< calls that threads make at the same time must be right, too
  bool require_isolation = false;             ///< a kernel is loaded only if every protection holds
  kernel_needs needs;                         ///< what a kernel may reach in addition to its own files
  int jobs = 1;                               ///< copies of the kernel at the same time
  std::optional<double> budget;               ///< seconds from `begun` on, after which no case is asked
  std::optional<std::int64_t> draws;          ///< asked after the fixed part; none: as many as the time allows
  std::optional<std::int64_t> draw_products;  ///< the multiplications of a large call; none: what the speed allows
  std::optional<double> soak;                 ///< minutes of draws instead of a minute
  std::chrono::steady_clock::time_point begun = std::chrono::steady_clock::now();
  std::optional<shard> part;
  std::optional<std::filesystem::path> replay;         ///< a file whose cases replace the generated ones
  file_words replay_words;                             ///< how that file is read
  std::filesystem::path findings = "attest-findings";  ///< folder for the shrunk inputs; empty: nothing is shrunk
  std::int64_t enough_failing = 0;                     ///< the audit stops after so many failing inputs; 0: it goes on
  bool conditions = true;                              ///< the conditions of findings are searched for
  std::atomic<bool> const* stop = nullptr;             ///< set by Ctrl-C: the report covers the cases so far
  progress on_progress = [](auto...) {};

  /// The time within which draws begin, if their number is not given: a minute, 10 s with --quick.
  double seconds_of_draws() const { return budget ? *budget : soak ? 60 * *soak : quick ? 10 : 60; }
  std::chrono::steady_clock::time_point draws_until() const;
  /// The time that the fixed part may take: whole, or half of it.
  double seconds_of_fixed_part() const { return 2 * seconds_of_draws(); }
  /// Does the clock decide what is asked of a slow kernel?
  bool is_by_clock() const { return !draws && !part && !budget && !soak; }
  /// The clock of both: own_time, unless the user said how long the audit may take.
  std::chrono::steady_clock::time_point time_of_draws() const;
  bool interrupted() const noexcept { return interruption{stop}.requested(); }
  judging_rules rules() const {
    return {.claim = claim, .reproducible = reproducible, .concurrent = require_concurrent_calls};
  }
  /// The options that are set, of " --reproducible --require-concurrent-calls --device --allow net".
  std::string words_of_rules() const;
};

/// Sets the declared domain, if there is one. Returns the error if it is no domain.
std::optional<problem::error> read_domain(std::optional<std::string> const& text, audit_options& into);

/// The limits of a call, and which outputs it asks for. They are shorter with --quick, and the budget limits the time
/// to load the kernel.
isolation_limits limits_of(audit_options const& options);

}  // namespace attest::audit
