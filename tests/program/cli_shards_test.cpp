// Audits that are asked in part: shards and their whole, as users join them, and audits that stop early.
#include "tests/program/json_report.hpp"
#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_shards_test {
namespace {

using nlohmann::json;

/// Without what depends on the clock.
json timeless(json report) {
  for (char const* const key : {"oracle_seconds", "kernel_seconds", "observations"}) report["summary"].erase(key);
  // A shard knows its own calls only, and counts no points of the interface.
  std::erase_if(report["observations"].get_ref<json::array_t&>(),
                [](json const& said) { return said.get<std::string>().starts_with("interface: "); });
  // Each shard searches its own conditions and causes, and what a cause explains stands after what none does.
  report.erase("cause");
  for (json& finding : report["findings"]) finding.erase("condition");
  auto& findings = report["findings"].get_ref<json::array_t&>();
  std::ranges::sort(findings, {}, [](json const& of) { return std::tuple(of["check"], of["case"], of["sentence"]); });
  return report;
}

/// Four cases: where single cases are named, no condition of a finding is searched for.
std::string const masks = "masks/random-full,masks/random-b11m,masks/random-1h1m,masks/byte-2";

/// Three shards of the audit `which`, joined, against the report of the whole.
void join_to_the_whole(std::string const& which) {
  INFO(which);
  std::string const common =
      "audit --quick --draws 12 --draw-products 65536 --seed 18446744073709551615 --findings ''" + which;
  auto const whole = report(common);
  for (std::string const i : {"1", "2", "3"}) attest(common + " --shard " + i + "/3 --json " + i + ".json");
  outcome const merged = attest("merge 3.json 1.json 2.json --json -");
  REQUIRE(merged.err == "");
  auto const joined = json::parse(merged.out);
  CHECK(timeless(joined).dump(1) == timeless(whole).dump(1));
  CHECK(merged.status == (whole["verdict"] == "certified" ? 0 : whole["verdict"] == "refuted" ? 1 : 3));
  outcome const text = attest("merge 1.json 2.json 3.json");
  CHECK(has(text.out, whole["verdict"] == "refuted"     ? "REFUTED"
                      : whole["verdict"] == "certified" ? "CERTIFIED"
                                                        : "UNDECIDED"));
}

TEST_CASE("shards join to the report of the whole, but for times", "[unit]") {
  join_to_the_whole(" --only accuracy,domain,drawn");
  join_to_the_whole(" --only worked-examples/e11.1,empty-rows" + kernel("mean_v"));
}

TEST_CASE("shards of more checks join to the report of the whole", "[nightly]") {
  join_to_the_whole(" --only accuracy,bands,sinks,strides,domain,drawn");
  join_to_the_whole(" --only empty-rows,masks,drawn --waive empty-rows,masks" + kernel("nan_empty_row"));
  join_to_the_whole(" --only worked-examples/e11.1,masks,empty-rows,determinism" + kernel("mean_v"));
}

TEST_CASE("shards of an audit of several kernels join to a report a kernel", "[unit]") {
  std::string const common =
      "audit --quick --seed 9 --findings '' --only " + masks + " --kernel builtin" + kernel("mean_v");
  auto whole = report(common);
  for (std::string const i : {"1", "2"}) attest(common + " --shard " + i + "/2 --json " + i + ".json");
  outcome const merged = attest("merge 1.json 2.json --json -");
  INFO(merged.err);
  CHECK(merged.status == 1);
  auto joined = json::parse(merged.out);
  REQUIRE(joined["reports"].size() == 2);
  for (auto* const all : {&joined, &whole})
    for (auto& entry : (*all)["reports"]) entry = timeless(entry);
  CHECK(joined == whole);
}

TEST_CASE("a shard that stopped early leaves the whole undecided", "[unit]") {
  // A kernel that takes its time, on any machine: a tenth of a second is never enough for all.
  std::string const common = "audit --seed 6 --quick --only accuracy,masks" + kernel("sleeps_20_ms") + " --shard ";
  attest(common + "1/2 --json 1.json");
  attest(common + "2/2 --json 2.json");
  attest(common + "2/2 --budget 0.1 --json cut.json");
  CHECK(attest("merge 1.json 2.json").status == 0);
  outcome const ran = attest("merge 1.json cut.json");
  CHECK(ran.status == 3);
  CHECK(has(ran.out, "UNDECIDED: the audit stopped early"));
}

TEST_CASE("a kernel that is too slow for a verdict is told which checks it was not asked", "[unit]") {
  auto const found =
      json::parse(attest("audit --quick --seed 5 --findings \"\" --json -" + kernel("sleeps_500_ms")).out);
  CHECK(found["verdict"] == "undecided");
  CHECK(found["domain"]["cut_short"] == true);
  INFO(found["undecided_because"]);
  CHECK(has(found["undecided_because"], " inputs were asked, and no input of "));
  CHECK(has(found["undecided_because"], "; --budget "));
  CHECK(found["checks"][0]["name"] == "support");
  CHECK(has(found["evidence"].dump(), "every input of "));
}

TEST_CASE("reports that do not fit are refused with a sentence", "[unit]") {
  auto const shard = [](std::string const& more, std::string const& file) {
    attest("audit --quick" + more + " --json " + file);
  };
  shard(" --only masks,heads --seed 6 --shard 1/2", "1.json");
  shard(" --only masks,heads --seed 6 --shard 2/2", "2.json");
  shard(" --only masks,heads --seed 7 --shard 2/2", "seed.json");
  shard(" --only masks,heads --seed 6 --shard 2/3", "of.json");
  shard(" --only masks,heads --seed 6 --shard 2/2 --contract f32-any", "contract.json");
  shard(" --only masks,heads --seed 6 --shard 2/2" + kernel("naive"), "kernel.json");
  shard(" --only masks --seed 6 --shard 2/2", "only.json");
  shard(" --only masks,heads --seed 6", "whole.json");
  auto damaged = json::parse(contents(folder() / "2.json"));
  damaged["shard"]["facts"]["reports"][0]["checks"].erase(0);
  write("short.json", damaged.dump());
  damaged["shard"] = {{"index", 2}, {"of", 2}, {"all_cases", 10}};
  write("older.json", damaged.dump());
  write("text.json", "{\"attest\": ");
  write("deep.json", std::string(100'000, '['));
  check_refused("merge ", {{"1.json", "shard 2/2 is missing"},
                           {"1.json 1.json", "is shard 1/2, as 1.json is"},
                           {"1.json seed.json", "its seed is '7'; in 1.json it is '6'"},
                           {"1.json of.json", "its number of shards is '3'"},
                           {"1.json contract.json", "its contract is 'f32-any'"},
                           {"1.json kernel.json", "its kernel is 'naive"},
                           {"1.json only.json", "its list of options is '--only masks"},
                           {"1.json whole.json", "is not the report of a shard"},
                           {"1.json short.json", "short.json: was changed after attest wrote it"},
                           {"1.json older.json",
                            "is not in format 3 of shards, which alone this attest reads; run this shard again"},
                           {"1.json text.json", "is not JSON"},
                           {"1.json deep.json", "nested deeper"},
                           {"1.json absent.json", "cannot be opened"},
                           {"", "reports"}});
}

TEST_CASE("shards of a replayed file that changed between them are of different audits", "[unit]") {
  auto const shard = [](std::string const& part) {
    attest("audit --quick --seed 1 --findings '' --replay cases --shard " + part + "/2 --json " + part + ".json");
  };
  CHECK(attest("gen --quick --seed 1 --only masks --out cases").status == 0);
  shard("1"), shard("2");
  outcome const joined = attest("merge 1.json 2.json --json -");
  CHECK(joined.status != 2);
  CHECK(json::parse(joined.out)["replayed"].get<std::string>().size() == 64);
  CHECK(attest("gen --quick --seed 2 --only masks --out cases").status == 0);
  shard("2");
  check_refused("merge ", {{"1.json 2.json", "its 'replayed', the SHA-256 of the file of --replay, is '"}});
}

}  // namespace
}  // namespace attest::tests::cli_shards_test
