// A report that contradicts itself is refused, rule by rule; what the program writes is not.
#include <functional>
#include <limits>

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/consistency.hpp"
#include "audit/report/join.hpp"
#include "audit/report/json_object.hpp"
#include "audit/report/json_write.hpp"
#include "tests/support/catch.hpp"

namespace attest::audit {
namespace {

using json = nlohmann::ordered_json;
constexpr double infinity = std::numeric_limits<double>::infinity();

judgement judged_elements(std::int64_t count, double worst) {
  judgement found;
  found.by_theorem = count, found.by_rule = 2, found.returned = {1, 0, 0};
  for (std::int64_t n = 0; n < count; ++n) found.sharpness[0][0].add(1e-6, 1, n == 0);
  found.max_error_in_bounds = worst, found.max_error = worst * 1e-6;
  found.beside = {{"f32-ordered", count, 0, worst}};
  return found;
}

judgement wrong_elements(bug_class of) {
  judgement found = judged_elements(10, 3);
  found.failed = 2;
  found.violations.push_back({.output = "o", .got = 1, .error_in_bounds = 3, .bug_class = of, .sentence = "is wrong"});
  return found;
}

enum class kind { certified, refuted, waived, unanswered, undecided };

/// Shard 1 or 2 of 2, of 12 cases: three of masks and two of poison each; the last of masks is what `is` says.
report shard_of(kind is, std::int64_t index) {
  report made;
  made.kernel = "drawn", made.contract = "f32", made.seed = 5, made.contract_revision = 2, made.shard = {index, 2};
  made.all_cases = 12, made.contracts = {*find_contract("f32")};
  made.kernel_builds = {{.sha256 = std::string(64, 'a'), .symbol = "attest_attention"}};
  std::set<std::string, std::less<>> waived{"lse"};
  if (is == kind::waived) waived.insert("masks");
  report_builder collect(made, waived);
  for (std::int64_t n = 0; n < 5; ++n) {
    std::int64_t const number = 2 * n + index;
    collect.set_case(number);
    check_result& row = collect.row_of_check(n < 3 ? "masks" : "poison");
    judgement judged = judged_elements(10, 0.5);
    if (n == 2 && (is == kind::refuted || is == kind::waived)) judged = wrong_elements(bug_class::accuracy);
    if (n == 2 && is == kind::unanswered) judged = {}, ++row.unsupported, collect.add_unanswered("masks/case-2");
    if (n == 2 && is == kind::undecided) judged.undecided = 1;
    made.curves.push_back({"keys", 1, 0.5, judged.failed > 0, number});
    made.covered.elements_judged += judged.judged(), made.covered.elements_existing += judged.judged();
    collect.add_observation("masks", "is odd");
    collect.add_judgement(row, "case-" + std::to_string(n), bug_class::accuracy, {1, 1, 1, 1, 1, 1, 1}, std::move(judged),
                          "attest audit");
  }
  collect.finish(is != kind::unanswered, "");
  return made;
}

std::string contradiction(report const& part) {
  try {
    require_consistent(part);
  } catch (report_fault const& wrong) { return wrong.reason; }
  return "";
}

problem::result<std::vector<report>> joined(kind is, std::function<void(json&)> const& edit = [](json&) {}) {
  std::vector<report_file> files;
  for (std::int64_t const index : {1, 2}) {
    json part = json::parse(as_json(shard_of(is, index)));
    edit(part);
    files.push_back({std::to_string(index) + ".json", part.dump()});
  }
  return join_reports(files);
}

TEST_CASE("what an audit reports is consistent, whatever its verdict", "[unit]") {
  for (auto const& [is, answer] :
       {std::pair{kind::certified, verdict::certified}, {kind::refuted, verdict::refuted}, {kind::waived, verdict::certified},
        {kind::unanswered, verdict::undecided}, {kind::undecided, verdict::undecided}}) {
    INFO(static_cast<int>(is));
    CHECK(shard_of(is, 1).verdict == answer);
    CHECK(contradiction(shard_of(is, 1)) == "");
    auto const whole = joined(is);
    if (!whole) FAIL(whole.why().message());
    CHECK(whole.value().front().verdict == answer);
  }
}

TEST_CASE("each rule of a consistent report refuses what breaks it, with the field's name", "[unit]") {
  struct broken {
    kind is;
    std::function<void(report&)> edit;
    char const* says;
  };
  auto const refuted = kind::refuted, certified = kind::certified;
  broken const all[]{
      // Counts of a check.
      {certified, [](report& r) { r.checks[1].name = "masks"; }, "check 'masks' is there twice"},
      {certified, [](report& r) { r.checks[1].cases = 0; }, "check 'poison' has no 'cases'"},
      {certified, [](report& r) { r.checks[1].unsupported = 9; }, "'unsupported' of check 'poison' is 9, of 2 'cases'"},
      {refuted, [](report& r) { r.checks[0].sum.failed = 0; }, "'failed' of check 'masks' is 1, its 'faults' are 0"},
      {refuted, [](report& r) { r.checks[0].failed = 0; }, "'failed' of check 'masks' is 0, its 'faults' are 2"},
      {refuted, [](report& r) { r.checks[0].failed = 3; }, "'failed' of check 'masks' is 3, its 'faults' are 2"},
      {certified, [](report& r) { r.checks[0].sum.shares[0].judged = 1000; }, "'outside' of check 'masks' has 1000 elements judged of "},
      {certified, [](report& r) { r.checks[0].sum.shares[2].outside = 1; }, "and 1 outside of 0"},
      {kind::undecided, [](report& r) { r.checks[0].sum.undecided = 0; }, "its 'undecided_elements' are 0"},
      {kind::undecided, [](report& r) { r.checks[0].undecided = 0; }, "'undecided' of check 'masks' is 0"},
      {certified, [](report& r) { r.checks[0].sum.suspicious = 99; }, "'suspicious' of check 'masks' is 99, of 30"},
      {kind::undecided, [](report& r) { r.checks[0].sum.undecided = 99; }, "'undecided_elements' of check 'masks' is 99"},
      {certified, [](report& r) { r.checks[0].sum.beside[0].outside = 99; }, "'sharper_presets' of check 'masks' has 99"},
      {certified, [](report& r) { r.checks[0].sum.by_theorem = 29; }, "has 30 elements, 'judged_by_theorem' and"},
      {certified, [](report& r) { r.checks[0].sum.sharpness[0][0].ratios = {}; }, "their ratios are 0"},
      {certified, [](report& r) { r.checks[0].sum.sharpness[0][0].dull = 99; }, "30 elements of o are judged, 99 dull"},
      {certified, [](report& r) { r.checks[0].sum.systematic[0][0].rows = 1; }, "has sums of o that 0 calls of 1 rows"},
      {certified, [](report& r) { r.checks[0].sum.systematic[0][0] = {{1, {0, 0}, {-1, 0}}, 1, 1}; }, "has sums of o that 1 calls"},
      {certified, [](report& r) { r.checks[0].sum.systematic[0][2] = {{1, {-65537, 0}, {0, 0}}, 1, 1}; }, "has sums of o that 1 calls"},
      {certified, [](report& r) { r.checks[0].sum.systematic[0][0] = {{1, {0, 0}, {0, 0}}, 1, 31}; }, "has 31 elements of o, of 30 judged"},
      {certified, [](report& r) { r.checks[0].sum.returned = {}; }, "which 'returned' says no call returned"},
      // The largest errors.
      {certified, [](report& r) { r.checks[0].sum.max_error_in_bounds = infinity; }, "no 'faults', and its 'max_error_in_bounds' is inf"},
      {certified, [](report& r) { r.checks[0].sum.max_error_in_bounds = 1.5; }, "no 'faults', and its 'max_error_in_bounds' is 1.5"},
      {certified, [](report& r) { r.checks[0].sum.max_error = infinity; }, "its 'max_error' inf"},
      {certified,
       [](report& r) { r.checks[0].sum.by_theorem = 0, r.checks[0].sum.sharpness = {}, r.checks[0].sum.beside.clear(); },
       "no element of check 'masks' is judged by a bound, and its 'max_error_in_bounds' is 0.5"},
      // Lists that were cut off.
      {refuted, [](report& r) { r.findings.clear(); }, "class 'accuracy', 'findings' has none"},
      {refuted, [](report& r) { r.findings.clear(), r.failing.clear(); }, "'failing' has 0 cases of check 'masks', 'failed' is 1"},
      {refuted, [](report& r) { r.checks.erase(r.checks.begin()), r.cases = 2; }, "'failing' is about check 'masks', 'checks' is not"},
      {refuted, [](report& r) { r.failing[0].classes.clear(); }, "'failing' has no class for masks/case-2"},
      {refuted, [](report& r) { r.failing.push_back(r.failing[0]); }, "'failing' has case 5 (masks/case-2) twice"},
      {refuted, [](report& r) { r.failing[0].number = 13; }, "or there is no such case"},
      {refuted, [](report& r) { r.failing[0].number = 7; }, "case 5 (masks/case-2) has a finding and is not in 'failing'"},
      {refuted, [](report& r) { r.failing[0].classes = {"crash"}; }, "class 'crash', 'findings' has none"},
      {refuted, [](report& r) { r.failing[0].name = "case-9"; }, "'failing' has that number for masks/case-9"},
      {refuted, [](report& r) { r.findings.push_back(r.findings[0]); }, "'findings' has 'accuracy' of case 5 (masks/case-2) twice"},
      {refuted, [](report& r) { r.findings[0].waived = true; }, "is not what 'waive' says"},
      {refuted, [](report& r) { r.waived = {"masks"}; }, "is not what 'waive' says"},
      {kind::waived, [](report& r) { r.waived.clear(); }, "is not what 'waive' says"},
      {refuted, [](report& r) { r.curves[2].failed = false; }, "'failed' of case 5 in 'curves'"},
      {certified, [](report& r) { r.curves[2].failed = true; }, "'failed' of case 5 in 'curves'"},
      {certified, [](report& r) { r.curves[2].number = 13; }, "'curve_cases' has case 13, of 12"},
      {certified, [](report& r) { r.case_observations.pop_back(); }, "'told' has 2 observations of 'masks'"},
      {certified, [](report& r) { r.observation_counts.clear(); }, "'told_kinds' has none"},
      // Cases.
      {certified, [](report& r) { r.checks[0].first_case = 13; }, "'first_cases' has 13 for check 'masks', of 12 cases"},
      {certified, [](report& r) { r.cases = 13; }, "its checks have 13 cases, 'all_cases' is 12"},
      {kind::unanswered, [](report& r) { r.unanswered.clear(); }, "'complete' is false, and there is neither"},
      {kind::unanswered, [](report& r) { r.complete = true; }, "'complete' is true, and there are 1 'unanswered'"},
      {certified, [](report& r) { r.incomplete_because = "interrupted"; }, "'because' is 'interrupted'"},
      {kind::unanswered, [](report& r) { r.unanswered.push_back(r.unanswered[0]); }, "'unanswered' has case 5"},
      {certified, [](report& r) { r.all_draws = 0; }, "'complete' is true, and its checks have 5 cases beside 0 draws; shard 1/2 of the 12 of 'all_cases' has 6"},
      {refuted, [](report& r) { r.all_draws = 0, r.all_cases = 8; }, "shard 1/2 of the 8 of 'all_cases' has 4"},
      {certified, [](report& r) { r.all_draws = 3, r.all_cases = 10; }, "it has 0 draws; shard 1/2 of the 3 of 'all_draws' has 2"},
      {certified, [](report& r) { r.all_draws = 13; }, "'all_draws' is 13, 'all_cases' is 12"},
      // The file of --replay.
      {certified, [](report& r) { r.all_cases = 10, r.all_draws = 0, r.options = "--only  --replay f"; }, "'asked' has --replay, and there is no 'replayed'"},
      // Coverage.
      {certified, [](report& r) { ++r.covered.elements_judged; }, "'coverage' has 61 elements judged, 'checks' 60"},
      {certified, [](report& r) { r.draws = 1; }, "'draws' of 'coverage' has 1 made"},
      // The contract.
      {certified, [](report& r) { r.contract_revision = 1; }, "'contract_revision' is 1, that of 'contracts' is 2"},
      // The verdict.
      {refuted, [](report& r) { r.verdict = verdict::certified; }, "'verdict' is 'certified', its findings and counts say 'refuted'"},
      {certified, [](report& r) { r.verdict = verdict::refuted; }, "'verdict' is 'refuted', its findings and counts say 'certified'"},
      {kind::waived, [](report& r) { r.verdict = verdict::refuted; }, "its findings and counts say 'certified'"},
      {kind::undecided, [](report& r) { r.verdict = verdict::certified, r.undecided_because = ""; }, "say 'undecided: elements overlap"},
      {kind::undecided, [](report& r) { r.undecided_because = "tired"; }, "'verdict' is 'undecided: tired'"},
  };
  for (broken const& one : all) {
    report part = shard_of(one.is, 1);
    one.edit(part);
    std::string const why = contradiction(part);
    INFO(one.says << "\n" << why);
    CHECK(why.find("contradicts itself: ") == 0);
    CHECK(why.find(one.says) != std::string::npos);
  }
}

TEST_CASE("a complete shard has its part of the cases, but for draws that it says it left out", "[unit]") {
  report part = shard_of(kind::certified, 1);
  part.all_cases = 10, part.all_draws = 0;
  CHECK(contradiction(part) == "");
  part.all_cases = 13, part.all_draws = 3;
  CHECK(contradiction(part) != "");
  part.not_asked.push_back({"draws 1 to 3", "the kernel hung twice"});
  CHECK(contradiction(part) == "");
  // One that stopped early need not have all of it, nor need one of an attest that did not count the draws.
  report stopped = shard_of(kind::unanswered, 1);
  stopped.all_draws = 0;
  CHECK(contradiction(stopped) == "");
  CHECK_FALSE(shard_of(kind::certified, 1).all_draws.has_value());
}

TEST_CASE("shards of replayed files are of one audit where the files had the same bytes", "[unit]") {
  auto const of = [](std::string const& first, std::string const& second) {
    std::vector<report_file> files;
    for (std::int64_t const index : {1, 2}) {
      report part = shard_of(kind::certified, index);
      part.replayed = index == 1 ? first : second;
      files.push_back({std::to_string(index) + ".json", as_json(part)});
    }
    return join_reports(files);
  };
  std::string const a(64, 'a'), b(64, 'b');
  auto const same = of(a, a);
  REQUIRE(same);
  CHECK(same.value().front().replayed == a);
  CHECK(of("", ""));  // as earlier versions wrote them
  for (auto const& second : {b, std::string()}) {
    auto const other = of(a, second);
    REQUIRE_FALSE(other);
    CHECK(other.why().message() == "2.json: its 'replayed', the SHA-256 of the file of --replay, is '" +
                                       (second.empty() ? "none" : second) + "', that of 1.json is '" + a + "'");
  }
}

TEST_CASE("merge refuses shards whose findings were cut off, and counts that the lists do not give", "[unit]") {
  struct broken {
    kind is;
    std::function<void(json&)> edit;
    char const* says;
  };
  broken const all[]{
      {kind::refuted, [](json& j) { j["findings"] = json::array(), j["shard"]["finding_cases"] = json::array(); }, "'findings' has none"},
      {kind::refuted, [](json& j) { j["verdict"] = "certified"; }, "'verdict' is 'certified', its findings and counts say 'refuted'"},
      {kind::certified, [](json& j) { j["replayed"] = "0123"; }, "'replayed' in the file is '0123', expected 64 hexadecimal digits"},
      {kind::certified, [](json& j) { j["replayed"] = ""; }, "'replayed' in the file is '', expected 64 hexadecimal digits"},
      {kind::certified, [](json& j) { j["replayed"] = std::string(64, 'A'); }, "expected 64 hexadecimal digits"},
      {kind::refuted, [](json& j) { j["verdict"] = "fine"; }, "'verdict' in the file is 'fine', expected certified, refuted or undecided"},
      {kind::undecided, [](json& j) { j.erase("undecided_because"); }, "there is no 'undecided_because'"},
      {kind::certified, [](json& j) { j["summary"]["elements"] = 61; }, "'summary.elements' is 61, the rest of the file says 60"},
      {kind::certified, [](json& j) { j["summary"].erase("elements"); }, "'summary.elements' is nothing, the rest of the file says 60"},
      {kind::certified, [](json& j) { j["summary"]["max_error_in_bounds"] = "inf"; }, "'summary.max_error_in_bounds' is \"inf\""},
      {kind::certified, [](json& j) { j["checks"][0]["max_error_in_bounds"] = "inf"; }, "'max_error_in_bounds' is inf"},
      {kind::certified, [](json& j) { j["checks"][0]["max_error_in_bounds"] = "nan"; }, "'max_error_in_bounds' in a check is 'nan'"},
      {kind::certified, [](json& j) { j["checks"][0]["max_error_in_bounds"] = "-0x1p+0"; }, "'max_error_in_bounds' in a check"},
      {kind::certified, [](json& j) { j["checks"][0]["not_judged"] = 1; }, "'checks[0].not_judged' is 1, the rest of the file says 0"},
      {kind::certified, [](json& j) { j["evidence"]["sizes"] = json::array(); }, "'evidence.sizes' is 0 entries, the rest of the file says 1 entries"},
      {kind::certified, [](json& j) { j["evidence"]["sentence"] = "fine"; }, "'evidence.sentence' is \"fine\""},
      {kind::certified, [](json& j) { j["shard"]["check_sharpness"][0][0][0] = 31; }, "31 elements of o are judged"},
  };
  for (broken const& one : all) {
    auto const whole = joined(one.is, one.edit);
    INFO(one.says);
    REQUIRE_FALSE(whole);
    INFO(whole.why().message());
    CHECK(whole.why().argument == "1.json");
    CHECK(whole.why().reason.find(one.says) != std::string::npos);
  }
}

TEST_CASE("keys in another order, and keys of other programs, are no contradiction", "[unit]") {
  auto const whole = joined(kind::refuted, [](json& part) {
    json backwards = json::object();
    nlohmann::json const by_name(part);
    for (auto const& [key, value] : by_name.items()) backwards[key] = value, backwards["of-ci-" + key] = 1;
    part = backwards;
  });
  if (!whole) FAIL(whole.why().message());
  CHECK(whole.value().front().verdict == verdict::refuted);
}

TEST_CASE("shards that tell of one case, or of more cases than there are, are refused", "[unit]") {
  auto const of = [](std::function<void(report&)> const& edit) {
    std::vector<report_file> files;
    for (std::int64_t const index : {1, 2}) {
      report part = shard_of(kind::certified, index);
      if (index == 2) edit(part);
      files.push_back({std::to_string(index) + ".json", as_json(part)});
    }
    return join_reports(files);
  };
  REQUIRE(of([](report&) {}));
  auto const same = of([](report& r) { r.curves[0].number = 1; });
  REQUIRE_FALSE(same);
  CHECK(same.why().message() == "2.json: tells of case 1, as 1.json does");
  auto const more = of([](report& r) { r.checks[0].cases = 6, r.cases = 8; });
  REQUIRE_FALSE(more);
  CHECK(more.why().message() == "2.json: its checks and those of the shards before it have 13 cases, 'all_cases' is 12");
  auto const other = of([](report& r) { r.waived = {"empty-rows", "lse"}; });
  REQUIRE_FALSE(other);
  CHECK(other.why().reason == "its list of waived checks is 'empty-rows, lse', that of 1.json is 'lse'");
}

TEST_CASE("a kernel is known by its build, and a contract by its numbers", "[unit]") {
  using edit = std::function<void(report&)>;
  auto const of = [](edit const& both, edit const& second, bool same_kernel = false) {
    std::vector<report_file> files;
    for (std::int64_t const index : {1, 2}) {
      report part = shard_of(kind::certified, index);
      both(part);
      if (index == 2) second(part);
      files.push_back({std::to_string(index) + ".json", as_json(part)});
    }
    return join_reports(files, same_kernel);
  };
  edit const nothing = [](report&) {};
  edit const rebuilt = [](report& r) { r.kernel_builds[0].sha256 = std::string(64, 'b'); };
  auto const other = of(nothing, rebuilt);
  REQUIRE_FALSE(other);
  CHECK(other.why().message() ==
        "2.json: its kernel is attest_attention of a library with SHA-256 bbbbbbbbbbbbbbbb…, that of 1.json is "
        "attest_attention of a library with SHA-256 aaaaaaaaaaaaaaaa…; --same-kernel takes them for one kernel");
  auto const taken = of(nothing, rebuilt, true);
  REQUIRE(taken);
  CHECK(taken.value().front().verdict == verdict::certified);
  std::string const says = "The shards asked 2 builds of the kernel, which --same-kernel takes for one: attest_attention "
                           "of a library with SHA-256 aaaaaaaaaaaaaaaa…; attest_attention of a library with SHA-256 bbbbbbbbbbbbbbbb….";
  json const whole = json::parse(as_json(taken.value().front()));
  CHECK(whole["evidence"]["sentence"].get<std::string>().ends_with(says));
  CHECK(whole["kernel_builds"].size() == 2);
  CHECK_FALSE(of(nothing, [](report& r) { r.kernel_builds[0].symbol = "another"; }));
  edit const unread = [](report& r) { r.kernel_builds[0].sha256 = ""; };  // two files that nobody read need not be one
  CHECK_FALSE(of(unread, nothing));
  CHECK(of(unread, nothing, true));

  edit const builtin = [](report& r) { r.kernel_builds = {{.sha256 = {}, .symbol = "attest_attention", .version = "1", .instructions = "avx2", .claim = "c"}}; };
  CHECK(of(builtin, nothing));
  CHECK_FALSE(of(builtin, [](report& r) { r.kernel_builds[0].instructions = "scalar"; }));
  CHECK_FALSE(of(builtin, [](report& r) { r.kernel_builds[0].version = "2"; }));
  CHECK_FALSE(of(builtin, [](report& r) { r.kernel_builds[0].claim = "d"; }));

  edit const mine = [](report& r) {
    r.contract = r.contracts[0].name = "mine", r.contract_revision.reset();
  };
  CHECK(of(mine, nothing));
  CHECK(of(mine, [](report& r) { r.contracts[0].sentence = "said in other words"; }));
  auto const looser = of(mine, [](report& r) { r.contracts[0].fixed.k_x = 2; });
  REQUIRE_FALSE(looser);
  CHECK(looser.why().message() == "2.json: its contract 'mine' has 2 for 'model.k_x', that of 1.json has 4");
}

TEST_CASE("a report that does not say which kernel or contract it is about is refused", "[unit]") {
  struct edited {
    char const* key;
    json to;  ///< null: the key is not there
    char const* says;
  };
  for (edited const& one : std::initializer_list<edited>{
        {"kernel_builds", json(), "there is no 'kernel_builds' in the file"},
        {"kernel_builds", json::array(), "'kernel_builds' in the file has 0 entries, expected 1"},
        {"kernel_builds", json::array({{{"symbol", "s"}, {"sha256", "abc"}, {"builtin", nullptr}}}), "'sha256' in 'kernel_builds' is 'abc', expected 64"},
        {"contracts", json(), "there is no 'contracts' in the file"},
        {"contracts", json::array({1, 2}), "'contracts' in the file has 2 entries, expected 1"},
        {"contracts", json::array({1}), "'contracts' in the file: is a number, expected an object"},
        {"contracts", json::array({{{"from", "bf16"}, {"name", "mine"}}}), "'contract' is 'f32', 'contracts' has 'mine'"},
        {"contracts", json::array({{{"from", "f32-any"}, {"name", "f32"}}}), "is 'f32', which is a preset that says otherwise"}}) {
    auto const whole = joined(kind::certified, [&](json& part) {
      if (one.to.is_null()) part.erase(one.key);
      else part[one.key] = one.to;
    });
    INFO(one.says);
    REQUIRE_FALSE(whole);
    INFO(whole.why().message());
    CHECK(whole.why().reason.find(one.says) != std::string::npos);
  }
}

}  // namespace
}  // namespace attest::audit
