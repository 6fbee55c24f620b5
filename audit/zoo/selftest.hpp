// A test of the audit itself: it must refute every mutant of the zoo and certify every honest design.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/session/run_audit.hpp"
#include "audit/zoo/zoo.hpp"

namespace attest::audit {

struct selftest_options {
  std::uint64_t seed = 1;
  std::int64_t draws = 100;              ///< after the fixed part, for each kernel of a family
  std::int64_t draw_products = 1 << 24;  ///< the multiplications of a large call, for the same draws
  int jobs = 0;                          ///< specimens at a time; 0 = as many as there are processors
  std::vector<std::string> only;         ///< names of specimens, of any family; empty: all of `family`
  std::string family;                    ///< of specimens; empty: specimens of no family
  /// Mutants are asked up to some failing inputs instead of the first, and the cause of these is named.
  bool causes = false;
  std::atomic<bool> const* stop = nullptr;  ///< set by Ctrl-C: specimens without a result stay unfinished
  std::function<void(std::int64_t done, std::int64_t all)> on_progress = [](auto...) {};
};

/// The first case of an audit that refuted a mutant.
struct kill {
  std::string check, case_name;
  std::string bug_class;    ///< as the finding names it
  std::int64_t number = 0;  ///< of the case, counted from 1 in the order of the audit
  std::int64_t calls = 0;   ///< of the kernel, up to the finding
  double seconds = 0;       ///< likewise
};

struct specimen_result {
  zoo::specimen const* specimen = nullptr;
  audit::verdict verdict = audit::verdict::undecided;
  std::int64_t cases = 0;
  std::optional<kill> killed;
  std::optional<named_cause> cause;  ///< with options.causes
  std::string complaint;             ///< why an honest design was not certified
  bool unfinished = true;            ///< the audit did not run to its end and found nothing
  double seconds = 0;

  /// A refuted mutant or a certified honest design.
  bool as_expected() const {
    return verdict == (specimen->is_honest() ? audit::verdict::certified : audit::verdict::refuted);
  }
  /// Is the planted mistake among the few that the cause names, and first of them?
  bool is_named() const;
};

struct selftest_report {
  std::uint64_t seed = 0;
  std::vector<specimen_result> results;  ///< in the order of zoo::specimens()
  double seconds = 0;
  bool causes = false;  ///< were they asked for?

  /// Refuted: the audit missed a mutant or did not certify an honest design. Undecided: neither happened, and specimens
  /// are unfinished or there are none.
  audit::verdict verdict() const;
};

/// Audits every specimen of libattest_zoo.so, each call in a process of its own: an honest design to the end of the
/// fixed part, a mutant up to its first finding. Specimens of a family are asked `draws` more draws.
problem::result<selftest_report> run_selftest(selftest_options const& options);

/// Tables of the honest designs and the mutants, with the case that refuted each mutant, and a line with the verdict.
std::string as_text(selftest_report const& selftest);

}  // namespace attest::audit
