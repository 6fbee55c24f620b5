// The audit's own detection power: every mutant of the zoo must be refuted, every honest design certified.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "audit/session/audit.hpp"
#include "audit/zoo/zoo.hpp"

namespace attest::audit {

struct selftest_options {
  std::uint64_t seed = 1;
  int jobs = 0;                             ///< specimens at a time; 0 = as many as there are processors
  std::vector<std::string> only;            ///< names of specimens; empty = all
  std::atomic<bool> const* stop = nullptr;  ///< set by Ctrl-C: what is not known by then stays open
  std::function<void(std::int64_t done, std::int64_t all)> on_progress = [](auto...) {};
};

/// The first case of one check that refuted a mutant.
struct kill {
  std::string check, case_name;
  std::string bug_class;    ///< as the finding names it
  std::int64_t number = 0;  ///< of the case, counted from 1 in the order of the audit
  double seconds = 0;       ///< from the start of this check to the finding
};

struct specimen_result {
  zoo::specimen const* what = nullptr;
  verdict answer = verdict::undecided;  ///< refuted as soon as one check refutes
  std::int64_t cases = 0;
  std::vector<kill> kills;  ///< in the order of the checks, one each
  std::string complaint;    ///< why an honest design was not certified
  bool open = true;         ///< not asked, or not to the end, and nothing found so far
  double seconds = 0;

  /// A mutant that died, or an honest design that lived.
  bool as_it_should_be() const { return answer == (what->is_honest() ? verdict::certified : verdict::refuted); }
};

struct selftest_report {
  std::uint64_t seed = 0;
  std::vector<specimen_result> results;  ///< in the order of zoo::specimens()
  double seconds = 0;

  /// Refuted: the audit has missed a mutant or condemned an honest design. Undecided: it was interrupted before it
  /// could.
  verdict answer() const;
};

/// Runs every specimen of libattest_zoo.so in processes of its own: honest designs through the whole audit, mutants
/// through each check up to its first finding.
problem::result<selftest_report> run_selftest(selftest_options const& options);

/// The kill matrix, for a person.
std::string as_text(selftest_report const& what);

}  // namespace attest::audit
