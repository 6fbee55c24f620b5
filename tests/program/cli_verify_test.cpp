// `verify` of files that are wrong, empty or mostly outside the bound: its words, and its cost.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_verify_test {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// Writes FILE.safetensors from a line of Python that fills `t`, {name: (dtype, shape, bytes)}, and `meta`.
/// ones(shape…) and normal(shape…) are float32 tensors; empty(shape…) has no elements.
void have(std::string const& file, std::string const& line) {
  write("make.py", R"(import array, json, math, random, struct, sys
random.seed(1)
t, meta = {}, {}
def of(shape, values): return ("F32", list(shape), array.array("f", values).tobytes())
def ones(*shape): return of(shape, [1.0] * math.prod(shape))
def normal(*shape): return of(shape, [random.gauss(0, 1) for _ in range(math.prod(shape))])
def empty(*shape): return ("F32", list(shape), b"")
exec(sys.argv[2])
head, at = {"__metadata__": meta}, 0
for name, (dtype, shape, x) in t.items():
    head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(x)]}
    at += len(x)
text = json.dumps(head).encode()
open(sys.argv[1], "wb").write(struct.pack("<Q", len(text)) + text + b"".join(x for _, _, x in t.values()))
)");
  outcome const made = shell("python3 make.py " + file + ".safetensors '" + line + "'");
  INFO(made.err);
  REQUIRE(made.status == 0);
}

TEST_CASE("outputs outside the hypotheses are not certified: the verdict knows its share", "[unit]") {
  // A key of infinite score under a softcap: 99 of 100 rows see it, and all of them are wrong.
  have("outside",
       R"(t = dict(q=ones(100, 1), k=of([2, 1], [math.inf, 1]), v=ones(2, 1), o=of([100, 1], [1.0] + [9.0] * 99)))"
       R"(; t["mask"] = ("BOOL", [100, 2], bytes([0, 1] + [1] * 198)); meta["softcap"] = "5")");
  outcome const ran = attest("verify outside.safetensors");
  CHECK(ran.status == 3);
  CHECK(has(ran.out,
            "UNDECIDED: 99 of 100 elements of o in (no prefix) lie outside the hypotheses of the bound (99 %, and "
            "--outside allows 1 %)"));
  CHECK(attest("verify outside.safetensors --outside 0.98").status == 3);
  CHECK(attest("verify outside.safetensors --outside 0.99").status == 0);
  check_refused("verify outside.safetensors --outside ",
                {{"1.01", "--outside"}, {"nan", "--outside"}, {"-0.1", "--outside"}});
}

TEST_CASE("the inputs of the audit that reach beyond a contract make no verdict undecided", "[unit]") {
  for (char const* contract : {"f32", "f32-any", "f64", "f16-scores"}) {
    outcome const ran = attest(
        std::string("audit --seed 1 --quick --only large-scores,additive-masks,poison,softcap,bias --contract ") +
        contract);
    INFO(ran.out);
    CHECK(has(ran.out, "outside the hypotheses of the bound were not judged"));
    CHECK_FALSE(has(ran.out, "--outside allows"));
  }
  // In a file that attest wrote they are known, too; in the same tensors without its words they are not.
  REQUIRE(attest("gen --quick --seed 1 --only accuracy,large-scores --out beyond.safetensors").status == 0);
  REQUIRE(attest("solve beyond.safetensors --out answers.safetensors --round f32").status == 0);
  CHECK(attest("verify beyond.safetensors answers.safetensors").status == 0);
}

TEST_CASE("the cause of recorded answers names the class of their findings", "[unit]") {
  std::string const line = R"(for x in "abc": t |= {x + ".q": normal(1, 4, 5, 8), x + ".k": normal(1, 2, 6, 8)}
for x in "abc": t[x + ".v"] = normal(1, 2, 6, 8))";
  have("inputs", line);
  have("reversed", line + R"(
for x in t:
    if x[2] != "q": t[x] = (*t[x][:2], t[x][2][192:] + t[x][2][:192]))");
  REQUIRE(attest("solve reversed.safetensors --out answers.safetensors --round f32").status == 0);
  json const found = json::parse(attest("verify inputs.safetensors answers.safetensors --findings '' --json -").out);
  CHECK(found["cause"]["hypotheses"][0]["name"] == "heads-reversed");
  for (json const& each : found["findings"]) CHECK(each["class"] == "head-mapping");
  for (json const& each : found["failing"]) CHECK(each["classes"] == json::array({"head-mapping"}));
  CHECK(found["failing"].size() == 3);
}

TEST_CASE("of a file that is wrong everywhere a part is judged, and the report says so", "[unit]") {
  have("inputs", R"(x = normal(1, 2, 256, 64); t = dict(q=x, k=x, v=x, o=of([1, 2, 256, 64], [0.0] * 32768)))");
  outcome const wrong = attest("verify inputs.safetensors --findings '' --json -");
  CHECK(wrong.status == 1);
  auto const found = json::parse(wrong.out);
  auto const& row = found["checks"][0];
  CHECK(row["faults"].get<int>() >= 64);
  CHECK(row["not_certified"].get<int>() > 30000);
  CHECK(row["elements"].get<int>() + row["not_certified"].get<int>() == 32768);
  CHECK(has(found["evidence"]["sentence"].get<std::string>(), "REFUTED: at least "));
}

TEST_CASE("a waived problem of a file refutes nothing, and another one does", "[unit]") {
  have("waived", R"(t = {p + r: ones(2, 2) for p in ("a.", "b.") for r in "qkvo"}; t["b.o"] = of([2, 2], [2.0] * 4))");
  CHECK(attest("verify waived.safetensors --findings ''").status == 1);
  outcome const ran = attest("verify waived.safetensors --findings '' --waive b");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK(attest("verify waived.safetensors --findings '' --waive a").status == 1);
  check_refused("verify waived.safetensors ", {{"--waive c", "no check, case or prefix of the file is called"},
                                               {"--waive empty-row", "decides no verdict any more"}});
}

