// attest.toml and [tool.attest]: the options of a repository.
#include <string>

#include "tests/program/program.hpp"

namespace attest::tests::cli_settings_test {
namespace {

using nlohmann::json;

/// An audit of four inputs.
constexpr char small[] = R"([audit]
quick = true
seed = 7
draws = 0
only = ["worked-examples"]
findings = ""
)";

outcome audit(std::string const& words = "") { return shell(ATTEST_PROGRAM " audit --json report.json " + words); }

json read_report() { return json::parse(contents(folder() / "report.json")); }

void have(std::string const& attest_toml, std::string const& pyproject = "") {
  shell("rm -f attest.toml pyproject.toml report.json");
  if (!attest_toml.empty()) write("attest.toml", attest_toml);
  if (!pyproject.empty()) write("pyproject.toml", pyproject);
}

TEST_CASE("attest.toml gives the options that the command line does not give", "[unit]") {
  have(small);
  outcome const ran = audit();
  CHECK(ran.status == 0);
  CHECK(ran.err == "attest: attest.toml: --draws=0 --findings= --only=worked-examples --quick --seed=7\n");
  CHECK(read_report()["seed"] == 7);
  outcome const other = audit("--seed 8 --only=scale");
  CHECK(other.err == "attest: attest.toml: --draws=0 --findings= --quick\n");
  CHECK(read_report()["seed"] == 8);
  CHECK(has(read_report().dump(), "scale"));
  CHECK(audit("--no-config --quick --draws 0 --only worked-examples --findings '' --seed 9").err.empty());
}

TEST_CASE("[tool.attest] of pyproject.toml gives them where there is no attest.toml", "[unit]") {
  std::string const project = "[project]\nname = \"\"\"x\n[tool.attest.audit]\nseed = 1\n\"\"\"\n[tool.attest.";
  have("", project + std::string(small).substr(1));
  CHECK(has(audit().err, "attest: pyproject.toml: --draws=0"));
  CHECK(read_report()["seed"] == 7);
  have(small, "[tool.attest.audit]\nseed = 3\n");
  CHECK(audit().status == 0);
  CHECK(read_report()["seed"] == 7);
  have("", "[project]\nname = \"x\"\n");
  CHECK(audit("--quick --draws 0 --only worked-examples --findings ''").err.empty());
}

TEST_CASE("--config names a file, whose texts hold what they like", "[unit]") {
  have("[audit]\nseed = 3\n");
  write("other.toml",
        std::string(small) + "domain = \"d=64 dv=d\"  # a comment\n" +
            "contract = { from = \"f32\", name = \"mine # here\", conventions = { empty_row = \"nan\" } }\n");
  outcome const ran = audit("--config other.toml");
  CHECK(ran.status == 0);
  CHECK(has(ran.err, "attest: other.toml: "));
  CHECK(read_report()["contract"] == "mine # here");
  CHECK(read_report()["seed"] == 7);
}

TEST_CASE("an option of the command line leaves out what it excludes", "[unit]") {
  have(std::string(small) + "verbose = true\n");
  outcome const ran = audit("--quiet");
  CHECK(ran.status == 0);
  CHECK(ran.out.starts_with("CERTIFIED: all "));
}

TEST_CASE("a wrong key of the file is named, with the nearest one", "[unit]") {
  auto const refused = [](char const* text, char const* says) {
    have(text);
    INFO(text);
    check_refused("audit --quick --draws 0 --only worked-examples", {{"", says}});
  };
  refused("[audit]\nquik = true\n", "attest.toml: [audit]: there is no option 'quik', did you mean 'quick'?");
  refused("[audti]\n", "attest.toml: 'audti' is no table of options, did you mean 'audit'?; the tables are [audit],");
  refused("seed = 1\n", "'seed' stands outside a table; options of `audit` stand below [audit]");
  refused("audit = 1\n", "'audit' is no table of options");
  refused("[audit]\nfail-fast = 1\n", "attest.toml: [audit]: fail-fast: expected true or false");
  refused("[audit]\nseed = true\n", "attest.toml: [audit]: seed: expected a text, a number or an array of these");
  refused("[audit]\nwaive = [true]\n", "attest.toml: [audit]: waive: expected texts and numbers in the array");
  refused("[audit]\nseed = \"x\"\n", "--seed: 'x' is not a whole number");
  refused("[audit]\nconfig = \"x\"\n", "there is no option 'config'");
  refused("[audit]\nseed = 1\nseed = 2\n", "attest.toml: line 3: ");
  refused("[audit\n", "attest.toml: line 1: ");
  have("", "[tool.attest]\nseed = 1\n");
  check_refused("audit ", {{"",
                            "pyproject.toml: 'seed' stands outside a table; options of `audit` stand below "
                            "[tool.attest.audit]"},
                           {"--config none.toml", "--config: none.toml: cannot be opened"},
                           {"--config", "--config"},
                           {"--config x --no-config", "--config"}});
}

TEST_CASE("other commands have tables of their own, or read no file", "[unit]") {
  have("[verify]\nonly = 3\n[audit]\nquick = true\n");
  CHECK(shell(ATTEST_PROGRAM " list contracts").err.empty());
  outcome const ran = shell(ATTEST_PROGRAM " verify none.safetensors");
  CHECK(has(ran.err, "attest: attest.toml: --only=3\n"));
}

}  // namespace
}  // namespace attest::tests::cli_settings_test
