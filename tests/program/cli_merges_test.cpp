// Merges of partial results from the command line: served, written by gen, shrunk, and asked again.
#include <string>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_merges_test {
namespace {

using nlohmann::json;

json report(char const* name) { return json::parse(contents(folder() / name)); }

std::string merge_of_zoo(char const* name) { return std::string(" --kernel '" ATTEST_TEST_ZOO ":zoo_") + name + "'"; }

constexpr char merges[] = " --only merge --seed 1";

TEST_CASE("merges of a served kernel are judged as those of its library", "[unit]") {
  std::string const serves = ATTEST_TEST_KERNELS "/serves";
  std::string const library = ATTEST_TEST_BUILTIN;
  outcome const direct = attest("audit --kernel " + library + merges + " --json direct.json");
  outcome const served = attest("audit --kernel 'command:" + serves + " " + library + "' --allow read:" + library +
                                merges + " --json served.json");
  INFO(direct.err << served.err << served.out);
  CHECK(direct.status == 0);
  CHECK(served.status == 0);
  json const asked = report("served.json")["checks"][0];
  CHECK(asked["name"] == "merge");
  CHECK(asked["unsupported"] == 0);
  CHECK(asked == report("direct.json")["checks"][0]);
}

TEST_CASE("a file of version 1 has no merges, one of version 2 has", "[unit]") {
  CHECK(attest("gen --quick --seed 1 --draws 0 --out one").status == 0);
  CHECK_FALSE(has(contents(folder() / "one"), ".o_parts\""));
  outcome const refused = attest("gen --seed 1 --only merge --out none");
  CHECK(refused.status == 2);
  CHECK(has(refused.err, "--abi"));
  CHECK(attest("gen --seed 1 --only merge --abi 2 --out two").status == 0);
  CHECK(has(contents(folder() / "two"), ".o_parts\""));
  CHECK(has(attest("verify two").out, "54 of 54 inputs of merge (not answered by the kernel)"));
}

TEST_CASE("under a contract about merges, an audit asks merges and nothing else", "[unit]") {
  outcome const ran = attest("audit --quick --draws 0 --seed 1 --contract merge-f32 --json merges.json");
  CHECK(ran.status == 0);
  CHECK(has(ran.out, "not asked: attention (the contract is about merges)"));
  json const checks = report("merges.json")["checks"];
  REQUIRE(checks.size() == 1);
  CHECK(checks[0]["name"] == "merge");
  CHECK(attest("gen --quick --seed 1 --draws 0 --out attention").status == 0);
  outcome const explained = attest("explain attention --contract merge-f32");
  CHECK(explained.status == 2);
  CHECK(has(explained.err, "merge-f32 is about merges of partial results, and this is attention"));
}

void is_made_small(std::initializer_list<char const*> names) {
  for (char const* const name : names) {
    CHECK(attest("audit" + merge_of_zoo(name) + merges + " --json found.json").status == 1);
    json const found = report("found.json")["findings"][0];
    INFO(found.dump(1));
    std::string const reproducer = found["reproducer"];
    REQUIRE(has(reproducer, "--replay "));
    json const parts = found["shrunk_inputs"];
    if (std::string(name) != "merge_256_parts") {
      REQUIRE(parts.size() == 2);
      CHECK(parts[0]["name"] == "o_parts");
      CHECK(parts[1]["name"] == "lse_parts");
      CHECK(parts[0]["values"].size() <= 8);
    }
    CHECK(found["pictures"]["applied_by"] == "read through the O of the parts (columns of the identity)");
    CHECK(shell(ATTEST_PROGRAM + reproducer.substr(std::string("attest").size())).status == 1);
  }
}

TEST_CASE("a merge that fails is made small, and its reproducer fails", "[unit]") {
  is_made_small({"merge_unshifted"});
}

TEST_CASE("a merge of many parts, of strides or of empty parts that fails is made small", "[slow]") {
  is_made_small({"merge_256_parts", "merge_strides_of_first", "merge_reads_empty_parts"});
}

TEST_CASE("a field that a kernel ignores is a finding of its own", "[unit]") {
  CHECK(attest("audit --quick --seed 1 --only support/sink,support/mask" + merge_of_zoo("sink_dropped") +
               " --json ignored.json")
            .status == 1);
  json const all = report("ignored.json")["findings"];
  INFO(all.dump(1));
  REQUIRE_FALSE(all.empty());
  for (json const& found : all) {
    CHECK(found["class"] == "ignored-field");
    CHECK(found["case"] == "sink");
    CHECK(has(found["sentence"], "; it is right for the same call without its sink"));
  }
}

TEST_CASE("the class of a finding is read off the cause, whatever its check suspects", "[unit]") {
  CHECK(attest("audit --quick --seed 1 --only sharp,far-blocks,tails" + merge_of_zoo("merges_without_weights") +
               " --shard 1/1 --json class.json --junit class.xml --sarif class.sarif --report class.html")
            .status == 1);
  json const found = report("class.json");
  INFO(found["cause"].dump(1));
  REQUIRE_FALSE(found["findings"].empty());
  for (json const& each : found["findings"]) {
    CHECK(each["class"] == "lse");
    if (each["file"] != "") CHECK(has(each["file"], each["check"].get<std::string>() + "-lse-"));
  }
  for (json const& each : found["failing"]) CHECK(each["classes"] == json{"lse"});
  for (json const& each : report("class.sarif")["runs"][0]["results"]) CHECK(each["ruleId"] == "lse");
  // In the facts of the shard, of findings and of their smaller calls; in pages, beside the words of the case. What was
  // judged before the cause was known is in the facts as such.
  json told = found;
  for (char const* const list : {"findings", "failing"})
    for (json& each : told["shard"]["facts"]["reports"][0][list]) CHECK(each.erase("judged") == 1);
  write("class.json", told.dump());
  for (char const* const name : {"class.json", "class.xml", "class.html"})
    for (char const* const other : {"accuracy", "cheap-exp", "memory", "weak-test"}) {
      INFO(name << ' ' << other);
      CHECK_FALSE(has(contents(folder() / name), '"' + std::string(other) + '"'));
      CHECK_FALSE(has(contents(folder() / name), '[' + std::string(other) + ']'));
      CHECK_FALSE(has(contents(folder() / name), '>' + std::string(other)));
    }
}

TEST_CASE("a finding about a merge is said in rows of its parts", "[unit]") {
  CHECK(attest("audit --quick" + merge_of_zoo("merge_loses_last_part") + merges + " --json rows.json").status == 1);
  json const all = report("rows.json")["findings"];
  int with_queries = 0;
  for (json const& found : all) {
    INFO(found.dump(1));
    std::int64_t const h = found["index"][1], i = found["index"][2], hq = found["sizes"]["hq"], n = found["sizes"]["n"];
    CHECK(h < hq);
    CHECK(i < n);
    with_queries += n > 1;
    std::string const place =
        std::to_string(found["index"][0].get<int>()) + ", " + std::to_string(h) + ", " + std::to_string(i);
    CHECK(has(found["sentence"], found["output"].get<std::string>() + '[' + place));
  }
  CHECK(with_queries > 0);
}

}  // namespace
}  // namespace attest::tests::cli_merges_test
