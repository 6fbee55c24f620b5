// The answers of solve, and what verify says of recorded ones.
#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_solve_test {
namespace {

TEST_CASE("verify certifies the recorded encoder and counts its elements", "[unit]") {
  outcome const ran = attest("verify " ATTEST_TEST_DATA "/minilm_attention.safetensors --json -");
  CHECK(ran.status == 0);
  auto const report = nlohmann::json::parse(ran.out);
  CHECK(report["verdict"] == "certified");
  CHECK(report["contract"] == "f32");
  CHECK(report["summary"]["elements"] == 2 * 2 * 12 * 62 * 32);
  CHECK(report["summary"]["undecided"] == 0);
  CHECK(report["summary"]["not_judged"] == 0);
  CHECK(report["evidence"]["protections"].empty());  // no kernel ran
  CHECK(report["evidence"]["sharper_presets"][0]["preset"] == "f32-ordered");
}

TEST_CASE("solve writes correctly rounded answers that verify certifies within an ulp", "[unit]") {
  std::string const inputs = ATTEST_TEST_DATA "/minilm_attention.safetensors";
  outcome const solved = attest("solve " + inputs + " --out solved.safetensors --round f32");
  CHECK(solved.status == 0);
  CHECK(solved.out.empty());
  auto const report = nlohmann::json::parse(attest("verify " + inputs + " solved.safetensors --json -").out);
  CHECK(report["verdict"] == "certified");
  // o, lse and weights of two problems.
  CHECK(report["summary"]["elements"].get<std::int64_t>() == 2 * (2 * 12 * 62 * (32 + 62 + 1)));
  double const worst = std::strtod(report["summary"]["max_ulp"].get<std::string>().c_str(), nullptr);
  CHECK(worst < 1);  // half an ulp, and the radius of the machine tier where a result cancels
}

TEST_CASE("solve writes outward-rounded enclosures, and prints certified digits", "[unit]") {
  std::string const inputs = ATTEST_TEST_DATA "/minilm_attention.safetensors";
  CHECK(attest("solve " + inputs + " --out enclosed.safetensors").status == 0);
  outcome const printed = attest("solve " + inputs + " --digits 20");
  CHECK(printed.status == 0);
  CHECK(has(printed.out, "layer0.o[0, 0, 0, 0] -1.18713716147"));
  CHECK(has(printed.out, "layer0.weights[0, 0, 0, 61] 0\n"));  // padding
  CHECK_FALSE(has(printed.out, "undecided"));
  for (std::string const wrong : {"", "--digits 0", "--digits 1201", "--digits nan", "--round f31 --out x",
                                  "--out /nowhere/x", "--digits 5 --out x"}) {
    outcome const ran = attest("solve " + inputs + " " + wrong);
    INFO(wrong);
    CHECK(ran.status == 2);
    CHECK_FALSE(ran.err.empty());
  }
}

}  // namespace
}  // namespace attest::tests::cli_solve_test
