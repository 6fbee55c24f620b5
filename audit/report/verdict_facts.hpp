// The facts on which a verdict rests: docs/report.schema.json describes them field by field.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "audit/report/coverage/coverage.hpp"
#include "audit/report/outside.hpp"
#include "audit/report/report.hpp"

namespace attest::audit {

/// The bounds of one output in rows of one size class.
struct sharpness_facts {
  std::string output, keys;
  std::int64_t judged = 0, dull = 0;
  std::array<double, 3> quartiles{};  ///< powers of two that bound/|exact| does not exceed for 1, 2, 3 quarters of them
};

/// The signed errors of one output (docs/read_a_report.md, "Systematic error").
struct systematic_facts {
  std::string output, type;
  std::int64_t calls = 0, rows = 0, elements = 0,
               judged = 0;  ///< judged: elements by a bound, of all types of this output
  mean_error upwards, away_from_0;
  bool noted = false;
};

/// A preset under which none of the failing cases is wrong. What it allows (less precision throughout, or something
/// else) would explain them all.
struct common_cause {
  std::string preset, allows;
  std::int64_t cases = 0;  ///< the number of cases judged by it
  double worst = 0;        ///< their largest error in units of its bound
};

struct verdict_facts {
  audit::verdict verdict = audit::verdict::undecided;
  std::string cause;                         ///< of a verdict other than certified, as a clause
  std::optional<common_cause> explained_by;  ///< one cause of all failing cases

  // What was judged, and under which contract.
  std::string contract;
  std::optional<int> contract_revision;
  int theorem_revision = 0;
  std::string domain;               ///< in which the kernel was asked; empty for everything
  bool domain_cut_short = false;    ///< the kernel may take more: the search for it was cut short
  std::vector<std::string> builds;  ///< of the kernel, if `merge` took several for one
  std::optional<std::uint64_t> seed;
  std::int64_t inputs = 0, answered = 0, failed = 0;  ///< inputs: given to the kernel, answered by it, wrong
  std::int64_t judged = 0, faults = 0;                ///< elements
  std::int64_t by_theorem = 0, by_dominance = 0, by_rule = 0;
  std::int64_t sharp = 0, dull = 0;  ///< of those judged by a bound
  std::int64_t suspicious = 0, undecided = 0;
  std::array<std::int64_t, not_judged_names.size()> not_judged{};
  std::int64_t not_certified = 0;             ///< not judged exactly, because enough other rows are wrong
  std::optional<outside_place> most_outside;  ///< the largest share that is outside the hypotheses of the bound
  double outside_limit = 0;                   ///< that the verdict allows
  double max_error_in_bounds = 0;
  std::int64_t findings = 0, waived = 0;
  std::vector<std::string> waived_classes;  ///< of the waived findings

  std::vector<sharpness_facts> sizes;
  std::vector<preset_comparison> beside;  ///< presets that are sharper than the contract
  std::vector<systematic_facts> systematic;
  std::vector<omission> not_asked;
  std::vector<std::string> not_returned;  ///< outputs that no call returned
  coverage covered;
  std::int64_t judged_row_in = 1;    ///< sampling: one row in so many is judged
  std::int64_t compared_row_in = 1;  ///< and one in so many is compared with the sharper presets
  std::vector<std::string> protections, missing_protections;

  std::int64_t all_not_judged() const noexcept;
};

/// The facts on which the verdict of a report rests.
verdict_facts facts_of(report const& kernel_report);

}  // namespace attest::audit
