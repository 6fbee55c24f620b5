// --baseline: a gate on a kernel with known faults fails on new ones only.
#include <string>

#include "tests/program/recorded_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_baseline_test {
namespace {

/// Answers whose LSE is in base 2; `further` is a line of Python that edits them, too.
void have_answers(std::string const& further = "") {
  record("--draws 0 --only scale,heads", R"(for name in list(t):
    if not name.endswith(".lse"): continue
    dtype, shape, x = t[name]
    numbers = struct.unpack("<%df" % (len(x) // 4), x)
    t[name] = [dtype, shape, struct.pack("<%df" % len(numbers), *[y * 1.4426950408889634 for y in numbers])]
)" + further);
}

constexpr char verify[] = "verify inputs.safetensors outputs.safetensors --findings '' --baseline known.json";

TEST_CASE("a baseline takes the causes of today, and a new one refutes", "[unit]") {
  have_answers();
  shell("rm -f known.json");
  outcome const missing = attest(verify);
  CHECK(missing.status == 2);
  CHECK(has(missing.err, "--baseline: known.json: "));
  CHECK(has(missing.err, "; --update-baseline writes it"));
  CHECK(attest("verify inputs.safetensors outputs.safetensors --findings ''").status == 1);
  CHECK(attest(std::string(verify) + " --update-baseline").status == 0);
  json const known = json::parse(contents(folder() / "known.json"));
  CHECK(known["schema"] == 1);
  REQUIRE(known["known"].size() == 2);
  for (json const& one : known["known"]) {
    CHECK(one["cause"] == "lse-base-2");
    CHECK(one["kernel"] == "outputs.safetensors");
    CHECK(one["contract"] == "f32");
  }
  CHECK(known["known"][0]["check"] == "heads");
  // The same faults again.
  json const again = report(verify);
  CHECK(again["verdict"] == "certified");
  CHECK(has(again["observations"].dump(), "known: "));
  outcome const screen = shell(std::string(ATTEST_PROGRAM " ") + verify);
  CHECK(screen.status == 0);
  CHECK(has(screen.out, "known by --baseline") == false);
  CHECK(has(screen.out, "baseline       known: "));
  // A new one, in a check that has a known one.
  have_answers(
      "for name in list(t):\n"
      "    if name.endswith(\".o\") and \"/scale/\" in name: t[name][2] = bytes(len(t[name][2]))\n");
  json const found = report(verify);
  INFO(found["cause"].dump(1));
  CHECK(found["verdict"] == "refuted");
  // What does not show any more is named, and forgotten when asked.
  record("--draws 0 --only scale,heads", "");
  json const right = report(verify);
  CHECK(right["verdict"] == "certified");
  CHECK(has(right["observations"].dump(), "known and not shown: lse-base-2 in heads, lse-base-2 in scale"));
  CHECK(attest(std::string(verify) + " --update-baseline").status == 0);
  CHECK(json::parse(contents(folder() / "known.json"))["known"].empty());
}

TEST_CASE("an audit has a baseline of its kernel, and leaves those of others", "[unit]") {
  shell("rm -f known.json");
  auto const audit = [](std::string const& name, std::string const& further = "") {
    return attest(
        "audit --quick --draws 0 --seed 1 --only empty-rows/every-row,masks/random-full --findings '' --baseline "
        "known.json " +
        further + kernel(name));
  };
  CHECK(audit("nan_empty_row", "--update-baseline").status == 0);
  std::size_t const first = json::parse(contents(folder() / "known.json"))["known"].size();
  CHECK(first > 0);
  CHECK(audit("mean_v").status == 1);
  CHECK(audit("mean_v", "--update-baseline").status == 0);
  CHECK(json::parse(contents(folder() / "known.json"))["known"].size() > first);
  CHECK(audit("nan_empty_row").status == 0);
  CHECK(audit("mean_v").status == 0);
  CHECK(audit("ignores_mask").status == 1);
}

TEST_CASE("a baseline that cannot be one is refused", "[unit]") {
  write("list.json", "[]");
  write("half.json", R"({"schema": 1, "known": [{"kernel": "a", "contract": "f32", "check": 3, "cause": "x"}]})");
  write("later.json", R"({"schema": 2, "known": []})");
  check_refused("audit --quick ", {{"--baseline list.json", "list.json: is no baseline: expected"},
                                   {"--baseline later.json", "later.json: is no baseline: expected"},
                                   {"--baseline half.json", "known[0].check: is a number, expected a string"},
                                   {"--update-baseline", "--baseline"},
                                   {"--baseline none.json", "--update-baseline writes it"},
                                   {"--baseline x.json --update-baseline --json x.json", "is what"},
                                   {"--seed 1 --shard 1/2 --baseline x.json", "belongs to `attest merge`"},
                                   {"--fail-fast --baseline x.json", "--fail-fast stops at the first one"}});
}

}  // namespace
}  // namespace attest::tests::cli_baseline_test
