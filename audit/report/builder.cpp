#include "audit/report/builder.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace attest::audit {

namespace {

/// Why an audit with this sum of judgements certifies nothing of an output: its bounds admit the mean of V, or a lost
/// key, everywhere. Empty where every output that was judged has an element that is not dull.
std::string without_sharp_element(judgement const& sum) {
  for (std::size_t output = 0; output < output_names.size(); ++output)
    if (only_dull(sum.sharpness, static_cast<output_kind>(output)))
      return fmt::format(
          "there is no sharp element of {}: every bound admits an answer that is wrong in a plain way (dull)",
          output_names[output]);
  return "";
}

}  // namespace

std::string report_builder::unlisted_observations(std::string_view kind, std::int64_t count) {
  return fmt::format("{}: {} more like these", kind, count - listed_per_kind);
}

check_result& report_builder::row_of_check(std::string_view name) {
  auto const at = std::ranges::find(report_.checks, name, &check_result::name);
  if (at != report_.checks.end()) return *at;
  return report_.checks.emplace_back(
      check_result{.name = std::string(name), .sum = {}, .conventions = {}, .first_case = number_});
}

void report_builder::add_finding(finding&& found) {
  auto const kept = std::ranges::count(report_.findings, found.check, &finding::check);
  bool const first_refuting = !found.waived && std::ranges::none_of(report_.findings, [&](finding const& f) {
    return f.check == found.check && !f.waived;
  });
  if (kept < kept_per_check || first_refuting) report_.findings.push_back(std::move(found));
}

void report_builder::add_judgement(check_result& row, std::string const& case_name, bug_class default_class,
                                   problem::sizes const& sizes, judgement&& judged, std::string const& reproducer) {
  ++row.cases;
  ++report_.cases;
  if (judged.undecided > 0) ++row.undecided;
  if (judged.failed > 0) ++row.failed;
  std::set<std::pair<std::string, bug_class>>
      seen;  // violations are ordered: the first of an output and class is the worst
  for (violation& wrong : judged.violations) {
    if (!wrong.bug_class) wrong.bug_class = wrong.output == "lse" ? bug_class::lse : default_class;
    if (!seen.emplace(wrong.output, *wrong.bug_class).second) continue;
    bool const waived = waived_.contains(token_of(*wrong.bug_class));
    add_finding({std::move(wrong), row.name, case_name, sizes, reproducer, waived, number_, {}});
  }
  judged.violations.clear();
  row.sum.merge(std::move(judged));
}

void report_builder::add_observation(std::string const& kind, std::string sentence) {
  auto& counts = report_.observation_counts;
  auto at = std::ranges::find(counts, kind, &std::pair<std::string, std::int64_t>::first);
  if (at == counts.end()) at = counts.insert(at, {kind, 0});
  if (++at->second > listed_per_kind) return;
  report_.observations.push_back(sentence);
  report_.case_observations.push_back({kind, number_, std::move(sentence)});
}

bool report_builder::refuted() const {
  return std::ranges::any_of(report_.findings, [](finding const& f) { return !f.waived; });
}

void report_builder::finish(bool complete, std::string because) {
  // The refuting findings first. (std::stable_sort uses a function that libstdc++ 12 itself deprecates.)
  std::vector<finding> ordered;
  for (bool const waived : {false, true})
    std::ranges::copy_if(report_.findings, std::back_inserter(ordered),
                         [&](finding const& f) { return f.waived == waived; });
  report_.findings = std::move(ordered);
  judgement const sum = report_.total();
  for (auto const& [kind, count] : report_.observation_counts)
    if (count > listed_per_kind) report_.observations.push_back(unlisted_observations(kind, count));
  report_.waived_classes.assign(waived_.begin(), waived_.end());
  report_.complete = complete;
  if (!complete) report_.incomplete_because = because;
  report_.undecided_because = refuted()           ? ""
                              : sum.undecided > 0 ? "elements overlap their bound at the last refinement"
                              : sum.judged() == 0 ? "no element was judged"
                              : !complete         ? std::move(because)
                                                  : without_sharp_element(sum);
  report_.verdict = refuted()                           ? verdict::refuted
                    : report_.undecided_because.empty() ? verdict::certified
                                                        : verdict::undecided;
}

}  // namespace attest::audit
