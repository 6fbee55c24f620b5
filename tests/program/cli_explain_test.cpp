// explain and reference, as their users run them.
#include <system_error>

#include <fcntl.h>
#include <signal.h>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"

namespace attest::tests::cli_explain_test {
namespace {

using nlohmann::json;

TEST_CASE("reference writes answers that verify certifies, and refuses what it cannot compare", "[unit]") {
  std::string const inputs = ATTEST_TEST_DATA "/minilm_attention.safetensors";
  outcome const made = attest("reference " + inputs + " --contract f32 --out referenced.safetensors");
  INFO(made.err);
  CHECK(made.status == 0);
  CHECK(made.out.empty());
  CHECK(made.err.empty());
  auto const judged = json::parse(attest("verify " + inputs + " referenced.safetensors --json -").out);
  CHECK(judged["verdict"] == "certified");
  CHECK(judged["summary"]["elements"].get<std::int64_t>() ==
        2 * (2 * 12 * 62 * (32 + 1)));  // o and lse of two problems
  CHECK(has(judged["observations"].dump(), "layer0.o.bound"));
  CHECK(attest("reference " + inputs + " --out quick.safetensors --quick --round f64").status == 0);
  for (auto const& [arguments, says] :
       {std::pair("--out x --contract bf16", "--contract: bf16 is about bf16, layer0.q of the file is f32"),
        {"--contract f32", "--out"},
        {"--out /nowhere/x", "--out: /nowhere/x: its folder cannot be found"},
        {"--out x --contract nowhere.json", "--contract: nowhere.json"}}) {
    outcome const ran = attest("reference " + inputs + " " + arguments);
    INFO(arguments << ": " << ran.err);
    CHECK(ran.status == 2);
    CHECK(ran.out.empty());
    CHECK(has(ran.err, says));
  }
}

TEST_CASE("explain shows a query's scores, weights, LSE, bounds and a heatmap, and the recorded output's error",
          "[unit]") {
  std::string const file = ATTEST_TEST_DATA "/minilm_attention.safetensors";
  outcome const ran = attest("explain " + file + " --row 1,3,5");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  for (char const* const part :
       {"layer0: query [1, 3, 5]", "score", "Σ bound", "LSE ", "error/bound", "weights of head [1, 3]", ">|"})
    CHECK(has(ran.out, part));
  CHECK_FALSE(has(ran.out, "OUTSIDE"));
  // The oracle's own digits: what solve prints of the same element.
  std::string const digits = attest("solve " + file + " --digits 9").out;
  for (std::string const name : {"layer0.lse[1, 3, 5] ", "layer0.o[1, 3, 5, 0] "}) {
    auto const at = digits.find(name);
    REQUIRE(at != std::string::npos);
    std::string const value = digits.substr(at + name.size(), digits.find('\n', at) - at - name.size());
    INFO(name << value);
    CHECK(has(ran.out, value));
  }
  CHECK(has(attest("explain " + file + " --row 1,3,5 --softcap 0.5").out, "OUTSIDE"));
  CHECK(has(attest("explain " + file + " --problem layer5").out, "layer5: query [0, 0, 0]"));
  write("mine.json", R"({"from": "f32", "name": "mine", "conventions": {"lse_sink": "excluded"}})");
  CHECK(has(attest("explain " + file + " --contract mine.json").out,
            "note: the contract mine says lse_sink: excluded; what follows is the row of docs/semantics.md"));
  write("base_2.json", R"({"from": "f32", "name": "base_2", "conventions": {"lse_base": "2"}})");
  outcome const in_base_2 = attest("explain " + file + " --contract base_2.json");
  CHECK(has(in_base_2.out, "LSE in base 2"));
  CHECK_FALSE(has(in_base_2.out, "what follows is the row"));
}

TEST_CASE("explain's weights add up and its worst error is verify's", "[unit]") {
  // One query, two keys: scores 0 and ln 3 make weights 1/4 and 3/4.
  write("make.py", R"(import json, struct
q, k, v, o = [1.0], [0.0, 1.0986122886681098], [0.0, 4.0], [3.0]
def tensor(x, shape, at): return {"dtype": "F64", "shape": shape, "data_offsets": [at, at + 8 * len(x)]}
head = {"q": tensor(q, [1,1,1,1], 0), "k": tensor(k, [1,1,2,1], 8), "v": tensor(v, [1,1,2,1], 24),
        "o": tensor(o, [1,1,1,1], 40), "sinks": tensor([0.0], [1], 48)}
text = json.dumps(head).encode()
open("two.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + struct.pack("<7d", *q, *k, *v, *o, 0.0))
)");
  REQUIRE(shell("python3 make.py").status == 0);
  outcome const ran = attest("explain two.safetensors");
  INFO(ran.out << ran.err);
  CHECK(ran.status == 0);
  CHECK(has(ran.out, "7.50000000e-1"));
  CHECK(has(ran.out, "2.50000000e-1"));
  CHECK(has(ran.out, "LSE 1.38629436,"));  // LSE = ln 4
  CHECK(has(ran.out, "3.00000000 "));
  // A tensor that belongs to no problem (a sink is "sink") is never left out silently.
  CHECK(has(ran.out, "note: ignored: sinks, which is 'sink' here: --names sink=sinks\n"));
  CHECK(has(attest("solve two.safetensors --digits 5").err,
            "attest: ignored: sinks, which is 'sink' here: --names sink=sinks\n"));
  CHECK(has(attest("reference two.safetensors --out referenced").err,
            "attest: ignored: sinks, which is 'sink' here: --names sink=sinks\n"));
  for (std::string const wrong : {"--row 0,0,1", "--row 0,1,0", "--row 1,0,0", "--row -1,0,0", "--row 0,0", "--row x",
                                  "--contract f32", "--problem x"}) {
    outcome const refused = attest("explain two.safetensors " + wrong);
    INFO(wrong << refused.err);
    CHECK(refused.status == 2);
    CHECK(refused.out.empty());
  }
}

}  // namespace
}  // namespace attest::tests::cli_explain_test
