// The file of a shard: what was changed by accident is refused, what was made to harm ends in a sentence, and parts of
// different audits do not join.
#include "audit/report/file/shard_file.hpp"

#include <functional>

#include <nlohmann/json.hpp>

#include "audit/report/builder.hpp"
#include "audit/report/file/join.hpp"
#include "audit/report/file/json_write.hpp"
#include "audit/support/sha256.hpp"
#include "tests/audit/report/shard_file.hpp"
#include "tests/support/property.hpp"

namespace attest::audit::shard_file_test {
namespace {

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
}  // namespace attest::audit::shard_file_test
