// JUnit XML: the checks as test cases, for servers that show tests.
#include <cmath>

#include <fmt/format.h>

#include "audit/support/printable.hpp"
#include "audit/report/text.hpp"

namespace attest::audit {
namespace {

/// `text` for an attribute or an element: XML 1.0 has no control characters but \t and \n, and no bytes that are not UTF-8.
std::string escaped(std::string_view text) {
  std::string made;
  std::size_t line = 0;
  while (line <= text.size()) {
    std::size_t const end = std::min(text.find('\n', line), text.size());
    for (char const c : printable(text.substr(line, end - line), 100'000)) switch (c) {
        case '&': made += "&amp;"; break;
        case '<': made += "&lt;"; break;
        case '>': made += "&gt;"; break;
        case '"': made += "&quot;"; break;
        case '\'': made += "&apos;"; break;
        default: made += c;
      }
    if (end == text.size()) break;
    made += "&#10;";
    line = end + 1;
  }
  return made;
}

std::string told(finding const& each) {
  return fmt::format("[{}] {}/{}\n{}\n{}\n", each.class_token(), each.check, each.case_name, each.what.sentence,
                     each.reproducer);
}

struct outcome {
  std::string element;  ///< what stands inside the testcase
  bool failed = false, errored = false, skipped = false;
};

outcome outcome_of(check_result const& row, report const& what) {
  std::string failures, waived;
  finding const* first = nullptr;
  for (finding const& each : what.findings) {
    if (each.check != row.name) continue;
    if (!each.waived && !first) first = &each;
    (each.waived ? waived : failures) += told(each);
  }
  outcome made;
  if (first) {
    made.failed = true;
    made.element = fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n",
                               escaped(first->class_token()), escaped(first->what.sentence), escaped(failures));
  } else if (row.sum.undecided > 0) {
    made.errored = true;
    made.element = fmt::format("      <error type=\"undecided\" message=\"{} elements overlap their bound at the last refinement\"/>\n",
                               row.sum.undecided);
  } else if (row.cases > 0 && row.unsupported == row.cases) {
    made.skipped = true;
    made.element = "      <skipped message=\"the kernel supports none of its cases\"/>\n";
  }
  if (!waived.empty()) made.element += fmt::format("      <system-out>waived:&#10;{}</system-out>\n", escaped(waived));
  return made;
}

struct counts {
  std::int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
  void add(counts const& other) {
    tests += other.tests, failures += other.failures, errors += other.errors, skipped += other.skipped;
    seconds += other.seconds;
  }
  std::string attributes() const {
    return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"", tests, failures, errors,
                       skipped, seconds);
  }
};

std::string suite_of(report const& what, counts& all) {
  std::string cases;
  counts own;
  auto const add = [&](std::string_view name, double seconds, outcome const& made) {
    ++own.tests, own.failures += made.failed, own.errors += made.errored, own.skipped += made.skipped;
    std::string const head = fmt::format("    <testcase classname=\"attest.{}\" name=\"{}\" time=\"{:.3f}\"",
                                         escaped(what.contract), escaped(name), seconds);
    cases += made.element.empty() ? head + "/>\n" : head + ">\n" + made.element + "    </testcase>\n";
  };
  for (check_result const& row : what.checks) add(row.name, row.seconds, outcome_of(row, what));
  // A refuted audit fails by the checks that found something; one that decides nothing must not look like a pass.
  outcome decided;
  if (what.answer == verdict::undecided) {
    decided.errored = true;
    decided.element = fmt::format("      <error type=\"undecided\" message=\"{}\"/>\n", escaped(what.undecided_because));
  }
  add("verdict", 0, decided);
  own.seconds = what.kernel_seconds + what.oracle_seconds;
  all.add(own);
  std::string properties;
  auto const property = [&](char const* name, std::string_view value) {
    properties += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, escaped(value));
  };
  property("attest", version);
  property("kernel", what.kernel);
  property("contract", what.contract);
  if (what.seed) property("seed", std::to_string(*what.seed));
  property("verdict", name_of(what.answer));
  for (std::string const& each : what.relaxed) property("convention", each);
  for (std::string const& each : what.waived_classes) property("waived", each);
  return fmt::format("  <testsuite name=\"attest {}\" {}>\n    <properties>\n{}    </properties>\n{}"
                     "    <system-out>{}</system-out>\n  </testsuite>\n",
                     escaped(what.kernel), own.attributes(), properties, cases, escaped(as_text(what)));
}

}  // namespace

std::string as_junit(std::span<report const> all) {
  counts sum;
  std::string suites;
  for (report const& each : all) suites += suite_of(each, sum);
  return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites {}>\n{}</testsuites>\n", sum.attributes(), suites);
}

}  // namespace attest::audit
