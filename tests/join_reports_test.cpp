// Reports of shards joined: any cut of an audit joins to the whole, and damaged files end in a sentence.
#include <nlohmann/json.hpp>

#include "audit/report.hpp"
#include "tests/property.hpp"

namespace attest::audit {
namespace {

/// What one case came to.
struct drawn_case {
  std::string check;
  std::int64_t elements = 0;
  bool failed = false, unsupported = false, waived = false, noted = false;
};

std::vector<drawn_case> draw_cases() {
  std::vector<drawn_case> made;
  std::string const checks[]{"masks", "poison", "lse"};
  auto const count = *rc::gen::inRange(1, 60);
  for (int n = 0; n < count; ++n) {
    drawn_case each;
    each.check = checks[*rc::gen::inRange(0, 3)];
    each.elements = *rc::gen::inRange(0, 1000);
    auto const kind = *rc::gen::inRange(0, 8);
    each.failed = kind == 0 || kind == 1, each.waived = kind == 1, each.unsupported = kind == 2, each.noted = kind > 5;
    made.push_back(each);
  }
  return made;
}

/// The report of part `index` of `of`, as an audit makes it.
report report_of(std::vector<drawn_case> const& cases, std::int64_t index, std::int64_t of) {
  report made;
  made.kernel = "drawn", made.contract = "f32", made.seed = 5;
  if (of > 1) made.shard = {index, of};
  made.all_cases = static_cast<std::int64_t>(cases.size());
  std::set<std::string, std::less<>> const waived{"lse"};
  collector collect(made, waived);
  for (std::size_t n = 0; n < cases.size(); ++n) {
    if (static_cast<std::int64_t>(n) % of != index - 1) continue;
    drawn_case const& each = cases[n];
    collect.at(static_cast<std::int64_t>(n) + 1);
    check_result& row = collect.check_named(each.check);
    row.unsupported += each.unsupported;
    std::string const name = "case-" + std::to_string(n);
    if (each.noted) collect.observe(each.check, name + " is odd");
    judgement judged;
    judged.by_theorem = each.elements, judged.failed = each.failed, judged.max_error_in_bounds = static_cast<double>(n % 7) / 8;
    if (each.failed) judged.violations.push_back({.output = "o", .got = 1, .error_in_bounds = 3, .bug_class = each.waived ? "lse" : "accuracy", .sentence = name + " is wrong"});
    made.curves.push_back({"keys", static_cast<double>(n), 0.5, each.failed, static_cast<std::int64_t>(n) + 1});
    collect.add(row, name, "accuracy", {1, 1, 1, 2, 3, 4, 5}, std::move(judged), "attest audit --only " + name);
  }
  collect.finish(true, "");
  return made;
}

std::vector<report_file> cut(std::vector<drawn_case> const& cases, std::int64_t of) {
  std::vector<report_file> made;
  for (std::int64_t n = of; n > 0; --n) made.push_back({std::to_string(n) + ".json", as_json(report_of(cases, n, of))});
  return made;
}

TEST_CASE("however an audit is cut, the joined report is that of the whole", "[property]") {
  tests::property("join_reports(cut(audit)) == audit", [] {
    auto const cases = draw_cases();
    report const whole = report_of(cases, 1, 1);
    auto const joined = join_reports(cut(cases, *rc::gen::inRange(2, 7)));
    if (!joined) RC_FAIL(joined.why().message());
    RC_ASSERT(joined.value().json == as_json(whole));
    RC_ASSERT(as_text(joined.value().what) == as_text(whole));
    RC_ASSERT(as_junit(std::span(&joined.value().what, 1)) == as_junit(std::span(&whole, 1)));
    RC_ASSERT(joined.value().what.answer == whole.answer);
  });
}

TEST_CASE("a damaged report is refused with a sentence, or read: it never crashes", "[property]") {
  std::vector<drawn_case> const cases(20, {"masks", 10, true, false, false, true});
  std::vector<report_file> const parts = cut(cases, 2);
  tests::property("any edit of a report", [&parts] {
    auto files = parts;
    std::string& text = files[0].text;
    int const edits = *rc::gen::inRange(1, 6);
    for (int n = 0; n < edits; ++n) {
      auto const at = *rc::gen::inRange<std::size_t>(0, text.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0: text[at] = *rc::gen::element('-', '9', '"', '{', ']', ',', '\0', '\xff'); break;
        case 1: text.erase(at, *rc::gen::inRange<std::size_t>(1, 40)); break;
        default: text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size()), 30)); break;
      }
    }
    auto const joined = join_reports(files);
    if (joined) RC_ASSERT_FALSE(as_text(joined.value().what).empty());
    else RC_ASSERT_FALSE(joined.why().reason.empty());
  });
}

}  // namespace
}  // namespace attest::audit
