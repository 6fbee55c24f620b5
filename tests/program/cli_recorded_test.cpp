// Kernels that run elsewhere: the files that `gen` writes, the statuses that a runner may report, and `verify`'s
// judgement.
#include <filesystem>
#include <string>

#include <fmt/format.h>

#include "tests/program/recorded_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_recorded_test {
namespace {

TEST_CASE("a call that ended in an error, by a signal or not at all is a finding; an unsupported one is none",
          "[unit]") {
  record(
      "--only masks,bands",
      R"(said = ["error: no kernel\u001b", "killed: 8", "hung", "unsupported: head size 8", "unsupported: head size 8"]
for prefix, text in zip(cases, said): drop(prefix); meta[prefix + ".attest.status"] = text)");
  json const found = verified();
  CHECK(found["verdict"] == "refuted");
  json const& recorded = found["recorded"];
  INFO(recorded.dump());
  CHECK(recorded["errors"] == 1);
  CHECK(recorded["killed"] == 1);
  CHECK(recorded["hung"] == 1);
  CHECK(recorded["unsupported"] == 2);
  CHECK(recorded["silent"] == 0);
  CHECK(recorded["refusals"] == json{{"head size 8", 2}});
  CHECK(recorded["calls"] == recorded["answered"].get<int>() + 5);
  CHECK(found["summary"]["unsupported"] == 2);
  REQUIRE(finding_of(found, "crash"));
  CHECK(has((*finding_of(found, "crash"))["sentence"], "it reported an error: no kernel\\x1b"));
  REQUIRE(finding_of(found, "hang"));
  CHECK(has((*finding_of(found, "hang"))["sentence"], "it did not return"));
  CHECK(has(found["observations"].dump(), "1 ended in an error, 1 killed, 1 hung, 2 unsupported"));
  CHECK(has(found["observations"].dump(), "unsupported, 2 calls: head size 8"));
  // Each failing case is listed, also where its check has had findings of that class.
  REQUIRE(found["failing"].size() == 3);
  CHECK(found["failing"][0]["classes"] == json::array({"crash"}));
  CHECK(found["failing"][1]["classes"] == json::array({"crash"}));
  CHECK(found["failing"][2]["classes"] == json::array({"hang"}));
  // The first finding of a class has a file of its own, which says the same.
  for (char const* const class_name : {"crash", "hang"}) {
    json const& first = *finding_of(found, class_name);
    std::string const command = first["reproducer"];
    CHECK(has(command, first["file"].get<std::string>()));
    json const again = report(command.substr(7));
    INFO(command << again.dump(1));
    CHECK(again["summary"]["cases"] == 1);
    REQUIRE(again["findings"].size() == 1);
    CHECK(again["findings"][0]["class"] == class_name);
    CHECK(again["findings"][0]["sentence"] == first["sentence"]);
    CHECK(again["findings"][0]["case"] == first["case"]);
  }
  CHECK(verified("--waive " + found["findings"][0]["check"].get<std::string>())["verdict"] != "refuted");

  // Each call is counted once: outputs count with "unsupported", and with no other status.
  record("--only masks",
         R"(meta[cases[0] + ".attest.status"], meta[cases[1] + ".attest.status"] = "unsupported: no", "error: late")");
  json const both = verified()["recorded"];
  INFO(both.dump());
  CHECK(both["unsupported"] == 0);
  CHECK(both["errors"] == 1);
  CHECK(both["calls"] == both["answered"].get<int>() + 1);

  record("--only masks", R"(meta[cases[0] + ".attest.status"] = "crashed")");
  outcome const refused = attest("verify inputs.safetensors outputs.safetensors");
  CHECK(refused.status == 2);
  CHECK(
      has(refused.err, "attest.status: is 'crashed', expected error: TEXT, killed: SIGNAL, hung or unsupported: TEXT"));
}

TEST_CASE("an output of a wrong shape or type is a finding of its case, and the others are judged", "[unit]") {
  record("--only heads", "");
  json const whole = verified();
  REQUIRE(whole["verdict"] == "certified");
  REQUIRE(whole["summary"]["cases"] >= 3);
  record("--only heads", R"(swap(cases[2] + ".o")  # six heads, four queries
t[cases[1] + ".o"][0] = "I32"
t[cases[0] + ".lse"][1] = [len(t[cases[0] + ".lse"][2]) // 4, 1])");
  json const found = verified();
  CHECK(found["verdict"] == "refuted");
  CHECK(found["recorded"]["unusable"] == 3);
  REQUIRE(found["failing"].size() == 3);
  for (json const& failing : found["failing"]) CHECK(failing["classes"] == json::array({"memory"}));
  std::string sentences;
  for (json const& entry : found["findings"]) sentences += entry["sentence"].get<std::string>() + '\n';
  INFO(sentences);
  CHECK(has(
      sentences,
      "it has the shape of the other order of axes, [b, n, h, d] for [b, h, n, d], in which it is within its bound"));
  CHECK(has(sentences, "cannot be judged: dtype is I32, expected F32"));
  CHECK(has(sentences, "lse of "));
  auto const elements = [](json const& from) { return from["summary"]["elements"].get<std::int64_t>(); };
  CHECK(elements(found) > elements(whole) / 2);
  CHECK(elements(found) < elements(whole));
  json const again = report(finding_of(found, "memory")->at("reproducer").get<std::string>().substr(7));
  CHECK(again["findings"][0]["sentence"] == (*finding_of(found, "memory"))["sentence"]);
}

TEST_CASE("an O whose elements lie as [b, n, h, d] under the right shape is told from a wrong one", "[unit]") {
  record("--only heads", in_other_order_under_right_shape);
  json const found = verified();
  CHECK(found["verdict"] == "refuted");
  REQUIRE_FALSE(found["findings"].empty());
  std::string const said = found["findings"][0]["sentence"];
  INFO(said);
  CHECK(has(said, "the O is right in the other order of axes"));

  record("--only heads", R"(for prefix in cases: t[prefix + ".o"][2] = bytes(len(t[prefix + ".o"][2])))");
  CHECK_FALSE(has(verified()["findings"].dump(), "the other order of axes"));
}

TEST_CASE("files with their heads inside are solved and certified as the others are", "[unit]") {
  record("--only heads,masks --layout bnhd", "");
  json const found = verified();
  CHECK(found["verdict"] == "certified");
  record("--only heads,masks", "");
  CHECK(verified()["summary"]["elements"] == found["summary"]["elements"]);

  record("--only heads --layout bnhd", R"(for prefix in cases: t[prefix + ".o"][2] = bytes(len(t[prefix + ".o"][2])))");
  json const wrong = verified()["findings"];
  REQUIRE_FALSE(wrong.empty());
  for (json const& each : wrong) {
    auto const& at = each["index"];
    CHECK(has(each["sentence"], fmt::format("; in the file, [b, n, h, d], it is o[{}, {}, {}, {}]", at[0].dump(),
                                            at[2].dump(), at[1].dump(), at[3].dump())));
  }
}

TEST_CASE(
    "what earlier calls leave behind counts as asked where they were answered, in an order that the file promises",
    "[unit]") {
  record("--only stale", "");
  CHECK_FALSE(has(verified()["evidence"]["not_asked"].dump(), "leave behind"));
  record("--only stale", R"(drop(cases[0]))");
  CHECK(has(verified()["evidence"]["not_asked"].dump(),
            "what earlier calls leave behind, in 1 case (stale/empty-rows-after-full)"));
  // As attest 0.2 named them: the call that prepares another comes after it.
  record("--only stale", "");
  for (std::string const file : {"inputs", "outputs"}) {
    outcome const renamed = shell("python3 edit.py " + file + ".safetensors " + file + R"(.safetensors '
def old(name):
    number, rest = name.split("/", 1)
    if "." in rest and int(number) % 2 == 1: prefix, role = rest.split(".", 1); rest = prefix + "#01." + role
    return rest
t = {old(name): x for name, x in t.items()}
meta = {old(key) if "/" in key else key: value for key, value in meta.items()}')");
    INFO(renamed.err);
    REQUIRE(renamed.status == 0);
  }
  json const old = verified();
  INFO(old.dump(1));
  CHECK(old["verdict"] != "refuted");
  CHECK(old["summary"]["cases"] == 4);
  CHECK(has(old["evidence"]["not_asked"].dump(), "the file does not say in which order its calls were made"));
}

TEST_CASE("a verdict needs an answer to a plain call", "[unit]") {
  record("--only masks,tails", R"(for prefix in [p for p in cases if not "/masks/" in p]: drop(prefix))");
  json const found = verified();
  CHECK(found["verdict"] == "undecided");
  CHECK(has(found["undecided_because"], "plain problems has outputs"));
  record("--only masks,tails", R"(for prefix in [p for p in cases if not "/tails/keys" in p]: drop(prefix))");
  CHECK(verified()["verdict"] == "certified");
}

TEST_CASE("of a kernel that refuses, the shards together say what the whole says", "[slow]") {
  std::string const asked = "audit --quick --draws 0 --seed 2 --only masks,tails" + kernel("only_bf16");
  json const refusing = report(asked);
  CHECK(refusing["verdict"] == "undecided");
  CHECK(has(refusing["undecided_because"], "the kernel refused every float32 call"));
  for (char const* const part : {"1", "2"}) attest(asked + " --shard " + part + "/2 --json " + part + ".json");
  json const merged = report("merge 1.json 2.json");
  CHECK(merged["undecided_because"] == refusing["undecided_because"]);
}

TEST_CASE("the failing cases of all shards are those of the whole", "[slow]") {
  std::string const asked = "audit --quick --seed 2 --findings \"\" --only masks,heads" + kernel("mean_v");
  json const whole = report(asked);
  CHECK(whole["failing"].size() > 8);
  std::int64_t failed = 0;
  for (json const& row : whole["checks"]) failed += row["failed"].get<std::int64_t>();
  CHECK(static_cast<std::int64_t>(whole["failing"].size()) == failed);
  for (char const* const part : {"1", "2"}) attest(asked + " --shard " + part + "/2 --json " + part + ".json");
  CHECK(report("merge 1.json 2.json")["failing"] == whole["failing"]);
}

TEST_CASE("verify judges the problems that --only names", "[unit]") {
  record("--only masks,heads", "");
  json const masks = verified("--only masks");
  CHECK(masks["checks"].size() == 1);
  CHECK(masks["checks"][0]["name"] == "masks");
  CHECK(has(masks["evidence"]["not_asked"].dump(), "--only"));
  std::string const file = ATTEST_TEST_DATA "/minilm_attention.safetensors";
  CHECK(report("verify " + file + " --only layer5")["summary"]["cases"] == 1);
  check_refused("verify " + file, {{" --only layer4", "did you mean 'layer"}, {" --only \"\x1b\"", "'\\x1b'"}});
}

TEST_CASE("verify --reproducible makes a finding of what depends on threads", "[unit]") {
  // The last bit of one element of the call with two threads.
  record("--only determinism", R"(x = bytearray(t[cases[4] + ".o"][2]); x[0] ^= 1; t[cases[4] + ".o"][2] = bytes(x))");
  json const found = verified();
  CHECK(found["verdict"] == "certified");
  CHECK_FALSE(found["observations"].empty());
  json const reproducible = verified("--reproducible");
  CHECK(reproducible["verdict"] == "refuted");
  CHECK(reproducible["findings"][0]["class"] == "nondeterminism");
  json const again = report(reproducible["findings"][0]["reproducer"].get<std::string>().substr(7));
  CHECK(again["findings"][0]["class"] == "nondeterminism");
}

TEST_CASE("--findings names the folder of the files, and without it there are none", "[unit]") {
  record("--only heads", R"(for prefix in cases: t[prefix + ".o"][2] = bytes(len(t[prefix + ".o"][2])))");
  json const found = verified("--findings elsewhere");
  std::string const file = found["findings"][0]["file"];
  CHECK(file.starts_with("elsewhere/heads-"));
  CHECK(std::filesystem::exists(folder() / file));
  json const none = verified("--findings \"\"");
  CHECK(none["findings"][0]["file"] == "");
  CHECK(has(none["findings"][0]["reproducer"], "inputs.safetensors outputs.safetensors"));
  CHECK(attest("explain " + file).status == 0);
  // A file that holds nothing else is its own reproducer.
  json const alone = report("verify " + file + " --findings again");
  CHECK(alone["findings"][0]["file"] == file);
  CHECK_FALSE(std::filesystem::exists(folder() / "again"));
}

}  // namespace
}  // namespace attest::tests::cli_recorded_test
