#include "audit/report/junit.hpp"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "audit/report/cause_words.hpp"
#include "audit/report/number_words.hpp"
#include "audit/report/text.hpp"
#include "audit/report/verdict.hpp"
#include "audit/report/version.hpp"
#include "audit/support/markup.hpp"

namespace attest::audit {
namespace {

std::string text_of(finding const& found) {
  return fmt::format("[{}] {}\n{}\n{}{}{}\n", found.class_token(), found.name(), found.what.sentence, found.condition,
                     found.condition.empty() ? "" : "\n", found.reproducer);
}

std::string as_seconds(double x) { return fmt::format("{:.3f}", x); }

/// A <testcase>: its outcome with the reason, and the waived findings.
struct test_case {
  enum class outcome { passed, failed, errored, skipped };

  std::string name;
  double seconds = 0;
  outcome is = outcome::passed;
  std::string type, message,
      text;  ///< attributes and text of <failure>, <error> or <skipped>, if there is one
  std::string waived;
  std::string remarks;  ///< of remarks_of, a line each

  void write(std::string_view contract, markup& to) const {
    std::initializer_list<std::pair<std::string_view, std::string>> const head{
        {"classname", fmt::format("attest.{}", contract)}, {"name", name}, {"time", as_seconds(seconds)}};
    if (is == outcome::passed && waived.empty() && remarks.empty()) return to.leaf("testcase", head), void();
    to.open("testcase", head);
    if (is == outcome::failed) to.element("failure", {{"type", type}, {"message", message}}, text);
    if (is == outcome::errored) to.leaf("error", {{"type", type}, {"message", message}});
    if (is == outcome::skipped) to.leaf("skipped", {{"message", message}});
    if (!waived.empty() || !remarks.empty())
      to.element("system-out", remarks + (waived.empty() ? "" : "waived:\n" + waived));
    to.close();
  }
};
using enum test_case::outcome;

test_case case_of(check_result const& row, report const& kernel_report) {
  test_case test;
  test.name = row.name, test.seconds = row.seconds;
  finding const* first = nullptr;
  for (finding const& found : kernel_report.findings) {
    if (found.check != row.name) continue;
    if (!found.waived && !first) first = &found;
    (found.waived ? test.waived : test.text) += text_of(found);
  }
  if (first) {
    test.is = failed, test.type = first->class_token(), test.message = first->what.sentence;
  } else if (row.sum.undecided > 0) {
    test.is = errored, test.type = "undecided";
    test.message =
        plural(row.sum.undecided, "element", "overlaps its", "overlap their") + " bound at the last refinement";
  } else if (row.cases > 0 && row.unsupported == row.cases) {
    test.is = skipped, test.message = "the kernel supports none of its cases";
  }
  for (std::string const& remark : remarks_of(row, kernel_report.outside_limit)) test.remarks += remark + '\n';
  return test;
}

/// The case "verdict" is an error if the audit is undecided, which must not look like a pass. A refuted audit fails in
/// the checks with findings.
test_case verdict_of(report const& kernel_report) {
  test_case test;
  test.name = "verdict";
  if (kernel_report.verdict == verdict::undecided)
    test.is = errored, test.type = "undecided", test.message = kernel_report.undecided_because;
  return test;
}

struct counts {
  std::int64_t tests = 0, failures = 0, errors = 0, skips = 0;
  double seconds = 0;

  void add(counts const& other) {
    tests += other.tests, failures += other.failures, errors += other.errors, skips += other.skips;
    seconds += other.seconds;
  }
};

struct suite {
  report const& of;
  std::vector<test_case> cases;
  counts sum;

  explicit suite(report const& kernel_report) : of(kernel_report) {
    for (check_result const& row : kernel_report.checks) cases.push_back(case_of(row, kernel_report));
    cases.push_back(verdict_of(kernel_report));
    for (test_case const& test : cases)
      ++sum.tests, sum.failures += test.is == failed, sum.errors += test.is == errored, sum.skips += test.is == skipped;
    sum.seconds = kernel_report.kernel_seconds + kernel_report.oracle_seconds;
  }

  void write(markup& to) const {
    to.open("testsuite", {{"name", fmt::format("attest {}", of.kernel)},
                          {"tests", std::to_string(sum.tests)},
                          {"failures", std::to_string(sum.failures)},
                          {"errors", std::to_string(sum.errors)},
                          {"skipped", std::to_string(sum.skips)},
                          {"time", as_seconds(sum.seconds)}});
    to.open("properties");
    auto const property = [&](char const* name, std::string_view value) {
      to.leaf("property", {{"name", name}, {"value", std::string(value)}});
    };
    property("attest", version);
    property("kernel", of.kernel);
    verdict_facts const facts = facts_of(of);
    stated_verdict const stated = say(facts);
    property("contract", of.contract);
    if (!facts.domain.empty()) property("domain", facts.domain);
    if (facts.contract_revision) property("contract_revision", std::to_string(*facts.contract_revision));
    property("theorem_revision", std::to_string(facts.theorem_revision));
    if (of.seed) property("seed", std::to_string(*of.seed));
    property("verdict", name_of(of.verdict));
    property("sentence", stated.sentence);
    if (of.cause)
      for (std::string const& line : lines_of(*of.cause)) property("cause", line);
    for (std::string const& note : stated.notes) property("note", note);
    for (sharpness_facts const& size : facts.sizes)
      property("sharpness", fmt::format("{}, {} keys: {} judged, {} dull, bound/|exact| {}", size.output, size.keys,
                                        size.judged, size.dull, quartile_words(size)));
    for (std::string const& convention : of.relaxed) property("convention", convention);
    for (std::string const& name : of.waived) property("waived", name);
    to.close();
    for (test_case const& test : cases) test.write(of.contract, to);
    to.element("system-out", as_text(of)).close();
  }
};

}  // namespace

std::string as_junit(std::span<report const> all) {
  std::vector<suite> suites;
  counts sum;
  for (report const& kernel_report : all) sum.add(suites.emplace_back(kernel_report).sum);
  markup to(markup::style::document);
  to.open("testsuites", {{"tests", std::to_string(sum.tests)},
                         {"failures", std::to_string(sum.failures)},
                         {"errors", std::to_string(sum.errors)},
                         {"skipped", std::to_string(sum.skips)},
                         {"time", as_seconds(sum.seconds)}});
  for (suite const& kernel_suite : suites) kernel_suite.write(to);
  return std::move(to).finish();
}

}  // namespace attest::audit
