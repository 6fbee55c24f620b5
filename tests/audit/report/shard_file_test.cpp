// The file of a shard: what was changed by accident is refused, what was made to harm ends in a sentence, and parts of
// different audits do not join.
#include "audit/report/file/shard_file.hpp"

#include <functional>

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/file/join.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/report/html/page.hpp"
#include "audit/support/sha256.hpp"
#include "tests/support/property.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
using pointer = json::json_pointer;

judgement judged_elements(std::int64_t count, double worst) {
  judgement found;
  found.by_theorem = count, found.by_rule = 2, found.returned = {1, 0, 0}, found.exist = count + 3;
  for (std::int64_t n = 0; n < count; ++n) found.sharpness[0][0].add(1e-6, 1, n == 0);
  found.systematic[0][2] = {{1, {-3, 4}, {5, 6}}, 2, 3};
  found.max_error_in_bounds = worst, found.max_error = worst * 1e-6;
  found.beside = {{"f32-ordered", count, 0, worst}};
  return found;
}

judgement wrong_elements() {
  judgement found = judged_elements(10, 3);
  found.failed = 2;
  found.violations.push_back(
      {.output = "o", .got = 1, .error_in_bounds = 3, .bug_class = bug_class::accuracy, .sentence = "is wrong"});
  return found;
}

finding_pictures drawn_pictures() {
  finding_pictures drawn;
  drawn.expected = {0, 0, 1, 2, {0.25, 0.75}}, drawn.masked = {false, true}, drawn.applied = drawn.expected;
  drawn.applied_by = "read through V", drawn.output = "o", drawn.errors = drawn.expected;
  return drawn;
}

enum class kind { certified, refuted, waived, unanswered };

/// Shard 1 or 2 of 2, of 10 cases: three of masks and two of poison each; the last of masks is what `is` says.
report shard_of(kind is, std::int64_t index) {
  report made;
  made.kernel = "drawn", made.contract = "f32", made.seed = 5, made.contract_revision = 2, made.shard = {index, 2};
  made.all_cases = 10, made.contracts = {*find_contract("f32")};
  made.kernel_builds = {{.sha256 = std::string(64, 'a'), .symbol = "attest_attention"}};
  std::set<std::string, std::less<>> waived{"lse"};
  if (is == kind::waived) waived.insert("masks");
  report_builder collect(made, waived);
  for (std::int64_t n = 0; n < 5; ++n) {
    std::int64_t const number = 2 * n + index;
    collect.set_case(number);
    check_result& row = collect.row_of_check(n < 3 ? "masks" : "poison");
    judgement judged = judged_elements(10, 0.5);
    if (n == 2 && (is == kind::refuted || is == kind::waived)) judged = wrong_elements();
    if (n == 2 && is == kind::unanswered) judged = {}, ++row.unsupported, collect.add_unanswered("masks/case-2");
    made.curves.push_back({"keys", 1, 0.5, judged.failed > 0, number});
    collect.add_observation("masks", "is odd");
    collect.add_judgement(row, "case-" + std::to_string(n), bug_class::accuracy, {1, 1, 1, 1, 1, 1, 1},
                          std::move(judged), "attest audit");
  }
  for (finding& found : made.findings) {
    found.pictures = drawn_pictures();
    found.shrunk.emplace().inputs = {{"q", {1, 1, 1, 2}, {1, 2}}};
  }
  made.observations.push_back(std::string("about the run"));
  collect.finish(is != kind::unanswered, "");
  return made;
}

/// With the hash of its facts, as an attacker who wants to deceive `merge` writes it.
json signed_again(json part) {
  part["shard"]["sha256"] = sha256_of(nlohmann::json(part["shard"]["facts"]).dump());
  return part;
}

using edit_json = std::function<json(json)>;
problem::result<std::vector<report>> joined(kind is, edit_json const& edit_first) {
  return join_reports(
      {{"1.json", edit_first(json::parse(as_json(shard_of(is, 1)))).dump()}, {"2.json", as_json(shard_of(is, 2))}});
}
edit_json putting(std::string const& at, json const& value) {
  return [=](json part) { return part[pointer(at)] = value, part; };
}
edit_json signing(edit_json const& edit) {
  return [=](json part) { return signed_again(edit(std::move(part))); };
}

using edit_report = std::function<void(report&)>;
problem::result<std::vector<report>> joined_after(
    edit_report const& both, edit_report const& second = [](report&) {}, bool same_kernel = false) {
  std::vector<report_file> files;
  for (std::int64_t const index : {1, 2}) {
    report part = shard_of(kind::certified, index);
    both(part);
    if (index == 2) second(part);
    files.push_back({std::to_string(index) + ".json", as_json(part)});
  }
  return join_reports(files, same_kernel);
}
edit_report const nothing = [](report&) {};

