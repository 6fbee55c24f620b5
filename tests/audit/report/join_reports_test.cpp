// Reports of shards joined: any cut of an audit joins to the whole.
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/file/join.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/html/page.hpp"
#include "audit/report/junit.hpp"
#include "audit/report/text.hpp"
#include "tests/support/property.hpp"

namespace attest::audit::join_reports_test {
namespace {

double draw_number() {
  double const special[]{0, -0.0, 1, 0.1, -3e-300, 0x1p-1074, std::numeric_limits<double>::infinity(), std::nan("")};
  return special[*rc::gen::inRange(0, 8)];
}

matrix_picture draw_matrix(std::int64_t rows, std::int64_t columns) {
  matrix_picture picture{*rc::gen::inRange(0, 50), *rc::gen::inRange(0, 50), rows, columns, {}};
  for (std::int64_t n = 0; n < rows * columns; ++n) picture.values.push_back(draw_number());
  return picture;
}

/// Fills in everything that a finding can hold.
void adorn(finding& into) {
  violation& found = into.what;
  found.index = {1, 2, 3, 4}, found.got = draw_number(), found.truth_lower = draw_number(),
  found.truth_upper = draw_number();
  found.bound = draw_number(), found.error_in_bounds = draw_number();
  if (*rc::gen::inRange(0, 2)) {
    into.shrunk.emplace();
    into.shrunk->what.sentence = "smaller, and still \"wrong\"", into.shrunk->sizes = {1, 1, 1, 1, 2, 1, 1},
    into.shrunk->file = "f";
    into.shrunk->inputs = {{"q", {1, 1, 1, 2}, {draw_number(), draw_number()}},
                           {"k", {1, 1, 0, 2}, {}},
                           {"sink", {2}, {draw_number(), draw_number()}},
                           {"o_parts", {2, 1, 1, 1, 1}, {draw_number(), draw_number()}}};
  }
  if (*rc::gen::inRange(0, 2)) into.condition = "wrong from n = 129 on";
  if (*rc::gen::inRange(0, 2) == 0) {
    into.no_pictures = "there was no time left";
    return;
  }
  auto const rows = *rc::gen::inRange(0, 4), columns = *rc::gen::inRange(0, 4);
  finding_pictures& drawn = into.pictures.emplace();
  drawn.b = 1, drawn.h = 3, drawn.keys_only = *rc::gen::inRange(0, 2);
  drawn.expected = draw_matrix(rows, rows == 0 ? 0 : columns);
  for (std::size_t n = 0; n < drawn.expected.values.size(); ++n) drawn.masked.push_back(*rc::gen::inRange(0, 2));
  if (*rc::gen::inRange(0, 2)) drawn.applied = draw_matrix(drawn.expected.rows, drawn.expected.columns);
  drawn.applied_by = "read through V", drawn.output = "o";
  if (*rc::gen::inRange(0, 2)) drawn.errors = draw_matrix(2, 2);
}

/// The result of one case.
struct drawn_case {
  std::string check;
  std::int64_t elements = 0;
  bool failed = false, unsupported = false, waived = false, noted = false;
  judgement bounds = {};  ///< sharpness, what was not judged, what was returned, sharper presets
  finding adorned = {};
};

judgement draw_bounds() {
  judgement drawn;
  int const elements = *rc::gen::inRange(0, 4);
  for (int n = 0; n < elements; ++n) {
    std::size_t const output = *rc::gen::inRange<std::size_t>(0, 3), size = *rc::gen::inRange<std::size_t>(0, 4);
    drawn.sharpness[output][size].add(std::ldexp(1.0, *rc::gen::inRange(-70, 5)), 1, *rc::gen::inRange(0, 3) == 0);
    drawn.count_by_bound(static_cast<output_kind>(output), true), ++drawn.returned[output];
    row_errors row;
    row.add(*rc::gen::inRange(-2000, 2000) / 100.0, *rc::gen::inRange(0, 2) == 0);
    call_errors call;
    call.add(row);
    drawn.systematic[output][*rc::gen::inRange<std::size_t>(0, 4)].add(call);
    drawn.not_certified += n;
    drawn.leave_out(static_cast<output_kind>(output), n, static_cast<not_judged_because>(size));
    merge(drawn.beside, {size % 2 ? "f32" : "f32-ordered", 1 + n, n, static_cast<double>(n) / 4});
  }
  return drawn;
}

std::vector<drawn_case> draw_cases() {
  std::vector<drawn_case> cases;
  std::string const checks[]{"masks", "poison", "lse"};
  auto const count = *rc::gen::inRange(1, 60);
  for (int n = 0; n < count; ++n) {
    drawn_case drawn;
    drawn.check = checks[*rc::gen::inRange(0, 3)];
    drawn.elements = *rc::gen::inRange(0, 1000);
    auto const kind = *rc::gen::inRange(0, 8);
    drawn.failed = kind == 0 || kind == 1, drawn.waived = kind == 1, drawn.unsupported = kind == 2,
    drawn.noted = kind > 5;
    adorn(drawn.adorned);
    drawn.bounds = draw_bounds();
    cases.push_back(drawn);
  }
  return cases;
}

/// The report of shard `index` of `of`, as an audit makes it.
report report_of(std::vector<drawn_case> const& cases, std::int64_t index, std::int64_t of) {
  report result;
  result.kernel = "drawn", result.contract = "f32", result.seed = 5;
  if (of > 1) result.shard = {index, of};
  result.all_cases = static_cast<std::int64_t>(cases.size());
  result.contracts = {*find_contract("f32")},
  result.kernel_builds = {{.sha256 = std::string(64, 'a'), .symbol = "attest_attention"}};
  result.contract_revision = 2, result.protections = {"a process of its own", "a limit"};
  result.not_asked = {{"other checks and cases", "--only"}};
  std::set<std::string, std::less<>> const waived{"lse"};
  report_builder collect(result, waived);
  for (std::size_t n = 0; n < cases.size(); ++n) {
    if (static_cast<std::int64_t>(n) % of != index - 1) continue;
    drawn_case const& drawn = cases[n];
    collect.set_case(static_cast<std::int64_t>(n) + 1);
    check_result& row = collect.row_of_check(drawn.check);
    row.unsupported += drawn.unsupported;
    std::string const name = "case-" + std::to_string(n);
    if (drawn.noted) collect.add_observation(drawn.check, name + " is odd");
    judgement judged = drawn.bounds;
    judged.by_theorem += drawn.elements, judged.failed = drawn.failed;
    for (std::int64_t element = 0; element < drawn.elements; ++element) judged.sharpness[0][0].add(1e-6, 1, false);
    judged.returned[0] += drawn.elements > 0;
    if (judged.by_theorem > 0) judged.max_error_in_bounds = static_cast<double>(n % 7) / 8;
    if (judged.by_theorem > 0) judged.max_error = static_cast<double>(n % 5) / 8;
    if (drawn.failed)
      judged.violations.push_back({.output = "o",
                                   .got = 1,
                                   .error_in_bounds = 3,
                                   .bug_class = drawn.waived ? bug_class::lse : bug_class::accuracy,
                                   .sentence = name + " is wrong"});
    result.curves.push_back({"keys", static_cast<double>(n), 0.5, drawn.failed, static_cast<std::int64_t>(n) + 1});
    collect.add_judgement(row, name, bug_class::accuracy, {1, 1, 1, 2, 3, 4, 5}, std::move(judged),
                          "attest audit --only " + name);
    for (finding& found : result.findings)
      if (found.case_name == name) {
        violation const& original = drawn.adorned.what;
        found.shrunk = drawn.adorned.shrunk, found.pictures = drawn.adorned.pictures,
        found.no_pictures = drawn.adorned.no_pictures, found.condition = drawn.adorned.condition;
        found.what.index = original.index, found.what.got = original.got, found.what.bound = original.bound;
        found.what.truth_lower = original.truth_lower, found.what.truth_upper = original.truth_upper,
        found.what.error_in_bounds = original.error_in_bounds;
      }
  }
  collect.finish(true, "");
  return result;
}

std::vector<report_file> cut(std::vector<drawn_case> const& cases, std::int64_t of) {
  std::vector<report_file> files;
  for (std::int64_t n = of; n > 0; --n)
    files.push_back({std::to_string(n) + ".json", as_json(report_of(cases, n, of))});
  return files;
}

TEST_CASE("however an audit is cut, the joined report is that of the whole", "[property]") {
  tests::property("join_reports(cut(audit)) == audit", [] {
    auto const cases = draw_cases();
    report const whole = report_of(cases, 1, 1);
    auto const joined = join_reports(cut(cases, *rc::gen::inRange(2, 7)));
    if (!joined) RC_FAIL(joined.why().message());
    RC_ASSERT(joined.value().size() == 1u);
    report const& rejoined = joined.value().front();
    RC_ASSERT(as_json(rejoined) == as_json(whole));
    RC_ASSERT(as_text(rejoined) == as_text(whole));
    RC_ASSERT(as_junit(std::span(&rejoined, 1)) == as_junit(std::span(&whole, 1)));
    RC_ASSERT(as_html(std::span(&rejoined, 1)) == as_html(std::span(&whole, 1)));
    RC_ASSERT(rejoined.verdict == whole.verdict);
  });
}

TEST_CASE("the shards of an audit of several kernels join to a report a kernel", "[property]") {
  tests::property("join_reports(cut(audits)) == audits", [] {
    std::vector<std::vector<drawn_case>> const kernels{draw_cases(), draw_cases()};
    auto const reports_of = [&](std::int64_t index, std::int64_t of) {
      std::vector<report> reports;
      for (auto const& cases : kernels) reports.push_back(report_of(cases, index, of));
      reports[1].kernel = "another";
      return reports;
    };
    std::int64_t const of = *rc::gen::inRange(2, 5);
    std::vector<report_file> files;
    for (std::int64_t n = 1; n <= of; ++n)
      files.push_back({std::to_string(n), as_json(std::span<report const>(reports_of(n, of)))});
    auto const joined = join_reports(files);
    if (!joined) RC_FAIL(joined.why().message());
    RC_ASSERT(as_json(std::span<report const>(joined.value())) == as_json(std::span<report const>(reports_of(1, 1))));
    files[1].text = as_json(reports_of(2, of)[0]);
    auto const fewer = join_reports(files);
    RC_ASSERT_FALSE(static_cast<bool>(fewer));
    RC_ASSERT(fewer.why().reason == "it is about 1 kernels, 1 about 2");
  });
}

TEST_CASE("the condition of a finding is said in every form of the report, and where there is none nothing is",
          "[property]") {
  std::string const says = "wrong from n = 129 on";
  drawn_case failing{"masks", 10, true, false, false, false};
  for (bool const named : {true, false}) {
    failing.adorned.condition = named ? says : "";
    auto const joined = join_reports(cut({failing, failing}, 2));
    REQUIRE(joined);
    auto const& all = joined.value();
    CHECK(nlohmann::json::parse(as_json(all.front()))["findings"][0]["condition"] == failing.adorned.condition);
    for (std::string const& form : {as_text(all.front()), as_html(all), as_junit(all)})
      CHECK((form.find(says) != std::string::npos) == named);
  }
}

}  // namespace
}  // namespace attest::audit::join_reports_test
