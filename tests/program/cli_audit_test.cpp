// `attest audit` and `gen` beyond one plain run: shrinking, replay, shards, jobs, budgets, recorded groups.
#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_audit_test {
namespace {

namespace fs = std::filesystem;

nlohmann::json report(std::string const& arguments) {
  return nlohmann::json::parse(attest(arguments + " --json -").out);
}

TEST_CASE("support that nothing is called is a usage error that names what there is", "[unit]") {
  outcome const ran = attest("audit --require-support causal,windows");
  CHECK(ran.status == 2);
  CHECK(has(ran.err, "--require-support: nothing is called 'windows', did you mean 'window'?"));
  CHECK(has(ran.err, "lse, weights"));
}

TEST_CASE("a kernel of few calls is certified on its domain", "[unit]") {
  std::string const asked = "audit --quick --seed 5 --draws 0 --only accuracy,tails,domain --findings \"\"";
  std::string const domain = "d=64,128 dv=d n>=1 m>=1 causal=none,bottom-right scale>0";
  auto const found = report(asked + kernel("limited") + ":attest_flash --require-support d=64,n=1,m=77");
  INFO(found["evidence"]["sentence"]);
  CHECK(found["verdict"] == "certified");
  CHECK(found["domain"] ==
        nlohmann::json{{"text", domain}, {"source", "found"}, {"refusals", "rule"}, {"cut_short", false}});
  CHECK(has(found["evidence"]["sentence"], "CERTIFIED on its domain (" + domain + "): all "));
  auto const lacking = report(asked + kernel("limited") + ":attest_flash --require-support d=80");
  CHECK(lacking["undecided_because"] == "--require-support: d=80 is outside the domain");
}

TEST_CASE("a kernel of prompts or one further query is asked both", "[unit]") {
  std::string const asked = "audit --quick --seed 5 --draws 0 --findings \"\" --only edges,support,domain",
                    domain = "d=64,128 dv=d n=1,m m%16 causal=none,top-left,bottom-right scale>0";
  auto const honest = report(asked + kernel("limited") + ":attest_generates --require-support n=1,n=16,m=32");
  INFO(honest["evidence"]["sentence"]);
  CHECK(honest["verdict"] == "certified");
  CHECK(honest["domain"]["text"] == domain);
  CHECK(has(honest["evidence"]["sentence"], "CERTIFIED on its domain (" + domain + "): all "));
  auto const wrong = report(asked + kernel("limited") + ":attest_generates_without_band");
  CHECK(wrong["verdict"] == "refuted");
  for (auto const& finding : wrong["findings"]) CHECK(finding["sizes"]["n"] == 1);
  CHECK(has(wrong["findings"][0]["reproducer"], " --domain '" + domain + "'"));
}

TEST_CASE("a kernel that asserts an odd domain is judged by its answers, not by its assertions", "[unit]") {
  std::string const asked = "audit --quick --seed 5 --draws 0 --findings \"\" --only accuracy,edges,heads --fail-fast",
                    domain = "d=64 dv=128 n%64,0 causal=none weights=never";
  auto const honest = report(asked + kernel("limited") + ":attest_asserts_wide_values");
  INFO(honest["evidence"]["sentence"]);
  CHECK(honest["verdict"] == "certified");
  CHECK(honest["domain"]["text"] == domain);
  auto const wrong = report(asked + kernel("limited") + ":attest_loses_wide_values");
  CHECK(wrong["verdict"] == "refuted");
  CHECK(wrong["domain"]["text"] == domain);
  REQUIRE_FALSE(wrong["findings"].empty());
  for (auto const& one : wrong["findings"]) CHECK((one["class"] != "crash" && one["sizes"]["n"] > 128));
}

TEST_CASE("the domain of a kernel is that of its shards and reproducers", "[slow]") {
  std::string const asked = "audit --quick --seed 5 --draws 0 --only accuracy,tails,domain --findings \"\"";
  std::string const domain = "d=64,128 dv=d n>=1 m>=1 causal=none,bottom-right scale>0";
  for (char const* const part : {"1", "2"})
    attest(asked + " --shard " + part + "/2 --json " + part + ".json" + kernel("limited") + ":attest_flash");
  CHECK(report("merge 1.json 2.json")["domain"]["text"] == domain);
  auto const wrong = report(asked + kernel("limited") + ":attest_forgets");
  REQUIRE(wrong["verdict"] == "refuted");
  CHECK(has(wrong["findings"][0]["reproducer"], " --domain '" + domain + "'"));
}

TEST_CASE("a kernel that dies outside its domain is refuted there, and asked inside", "[unit]") {
  auto const found = report("audit --quick --seed 5 --draws 0 --only accuracy,domain --findings \"\"" +
                            kernel("limited") + ":attest_dies");
  CHECK(found["verdict"] == "refuted");
  CHECK(found["domain"]["text"] == "d=64,128 dv=d n%128 m=n group=1 causal=none,top-left scale>0");
  REQUIRE_FALSE(found["failing"].empty());
  for (auto const& failing : found["failing"]) CHECK(failing["check"] == "domain");
}

TEST_CASE("the screen says that a kernel refuses plain calls of its declared domain", "[unit]") {
  // It takes d = 64 and 128.
  auto const screen = [](std::string const& domain) {
    return shell(ATTEST_PROGRAM " audit --quick --seed 1 --draws 0 --only accuracy,tails --domain '" + domain + "'" +
                 kernel("limited") + ":attest_flash")
        .out;
  };
  std::string const refused = screen("d=64,80 dv=d");
  INFO(refused);
  CHECK(has(refused, "CERTIFIED"));
  CHECK(has(refused, "plain calls of the declared domain it refused"));
  CHECK(has(refused, "d=80"));
  CHECK(!has(screen("d=64,128 dv=d"), "it refused"));
}

TEST_CASE("a budget that is not a number is a usage error", "[unit]") {
  for (std::string const budget : {"nan", "-nan", "inf", "0", "ten"})
    CHECK(attest("audit --quick --only sharp --budget " + budget).status == 2);
}

TEST_CASE("a finding shrinks to one row, and its file fails for that kernel and passes for another", "[unit]") {
  auto const found = report("audit --seed 5 --only masks/random-full" + kernel("mean_v"));
  auto const& first = found["findings"][0];
  std::string const command = first["reproducer"];
  INFO(first.dump(2));
  CHECK(first["shrunk"]["b"] == 1);
  CHECK(first["shrunk"]["hq"] == 1);
  CHECK(first["shrunk"]["n"] == 1);
  CHECK(first["shrunk"]["m"] <= 3);
  CHECK(first["shrunk"]["dv"] == 1);
  REQUIRE(command.find(" --replay ") != std::string::npos);
  CHECK(attest(command.substr(7)).status == 1);
  std::string const file = command.substr(command.find(" --replay "));
  CHECK(attest("audit" + kernel("naive") + file).status != 1);
}

TEST_CASE("a finding in another layout of memory replays in that layout", "[unit]") {
  auto const found =
      report("audit --quick --only drawn --draws 40 --draw-products 65536 --seed 6 --fail-fast --findings moved" +
             kernel("q_as_compact"));
  auto const& first = found["findings"][0];
  INFO(first.dump(2));
  CHECK(has(first["sentence"], "; in this call, "));
  std::string const command = first["reproducer"];
  REQUIRE(has(command, " --replay "));
  CHECK(attest(command.substr(7)).status == 1);
  CHECK(attest("audit" + kernel("naive") + command.substr(command.find(" --replay "))).status != 1);
}

TEST_CASE("a kernel that is wrong only when calls overlap is refuted where such calls are required", "[unit]") {
  std::string const command =
      "audit --quick --only concurrent-calls --seed 1 --findings found" + kernel("shared_scratch");
  auto const plain = report(command);
  CHECK(plain["verdict"] == "certified");
  CHECK(has(plain["observations"].dump(), "right one by one, and wrong when called from"));
  auto const strict = report(command + " --require-concurrent-calls");
  CHECK(strict["verdict"] == "refuted");
  auto const& first = strict["findings"][0];
  CHECK(first["class"] == "nondeterminism");
  CHECK(has(first["condition"], " threads call at the same time"));
  CHECK(has(first["reproducer"], " --require-concurrent-calls"));
  CHECK(first["no_pictures"] == "the call by itself is right");
  CHECK(report("audit --quick --only concurrent-calls --require-concurrent-calls" +
               kernel("thread_scratch"))["verdict"] == "certified");
}

TEST_CASE("a report says which draws were asked for and could not be", "[unit]") {
  auto const not_asked = [](std::string const& arguments) {
    return report("audit --seed 1 --findings '' " + arguments)["evidence"]["not_asked"].dump();
  };
  CHECK(attest("gen --quick --seed 1 --only masks --out masks").status == 0);
  std::string const of_a_file = not_asked("--quick --replay masks --draws 5");
  CHECK(has(of_a_file, R"({"what":"the draws of --draws 5","why":"--replay asks the cases of its file only"})"));
  CHECK_FALSE(has(of_a_file, "larger inputs"));
  CHECK(has(not_asked("--replay masks --soak 2"), "the draws of --soak 2"));
  std::string const of_masks = not_asked("--quick --only masks --draws 5");
  CHECK(has(of_masks, R"({"what":"the draws of --draws 5","why":"--only does not name 'drawn'"})"));
  CHECK(has(of_masks, "larger inputs"));
  for (char const* asked : {"--quick --replay masks --draws 0", "--quick --only masks --draws 0",
                            "--quick --only masks", "--quick --only masks,drawn --draws 2"})
    CHECK_FALSE(has(not_asked(asked), "draws"));
}

TEST_CASE("shards together ask every case once", "[unit]") {
  auto const cases = [](std::string const& more) {
    return report("audit --quick --only masks,drawn --draws 9 --draw-products 65536 --seed 3" +
                  more)["summary"]["cases"]
        .get<std::int64_t>();
  };
  CHECK(cases(" --shard 1/3") + cases(" --shard 2/3") + cases(" --shard 3/3") == cases(""));
  for (std::string const wrong : {"--shard 1/2", "--seed 1 --shard 0/2", "--seed 1 --shard 3/2", "--seed 1 --shard x"})
    CHECK(attest("audit " + wrong).status == 2);
}

void does_not_depend_on_jobs(std::string const& checks) {
  auto const timeless_report = [&](std::string const& more) {
    auto all = report("audit --quick --draws 20 --draw-products 65536 --seed 4" + checks + more);
    all["summary"].erase("oracle_seconds");
    all["summary"].erase("kernel_seconds");
    return all;
  };
  CHECK(timeless_report(" --jobs 3") == timeless_report(""));
}

TEST_CASE("the report does not depend on the number of jobs", "[unit]") {
  does_not_depend_on_jobs(" --only accuracy,masks,determinism,stability,drawn");
}

TEST_CASE("the report of all checks does not depend on the number of jobs", "[slow]") { does_not_depend_on_jobs(""); }

TEST_CASE("a budget ends a slow audit in time", "[unit]") {
  auto const ran = attest("audit --budget 2" + kernel("hang"));
  INFO(ran.out);
  CHECK(ran.status == 3);                    // nothing is known of a kernel that was cut short
  CHECK(has(ran.out, "the budget of 2 s"));  // before the ten seconds of its first call
  CHECK_FALSE(has(ran.out, "did not return"));
}

TEST_CASE("what a kernel is allowed stands in the report and in the reproducers", "[unit]") {
  auto const wrong =
      report("audit --quick --draws 0 --seed 1 --only worked-examples/e11.1 --device --allow net --allow read:./" +
             kernel("mean_v"));
  std::string const folder_read = "read:" + folder().native() + "/";
  CHECK(wrong["evidence"]["protections"].back() == "the kernel was allowed: device, net, " + folder_read);
  CHECK(has(wrong["findings"][0].dump(), " --device --allow net --allow " + folder_read));
  CHECK(attest("audit --allow write:/tmp").status == 2);
  CHECK(has(attest("audit --allow write:/tmp").err, "--allow: 'write:/tmp' is neither read:PATH nor net"));
  CHECK(has(attest("audit --allow read:/no/such/file").err, "--allow: '/no/such/file': No such file or directory"));
}

TEST_CASE("no two cases have one name", "[unit]") {
  std::string const listed = attest("list cases").out;
  std::multiset<std::string> names;
  for (std::size_t at = 0, end; (end = listed.find('\n', at)) != std::string::npos; at = end + 1)
    names.insert(listed.substr(at, end - at));
  CHECK(names.size() > 400);
  CHECK(names.size() == std::set<std::string>(names.begin(), names.end()).size());
}

/// cases.safetensors with `other` for the first `word`, as long, is refused by a sentence that names `key`.
void refuses_another_word(std::string const& word, std::string const& other, char const* key) {
  std::string bytes = contents(folder() / "cases.safetensors");
  auto const at = bytes.find(word);
  REQUIRE(at != std::string::npos);
  REQUIRE(word.size() == other.size());
  bytes.replace(at, word.size(), other);
  std::ofstream(folder() / "foreign.safetensors", std::ios::binary) << bytes;
  auto const ran = attest("verify foreign.safetensors");
  CHECK(ran.status == 2);
  CHECK(ran.err.find(key) != std::string::npos);
}

TEST_CASE("what gen writes without outputs is undecided, and a foreign word in it is an error", "[unit]") {
  CHECK(attest("gen --quick --seed 2 --only determinism,masks,sinks,stability --out cases.safetensors").status == 0);
  CHECK(attest("verify cases.safetensors").status == 3);
  CHECK(attest("audit --replay cases.safetensors").status == 0);
  refuses_another_word("same-bits", "same-bytz", "attest.expect");
}

TEST_CASE("what gen writes has its places on the stability curves", "[unit]") {
  auto const drawn = report("audit --quick --seed 2 --only stability")["curves"];
  REQUIRE(drawn.size() > 8);
  CHECK(attest("gen --quick --seed 2 --only accuracy,masks,stability --out cases.safetensors").status == 0);
  CHECK(attest("solve cases.safetensors --out answers.safetensors --round f32").status <= 3);
  auto const recorded = report("verify cases.safetensors answers.safetensors")["curves"];
  REQUIRE(recorded.size() == drawn.size());
  std::set<std::string> drawn_places, recorded_places;
  for (auto const& point : drawn) drawn_places.insert(point["axis"].dump() + point["place"].dump());
  for (auto const& point : recorded) recorded_places.insert(point["axis"].dump() + point["place"].dump());
  CHECK(drawn_places == recorded_places);
  refuses_another_word("\"value offset ", "\"value onset x", "attest.curve");
}

TEST_CASE("a certified run leaves no finding of the run before it, and those of other kernels stay", "[unit]") {
  auto const files = [] {
    std::set<std::string> names;
    for (auto const& entry : fs::directory_iterator(folder() / "kept"))
      if (entry.path().extension() == ".safetensors") names.insert(entry.path().filename());
    return names;
  };
  auto const becomes = [](std::string const& name) { shell("cp " ATTEST_TEST_KERNELS "/" + name + ".so k.so"); };
  // Single cases: no condition is searched for.
  std::string const asked =
      "audit --quick --seed 1 --only masks/random-full,masks/random-b11m,masks/random-1h1m,masks/byte-2 --findings "
      "kept --kernel ";
  becomes("mean_v");
  CHECK(attest(asked + "./k.so").status == 1);
  auto const first = files();
  CHECK_FALSE(first.empty());
  CHECK(attest(asked + ATTEST_TEST_KERNELS "/ignores_mask.so").status == 1);
  auto const both = files();
  CHECK(both.size() > first.size());
  CHECK(attest(asked + "./k.so --shard 1/2").status == 1);  // replaces the whole run before it
  auto const half = files();
  CHECK(attest(asked + "./k.so --shard 2/2").status == 1);
  CHECK(std::ranges::includes(files(), half));
  becomes("naive");
  CHECK(attest("audit --quick --seed 1 --replay kept/" + *first.begin() + " --findings kept --kernel ./k.so").status ==
        0);
  CHECK(std::ranges::includes(files(), half));  // it asked one case
  CHECK(attest(asked + "./k.so").status == 0);
  for (std::string const& name : files()) CHECK(both.contains(name));
  CHECK(files().size() == both.size() - first.size());
}

TEST_CASE("a kernel that leaves a thousand threads is found", "[unit]") {
  auto const found = report("audit --seed 1 --only worked-examples/e11.1" + kernel("many_threads"));
  CHECK(found["verdict"] == "refuted");
  CHECK(found.dump().find("threads, 512 are allowed") != std::string::npos);
}

}  // namespace
}  // namespace attest::tests::cli_audit_test
