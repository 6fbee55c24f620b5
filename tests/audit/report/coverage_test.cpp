// The coverage of an audit: the counts of small examples by hand, shards that add up to the whole, the sentences.
#include "audit/report/coverage/coverage.hpp"

#include <cmath>
#include <set>

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/coverage/coverage_json.hpp"
#include "audit/report/coverage/coverage_words.hpp"
#include "audit/report/coverage/refusal_pattern.hpp"
#include "audit/report/file/join.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/html/page.hpp"
#include "audit/report/junit.hpp"
#include "audit/report/text.hpp"
#include "audit/report/verdict.hpp"
#include "audit/support/markup.hpp"
#include "tests/support/property.hpp"

namespace attest::audit::coverage_test {
namespace {

using json = nlohmann::ordered_json;

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

constexpr call_replies refused{.call = reply::refused};

/// Without features: equal heads, dv = d, d a multiple of 8, n = m.
call_form plain(feature_set options = {}) { return {.size = {1, 8, 8, 64, 64, 64, 64}, .options = options}; }

/// One query for 4096 keys: `unequal`.
call_form decode(feature_set options = {}) { return {.size = {1, 8, 8, 1, 4096, 64, 64}, .options = options}; }

std::pair<std::int64_t, std::int64_t> met(combination_counts const& counts) {
  return {counts.pairs.met, counts.triples.met};
}

TEST_CASE("the combinations that can exist are those of the groups and axes", "[unit]") {
  combinations const all = coverage{}.met();
  // Features: (1 + x)⁶ for the groups sizes and numbers, (1 + 4x)(1 + 6x)(1 + 5x) for band, mask and bias; x² and x³.
  CHECK(all.features.pairs.of == 36 + (9 * 18 - 2) + (119 - 11));
  CHECK(all.features.triples.of == 84 + (36 * 18 - 15) + (9 * 108 - 2 * 4) + (120 + 48 + 40 + 60));
  // Shapes: the elementary symmetric polynomials of 7, 7, 5, 5, 4, 5, 4, 8; heads 1 has three groups too large, heads
  // 2-8 one, each with 36 classes of the other axes.
  CHECK(all.shapes.pairs.of == 878 - 4);
  CHECK(all.shapes.triples.of == 9702 - 4 * 36);
  // Both: `grouped` has neither groups 1 nor heads 1.
  CHECK(all.mixed.pairs.of == 27 * 45 - 2);
  // Two features and a class, or a feature and two classes. 77 pairs of classes have groups 1 or heads 1, and `unequal`
  // excludes 0 queries for 0 keys and 1 for 1.
  CHECK(all.mixed.triples.of == (304 * 45 - 26 * 2) + (27 * 874 - 77 - 2));
  for (combination_counts const& counts : {all.features, all.shapes, all.mixed})
    CHECK(met(counts) == std::pair<std::int64_t, std::int64_t>(0, 0));
}

TEST_CASE("a call meets the pairs and triples of its features and shape classes", "[unit]") {
  coverage of;
  of.add(plain(), {});
  // Eight classes: C(8, 2) pairs, C(8, 3) triples.
  CHECK(met(of.met().features) == std::pair<std::int64_t, std::int64_t>(0, 0));
  CHECK(met(of.met().shapes) == std::pair<std::int64_t, std::int64_t>(28, 56));
  CHECK(met(of.met().mixed) == std::pair<std::int64_t, std::int64_t>(0, 0));

  of.add(plain(), {});
  CHECK(met(of.met().shapes) == std::pair<std::int64_t, std::int64_t>(28, 56));

  coverage other;
  other.add(decode({feature::causal, feature::mask}), {});
  CHECK(met(other.met().features) == std::pair<std::int64_t, std::int64_t>(3, 1));
  CHECK(met(other.met().shapes) == std::pair<std::int64_t, std::int64_t>(28, 56));
  CHECK(met(other.met().mixed) == std::pair<std::int64_t, std::int64_t>(3 * 8, 3 * 8 + 3 * 28));

  // The two calls differ in the classes of n and m: C(6, 2) pairs and C(6, 3) triples are of both.
  of.merge(other);
  CHECK(met(of.met().shapes) == std::pair<std::int64_t, std::int64_t>(28 + 28 - 15, 56 + 56 - 20));
  CHECK(of.calls == reply_count{3, 3});
}

TEST_CASE("a refused call covers nothing, and a call without batch entries has no class of them", "[unit]") {
  coverage of;
  of.add(plain({feature::causal}), refused);
  CHECK(met(of.met().shapes) == std::pair<std::int64_t, std::int64_t>(0, 0));
  CHECK(of.calls == reply_count{1, 0});
  call_form empty = plain();
  empty.size.b = 0;
  of.add(empty, {});
  CHECK(met(of.met().shapes) == std::pair<std::int64_t, std::int64_t>(21, 35));
  CHECK(of.maps[0][3 * 7 + 3] == 1);
  CHECK(std::ranges::count(of.maps[2], 0) == std::ssize(of.maps[2]));
}

TEST_CASE("the maps count answered calls by their sizes", "[unit]") {
  coverage of;
  call_form call{.size = {4, 32, 8, 129, 128, 80, 257}, .options = {}, .threads = 8};
  of.add(call, {});
  of.add(call, {});
  of.add(call, refused);
  for (auto const& [map, cell] : {std::pair{0, 4 * 7 + 3}, {1, 2 * 5 + 4}, {2, 1 * 5 + 3}, {3, 2}, {4, 5}}) {
    auto const& counts = of.maps[static_cast<std::size_t>(map)];
    INFO(map);
    CHECK(counts[static_cast<std::size_t>(cell)] == 2);
    CHECK(std::ranges::count(counts, 0) == std::ssize(counts) - 1);
  }
  std::vector<std::string> names;
  for (std::size_t at = 0; at < row_of(shape_axis::n).classes; ++at)
    names.push_back(class_name(row_of(shape_axis::n), at));
  CHECK(names == std::vector<std::string>{"0", "1", "2-16", "17-128", "129-1024", "1025-4096", "4097-"});
}

TEST_CASE("a feature is refused alone where it was asked without others and no call with it was answered", "[unit]") {
  coverage of;
  of.add(plain({feature::causal}), refused);
  of.add(plain({feature::causal, feature::softcap}), refused);
  of.add(plain({feature::softcap}), {});
  of.add(plain({feature::mask}), refused);  // and answered elsewhere
  of.add(decode({feature::mask}), {});
  of.add(plain({feature::bias, feature::alibi}), refused);  // never alone
  of.add(plain({feature::mask, feature::softcap}), refused);
  CHECK(of.refused_alone() == std::vector{feature::causal});
  // causal + softcap is the refusal of causal; bias + alibi may be the refusal of either.
  CHECK(of.refused_together() ==
        std::vector<std::pair<feature, feature>>{{feature::mask, feature::softcap}, {feature::bias, feature::alibi}});
  CHECK(of.support(feature::causal).any == reply_count{2, 0});
  CHECK(of.support(feature::causal).only == reply_count{1, 0});
  CHECK(of.support(feature::softcap, feature::causal).only == reply_count{1, 0});
  CHECK(of.support(feature::unequal, feature::mask).any == reply_count{1, 1});
  CHECK(refused_words(of) == "causal; mask + softcap together; bias + alibi together");
}

TEST_CASE("support that is required is missing where it is refused, withheld or not asked", "[unit]") {
  coverage of;
  of.add(plain({feature::causal}), refused);
  of.add(plain({feature::mask}), {.lse = reply::answered, .weights = reply::answered});
  of.add(plain(), {.lse = reply::refused, .weights = reply::answered});
  of.add(plain(), refused);
  CHECK(missing_support(of, {}).empty());
  CHECK(missing_support(of, std::vector<std::string>{"mask", "weights"}).empty());
  CHECK(missing_support(of, std::vector<std::string>{"mask", "causal", "window", "lse"}) ==
        "--require-support: causal is refused, window was not asked, lse was withheld from 1 of 2 calls");
  CHECK(missing_support({}, std::vector<std::string>{"weights"}) == "--require-support: weights was not asked");
  CHECK(support_names().size() == feature_count + 2);
}

TEST_CASE("the rule of three holds for the numbers that it names", "[unit]") {
  CHECK_FALSE(rarity_words(2));
  CHECK(has(*rarity_words(812),
            "812 numbered draws were answered and none is wrong; a defect that strikes a fraction "
            "p of such draws would have been met with 95 % for p ≥ 3/812 (one draw in 270)"));
  for (double draws = 3; draws < 1e7; draws *= 1.7) CHECK(std::pow(1 - 3 / draws, draws) < 0.05);
}

/// A form and outcome, of all kinds.
asked_call draw_call() {
  auto const draw = [](std::initializer_list<std::int64_t> from) {
    return *rc::gen::elementOf(std::vector<std::int64_t>(from));
  };
  asked_call call;
  std::int64_t const kv_heads = draw({0, 1, 2, 8});
  call.form.size = {draw({0, 1, 3, 16, 200}),   kv_heads * draw({1, 2, 5, 12}), kv_heads,
                    draw({0, 1, 16, 17, 5000}), draw({0, 1, 16, 1025}),         draw({0, 8, 80, 300}),
                    draw({0, 8, 80, 300})};
  for (int n = *rc::gen::inRange(0, 4); n > 0; --n)
    call.form.options.add(static_cast<feature>(*rc::gen::inRange<std::size_t>(4, feature_count)));
  call.form.threads = *rc::gen::inRange(0, 70);
  auto const answer = [] { return *rc::gen::element(reply::not_asked, reply::answered, reply::refused); };
  call.outcome = {*rc::gen::element(reply::answered, reply::refused), answer(), answer()};
  return call;
}

/// The report of an audit that made these calls: two thirds are inputs of check "masks", the others draws. n + 1
/// elements of the outputs of call n are judged.
report report_of(std::vector<asked_call> const& calls, std::int64_t index, std::int64_t of,
                 std::vector<std::string> const& required = {}) {
  report result;
  result.kernel = "drawn", result.contract = "f32", result.seed = 5;
  if (of > 1) result.shard = {index, of};
  result.required_support = required;
  result.contracts = {*find_contract("f32")}, result.contract_revision = 2;
  result.kernel_builds = {{.sha256 = std::string(64, 'a'), .symbol = "attest_attention"}};
  std::set<std::string, std::less<>> const waived;
  report_builder collect(result, waived);
  std::int64_t const fixed = std::ssize(calls) - std::ssize(calls) / 3;
  result.all_cases = std::ssize(calls), result.all_draws = result.all_cases - fixed;
  for (std::int64_t n = 0; n < std::ssize(calls); ++n) {
    bool const draw = n >= fixed;
    if ((draw ? n - fixed : n) % of != index - 1) continue;
    auto const& [form, outcome] = calls[static_cast<std::size_t>(n)];
    collect.set_case(n + 1);
    judgement judged;
    judged.by_rule = n + 1;
    check_result& row = collect.row_of_check(draw ? "drawn" : "masks");
    if (draw && outcome.call != reply::answered) ++row.unsupported;
    collect.add_judgement(row, "one", bug_class::accuracy, {}, std::move(judged), "");
    result.covered.add(form, outcome);
    result.covered.add_elements(n + 1, 2 * (n + 1));
    if (draw) ++result.draws, result.covered.add_draw(outcome.call == reply::answered);
  }
  collect.finish(true, "");
  return result;
}

std::vector<report_file> cut(std::vector<asked_call> const& calls, std::int64_t of,
                             std::vector<std::string> const& required = {}) {
  std::vector<report_file> files;
  for (std::int64_t n = 1; n <= of; ++n)
    files.push_back({std::to_string(n) + ".json", as_json(report_of(calls, n, of, required))});
  return files;
}

TEST_CASE("however the calls are cut, the joined coverage is that of the whole", "[property]") {
  tests::property("join_reports(cut(calls)) covers what the calls cover", [] {
    std::vector<asked_call> calls;
    for (int n = *rc::gen::inRange(1, 30); n > 0; --n) calls.push_back(draw_call());
    report const whole = report_of(calls, 1, 1);
    auto const joined = join_reports(cut(calls, *rc::gen::inRange(2, 5)));
    if (!joined) RC_FAIL(joined.why().message());
    report const& rejoined = joined.value().front();
    RC_ASSERT(rejoined.covered == whole.covered);
    RC_ASSERT(rejoined.draws == whole.draws);
    RC_ASSERT(as_json(rejoined) == as_json(whole));
    combinations const met = whole.covered.met();
    for (combination_counts const& counts : {met.features, met.shapes, met.mixed})
      RC_ASSERT(counts.pairs.met <= counts.pairs.of && counts.triples.met <= counts.triples.of);
  });
}

TEST_CASE("required support is that of all shards together", "[unit]") {
  // Each shard alone lacks one of the two.
  std::vector<asked_call> const calls{{plain({feature::causal}), {}}, {plain({feature::window}), {}}};
  std::vector<std::string> const required{"causal", "window"};
  CHECK(report_of(calls, 1, 2, required).undecided_because == "--require-support: window was not asked");
  auto const joined = join_reports(cut(calls, 2, required));
  REQUIRE(joined);
  CHECK(joined.value().front().verdict == verdict::certified);
  auto const lacking = join_reports(cut(calls, 2, {"causal", "mask"}));
  REQUIRE(lacking);
  CHECK(lacking.value().front().verdict == verdict::undecided);
  CHECK(lacking.value().front().undecided_because == "--require-support: mask was not asked");
  report refuted;
  refuted.required_support = {"mask"};
  refuted.findings.emplace_back();
  std::set<std::string, std::less<>> const waived;
  report_builder(refuted, waived).finish(true, "");
  CHECK(refuted.verdict == verdict::refuted);
}

TEST_CASE("text, JSON, HTML and JUnit say what was covered; without calls they say nothing", "[unit]") {
  std::vector<asked_call> calls(12, asked_call{plain({feature::causal, feature::mask}), {}});
  calls.push_back({plain({feature::softcap}), refused});
  report single = report_of(calls, 1, 1);
  std::string const covered =
      "covered: 12 of 13 calls were answered; they had 1 of 304 pairs and 0 of 1,949 triples "
      "of features, 28 of 874 pairs and 56 of 9,558 triples of classes of sizes, and 16 of 1,213 "
      "pairs and 64 of 37,147 triples of features and classes; 91 of 182 output elements were "
      "judged";
  for (std::string const& note :
       {covered, std::string("the kernel refused: softcap"), *rarity_words(single.covered.draws_answered)}) {
    INFO(as_text(single));
    CHECK(has(as_text(single), "note: " + note + '\n'));
    CHECK(has(as_html(std::span(&single, 1)), escaped(note)));
    CHECK(has(as_junit(std::span(&single, 1)), "name=\"note\" value=\"" + escaped(note) + "\""));
  }
  json const object = json::parse(as_json(single))["coverage"];
  CHECK(object["calls"] == json({{"asked", 13}, {"answered", 12}}));
  CHECK(object["draws"] == json({{"made", 4}, {"answered", 3}, {"products", 0}}));
  CHECK(object["features"]["pairs"] == json({{"met", 1}, {"of", 304}}));
  CHECK(object["map"][0]["calls"][3][3] == 12);
  CHECK(object["map"][0]["rows"]["n"][3] == "17-128");
  CHECK(object["map"][4]["calls"][0] == 12);
  CHECK(object["support"].size() == 4);
  CHECK(object["support"][1]["features"] == json::array({"causal", "mask"}));
  CHECK(object["support"][1]["without_others"] == json({{"asked", 12}, {"answered", 12}}));
  CHECK(has(as_html(std::span(&single, 1)), "<h2>Coverage</h2>"));

  // If a kernel is refuted, the draws that showed nothing say nothing.
  single.verdict = verdict::refuted;
  CHECK(has(as_text(single), covered));
  CHECK_FALSE(has(as_text(single), "numbered draws"));

  report const none = report_of({}, 1, 1);
  CHECK(json::parse(as_json(none))["coverage"].is_null());
  CHECK_FALSE(has(as_text(none), "covered: "));
  CHECK_FALSE(has(as_html(std::span(&none, 1)), "<h2>Coverage</h2>"));
}

}  // namespace
}  // namespace attest::audit::coverage_test
