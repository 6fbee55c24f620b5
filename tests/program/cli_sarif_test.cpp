// --sarif: what the schema of SARIF 2.1.0 demands of the objects that a report has, and what code hosts read of them.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tests/program/recorded_answers.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_sarif_test {
namespace {

/// Of each object of the schema that a report has: the required keys, and the allowed keys. The
/// schema allows no others.
struct object_of_schema {
  std::set<std::string> required, allowed;
};

std::map<std::string, object_of_schema> const& schema() {
  static std::map<std::string, object_of_schema> const objects{
      {"log", {{"version", "runs"}, {"$schema"}}},
      {"run", {{"tool"}, {"invocations", "results", "properties", "artifacts", "columnKind"}}},
      {"tool", {{"driver"}, {"extensions"}}},
      {"driver", {{"name"}, {"version", "semanticVersion", "informationUri", "rules"}}},
      {"rule", {{"id"}, {"name", "shortDescription", "fullDescription", "help", "helpUri", "defaultConfiguration"}}},
      {"configuration", {{}, {"enabled", "level", "rank"}}},
      {"message", {{"text"}, {"markdown"}}},
      {"invocation", {{"executionSuccessful"}, {"exitCode", "commandLine"}}},
      {"result", {{"message"}, {"ruleId", "ruleIndex", "level", "locations", "partialFingerprints", "suppressions"}}},
      {"location", {{}, {"physicalLocation", "logicalLocations"}}},
      {"physicalLocation", {{"artifactLocation"}, {"region"}}},
      {"artifactLocation", {{"uri"}, {"uriBaseId", "index"}}},
      {"region", {{"startLine"}, {"startColumn"}}},
      {"logicalLocation", {{"fullyQualifiedName"}, {"name", "kind"}}},
      {"suppression", {{"kind"}, {"justification", "status"}}}};
  return objects;
}

void check_object(json const& of, std::string const& kind) {
  INFO(kind << of.dump(1).substr(0, 1000));
  object_of_schema const& object = schema().at(kind);
  REQUIRE(of.is_object());
  for (std::string const& key : object.required) CHECK(of.contains(key));
  for (auto const& item : of.items())
    CHECK((object.required.contains(item.key()) || object.allowed.contains(item.key())));
}

void check_message(json const& of) {
  check_object(of, "message");
  CHECK_FALSE(of["text"].get<std::string>().empty());
}

void check_location(json const& of) {
  check_object(of, "location");
  check_object(of["physicalLocation"], "physicalLocation");
  check_object(of["physicalLocation"]["region"], "region");
  json const& artifact = of["physicalLocation"]["artifactLocation"];
  check_object(artifact, "artifactLocation");
  CHECK(artifact["uri"].get<std::string>().find_first_not_of(
            "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/%") == std::string::npos);
  if (of.contains("logicalLocations"))
    for (json const& logical : of["logicalLocations"]) check_object(logical, "logicalLocation");
}

/// Checks a log against the schema, and returns it.
json checked(std::string const& name) {
  json const log = json::parse(contents(folder() / name));
  check_object(log, "log");
  CHECK(log["version"] == "2.1.0");
  for (json const& run : log["runs"]) {
    check_object(run, "run");
    check_object(run["tool"], "tool");
    json const& driver = run["tool"]["driver"];
    check_object(driver, "driver");
    std::set<std::string> ids;
    for (json const& rule : driver["rules"]) {
      check_object(rule, "rule");
      CHECK(ids.insert(rule["id"]).second);
      for (char const* const key : {"shortDescription", "fullDescription", "help"})
        if (rule.contains(key)) check_message(rule[key]);
      if (rule.contains("defaultConfiguration")) check_object(rule["defaultConfiguration"], "configuration");
    }
    for (json const& invocation : run["invocations"]) check_object(invocation, "invocation");
    for (json const& result : run["results"]) {
      check_object(result, "result");
      check_message(result["message"]);
      CHECK(std::set<std::string>{"none", "note", "warning", "error"}.contains(result["level"]));
      CHECK(driver["rules"].at(result["ruleIndex"].get<std::size_t>())["id"] == result["ruleId"]);
      CHECK_FALSE(result["locations"].empty());
      for (json const& location : result["locations"]) check_location(location);
      if (result.contains("suppressions"))
        for (json const& suppression : result["suppressions"]) {
          check_object(suppression, "suppression");
          CHECK(suppression["kind"] == "external");
        }
    }
  }
  return log;
}

std::set<std::string> fingerprints(json const& log) {
  std::set<std::string> all;
  for (json const& result : log["runs"][0]["results"]) all.insert(result["partialFingerprints"]["attestCause/v1"]);
  return all;
}

TEST_CASE("the findings of an audit are results of SARIF 2.1.0, the same ones under another seed", "[unit]") {
  std::string const audit = "audit --quick --draws 0 --only empty-rows --findings ''" + kernel("nan_empty_row");
  CHECK(attest(audit + " --seed 1 --sarif 1.sarif").status == 1);
  CHECK(attest(audit + " --seed 2 --sarif 2.sarif").status == 1);
  json const log = checked("1.sarif");
  json const& run = log["runs"][0];
  REQUIRE_FALSE(run["results"].empty());
  CHECK(run["invocations"][0]["exitCode"] == 1);
  CHECK(run["properties"]["verdict"] == "refuted");
  json const& first = run["results"][0];
  CHECK(first["level"] == "error");
  CHECK(first["ruleId"] == "empty-row");
  CHECK(has(first["message"]["text"], "attest audit --kernel"));
  CHECK(first["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].get<std::string>().ends_with(
      "nan_empty_row.so"));
  CHECK(fingerprints(log) == fingerprints(checked("2.sarif")));
}

TEST_CASE("waived findings are suppressed, and an undecided audit is a warning", "[unit]") {
  CHECK(attest(
            "audit --quick --draws 0 --seed 1 --only empty-rows --waive empty-rows --findings '' --sarif waived.sarif" +
            kernel("nan_empty_row"))
            .status == 0);
  json const waived = checked("waived.sarif");
  REQUIRE_FALSE(waived["runs"][0]["results"].empty());
  for (json const& result : waived["runs"][0]["results"]) {
    CHECK(result["level"] == "note");
    CHECK(has(result["suppressions"][0]["justification"], "waived"));
  }
  CHECK(
      attest("audit --quick --draws 0 --seed 1 --domain d=64 --findings '' --sarif undecided.sarif" + kernel("refuses"))
          .status == 3);
  json const undecided = checked("undecided.sarif");
  json const& results = undecided["runs"][0]["results"];
  REQUIRE(results.size() == 1);
  CHECK(results[0]["ruleId"] == "undecided");
  CHECK(results[0]["level"] == "warning");
}

TEST_CASE("verify and merge write SARIF, also to standard output, and a name is a URI", "[unit]") {
  write("a b#%.safetensors", recorded(3));
  write("log", attest("verify 'a b#%.safetensors' --findings '' --sarif -").out);
  json const log = checked("log");
  CHECK(log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] ==
        "a%20b%23%25.safetensors");
  for (std::string const part : {"1", "2"})
    REQUIRE(attest("audit --quick --draws 0 --seed 1 --only scale --shard " + part + "/2 --json " + part + ".json")
                .status != 2);
  CHECK(attest("merge 1.json 2.json --sarif merged.sarif").status == 0);
  CHECK(checked("merged.sarif")["runs"][0]["results"].empty());
  check_refused("", {{"verify 'a b#%.safetensors' --sarif x --json x", "is what"}});
}

}  // namespace
}  // namespace attest::tests::cli_sarif_test
