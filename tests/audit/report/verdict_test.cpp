// The words of a verdict: one struct of facts, one function that puts it into words, the same in every form of a
// report.
#include "audit/report/verdict.hpp"

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/html/page.hpp"
#include "audit/report/junit.hpp"
#include "audit/report/text.hpp"
#include "audit/support/markup.hpp"
#include "tests/audit/report/drawn_report.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit::verdict_test {
namespace {

TEST_CASE("the numbers of a verdict add up", "[unit]") {
  report const certified = drawn_report().is;
  verdict_facts const facts = facts_of(certified);
  CHECK(facts.judged == 114);
  CHECK(facts.sharp == 104);
  CHECK(facts.dull == 3);
  CHECK(facts.sharp + facts.dull + facts.by_rule == facts.judged);
  CHECK(facts.all_not_judged() == 5);
  CHECK(facts.inputs == 3);
  CHECK(facts.answered == 2);
  std::int64_t sizes = 0, dull = 0;
  for (sharpness_facts const& of : facts.sizes) sizes += of.judged, dull += of.dull;
  CHECK(sizes == facts.sharp + facts.dull);
  CHECK(dull == facts.dull);
  REQUIRE(facts.beside.size() == 1);
  CHECK(facts.beside[0].compared == 54);
  CHECK(facts.beside[0].outside == 3);
  CHECK(facts.beside[0].worst == 2.25);
  CHECK(facts.judged_row_in == 1);
}

TEST_CASE("the sentence of a verdict says how much it rests on", "[unit]") {
  CHECK(
      say(facts_of(drawn_report().is)).sentence ==
      "CERTIFIED: all 114 judged elements of 2 inputs (seed 5) are within the bound of f32; the worst error is 0.2500 "
      "of its bound. 5 elements were not judged (outside the hypotheses of the bound; where the output format may "
      "overflow), 3 judged elements are dull. Nothing is claimed for other inputs, nor for the 1 that the kernel does "
      "not support, nor for weights, which no call returned.");
  CHECK(say(facts_of(drawn_report(true).is)).sentence ==
        "REFUTED: 1 fault in 1 of 3 inputs under f32; 114 elements were judged.");
  CHECK(has(say(facts_of(drawn_report(false, false).is)).sentence,
            "UNDECIDED: the audit stopped early; 114 elements were judged and none is wrong. 5 elements"));
}

TEST_CASE("counts agree with their nouns and verbs", "[unit]") {
  verdict_facts one;
  one.verdict = verdict::certified, one.contract = "f32";
  one.judged = one.answered = one.inputs = one.dull = one.not_judged.front() = 1;
  CHECK(say(one).sentence ==
        "CERTIFIED: 1 judged element of 1 input is within the bound of f32; the worst error is 0.0000 of its bound. 1 "
        "element was not judged (outside the hypotheses of the bound), 1 judged element is dull. Nothing is claimed "
        "for other inputs.");
  one.verdict = verdict::refuted, one.faults = one.failed = one.not_certified = 1;
  one.explained_by = common_cause{"f64-in-f32", "float64 sums", 1, 0.5};
  CHECK(say(one).sentence ==
        "REFUTED: at least 1 fault in 1 of 1 input under f32; 1 element was judged, and 1 in further wrong rows was "
        "not. 1 failing case is inside f64-in-f32 (float64 sums), with errors to 0.5000 of its bound.");
}

/// A report on 1,000 elements of o in a check, `outside` of them not judged, because they are outside the bound.
report with_outside(std::int64_t outside, double limit,
                    not_judged_because why = not_judged_because::outside_hypotheses) {
  report is;
  is.kernel = "drawn", is.contract = "f32", is.outside_limit = limit;
  std::set<std::string, std::less<>> const waived;
  report_builder collect(is, waived);
  judgement found;
  for (std::int64_t n = 0; n < 1000 - outside; ++n)
    found.count_by_bound(output_kind::o, true), found.sharpness[0][1].add(1e-5, 1, false);
  found.leave_out(output_kind::o, outside, why);
  found.leave_out(output_kind::o, 500, not_judged_because::format_overflows);
  found.returned = {1, 0, 0};
  collect.add_judgement(collect.row_of_check("masks"), "one", bug_class::accuracy, {}, std::move(found), "");
  collect.finish(true, "");
  return is;
}

TEST_CASE("a verdict is undecided above a share outside the hypotheses, and names the place", "[unit]") {
  CHECK(with_outside(10, allowed_outside).verdict == verdict::certified);
  report const one_more = with_outside(11, allowed_outside);
  CHECK(one_more.verdict == verdict::undecided);
  CHECK(one_more.undecided_because ==
        "11 of 1,000 elements of o in masks lie outside the hypotheses of the bound (1.1 %, and --outside allows 1 %)");
  CHECK(has(as_text(one_more), "ok, 1.1 % of o outside the hypotheses"));
  CHECK(has(as_html(std::span(&one_more, 1)), "1.1 % of o outside the hypotheses"));
  CHECK(has(as_junit(std::span(&one_more, 1)), "1.1 % of o outside the hypotheses"));
  auto const json = nlohmann::json::parse(as_json(one_more));
  CHECK(json["evidence"]["outside"]["limit"] == 0.01);
  CHECK(json["evidence"]["outside"]["largest"]["check"] == "masks");
  CHECK(json["evidence"]["outside"]["largest"]["outside"] == 11);
  CHECK(json["checks"][0]["outside"]["o"]["judged"] == 989);
  CHECK(with_outside(999, 0.9989).verdict == verdict::undecided);
  CHECK(with_outside(999, 1).verdict == verdict::certified);
}

TEST_CASE("one gradient that may flow through parts leaves a verdict open", "[unit]") {
  report const one = with_outside(1, 1, not_judged_because::gradient_may_flow);
  CHECK(one.verdict == verdict::undecided);
  CHECK(has(one.undecided_because, "1 gradient element is beyond bounds that hold only if no gradient flows"));
  CHECK(nlohmann::json::parse(as_json(one))["checks"][0]["not_judged_because"]["gradient_may_flow"] == 1);
}

TEST_CASE("a check that the kernel does not support is said once", "[unit]") {
  report refused = drawn_report().is;
  check_result sinks;
  sinks.name = "sinks", sinks.cases = sinks.unsupported = 31;
  refused.checks.push_back(sinks);
  auto const notes = [&] {
    std::string all;
    for (std::string const& note : say(facts_of(refused)).notes) all += note + '\n';
    return all;
  };
  CHECK(has(notes(), "not asked: 31 of 31 inputs of sinks (not answered by the kernel)"));
  refused.not_asked.push_back({"check sinks", "the kernel does not support sink"});
  CHECK(has(notes(), "not asked: check sinks (the kernel does not support sink)"));
  CHECK_FALSE(has(notes(), "inputs of sinks"));
}

TEST_CASE("what a verdict rests on has a note each, and a key each", "[unit]") {
  stated_verdict const stated = say(facts_of(drawn_report().is));
  std::string notes;
  for (std::string const& note : stated.notes) notes += note + '\n';
  for (char const* note :
       {"4 elements outside the hypotheses of the bound were not judged",
        "the largest share outside the hypotheses: 0.99 % of o in masks (1 of 101)",
        "1 element where the output format may overflow was not judged", "3 elements are dull",
        "outside f32-ordered: 3 elements are beyond its bound, by up to 2.2 times the bound of f32-ordered "
        "(54 elements compared, of one row in 32)",
        "not asked: other checks and cases (--only)", "not asked: 1 of 2 inputs of masks (not answered by the kernel)",
        "not asked: weights (no call returned it)", "protections: a process of its own"}) {
    INFO(notes);
    CHECK(has(notes, std::string(note)));
  }
  auto const& object = stated.object;
  CHECK(object["verdict"] == "certified");
  CHECK(object["sentence"] == stated.sentence);
  CHECK(object["contract_revision"] == 2);
  CHECK(object["theorem_revision"] == reference::theorem_revision);
  CHECK(object["inputs"]["given"] == 3);
  CHECK(object["inputs"]["answered"] == 2);
  CHECK(object["judged"]["elements"] == 114);
  CHECK(object["judged"]["sharp"] == 104);
  CHECK(object["judged"]["dull"] == 3);
  CHECK(object["not_judged"]["outside_hypotheses"] == 4);
  CHECK(object["not_judged"]["format_overflows"] == 1);
  CHECK(object["sizes"].size() == 3);
  CHECK(object["sharper_presets"][0]["preset"] == "f32-ordered");
  CHECK(object["sharper_presets"][0]["worst_in_bounds"] == "0x1.2p+1");
  CHECK(object["not_asked"].size() == 3);
  CHECK(object["sampling"]["judged_row_in"] == 1);
  CHECK(object["sampling"]["compared_row_in"] == 32);
  CHECK(object["protections"] == nlohmann::ordered_json::array({"a process of its own"}));
  CHECK(object["cause"] == "");
  CHECK(say(facts_of(drawn_report(true).is)).object["cause"] == "[accuracy] masks/one: o[0] is 7");
  CHECK(say(facts_of(drawn_report(false, false).is)).object["cause"] == "the audit stopped early");
}

TEST_CASE("a refuted kernel is not told which sharper presets it leaves, too", "[unit]") {
  for (std::string const& note : say(facts_of(drawn_report(true).is)).notes) CHECK_FALSE(has(note, "f32-ordered"));
  verdict_facts facts = facts_of(drawn_report().is);
  facts.beside = {{"f32-ordered", 54, 0, 0.5}};
  std::string notes;
  for (std::string const& note : say(facts).notes) notes += note + '\n';
  CHECK(has(notes, "also inside f32-ordered: at most 0.5000 of its bound (54 elements compared, of one row in 32)"));
  facts.beside.clear(), facts.protections.clear();
  notes.clear();
  for (std::string const& note : say(facts).notes) notes += note + '\n';
  CHECK_FALSE(has(notes, "f32-ordered"));
  CHECK(has(notes, "no kernel ran"));
}

TEST_CASE("text, JSON, HTML and JUnit say one verdict in one sentence, with its notes, revisions and sharpness",
          "[unit]") {
  for (report const& single : {drawn_report().is, drawn_report(true).is, drawn_report(false, false).is}) {
    stated_verdict const stated = say(facts_of(single));
    std::string const text = as_text(single), json = as_json(single), page = as_html(std::span(&single, 1)),
                      junit = as_junit(std::span(&single, 1));
    auto const document = nlohmann::ordered_json::parse(json);
    CHECK(has(text, stated.sentence));
    CHECK(document["evidence"] == stated.object);
    CHECK(document["summary"]["sharpness"] == stated.object["sizes"]);
    CHECK(document["contract"] == "f32");
    CHECK(document["contract_revision"] == 2);
    CHECK(document["theorem_revision"] == reference::theorem_revision);
    std::string const revision = std::to_string(reference::theorem_revision);
    // The text of a JUnit suite repeats the terminal; these are its properties.
    CHECK(has(page, escaped(stated.sentence)));
    CHECK(has(junit, "name=\"sentence\" value=\"" + escaped(stated.sentence) + "\""));
    for (std::string const& note : stated.notes) {
      CHECK(has(text, "note: " + note));
      CHECK(has(page, escaped(note)));
      CHECK(has(junit, "name=\"note\" value=\"" + escaped(note) + "\""));
    }
    CHECK(has(text, "contract f32 (revision 2) · theorem revision " + revision));
    CHECK(has(page, "f32 (revision 2)"));
    CHECK(has(junit, "name=\"contract_revision\" value=\"2\""));
    CHECK(has(junit, "name=\"theorem_revision\" value=\"" + revision + "\""));
    // "tails" has one bound of an LSE, and it is dull.
    CHECK(has(text, "ok, no sharp element of lse"));
    CHECK(has(page, "ok, no sharp element of lse"));
    CHECK(has(junit, "<system-out>no sharp element of lse"));
    CHECK(has(page, "<h2>Sharpness</h2>"));
    CHECK(has(page, "<td class=\"number\">2 (2 %)</td>"));
    CHECK(has(text, "o           65-512        100        2  1.5e-05 1.5e-05 1.5e-05"));
    CHECK(has(junit,
              "name=\"sharpness\" value=\"o, 65-512 keys: 100 judged, 2 dull, bound/|exact| 1.5e-05 1.5e-05 1.5e-05"));
  }
}

TEST_CASE("a contract that is no preset has no revision", "[unit]") {
  CHECK(contract_words("mine", std::nullopt) == "mine");
  report single = drawn_report().is;
  single.contract = "mine", single.contract_revision.reset();
  CHECK(nlohmann::json::parse(as_json(single))["contract_revision"].is_null());
  CHECK(has(as_text(single), "contract mine · theorem"));
}

TEST_CASE("of a check that the conventions of a contract left open, the report says that nothing was judged",
          "[unit]") {
  check_result row{.name = "poison", .cases = 3, .sum = {}, .conventions = {"masked_values: must_be_finite"}};
  CHECK(remarks_of(row, 0.5) == std::vector<std::string>{"no element judged"});
  row.sum.by_rule = 1;
  CHECK(remarks_of(row, 0.5).empty());
  row.sum.by_rule = 0, row.unsupported = 3;
  CHECK(remarks_of(row, 0.5).empty());
}

}  // namespace
}  // namespace attest::audit::verdict_test
