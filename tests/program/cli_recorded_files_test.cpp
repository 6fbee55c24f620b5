// How `verify` treats files that leave something out, and files whose axes are in another order.
#include <string>

#include "tests/program/recorded_answers.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/program/recorded_files.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_recorded_files_test {
namespace {

std::string observations(json const& from) { return from["observations"].dump(); }

TEST_CASE("a case whose further calls have no answer counts as unsupported", "[unit]") {
  std::string const later =
      R"(first = {g: min(p for p in cases if p.split("/", 1)[1] == g) for g in {p.split("/", 1)[1] for p in cases}}
silent = [p for p in cases if p not in first.values()]
for p in silent: drop(p)
)";
  record("--draws 0 --only poison", "");
  json const whole = verified();
  REQUIRE(whole["verdict"] == "certified");
  CHECK(whole["summary"]["unsupported"] == 0);
  record("--draws 0 --only poison", later);
  json const silent = verified();
  json const& ended = silent["recorded"];
  int const calls = ended["silent"];  // one of each case that has a further call
  CHECK(calls > 0);
  CHECK(calls == ended["calls"].get<int>() - ended["answered"].get<int>());
  CHECK(silent["verdict"] == "certified");
  CHECK(silent["summary"]["unsupported"] == calls);
  CHECK(has(observations(silent), "without a word"));
  record("--draws 0 --only poison", later + R"(for p in silent: meta[p + ".attest.status"] = "unsupported: NaN")");
  json const refused = verified();
  CHECK(refused["summary"]["unsupported"] == calls);
  CHECK(has(observations(refused), "calls: NaN"));
}

TEST_CASE("an output that only a further call has is judged", "[unit]") {
  record("--draws 0 --only poison", R"(for p in cases:
    number, name = p.split("/", 1)
    if p == min(other for other in cases if other.split("/", 1)[1] == name): t.pop(p + ".lse"), t.pop(p + ".weights")
    else: t[p + ".lse"][2] = struct.pack("<f", 1e6) * (len(t[p + ".lse"][2]) // 4))");
  json const found = verified();
  CHECK(found["verdict"] == "refuted");
  CHECK(finding_of(found, "lse"));
}

TEST_CASE("a problem needs its o, also where it is named as a check", "[unit]") {
  for (std::string const name : {"layer1", "heads", "scale"}) {
    write_beside_good("no_o.safetensors", "for r in \"qkv\": t[\"" + name + ".\" + r] = t[\"good.\" + r]");
    json const found = report("verify no_o.safetensors");
    CAPTURE(name);
    CHECK(found["verdict"] == "undecided");
    CHECK(has(observations(found), name + ".o: there is no recorded output"));
    CHECK(has(found["undecided_because"], name));
  }
  // An LSE alone is judged, and is no answer.
  write_beside_good("lse.safetensors",
                    "for r in \"qkv\": t[\"layer1.\" + r] = t[\"good.\" + r]\n"
                    "t[\"layer1.lse\"] = [\"F32\", [1, 1, 1], struct.pack(\"<f\", 1)]");
  json const lse = report("verify lse.safetensors");
  CHECK(lse["verdict"] == "undecided");
  CHECK(has(observations(lse), "layer1.o: there is no recorded output"));
  CHECK(has(lse["undecided_because"], "layer1"));
  CHECK(lse["summary"]["elements"] == 2);
}

TEST_CASE("a wrong answer to a problem that is named as a check is of the class of any other problem", "[unit]") {
  for (std::string const name : {"layer1", "heads"}) {
    write_beside_good(
        "wrong.safetensors",
        "for r in \"qkvo\": t[\"" + name + ".\" + r] = t[\"good.\" + r]\n" + "t[\"" + name +
            ".o\"] = [t[\"good.o\"][0], t[\"good.o\"][1], struct.pack(\"<f\", 7) + t[\"good.o\"][2][4:]]");
    json const found = report("verify wrong.safetensors");
    INFO(name << found.dump(1));
    REQUIRE(found["findings"].size() == 1);
    CHECK(found["findings"][0]["class"] == "accuracy");
  }
}

TEST_CASE("beside a second file, outputs and statuses of the first are not judged", "[unit]") {
  // "stale" has a right O and a status in the first file, "good" a wrong LSE.
  write_beside_good("inputs.safetensors", R"(for r in "qkvo": t["stale." + r] = t["good." + r]
meta["stale.attest.status"] = "killed: 11"
t["good.lse"] = ["F32", [1, 1, 1], struct.pack("<f", 9)]
t["x.weights"] = ["F32", [1], bytes(4)])");
  auto const beside = [](std::string const& line) {
    REQUIRE(shell("python3 edit.py good.safetensors outputs.safetensors '" + line + "'").status == 0);
    return verified();
  };
  json const nothing = beside("t = {\"z.o\": t[\"good.o\"]}; meta = {}");
  CHECK(nothing["verdict"] == "undecided");
  CHECK(nothing["summary"]["elements"] == 0);
  CHECK(has(observations(nothing), "outputs of the first file are not judged: 3, and its attest.status of 1 calls"));
  CHECK(has(observations(nothing), "ignored: x.weights"));
  CHECK(has(observations(nothing), "stale.o: there is no recorded output"));
  json const one = beside("t[\"stale.o\"] = t[\"good.o\"]");
  CHECK(one["verdict"] == "certified");
  CHECK(one["summary"]["elements"] == 2);
  json const alone = report("verify inputs.safetensors");
  CHECK(alone["verdict"] == "refuted");
  CHECK_FALSE(has(observations(alone), "of the first file"));
  // A saved finding has nothing of them either.
  json const wrong = beside(
      "t[\"stale.o\"] = [\"F32\", [1, 1, 1, 1], struct.pack(\"<f\", 5)]\n"
      "t[\"good.o\"] = t[\"stale.o\"]");
  REQUIRE(wrong["findings"].size() == 2);
  for (json const& found : wrong["findings"]) {
    CHECK(found["class"] == "accuracy");
    json const again = report(found["reproducer"].get<std::string>().substr(7));
    REQUIRE(again["findings"].size() == 1);
    CHECK(again["findings"][0]["sentence"] == found["sentence"]);
  }
}

TEST_CASE("weights beside packed rows are not judged, and no finding", "[unit]") {
  for (std::string const packed : {"q", "k"}) {
    write_beside_good("inputs.safetensors", R"(t.clear()
numbers = lambda count, step: struct.pack("<%df" % count, *[(at * step % 7 - 3) / 4 for at in range(count)])
for p in ("a.", "b."):
    t[p + "q"], t[p + "k"], t[p + "v"] = [["F32", [1, 2, n, 2], numbers(4 * n, n)] for n in (3, 4, 4)]
    t[p + ")" + packed + R"(_offsets"] = ["I32", [2], struct.pack("<2i", 0, 3)])");
    REQUIRE(attest("solve inputs.safetensors --round f32 --out answers.safetensors").status == 0);
    REQUIRE(shell("python3 edit.py answers.safetensors outputs.safetensors "
                  "'t[\"a.weights\"] = [\"F32\", [1, 2, 3, 4], bytes(96)]'")
                .status == 0);
    json const found = verified("--findings ''");
    INFO(found.dump(1));
    CHECK(found["verdict"] == "certified");
    CHECK(found["recorded"]["unusable"] == 0);
    CHECK(found["evidence"]["not_asked"][0] ==
          json{{"what", "recorded a.weights"}, {"why", "weights have no shape over packed rows"}});
  }
}

}  // namespace
}  // namespace attest::tests::cli_recorded_files_test
