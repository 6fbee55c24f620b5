// Runs a kernel over cases, judges every answer, and collects what was found.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "audit/cases/case.hpp"
#include "audit/contract.hpp"
#include "audit/judge.hpp"

namespace attest::audit {

enum class verdict : std::uint8_t { certified = 0, refuted = 1, undecided = 3 };  ///< exit codes of the program

/// Something wrong, with all that is needed to see it again.
struct finding {
  violation what;
  std::string check, case_name;
  problem::sizes sizes{};
  std::string reproducer;  ///< a command line
  bool waived = false;
};

/// One row of the table of checks.
struct check_result {
  std::string name;
  std::int64_t cases = 0, failed = 0, undecided = 0, unsupported = 0;
  judgement sum;
};

struct report {
  std::string kernel, contract;
  std::optional<std::uint64_t> seed;         ///< none where nothing was generated
  verdict answer = verdict::undecided;
  std::vector<check_result> checks;
  std::vector<finding> findings;           ///< refuting ones first, then waived
  std::vector<std::string> observations;   ///< sentences: true, perhaps unwelcome, not refuting
  std::string undecided_because;           ///< where the verdict is undecided
  std::int64_t cases = 0;
  double kernel_seconds = 0, oracle_seconds = 0;

  judgement total() const;
};

/// Told before each case: how many are done, of how many, and the name of the next.
using progress = std::function<void(std::int64_t done, std::int64_t all, std::string const& next)>;

struct audit_options {
  std::string kernel = "builtin";            ///< "builtin" or PATH[:SYMBOL]
  contract const* claim = nullptr;           ///< required
  std::uint64_t seed = 0;
  std::set<std::string, std::less<>> only;   ///< names of checks, or CHECK/CASE; empty = all
  std::set<std::string, std::less<>> waived; ///< bug classes that do not refute
  bool quick = false, fail_fast = false;
  progress tell = [](auto...) {};
};

/// Audits a kernel. An error (a kernel that does not load, an unknown name) is the user's to mend: exit 2.
problem::result<report> run_audit(audit_options const& options);

struct verify_options {
  std::filesystem::path inputs;
  std::optional<std::filesystem::path> outputs;
  contract const* claim = nullptr;           ///< none: the preset of each problem's element type
  flag_overrides flags;
  std::set<std::string, std::less<>> waived;
};

/// Judges recorded answers.
problem::result<report> run_verify(verify_options const& options);

/// The tokens of docs/known_failures.md and the audit's own, for `--waive` and `list classes`.
std::vector<std::string_view> const& bug_classes();

/// Collects judgements into a report. Used by audit and verify.
class collector {
 public:
  collector(report& into, std::set<std::string, std::less<>> const& waived) : report_(into), waived_(waived) {}

  check_result& check_named(std::string_view name);
  /// Adds what was judged of one case. `default_class` names findings that know no better.
  void add(check_result& row, std::string const& case_name, std::string_view default_class, problem::sizes const& sizes,
           judgement&& judged, std::string const& reproducer);
  void add_finding(check_result& row, std::string const& case_name, problem::sizes const& sizes, violation&& what,
                   std::string const& reproducer);
  /// Sorts findings and sets the verdict. `complete` is false where a mandatory case went unanswered; then `because`.
  void finish(bool complete, std::string because);

 private:
  /// Findings kept per check; the rest is counted.
  static constexpr std::int64_t kept_per_check = 8;
  report& report_;
  std::set<std::string, std::less<>> const& waived_;
};

}  // namespace attest::audit
