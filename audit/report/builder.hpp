// Builds a report from judgements, case by case.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "audit/report/report.hpp"

namespace attest::audit {

/// Writes into a report that outlives it. Used by audit, verify and merge.
class report_builder {
 public:
  /// `waived` are the checks or CHECK/CASE whose findings do not refute; the set must outlive the builder.
  report_builder(report& into, std::set<std::string, std::less<>> const& waived) : report_(into), waived_(waived) {}

  /// The number of the case to which all later additions belong.
  void set_case(std::int64_t number) { number_ = number; }
  /// The row of a check in the table, which is made if it does not exist.
  check_result& row_of_check(std::string_view name);
  /// Adds the judgement of one case to its row, and the worst violation of each output and class as a finding.
  /// `default_class` is the class of a violation that has none.
  void add_judgement(check_result& row, std::string const& case_name, bug_class default_class,
                     problem::sizes const& sizes, judgement&& judged, std::string const& reproducer);
  /// Adds a finding, unless its check has kept_per_check findings already. The first finding of each class is always
  /// added, and so is the first of each class that is not waived.
  void add_finding(finding&& found);
  /// Adds a note about the case. It is only counted if listed_per_kind notes of its kind exist already.
  void add_observation(std::string const& kind, std::string sentence);
  /// Is there a finding that is not waived?
  bool refuted() const;
  /// Notes that the case of set_case, which must be answered, has no outputs.
  void add_unanswered(std::string full_name);
  /// Orders the findings and sets the verdict. `complete` is false if not all was asked that must be, or if a call did
  /// not return; `because` says why. If it is empty, the cases of add_unanswered say it. Requires report.covered and
  /// report.required_support to be filled in.
  void finish(bool complete, std::string because);
  /// "these inputs were not answered: accuracy/one, masks/two and 3 more".
  static std::string unanswered_words(std::vector<std::pair<std::int64_t, std::string>> const& cases);

  static constexpr std::int64_t listed_per_kind = 3;  ///< observations of one kind
  static constexpr std::int64_t kept_per_check = 8;   ///< findings of one check
  static constexpr std::size_t named_unanswered = 12;

 private:
  report& report_;
  std::set<std::string, std::less<>> const& waived_;
  std::int64_t number_ = 0;
};

/// The sentences of the observations, then one for each kind that has more observations than are listed.
std::vector<std::string> sentences_of_observations(report const& of);

}  // namespace attest::audit
