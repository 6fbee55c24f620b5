#include "audit/report/builder.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/report/coverage/coverage_words.hpp"
#include "audit/report/number_words.hpp"
#include "audit/report/outside.hpp"
#include "audit/support/sort_by.hpp"

namespace attest::audit {

namespace {

/// Why an audit with this sum of judgements certifies nothing of an output: its bounds admit the mean of V, or a lost
/// key, everywhere. Empty if every output that was judged has an element that is not dull.
std::string without_sharp_element(judgement const& sum) {
  for (std::size_t output = 0; output < output_names.size(); ++output)
    if (only_dull(sum.sharpness, static_cast<output_kind>(output)))
      return fmt::format(
          "there is no sharp element of {}: every bound admits an answer that is wrong in a plain way (dull)",
          output_names[output]);
  return "";
}

failing_case failing_of(judgement const& judged) {
  failing_case failing;
  std::set<std::string> classes;
  for (violation const& wrong : judged.violations)
    classes.emplace(token_of(*wrong.bug_class)), failing.judged.insert({*wrong.bug_class, wrong.basis});
  failing.classes.assign(classes.begin(), classes.end());
  return failing;
}

/// Why gradients beyond their bound refute nothing; empty if there are none.
std::string flow_words(judgement const& sum) {
  if (sum.may_flow() == 0) return "";
  return fmt::format(
      "{} beyond bounds that hold only if no gradient flows through a merge by LSE or the "
      "factor of a sink, as the contract lets them; gradient.weights \"lse\" in the contract says that none does",
      plural(sum.may_flow(), "gradient element", "is", "are"));
}

}  // namespace

std::string report_builder::unanswered_words(std::vector<std::pair<std::int64_t, std::string>> const& cases) {
  if (cases.empty()) return "an input was not answered";
  std::vector<std::string> shown;
  for (std::size_t n = 0; n < cases.size() && n < named_unanswered; ++n) shown.push_back(cases[n].second);
  return fmt::format("{} not answered: {}{}", cases.size() == 1 ? "this input was" : "these inputs were",
                     fmt::join(shown, ", "),
                     cases.size() > shown.size() ? fmt::format(" and {} more", cases.size() - shown.size()) : "");
}

void report_builder::add_unanswered(std::string full_name) {
  report_.unanswered.emplace_back(number_, std::move(full_name));
}

check_result& report_builder::row_of_check(std::string_view name) {
  auto const at = std::ranges::find(report_.checks, name, &check_result::name);
  if (at != report_.checks.end()) return *at;
  return report_.checks.emplace_back(
      check_result{.name = std::string(name), .sum = {}, .conventions = {}, .first_case = number_});
}

void report_builder::add_finding(finding&& found) {
  found.judged = {*found.what.bug_class, found.what.basis};
  auto const kept = std::ranges::count(report_.findings, found.check, &finding::check);
  bool const first_of_class = std::ranges::none_of(report_.findings, [&](finding const& f) {
    return f.check == found.check && f.class_token() == found.class_token() && f.waived == found.waived;
  });
  if (kept < kept_per_check || first_of_class) report_.findings.push_back(std::move(found));
}

void report_builder::add_judgement(check_result& row, std::string const& case_name, bug_class default_class,
                                   problem::sizes const& sizes, judgement&& judged, std::string const& reproducer) {
  suspect(judged.violations, default_class);
  ++row.cases;
  ++report_.cases;
  if (judged.undecided > 0) ++row.undecided;
  if (judged.failed > 0) {
    ++row.failed;
    if (report_.failing.size() < report::kept_failing) {
      failing_case& failing = report_.failing.emplace_back(failing_of(judged));
      failing.check = row.name, failing.name = case_name, failing.number = number_;
    }
  }
  bool const waived = is_waived(waived_, row.name, case_name);
  std::set<std::pair<std::string, bug_class>>
      seen;  // violations are ordered: the first of an output and class is the worst
  for (violation& wrong : judged.violations) {
    if (!seen.emplace(wrong.output, *wrong.bug_class).second) continue;
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
  observation& told = report_.observations.emplace_back(std::move(sentence));
  told.kind = kind, told.number = number_;
}

bool report_builder::refuted() const {
  return std::ranges::any_of(report_.findings, [](finding const& f) { return !f.waived; });
}

void report_builder::finish(bool complete, std::string because) {
  sort_by(report_.findings, [](finding const& f) { return f.waived; });  // the refuting ones first
  judgement const sum = report_.total();
  report_.waived.assign(waived_.begin(), waived_.end());
  if (!complete) report_.incomplete_because = because;
  auto const most = most_outside(report_);
  std::string const outside =
      most && most->of.share() > report_.outside_limit ? outside_words(*most, report_.outside_limit) : "";
  std::string const flow = flow_words(sum);
  auto const domain = call_domain::of_text(report_.domain.text);
  std::string const unsupported =
      missing_support(report_.covered, report_.required_support, domain ? domain.value() : call_domain{});
  reply_count const& plain = report_.covered.plain;
  if (!complete && because.empty()) because = unanswered_words(report_.unanswered);
  std::string const no_plain = plain.asked > 0 && plain.answered == 0
                                   ? fmt::format("none of {} plain calls was answered", grouped(plain.asked))
                                   : "";
  std::string const more = report_.unanswered.empty() ? no_plain : unanswered_words(report_.unanswered);
  bool const refused = !report_.refusal.empty() && report_.covered.calls.answered == 0;
  std::string const nothing = refused ? report_.refusal : "no element was judged" + (more.empty() ? "" : "; " + more);
  report_.undecided_because = refuted()              ? ""
                              : sum.undecided > 0    ? "elements overlap their bound at the last refinement"
                              : sum.judged() == 0    ? nothing
                              : !complete            ? std::move(because)
                              : !no_plain.empty()    ? no_plain
                              : !flow.empty()        ? flow
                              : !outside.empty()     ? outside
                              : !unsupported.empty() ? unsupported
                                                     : without_sharp_element(sum);
  report_.verdict = refuted()                           ? verdict::refuted
                    : report_.undecided_because.empty() ? verdict::certified
                                                        : verdict::undecided;
}

std::vector<std::string> sentences_of_observations(report const& of) {
  std::vector<std::string> sentences;
  for (observation const& told : of.observations) sentences.push_back(told.sentence);
  for (auto const& [kind, count] : of.observation_counts)
    if (std::int64_t const more = count - report_builder::listed_per_kind; more > 0)
      sentences.push_back(fmt::format("{}: {} more like these", kind, more));
  return sentences;
}

}  // namespace attest::audit
