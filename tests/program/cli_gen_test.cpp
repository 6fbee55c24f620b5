// gen, as its users run it.
#include <filesystem>
#include <map>
#include <string>

#include "tests/program/recorded_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_gen_test {
namespace {

TEST_CASE("gen writes the cases that are asked for, within a size, and says what it left out", "[unit]") {
  auto const written = [](std::string const& options) {
    outcome const ran = attest("gen --quick --seed 2 --out written.safetensors " + options);
    INFO(options << ran.err);
    REQUIRE(ran.status == 0);
    CHECK(ran.out.empty());
    return ran.err;
  };
  auto const size = [] { return std::filesystem::file_size(folder() / "written.safetensors"); };
  auto const rows = [] {
    std::map<std::string, std::int64_t> cases;
    json const undecided = report("verify written.safetensors");
    for (json const& row : undecided["checks"]) cases[row["name"]] = row["cases"];
    return cases;
  };
  CHECK(written("").empty());
  auto const all = size();
  auto const everything = rows();
  CHECK(all < 320'000'000);
  // Recorded outputs do not tell whether other calls were under way.
  CHECK_FALSE((everything.contains("concurrent-calls") || everything.contains("earlier-outputs")));
  CHECK(written("--only masks,tails/keys1").empty());
  CHECK(rows() == std::map<std::string, std::int64_t>{{"masks", everything.at("masks")}, {"tails", 1}});
  CHECK(has(report("verify written.safetensors")["evidence"]["not_asked"].dump(),
            "attest gen --only masks,tails/keys1 --quick"));

  CHECK(written("--only scale,sinks,merge") == "attest: left out: merge, sinks: --abi 2 has them\n");
  CHECK(written("--only scale,sinks --abi 2").empty());

  std::string const said = written("--size 4MiB");
  CHECK(size() <= 4 << 20);
  CHECK(size() > 3 << 20);
  CHECK(has(said, "attest: left out: "));
  CHECK(has(said, "which pass --size 4194304"));
  CHECK(has(report("verify written.safetensors")["evidence"]["not_asked"].dump(), "which pass --size 4194304"));
  written("--size 4MB");
  CHECK(size() <= 4'000'000);

  written("--plain");
  json const plain = report("verify written.safetensors");
  CHECK(plain["summary"]["cases"] >= 1);
  CHECK(has(plain["evidence"]["not_asked"].dump(), "which are not plain"));
  CHECK(shell("python3 -c 'import json, struct\n"
              "content = open(\"written.safetensors\", \"rb\").read()\n"
              "header = json.loads(content[8:8 + struct.unpack(\"<Q\", content[:8])[0]])\n"
              "for name, of in header.items():\n"
              "    if name.endswith(\".q\"):\n"
              "        k, v = header[name[:-1] + \"k\"][\"shape\"], header[name[:-1] + \"v\"][\"shape\"]\n"
              "        assert of[\"shape\"] == k == v and v[3] % 8 == 0, name'")
            .status == 0);

  check_refused("gen --out x ", {{"--only maskz", "did you mean 'masks'?"},
                                 {"--size 100", "in which none of the chosen cases fits"},
                                 {"--size 100 --only masks", "in which none of the chosen cases fits"},
                                 {"--size -1", "--size"},
                                 {"--size 3XB", "--size"},
                                 {"--layout hbnd", "bhnd, bnhd"},
                                 {"--only worked-examples --plain", "--plain: none of the chosen cases is plain"},
                                 {"--only drawn --draws 0", "--only: none of the chosen cases is left"},
                                 {"--only sinks", "--abi: all of the chosen cases need --abi 2"},
                                 {"--only concurrent-calls", "--only: names only calls that several threads make"}});
}

TEST_CASE("where a file has a size, draws are left out first", "[slow]") {
  outcome const ran = attest("gen --quick --seed 2 --out written.safetensors --draws 300 --size 160MB");
  INFO(ran.err);
  CHECK(ran.status == 0);
  CHECK(has(ran.err, " of drawn"));
  CHECK_FALSE(has(ran.err, "of production"));
}

TEST_CASE("every number that gen writes is read by int and float of Python", "[unit]") {
  have_editor();
  REQUIRE(attest("gen --quick --seed 2 --only bands,windows,scale,softcap,stability,drawn --out inputs.safetensors")
              .status == 0);
  outcome const ran = shell(R"(python3 edit.py inputs.safetensors inputs.safetensors '
for key, value in meta.items():
    word = key.rsplit(".", 1)[-1]
    if word in ("diagonal", "left", "right"): int(value)
    if word == "softcap" or word == "scale" and value != "default": float(value)
    if word == "curve": float(value.rsplit(" ", 1)[1])
    if word == "seed": int(value)')");
  INFO(ran.err);
  CHECK(ran.status == 0);
}

}  // namespace
}  // namespace attest::tests::cli_gen_test