/// Checks that the shards are refused, and why; with `whole`, that this is all that is said.
void check_refused(problem::result<std::vector<report>> const& found, std::string const& says, bool whole = false) {
  INFO(says);
  REQUIRE_FALSE(found);
  INFO(found.why().message());
  CHECK((whole ? found.why().message() == says : found.why().message().find(says) != std::string::npos));
}

TEST_CASE("a shard is read as it was written, and the verdict of the whole follows", "[unit]") {
  for (auto const& [is, answer] : {std::pair{kind::certified, verdict::certified},
                                   {kind::refuted, verdict::refuted},
                                   {kind::waived, verdict::certified},
                                   {kind::unanswered, verdict::undecided}}) {
    INFO(static_cast<int>(is));
    report const written = shard_of(is, 1);
    auto read = read_shard(json::parse(as_json(written)));
    REQUIRE(read.size() == 1);
    CHECK(shard_text(read) == shard_text(std::span(&written, 1)));
    read[0].verdict = written.verdict, read[0].undecided_because = written.undecided_because;
    CHECK(as_json(read[0]) == as_json(written));
    auto const whole = joined(is, [](json part) { return part; });
    if (!whole) FAIL(whole.why().message());
    CHECK(whole.value().front().verdict == answer);
  }
}

TEST_CASE("facts that were cut off or changed are refused, with what to do", "[unit]") {
  for (auto const& [at, to] : {std::pair<char const*, json>{"/findings", json::array()},
                               {"/failing", json::array()},
                               {"/checks/0/failed", 0},
                               {"/checks/0/sum/max_error_in_bounds", "0x1p-1"},
                               {"/seed", 6},
                               {"/findings/0/what/sentence", "is right"},
                               {"/further", 1}}) {
    INFO(at);
    auto const whole = joined(kind::refuted, putting(std::string("/shard/facts/reports/0") + at, to));
    check_refused(whole, "1.json: was changed after attest wrote it: the SHA-256 of 'shard.facts' is ");
    CHECK(whole.why().reason.ends_with("; run this shard again with this attest"));
  }
  check_refused(joined(kind::refuted, putting("/shard/sha256", std::string(64, '0'))), "was changed after");
  check_refused(joined(kind::refuted, [](json part) { return part["shard"].erase("sha256"), part; }),
                "was changed after");
  check_refused(joined(kind::refuted, [](json part) { return part["shard"].erase("facts"), part; }),
                "has no 'shard.facts'");
}

TEST_CASE("what the rest of the file says changes nothing, nor does the order of keys", "[unit]") {
  auto const untouched = joined(kind::refuted, [](json part) { return part; });
  REQUIRE(untouched);
  auto const whole = joined(kind::refuted, [](json part) {
    part["verdict"] = "certified", part["findings"] = part["checks"] = json::array(), part["coverage"] = 7;
    json backwards = json::object();
    nlohmann::json const by_name(part);
    for (auto const& [key, value] : by_name.items()) backwards[key] = value, backwards["of-ci-" + key] = 1;
    return backwards;
  });
  if (!whole) FAIL(whole.why().message());
  CHECK(as_json(whole.value().front()) == as_json(untouched.value().front()));
}

TEST_CASE("what no shard of this version is, is refused with what to do", "[unit]") {
  std::string const again = "; run this shard again with this attest";
  check_refused(joined(kind::certified, putting("/attest", "0.6.0")), "was written by attest 0.6.0, this is ");
  for (json const& format : {json(1), json("2 "), json(), json::array()})
    check_refused(joined(kind::certified, putting("/shard/format", format)),
                  "is not in format 3 of shards, which alone this attest reads" + again);
  json const first = {{"index", 1}, {"of", 2}, {"all_cases", 10}, {"first_cases", {1}}};  // the format before this one
  check_refused(joined(kind::certified, putting("/shard", first)), "is not in format 3 of shards");
  check_refused(joined(kind::certified,
                       [&](json part) { return json{{"attest", part["attest"]}, {"reports", {{{"shard", first}}}}}; }),
                "is not in format 3 of shards");
  for (json const& other :
       {json(7), json::array(), json::object(), json{{"reports", 1}}, json{{"reports", {1, {{"verdict", 1}}}}}})
    check_refused(joined(kind::certified, [&](json const&) { return other; }),
                  "is not the report of a shard: `attest audit --seed N --shard i/n");
}

