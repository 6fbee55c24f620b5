// Findings as users get them: each reproducer finds its finding again, and each file holds the answer.
#include <map>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_findings_test {
namespace {

/// Of each class two findings: the first, which was shrunk to a file, and one more, which is asked by its name.
void are_found_again(std::string const& which, std::string const& only) {
  auto const report =
      nlohmann::json::parse(attest("audit --quick --seed 2 --json - --only " + only + kernel(which)).out);
  REQUIRE_FALSE(report["findings"].empty());
  std::map<std::string, int> asked;
  for (auto const& finding : report["findings"]) {
    if (++asked[finding["check"].get<std::string>() + finding["class"].get<std::string>()] > 2) continue;
    std::string const command = finding["reproducer"];
    REQUIRE(command.starts_with("attest "));
    auto const again = nlohmann::json::parse(attest(command.substr(7) + " --json -").out);
    INFO(which << ": " << command << again["verdict"]);
    bool found = false;
    for (auto const& repeated : again["findings"]) found = found || repeated["class"] == finding["class"];
    CHECK(found);
  }
}

std::string const examples = "worked-examples/e11.1,worked-examples/identity",
                  strides = "strides/gap1,strides/gap8-alone",
                  empty_rows = "empty-rows/every-row,empty-rows/every-other",
                  random_masks = "masks/random-full,masks/random-b11m";

TEST_CASE("every finding's reproducer finds it again", "[unit]") {
  are_found_again("mean_v", examples + ',' + random_masks);
  are_found_again("nan_empty_row", empty_rows);
  are_found_again("reads_past_k", examples);
  are_found_again("crash", examples);
  are_found_again("ignores_strides", strides);
}

TEST_CASE("the reproducers of further kernels' findings find them again", "[slow]") {
  are_found_again("ignores_mask", random_masks);
  are_found_again("writes_past", examples + ',' + strides);
  are_found_again("forgets_last_row", examples + ',' + empty_rows);
  for (char const* const name : {"scales_q", "exits", "unknown_status", "leaves_ftz"}) are_found_again(name, examples);
}

TEST_CASE("the findings of verify have reproducers that find them again, flags and all", "[unit]") {
  std::string const invocation =
      "verify " ATTEST_TEST_DATA
      "/minilm_attention.safetensors --only layer0 --softcap 2 --scale 0x1p-3 --findings '' --json -";
  auto const report = nlohmann::json::parse(attest(invocation).out);
  REQUIRE_FALSE(report["findings"].empty());
  for (auto const& finding : report["findings"]) {
    std::string const command = finding["reproducer"];
    auto const again = nlohmann::json::parse(attest(command.substr(7) + " --json -").out);
    bool found = false;
    for (auto const& repeated : again["findings"])
      found = found || (repeated["class"] == finding["class"] && repeated["case"] == finding["case"] &&
                        repeated["sentence"] == finding["sentence"]);
    INFO(command);
    CHECK(found);
  }
}

TEST_CASE("the file of a finding holds the kernel's answer: verify finds the same in it", "[unit]") {
  struct broken {
    char const* kernel;
    char const* only;
  };
  auto const [name, only] =
      GENERATE(broken{"mean_v", "worked-examples/e11.1"}, broken{"ignores_mask", "masks/random-full"},
               broken{"nan_empty_row", "empty-rows/every-row"});
  auto const report =
      nlohmann::json::parse(attest(std::string("audit --quick --seed 2 --json - --only ") + only + kernel(name)).out);
  auto const& first = report["findings"][0];
  std::string const file = first["file"];
  REQUIRE_FALSE(file.empty());
  auto const verified = nlohmann::json::parse(attest("verify " + file + " --json -").out);
  INFO(name << verified.dump(1).substr(0, 2000));
  CHECK(verified["verdict"] == "refuted");
  bool found = false;
  for (auto const& repeated : verified["findings"]) found = found || repeated["class"] == first["class"];
  CHECK(found);
  CHECK(has(attest("explain " + file).out, "error/bound"));
}

TEST_CASE("--fail-fast ends at the first finding", "[unit]") {
  auto const report = nlohmann::json::parse(
      attest("audit --seed 2 --only worked-examples/e11.1,worked-examples/identity --fail-fast --json -" +
             kernel("mean_v"))
          .out);
  CHECK(report["verdict"] == "refuted");
  CHECK(report["summary"]["cases"] == 1);
  CHECK(has(report["observations"].dump(), "--fail-fast"));
}

}  // namespace
}  // namespace attest::tests::cli_findings_test
