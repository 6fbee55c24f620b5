#include "audit/report/text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "audit/report/version.hpp"

namespace attest::audit {

namespace {

/// Findings that the text shows; the JSON report has all of them.
constexpr std::size_t shown_findings = 12;

std::int64_t failed_cases(report const& kernel_report) {
  std::int64_t failed = 0;
  for (check_result const& row : kernel_report.checks) failed += row.failed;
  return failed;
}

/// " (but for 3 waived findings: empty-row)" where there are some.
std::string but_waived(report const& kernel_report) {
  std::set<std::string> classes;
  std::int64_t count = 0;
  for (finding const& found : kernel_report.findings)
    if (found.waived) ++count, classes.emplace(found.class_token());
  return count == 0 ? "" : fmt::format(" (but for {} waived findings: {})", count, fmt::join(classes, ", "));
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

std::string grouped(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = static_cast<std::ptrdiff_t>(digits.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3)
    digits.insert(static_cast<std::size_t>(at), 1, ',');
  return digits;
}

std::string in_bounds(double x) { return std::abs(x) < 1e5 ? fmt::format("{:.4f}", x) : fmt::format("{:.4g}", x); }

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

std::string verdict_sentence(report const& kernel_report) {
  judgement const sum = kernel_report.total();
  switch (kernel_report.verdict) {
    case verdict::certified:
      return fmt::format(
          "CERTIFIED{}: all {} judged elements of {} inputs{} are within the bound of {}{}; the worst error is {} of "
          "its bound. Nothing is claimed for other inputs{}.",
          but_waived(kernel_report), grouped(sum.judged()),
          grouped(kernel_report.cases - unsupported_cases(kernel_report)),
          kernel_report.seed ? fmt::format(" (seed {})", *kernel_report.seed) : "", kernel_report.contract,
          kernel_report.findings.empty() ? "" : ", the waived ones apart", in_bounds(sum.max_error_in_bounds),
          unsupported_cases(kernel_report) > 0 ? fmt::format(", nor for the {} that the kernel does not support",
                                                             grouped(unsupported_cases(kernel_report)))
                                               : "");
    case verdict::refuted:
      return fmt::format("REFUTED: {} faults in {} of {} inputs under {}; {} elements were judged.",
                         grouped(sum.failed), grouped(failed_cases(kernel_report)), grouped(kernel_report.cases),
                         kernel_report.contract, grouped(sum.judged()));
    case verdict::undecided: break;
  }
  return fmt::format("UNDECIDED{}: {}; {} elements were judged and none {}is wrong.", but_waived(kernel_report),
                     kernel_report.undecided_because, grouped(sum.judged()),
                     kernel_report.findings.empty() ? "" : "that is not waived ");
}

std::string as_text(report const& kernel_report) {
  judgement const sum = kernel_report.total();
  std::string text =
      fmt::format("attest {} · kernel {} · contract {}{}\n\n", version, kernel_report.kernel, kernel_report.contract,
                  kernel_report.seed ? fmt::format(" · seed {}", *kernel_report.seed) : "");
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
    for (std::size_t output = 0; output < output_names.size(); ++output)
      if (only_dull(row.sum.sharpness, static_cast<output_kind>(output)))
        text += fmt::format(", no sharp element of {}", output_names[output]);
    text += '\n';
  }
  std::size_t number = 0;
  for (finding const& found : kernel_report.findings) {
    if (number == shown_findings) {
      text += fmt::format("\n… and {} more findings; --json lists them all\n", kernel_report.findings.size() - number);
      break;
    }
    problem::sizes const& s = found.sizes;
    text += fmt::format("\n{}. {}[{}] {}/{}\n   {}\n   b={} hq={} hk={} n={} m={} d={} dv={}\n   {}\n", ++number,
                        found.waived ? "waived " : "", found.class_token(), found.check, found.case_name,
                        found.what.sentence, s.b, s.hq, s.hk, s.n, s.m, s.d, s.dv, found.reproducer);
  }
  if (!kernel_report.observations.empty() || !kernel_report.relaxed.empty()) text += '\n';
  for (std::string const& convention : kernel_report.relaxed)
    text += fmt::format("note: the contract relaxes a convention of docs/semantics.md: {}\n", convention);
  for (std::string const& observation : kernel_report.observations) text += "note: " + observation + '\n';
  if (sum.not_judged > 0)
    text += fmt::format("note: {} elements lie outside the hypotheses of the bound and were not judged\n",
                        grouped(sum.not_judged));
  if (sum.suspicious > 0)
    text += fmt::format("note: {} elements are suspicious: within their bound, above its warning level\n",
                        grouped(sum.suspicious));
  if (sum.dull() > 0)
    text += fmt::format("note: {} elements are dull: their bound admits the mean of V, or a lost key\n",
                        grouped(sum.dull()));
  text += fmt::format(
      "\n{} by the theorem, {} by the dominance clause, {} by an exact rule; kernel {:.1f} s, oracle {:.1f} s\n",
      grouped(sum.by_theorem), grouped(sum.by_dominance), grouped(sum.by_rule), kernel_report.kernel_seconds,
      kernel_report.oracle_seconds);
  return text + verdict_sentence(kernel_report) + '\n';
}

}  // namespace attest::audit