TEST_CASE("a fact that cannot be is refused with its place, whatever the hash", "[unit]") {
  struct wrong {
    char const* at;
    json to;
    char const* says;
  };
  json const many(70'000, "0x0p+0");
  for (auto const& [at, to, says] : std::initializer_list<wrong>{
           {"/index", 3, "'shard.facts' has an 'index' that is not from 1 to 'of'"},
           {"/index", 0, "an 'index'"},
           {"/of", "2", "'shard.facts.of' is \"2\", expected a whole number from 0 to 1099511627776"},
           {"/reports", json::array(), "'shard.facts' has no 'reports'"},
           {"/reports", 7, "'shard.facts.reports' is 7, expected a list"},
           {"/reports/0", json::array(), "'shard.facts.reports[0]' is an array, expected an object"},
           {"/reports/0/kernel", nullptr, "'shard.facts.reports[0].kernel' is null, expected a string"},
           {"/reports/0/seed", -1, ".seed' is -1, expected a whole number"},
           {"/reports/0/theorem_revision", 5000000000, "expected a whole number from 0 to 2147483647"},
           {"/reports/0/kernel_builds", json::array(), "has more or fewer than one entry in 'kernel_builds'"},
           {"/reports/0/contract", "{}", ".contract' "},
           {"/reports/0/contract", R"({"from": "f32-any", "name": "f32"})",
            "is 'f32', which is a preset that says otherwise"},
           {"/reports/0/outside_limit", "nan", "expected a number that is not negative"},
           {"/reports/0/unanswered", json::array({json::array({1})}), ".unanswered[0]' has 1 entries, expected 2"},
           {"/reports/0/checks/1/cases", -1, ".checks[1].cases' is -1, expected a whole number"},
           {"/reports/0/checks/1/cases", 1e30, "expected a whole number"},
           {"/reports/0/checks/1/cases", std::uint64_t{1} << 63, "expected a whole number"},
           {"/reports/0/checks/0/sum/sharpness/0/0/ratios", json::array(), "' has 0 entries, expected 64"},
           {"/reports/0/checks/0/sum/systematic/0/2/squares", json::array({1}), "' has 1 entries, expected 2"},
           {"/reports/0/checks/0/sum/max_ulp", "-0x1p+0", "expected a number that is not negative"},
           {"/reports/0/checks/0/sum/max_ulp", "1.5", "expected a hex float, nan, inf or -inf in a string"},
           {"/reports/0/checks/0/sum/max_ulp", "0x1p+0 ", "expected a hex float"},
           {"/reports/0/checks/0/sum/max_ulp", 1, "expected a hex float"},
           {"/reports/0/coverage/maps/0", json::array({1}),
            "has 'maps' with another number of counts than there are classes"},
           {"/reports/0/coverage/maps", json::array(), ".maps' has 0 entries, expected 5"},
           {"/reports/0/coverage/triples", "00", ".triples' has not a hexadecimal digit for every four triples"},
           {"/reports/0/coverage/triples", std::string((coverage::triple_count + 3) / 4, 'g'),
            "has not a hexadecimal digit"},
           {"/reports/0/findings/0/what/class", "<of another year>", ".class' names no class of `attest list classes`"},
           {"/reports/0/findings/0/what/index", json::array({1, 2}), ".index' has 2 entries, expected 4"},
           {"/reports/0/findings/0/pictures/masked", "#", "has not a mark in 'masked' for every value"},
           {"/reports/0/findings/0/pictures/masked", "#x", ".masked' has another mark than # and ."},
           {"/reports/0/findings/0/pictures/applied/columns", 1,
            ".applied' has another number of 'values' than of places"},
           {"/reports/0/findings/0/pictures/applied",
            {{"first_row", 0}, {"first_column", 0}, {"rows", 1}, {"columns", 1}, {"values", {"0x0p+0"}}},
            "has an 'applied' of another size"},
           {"/reports/0/findings/0/pictures/expected/rows", 5000, "expected a whole number from 0 to 4096"},
           {"/reports/0/findings/0/pictures/errors",
            {{"first_row", 0}, {"first_column", 0}, {"rows", 70}, {"columns", 1000}, {"values", many}},
            "has more than 65536 'values'"},
           {"/reports/0/findings/0/shrunk/inputs/0/shape", json::array({1, 3}),
            "has a 'shape' that does not fit its 'values'"},
           {"/reports/0/findings/0/shrunk/inputs/0/shape", json::array({1048576, 1048576, 0, 0}),
            "has a 'shape' that does not fit"},
           {"/reports/0/findings/0/shrunk/inputs/0/shape", json::array(), "has a 'shape' that does not fit"},
           {"/reports/0/findings/0/shrunk/inputs/0/shape", json::array({1, 1, 1, 1, 1, 2}),
            "has a 'shape' that does not fit"}}) {
    INFO(at << ' ' << to.dump().substr(0, 60));
    auto const whole = joined(kind::refuted, signing(putting(std::string("/shard/facts") + at, to)));
    check_refused(whole, says);
    CHECK(whole.why().reason.ends_with("; run this shard again with this attest"));
  }
  check_refused(joined(kind::refuted,
                       signing([](json part) { return part["shard"]["facts"]["reports"][0].erase("options"), part; })),
                "1.json: 'shard.facts.reports[0].options' is missing; run this shard again with this attest", true);
}

TEST_CASE("any edit of a shard is refused with a sentence, or the whole can be drawn: nothing crashes", "[property]") {
  json const facts = json::parse(as_json(shard_of(kind::refuted, 1)))["shard"]["facts"];
  std::vector<std::string> places;
  json const flat = facts.flatten();
  for (auto const& [at, value] : flat.items()) places.push_back(at);
  tests::property("facts with the hash of what they became", [&] {
    auto const edit = [&](json part) {
      for (int n = *rc::gen::inRange(1, 4); n > 0; --n) {
        pointer at("/shard/facts" + places[*rc::gen::inRange<std::size_t>(0, places.size())]);
        for (int up = *rc::gen::inRange(0, 3); up > 0; --up) at = at.parent_pointer();
        json const values[]{0,
                            1,
                            -1,
                            json(),
                            true,
                            "",
                            "nan",
                            "inf",
                            std::int64_t{1} << 40,
                            json::array(),
                            json::object(),
                            part.contains(at) ? part[at] : json()};
        try {
          part[at] = values[*rc::gen::inRange<std::size_t>(0, std::size(values))];
        } catch (json::exception const&) {}  // its parent is a number by now
      }
      return part.contains("shard") && part["shard"].is_object() && part["shard"].contains("facts") ? signed_again(part)
                                                                                                    : part;
    };
    auto const whole = joined(kind::refuted, edit);
    if (whole) RC_ASSERT_FALSE(as_html(whole.value()).empty());
    else RC_ASSERT_FALSE(whole.why().reason.empty());
  });
  tests::property("bytes of the text", [] {
    std::string text = as_json(shard_of(kind::refuted, 1));
    for (int n = *rc::gen::inRange(1, 6); n > 0; --n) {
      auto const at = *rc::gen::inRange<std::size_t>(0, text.size());
      switch (*rc::gen::inRange(0, 3)) {
        case 0: text[at] = *rc::gen::element('-', '9', '"', '{', ']', ',', '\0', '\xff'); break;
        case 1: text.erase(at, *rc::gen::inRange<std::size_t>(1, 40)); break;
        default: text.insert(at, text.substr(*rc::gen::inRange<std::size_t>(0, text.size()), 30)); break;
      }
    }
    auto const whole = join_reports({{"1.json", text}, {"2.json", as_json(shard_of(kind::refuted, 2))}});
    if (whole) RC_ASSERT(whole.value().front().verdict == verdict::refuted);  // the damage is outside of the facts
    else RC_ASSERT_FALSE(whole.why().reason.empty());
  });
}

TEST_CASE("a shard that got every answer has its share of the cases, except draws that it says it left out", "[unit]") {
  auto const with = [](std::int64_t cases, std::int64_t draws, edit_report const& more = nothing) {
    return joined_after([&](report& part) { part.all_cases = cases, part.all_draws = draws, more(part); });
  };
  CHECK(with(10, 0));
  check_refused(with(12, 0),
                "1.json: has 5 cases beside its draws; shard 1/2 of this audit has 6; run this shard again", true);
  check_refused(with(8, 0), "has 5 cases beside its draws; shard 1/2 of this audit has 4");
  check_refused(with(13, 3), "has 0 draws; shard 1/2 of this audit has 2");
  CHECK(with(13, 3, [](report& part) { part.not_asked.push_back({"draws 1 to 3", "the kernel hung twice"}); }));
  CHECK(with(12, 0, [](report& part) { part.incomplete_because = "interrupted"; }));
}

TEST_CASE("shards of replayed files are of one audit where the files had the same bytes", "[unit]") {
  std::string const a(64, 'a'), b(64, 'b');
  auto const of = [](std::string const& first, std::string const& second) {
    return joined_after([&](report& part) { part.replayed = first; }, [&](report& part) { part.replayed = second; });
  };
  auto const same = of(a, a);
  REQUIRE(same);
  CHECK(same.value().front().replayed == a);
  CHECK(of("", ""));
  for (auto const& second : {b, std::string()})
    check_refused(of(a, second),
                  "2.json: its 'replayed', the SHA-256 of the file of --replay, is '" +
                      (second.empty() ? "none" : second) + "'; in 1.json it is '" + a + "'",
                  true);
}

TEST_CASE("shards that tell of one case, or of more cases than there are, are refused", "[unit]") {
  check_refused(joined_after(nothing, [](report& r) { r.curves[0].number = 1; }),
                "2.json: tells of case 1, as 1.json does", true);
  check_refused(joined_after(nothing, [](report& r) { r.checks[0].cases = 6, r.incomplete_because = "interrupted"; }),
                "2.json: its checks and the checks of the shards before it have 13 cases; the audit has 10", true);
  check_refused(joined_after(nothing, [](report& r) { r.waived = {"empty-rows", "lse"}; }),
                "2.json: its list of waived checks is 'empty-rows, lse'; in 1.json it is 'lse'", true);
  check_refused(joined_after(nothing, [](report& r) { r.domain = {"d=64 dv=d", domain_origin::found}; }),
                "2.json: its domain is 'd=64 dv=d'; in 1.json it is ''", true);
  check_refused(joined_after(nothing, [](report& r) { r.options = "--quick"; }),
                "its list of options is '--quick'; in 1.json it is ''");
  check_refused(joined_after(nothing, [](report& r) { r.all_draws = 1, r.incomplete_because = "interrupted"; }),
                "its number of draws is '1'");
}

TEST_CASE("a kernel is known by its build, and a contract by its numbers", "[unit]") {
  edit_report const rebuilt = [](report& r) { r.kernel_builds[0].sha256 = std::string(64, 'b'); };
  check_refused(joined_after(nothing, rebuilt),
                "2.json: its kernel is attest_attention of a library with SHA-256 bbbbbbbbbbbbbbbb…; in 1.json it is "
                "attest_attention of a library with SHA-256 aaaaaaaaaaaaaaaa…; --same-kernel takes them for one kernel",
                true);
  auto const taken = joined_after(nothing, rebuilt, true);
  REQUIRE(taken);
  CHECK(taken.value().front().verdict == verdict::certified);
  std::string const says =
      "The shards asked 2 builds of the kernel, which --same-kernel takes for one: attest_attention "
      "of a library with SHA-256 aaaaaaaaaaaaaaaa…; attest_attention of a library with SHA-256 bbbbbbbbbbbbbbbb….";
  json const whole = json::parse(as_json(taken.value().front()));
  CHECK(whole["evidence"]["sentence"].get<std::string>().ends_with(says));
  CHECK(whole["kernel_builds"].size() == 2);
  CHECK_FALSE(joined_after(nothing, [](report& r) { r.kernel_builds[0].symbol = "another"; }));
  edit_report const unread = [](report& r) { r.kernel_builds[0].sha256 = ""; };  // two unread files need not be one
  CHECK_FALSE(joined_after(unread));
  CHECK(joined_after(unread, nothing, true));

  edit_report const builtin = [](report& r) {
    r.kernel_builds = {
        {.sha256 = {}, .symbol = "attest_attention", .version = "1", .instructions = "avx2", .claim = "c"}};
  };
  CHECK(joined_after(builtin));
  CHECK_FALSE(joined_after(builtin, [](report& r) { r.kernel_builds[0].instructions = "scalar"; }));
  CHECK_FALSE(joined_after(builtin, [](report& r) { r.kernel_builds[0].version = "2"; }));
  CHECK_FALSE(joined_after(builtin, [](report& r) { r.kernel_builds[0].claim = "d"; }));

  edit_report const mine = [](report& r) { r.contracts[0].name = "mine"; };
  auto const of_mine = joined_after(mine);
  REQUIRE(of_mine);
  CHECK(of_mine.value().front().contract == "mine");
  CHECK_FALSE(of_mine.value().front().contract_revision);
  CHECK(joined_after(mine, [](report& r) { r.contracts[0].sentence = "said in other words"; }));
  check_refused(joined_after(mine, [](report& r) { r.contracts[0].fixed.k_x = 2; }),
                "2.json: its contract 'mine' has 2 for 'model.k_x'; in 1.json it is 4", true);
  check_refused(joined_after(mine, [](report& r) { r.contracts[0].builtin = true; }),
                "2.json: its contract 'mine' has ");
}

}  // namespace
}  // namespace attest::audit