TEST_CASE("verify ends at the first finding, or with its budget, and says so", "[unit]") {
  have("three",
       R"(t = {p + r: ones(2, 2) for p in ("a.", "b.", "c.") for r in "qkvo"}; t["b.o"] = of([2, 2], [2.0] * 4))");
  outcome const first = attest("verify three.safetensors --fail-fast --findings ''");
  CHECK(first.status == 1);
  CHECK(has(first.out, "not asked: 1 of 3 problems (--fail-fast)"));
  CHECK(attest("verify three.safetensors --fail-fast --only a,c").status == 0);

  // 16 heads of 2048 right rows: some seconds of work.
  have("long", R"(x = normal(1, 16, 2048, 64); t = dict(q=x, k=x, v=ones(1, 16, 2048, 64), o=ones(1, 16, 2048, 64)))");
  auto const begun = std::chrono::steady_clock::now();
  outcome const cut = attest("verify long.safetensors --budget 0.4");
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(60));
  CHECK(cut.status == 3);
  CHECK(has(cut.out, "it stopped early: --budget 0.4 is spent"));
  std::filesystem::remove(folder() / "long.safetensors");
  check_refused("verify three.safetensors --budget ", {{"nan", "--budget"}, {"0", "--budget"}});
}

TEST_CASE("tensors without elements bound no work: they are refused, or done at once", "[unit]") {
  std::string const set =
      R"(meta["scale"] = "1"; t = dict(q=empty(%q, 0), k=empty(%m, 0), v=empty(%m, 0), o=empty(%q, 0)))";
  auto const with = [&](std::string const& q, std::string const& m) {
    std::string line = set;
    for (auto const& [what, by] : {std::pair("%q", q), std::pair("%m", m)})
      for (auto at = line.find(what); at != line.npos; at = line.find(what)) line.replace(at, 2, by);
    have("nothing", line);
  };
  for (auto const& [q, m, fault] :
       {std::array<char const*, 3>{"2**40", "1", "q"}, {"1", "2**40", "k"}, {"2**21", "1", "q"}}) {
    with(q, m);
    for (char const* command :
         {"verify nothing.safetensors", "explain nothing.safetensors", "solve nothing.safetensors --out solved"}) {
      outcome const ran = shell(std::string("ulimit -v 4000000; ") + ATTEST_PROGRAM + " " + command);
      CHECK(ran.status == 2);
      CHECK(has(ran.err, std::string("attest: ") + fault + ": shape is ["));
      CHECK(has(ran.err, "a tensor without elements has at most 1048576 rows"));
    }
  }
  with("2**20", "2**20");
  outcome const ran = shell(std::string("ulimit -v 4000000; ") + ATTEST_PROGRAM + " verify nothing.safetensors");
  CHECK(ran.status == 3);
  CHECK(has(ran.out, "no element was judged"));
  outcome const solved = attest("solve nothing.safetensors --out solved");
  CHECK(solved.status == 2);
  CHECK(has(solved.err, "more than half of the machine's memory"));
}

TEST_CASE("verify refutes a file with one flipped bit in o", "[unit]") {
  std::string bytes = contents(ATTEST_TEST_DATA "/minilm_attention.safetensors");
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  bytes[8 + header + 190464 + 4 * 1000 + 2] ^= 0x10;  // bit 20 of element 1000 of layer0.o
  auto const path = fs::temp_directory_path() / ("attest-cli-flipped-" + std::to_string(::getpid()) + ".safetensors");
  std::ofstream(path, std::ios::binary) << bytes;
  outcome const ran = attest("verify " + path.string());
  CHECK(ran.status == 1);
  CHECK(has(ran.out, "o[0, 0, 31, 8]"));  // 1000 = 31·32 + 8
  fs::remove(path);
}

TEST_CASE("a recorded answer without the softcap that was asked for is refuted as one", "[unit]") {
  outcome const ran = attest("verify " ATTEST_TEST_DATA "/minilm_attention.safetensors --softcap 2");
  CHECK(ran.status == 1);
  CHECK(has(ran.out, "softcap"));
}

TEST_CASE("the worst error stands in bounds, in ulps and as it is", "[unit]") {
  // One key: o = v = 2, and the file says 2.5.
  write("make.py", R"(import json, struct
def tensor(at): return {"dtype": "F32", "shape": [1, 1, 1, 1], "data_offsets": [4 * at, 4 * at + 4]}
text = json.dumps({name: tensor(at) for at, name in enumerate("qkvo")}).encode()
open("one.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + struct.pack("<4f", 1, 1, 2, 2.5))
)");
  REQUIRE(shell("python3 make.py").status == 0);
  auto const report = nlohmann::json::parse(attest("verify one.safetensors --json -").out);
  for (auto const& sum : {report["summary"], report["checks"][0]}) {
    auto const upper = [&](char const* key) { return std::strtod(sum[key].get<std::string>().c_str(), nullptr); };
    CHECK(upper("max_error") >= 0x1p-1);  // rounded up
    CHECK(static_cast<float>(upper("max_error")) == 0x1p-1f);
    CHECK(static_cast<float>(upper("max_ulp")) == 0x1p+21f);
  }
  CHECK(report["findings"][0]["error_in_bounds"] == report["summary"]["max_error_in_bounds"]);
}

}  // namespace
}  // namespace attest::tests::cli_verify_test
