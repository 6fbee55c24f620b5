// What a report says where all failing cases are inside a preset, or shards and waived cases differ.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/file/join.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/html/page.hpp"
#include "audit/report/junit.hpp"
#include "audit/report/text.hpp"
#include "audit/report/verdict.hpp"
#include "audit/support/markup.hpp"
#include "reference/bound/revision.hpp"
#include "tests/audit/report/drawn_report.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::failing_presets_test {
namespace {

/// Two of two answered inputs fail; the first is inside both presets, the second inside one of them.
report failing_inside(char const* narrower, char const* wider) {
  report refuted = drawn_report(true).is;
  refuted.checks[0].failed = 2;
  refuted.failing = {{"masks", "one", 1, {"accuracy"}, {{{narrower, 0.75}, {wider, 0.125}}}},
                     {"masks", "two", 2, {"accuracy"}, {{{wider, 0.25}}}}};
  return refuted;
}

TEST_CASE("a preset that all failing cases are inside is their cause, said once in every form", "[unit]") {
  report const low = failing_inside("f16-scores", "bf16-throughout");
  stated_verdict const stated = say(facts_of(low));
  CHECK(stated.sentence ==
        "REFUTED: 1 fault in 2 of 3 inputs under f32; 114 elements were judged. All 2 failing cases are inside "
        "bf16-throughout (bfloat16 between the steps), with errors to 0.2500 of its bound.");
  CHECK(stated.object["explained_by"] == nlohmann::ordered_json({{"preset", "bf16-throughout"},
                                                                 {"allows", "bfloat16 between the steps"},
                                                                 {"cases", 2},
                                                                 {"worst_in_bounds", "0x1p-2"}}));
  CHECK(has(as_text(low), stated.sentence));
  CHECK(has(as_html(std::span(&low, 1)), escaped(stated.sentence)));
  CHECK(has(as_junit(std::span(&low, 1)), "name=\"sentence\" value=\"" + escaped(stated.sentence) + "\""));
  auto const document = nlohmann::ordered_json::parse(as_json(low));
  CHECK(document["failing"][1]["inside"] ==
        nlohmann::ordered_json::array({{{"preset", "bf16-throughout"}, {"worst_in_bounds", "0x1p-2"}}}));
  auto const cause = [](report const& of) { return say(facts_of(of)).object["explained_by"]; };
  CHECK(cause(drawn_report(true).is).is_null());
  report other = low;
  other.failing[1].inside->clear();  // wrong by any preset
  CHECK(cause(other).is_null());
  other = low, other.failing.pop_back();  // one case says little
  CHECK(cause(other).is_null());
  other = low, other.failing[1].inside.reset();  // not judged again
  CHECK(cause(other).is_null());
  other = low, other.checks[0].failed = 1;  // a kernel of less precision fails in most inputs
  CHECK(cause(other).is_null());
  other = failing_inside("f16-scores", "f32-any"),
  other.checks[0].failed = 1;  // and a kernel that merges parts need not
  CHECK(cause(other)["preset"] == "f32-any");
  other = low, other.checks[0].failed = 3, other.failing.push_back({"masks", "three", 3, {"accuracy"}});
  CHECK(has(say(facts_of(other)).sentence, "All 2 failing cases that were judged again (of 3) are inside"));
}

TEST_CASE("the cause of all failing cases is that of all shards", "[unit]") {
  // One answered input each, which fails.
  auto const part = [](std::int64_t index) {
    report of = failing_inside("f16-scores", "bf16-throughout");
    of.shard = {index, 2}, of.checks.pop_back(), --of.cases, of.checks[0].failed = 1, of.all_cases = 2 * of.cases;
    of.failing = {of.failing[static_cast<std::size_t>(index - 1)]};
    of.failing[0].name = "one", of.failing[0].number = of.findings[0].number = 2 * index;
    return of;
  };
  auto const joined = join_reports({{"1.json", as_json(part(1))}, {"2.json", as_json(part(2))}});
  REQUIRE(joined);
  auto const facts = facts_of(joined.value().front());
  REQUIRE(facts.explained_by);
  CHECK(facts.explained_by->preset == "bf16-throughout");
  CHECK(facts.explained_by->worst == 0.25);
}

TEST_CASE("a waived case hides no fault of another one of its check, however many it has", "[unit]") {
  for (std::string const name : {"masks/waived", "masks"}) {
    report is;
    std::set<std::string, std::less<>> const waived{name};
    report_builder collect(is, waived);
    auto const add = [&](char const* check, std::string const& of) {
      judgement found = drawn_judgement();
      found.failed = 1;
      found.add({.output = "o", .error_in_bounds = 3, .bug_class = bug_class::accuracy, .sentence = "o is wrong"});
      collect.set_case(is.cases + 1);
      collect.add_judgement(collect.row_of_check(check), of, bug_class::accuracy, {}, std::move(found), "");
    };
    for (std::int64_t n = 0; n <= report_builder::kept_per_check; ++n) add("masks", "waived");
    collect.finish(true, "");
    CHECK(is.verdict == verdict::certified);
    CHECK(facts_of(is).waived == report_builder::kept_per_check);
    add("masks", "other");
    collect.finish(true, "");
    CHECK(is.verdict == (name == "masks" ? verdict::certified : verdict::refuted));
    add("poison", "waived");
    collect.finish(true, "");
    CHECK(is.verdict == verdict::refuted);
  }
}

TEST_CASE("reports of different revisions of the theorem are not merged", "[unit]") {
  auto const part = [](std::int64_t index) {
    report of = drawn_report().is;
    of.shard = {index, 2}, of.all_cases = 2 * of.cases;
    return of;
  };
  report const one = part(1);
  auto const joined_with = [&](report const& two) {
    return join_reports({{"1.json", as_json(one)}, {"2.json", as_json(two)}});
  };
  REQUIRE(joined_with(part(2)));
  report old = part(2);
  old.theorem_revision = 1;
  REQUIRE_FALSE(joined_with(old));
  CHECK(joined_with(old).why().reason ==
        fmt::format("its revision of the theorem is '1'; in 1.json it is '{}'", reference::theorem_revision));
}

}  // namespace
}  // namespace attest::audit::failing_presets_test
