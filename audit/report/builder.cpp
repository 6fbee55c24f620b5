#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "audit/report/report.hpp"

namespace attest::audit {

std::string report_builder::more_like_these(std::string_view kind, std::int64_t count) {
  return fmt::format("{}: {} more like these", kind, count - told_per_kind);
}

judgement report::total() const {
  judgement sum;
  for (check_result const& row : checks) sum.merge(judgement(row.sum));
  return sum;
}

check_result& report_builder::check_named(std::string_view name) {
  auto const at = std::ranges::find(report_.checks, name, &check_result::name);
  if (at != report_.checks.end()) return *at;
  return report_.checks.emplace_back(
      check_result{.name = std::string(name), .sum = {}, .conventions = {}, .first = number_});
}

void report_builder::add_finding(check_result& row, std::string const& case_name, problem::sizes const& sizes,
                                 violation&& what, std::string const& reproducer) {
  bool const waived = what.bug_class && waived_.contains(token_of(*what.bug_class));
  keep({std::move(what), row.name, case_name, sizes, reproducer, waived, number_, {}});
}

void report_builder::keep(finding&& found) {
  auto const kept = std::ranges::count(report_.findings, found.check, &finding::check);
  // A refuting finding is never dropped for waived ones.
  bool const first_refuting = !found.waived && std::ranges::none_of(report_.findings, [&](finding const& f) {
    return f.check == found.check && !f.waived;
  });
  if (kept < kept_per_check || first_refuting) report_.findings.push_back(std::move(found));
}

void report_builder::add(check_result& row, std::string const& case_name, bug_class default_class,
                         problem::sizes const& sizes, judgement&& judged, std::string const& reproducer) {
  ++row.cases;
  ++report_.cases;
  if (judged.undecided > 0) ++row.undecided;
  if (judged.failed > 0) ++row.failed;
  // One finding for each output and class: the worst.
  std::set<std::pair<std::string, std::optional<bug_class>>> told;
  for (violation& each : judged.violations) {
    if (!each.bug_class) each.bug_class = each.output == "lse" ? bug_class::lse : default_class;
    if (told.emplace(each.output, each.bug_class).second)
      add_finding(row, case_name, sizes, violation(each), reproducer);
  }
  judged.violations.clear();
  row.sum.merge(std::move(judged));
}

void report_builder::observe(std::string const& kind, std::string sentence) {
  auto& kinds = report_.told_kinds;
  auto at = std::ranges::find(kinds, kind, &std::pair<std::string, std::int64_t>::first);
  if (at == kinds.end()) at = kinds.insert(at, {kind, 0});
  if (++at->second > told_per_kind) return;
  report_.observations.push_back(sentence);
  report_.told.push_back({kind, number_, std::move(sentence)});
}

bool report_builder::refuted() const {
  return std::ranges::any_of(report_.findings, [](finding const& f) { return !f.waived; });
}

void report_builder::finish(bool complete, std::string because) {
  // Refuting findings first. (std::stable_sort uses a function that libstdc++ 12 itself deprecates.)
  std::vector<finding> ordered;
  for (bool const waived : {false, true})
    std::ranges::copy_if(report_.findings, std::back_inserter(ordered),
                         [&](finding const& f) { return f.waived == waived; });
  report_.findings = std::move(ordered);
  judgement const sum = report_.total();
  for (auto const& [kind, count] : report_.told_kinds)
    if (count > told_per_kind) report_.observations.push_back(more_like_these(kind, count));
  report_.waived_classes.assign(waived_.begin(), waived_.end());
  report_.complete = complete;
  if (!complete) report_.incomplete_because = because;
  if (refuted()) report_.answer = verdict::refuted;
  else if (sum.undecided > 0 || !complete || sum.judged() == 0) report_.answer = verdict::undecided;
  else report_.answer = verdict::certified;
  if (report_.answer != verdict::undecided) return;
  report_.undecided_because = sum.undecided > 0   ? "elements overlap their bound at the last refinement"
                              : sum.judged() == 0 ? "no element was judged"
                                                  : std::move(because);
}

}  // namespace attest::audit
