#include "audit/report/text.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "audit/report/builder.hpp"
#include "audit/report/cause_words.hpp"
#include "audit/report/number_words.hpp"
#include "audit/report/outside.hpp"
#include "audit/report/verdict.hpp"
#include "audit/report/version.hpp"
#include "audit/support/sizes_words.hpp"

namespace attest::audit {

namespace {

/// Findings that the text shows; the JSON report has all of them.
constexpr std::size_t shown_findings = 12;

/// bound/|exact| of each output and size of row.
std::string sharpness_table_text(std::vector<sharpness_facts> const& sizes) {
  if (sizes.empty()) return "";
  std::string text = fmt::format("\n{:<8} {:>9}  {:>9}  {:>7}  {}\n", "output", "keys", "by bounds", "dull",
                                 "bound / |exact|: quartiles");
  for (sharpness_facts const& of : sizes)
    text += fmt::format("{:<8} {:>9}  {:>9}  {:>7}  {}\n", of.output, of.keys, grouped(of.judged), grouped(of.dull),
                        quartile_words(of));
  return text;
}

}  // namespace

std::string_view name_of(verdict of) noexcept {
  switch (of) {
    case verdict::certified: return "certified";
    case verdict::refuted: return "refuted";
    case verdict::undecided: break;
  }
  return "undecided";
}

std::string_view state_of(check_result const& row) {
  return row.failed > 0                                  ? "FAILED"
         : row.undecided > 0                             ? "undecided"
         : row.unsupported == row.cases && row.cases > 0 ? "unsupported"
                                                         : "ok";
}

std::int64_t unsupported_cases(report const& kernel_report) {
  std::int64_t unsupported = 0;
  for (check_result const& row : kernel_report.checks) unsupported += row.unsupported;
  return unsupported;
}

std::vector<std::string> remarks_of(check_result const& row, double outside_limit) {
  std::vector<std::string> remarks;
  if (row.cases > row.unsupported && !row.conventions.empty() && row.sum.judged() == 0)
    remarks.emplace_back("no element judged");
  for (std::size_t output = 0; output < output_names.size(); ++output) {
    if (only_dull(row.sum.sharpness, static_cast<output_kind>(output)))
      remarks.push_back(fmt::format("no sharp element of {}", output_names[output]));
    if (double const share = row.sum.shares[output].share(); share > outside_limit)
      remarks.push_back(fmt::format("{} of {} outside the hypotheses", percent(share), output_names[output]));
  }
  return remarks;
}

std::string verdict_sentence(report const& kernel_report) { return say(facts_of(kernel_report)).sentence; }

std::string quartile_words(sharpness_facts const& of) {
  return fmt::format("{:.1e} {:.1e} {:.1e}", of.quartiles[0], of.quartiles[1], of.quartiles[2]);
}

std::string as_text(report const& kernel_report) {
  verdict_facts const facts = facts_of(kernel_report);
  stated_verdict const stated = say(facts);
  std::string text = fmt::format("attest {} · kernel {} · contract {}{} · theorem revision {}{}\n\n", version,
                                 kernel_report.kernel, contract_words(facts.contract, facts.contract_revision),
                                 facts.domain.empty() ? "" : " · domain " + facts.domain, facts.theorem_revision,
                                 facts.seed ? fmt::format(" · seed {}", *facts.seed) : "");
  if (kernel_report.cause) {
    std::string_view before = "cause: ";
    for (std::string const& line : lines_of(*kernel_report.cause)) {
      text += fmt::format("{}{}\n", before, line);
      before = "       ";
    }
    text += '\n';
  }
  std::size_t width = 5;
  for (check_result const& row : kernel_report.checks) width = std::max(width, row.name.size());
  text += fmt::format("{:<{}}  {:>5}  {:>9}  {:>11}  {:>9}  {:>9}  {}\n", "check", width, "cases", "elements",
                      "error/bound", "ulp", "absolute", "");
  for (check_result const& row : kernel_report.checks) {
    text += fmt::format("{:<{}}  {:>5}  {:>9}  {:>11}  {:>9.4g}  {:>9.2e}  {}", row.name, width, row.cases,
                        grouped(row.sum.judged()), in_bounds(row.sum.max_error_in_bounds), row.sum.max_ulp,
                        row.sum.max_error, state_of(row));
    if (row.failed > 0) text += fmt::format(" in {} of {} cases", row.failed, row.cases);
    if (row.unsupported > 0 && row.unsupported < row.cases) text += fmt::format(", {} unsupported", row.unsupported);
    if (row.sum.suspicious > 0) text += fmt::format(", {} suspicious", row.sum.suspicious);
    for (std::string const& remark : remarks_of(row, kernel_report.outside_limit)) text += ", " + remark;
    text += '\n';
  }
  text += sharpness_table_text(facts.sizes);
  std::size_t number = 0;
  for (finding const& found : kernel_report.findings) {
    if (number == shown_findings) {
      text += fmt::format("\n… and {} more findings; --json lists them all\n", kernel_report.findings.size() - number);
      break;
    }
    text += fmt::format("\n{}. {}[{}] {}\n   {}\n{}   {}\n   {}\n", ++number, found.waived ? "waived " : "",
                        found.class_token(), found.name(), found.what.sentence,
                        found.condition.empty() ? "" : fmt::format("   {}\n", found.condition),
                        sizes_words(found.sizes) + found.parameters, found.reproducer);
  }
  text += '\n';
  for (std::string const& convention : kernel_report.relaxed)
    text += fmt::format("note: the contract relaxes a convention of docs/semantics.md: {}\n", convention);
  for (std::string const& sentence : sentences_of_observations(kernel_report)) text += "note: " + sentence + '\n';
  for (std::string const& note : stated.notes) text += "note: " + note + '\n';
  text += fmt::format(
      "\n{} by the theorem, {} by the dominance clause, {} by an exact rule; kernel {:.1f} s, oracle {:.1f} s\n",
      grouped(facts.by_theorem), grouped(facts.by_dominance), grouped(facts.by_rule), kernel_report.kernel_seconds,
      kernel_report.oracle_seconds);
  return text + stated.sentence + '\n';
}

}  // namespace attest::audit
