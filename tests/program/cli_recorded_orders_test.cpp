// Recorded files whose heads are inside, and orders of axes that differ.
#include <string>

#include "tests/program/recorded_answers.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/program/recorded_files.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests::cli_recorded_orders_test {
namespace {

constexpr char under_nan_rows[] = "--contract nan.json";

/// A contract of kernels whose O is NaN where a query sees no key.
void have_nan_rows() { write("nan.json", R"({"from": "f32", "conventions": {"empty_row": "nan"}})"); }

/// Writes such answers to empty rows, whose LSE is −∞. The O are [b, n, h, d].
constexpr char nan_in_empty_rows[] = R"(for name in list(t):
    if not name.endswith(".lse"): continue
    b, h, n = t[name][1]
    o = name[:-3] + "o"
    d, x = t[o][1][3], bytearray(t[o][2])
    for at in range(b * h * n):
        if t[name][2][4 * at:4 * at + 4] != struct.pack("<f", float("-inf")): continue
        i, j, k = at // (h * n), at // n % h, at % n
        first = 4 * d * ((i * n + k) * h + j)
        x[first:first + 4 * d] = struct.pack("<f", float("nan")) * d
    t[o][2] = bytes(x)
)";

TEST_CASE("an exact O in [b, n, h, d] is certified, whatever the judge reads from it", "[unit]") {
  record("--draws 0 --only weights-through-v,visibility-probe,split-and-merge,determinism --layout bnhd", "");
  json const found = verified();
  INFO(found["findings"].dump(1));
  CHECK(found["verdict"] == "certified");
  record("--draws 0 --only empty-rows --layout bnhd", nan_in_empty_rows);
  have_nan_rows();
  json const rows = verified(under_nan_rows);
  INFO(rows["findings"].dump(1));
  CHECK(rows["verdict"] == "certified");
  CHECK(verified()["verdict"] == "refuted");
}

void is_certified_in_bnhd(std::string const& checks) {
  record("--abi 2 --draws 0 --layout bnhd" + checks, "");
  json const found = verified();
  INFO(found["findings"].dump(1));
  CHECK(found["verdict"] == "certified");
}

TEST_CASE("what gen writes in [b, n, h, d] is certified where it is solved", "[unit]") {
  is_certified_in_bnhd(" --only heads,masks,strides,sinks,packed,pages");
}

TEST_CASE("all that gen writes in [b, n, h, d] is certified where it is solved", "[slow]") { is_certified_in_bnhd(""); }

TEST_CASE("the other order of axes is told in files of [b, n, h, d], too", "[unit]") {
  // The elements of O lie as [b, h, n, d] under the shape [b, n, h, d].
  record("--draws 0 --only heads --layout bnhd", in_other_order_under_right_shape);
  json const under_right_shape = verified();
  CHECK(under_right_shape["verdict"] == "refuted");
  REQUIRE_FALSE(under_right_shape["findings"].empty());
  CHECK(has(under_right_shape["findings"][0]["sentence"],
            "the O is right in the other order of axes: its elements lie as [b, h, n, d] for [b, n, h, d]"));
  // O is [b, h, n, d], and a convention decides some of its rows.
  record("--draws 0 --only empty-rows --layout bnhd",
         nan_in_empty_rows + std::string("for prefix in cases: swap(prefix + \".o\")"));
  have_nan_rows();
  json const named = verified(under_nan_rows);
  json const* const wrong = finding_of(named, "memory");
  REQUIRE(wrong);
  CHECK(has((*wrong)["sentence"],
            "the other order of axes, [b, h, n, d] for [b, n, h, d], in which it is within its bound"));
}

TEST_CASE("the other order of axes of packed rows is told in their own words", "[unit]") {
  // Two entries, one query each where `decodes`; in memory numbers[(row * 3 + head) * 2 + column] is in order thd.
  for (bool const decodes : {false, true})
    for (std::string const layout : {"thd", "bhnd"}) {
      write_beside_good("inputs.safetensors",
                        "decodes, thd = " + std::to_string(decodes) + ", " + (layout == "thd" ? "True" : "False") + R"(
t.clear()
rows = 2 if decodes else 5
def numbers(count, step):
    x = [(at * step % 7 - 3) / 4 for at in range(6 * count)]
    if not thd: x = [x[(row * 3 + head) * 2 + at] for head in range(3) for row in range(count) for at in range(2)]
    return ["F32", [count, 3, 2] if thd else [1, 3, count, 2], struct.pack("<%df" % len(x), *x)]
t["q"], t["k"], t["v"] = numbers(rows, 3), numbers(7, 5), numbers(7, 2)
t["q_offsets"] = ["I32", [3], struct.pack("<3i", 0, 1 if decodes else 2, rows)]
t["k_offsets"] = ["I32", [3], struct.pack("<3i", 0, 3, 7)]
meta["attest.layout"] = "thd" if thd else "bhnd")");
      REQUIRE(attest("solve inputs.safetensors --round f32 --out answers.safetensors").status == 0);
      CHECK(attest("verify inputs.safetensors answers.safetensors").status == 0);
      outcome const edited = shell(R"(python3 edit.py answers.safetensors outputs.safetensors '
dtype, shape, x = t["o"]
rows, heads = (shape[0], shape[1]) if len(shape) == 3 else (shape[2], shape[1])
width = len(x) // (rows * heads)
outer, inner = (rows, heads) if len(shape) == 3 else (heads, rows)
t["o"][2] = b"".join(x[(i * inner + j) * width:][:width] for j in range(inner) for i in range(outer))')");
      INFO(layout << decodes << edited.err);
      REQUIRE(edited.status == 0);
      json const found = verified("--findings ''");
      REQUIRE(found["verdict"] == "refuted");
      std::string const lies = layout == "thd" ? "[heads, rows, width] for [rows, heads, width]"
                                               : "[rows, heads, width] for [heads, rows, width]";
      INFO(found["findings"][0]["sentence"]);
      CHECK(has(found["findings"][0]["sentence"], "right in the other order of axes: its elements lie as " + lies));
    }
}

TEST_CASE("a saved finding keeps the order of pools that the whole file has", "[unit]") {
  write_beside_good("inputs.safetensors", R"(t.clear()
meta["attest.kv_layout"] = "nhd"
numbers = lambda count, step: struct.pack("<%df" % count, *[(at * step % 7 - 3) / 4 for at in range(count)])
for p in ("a.", "b."):
    t[p + "q"] = ["F32", [1, 2, 2, 2], numbers(8, 3)]
    t[p + "k"], t[p + "v"] = ["F32", [3, 2, 2, 2], numbers(24, 5)], ["F32", [3, 2, 2, 2], numbers(24, 2)]
    t[p + "block_table"] = ["I32", [1, 2], struct.pack("<2i", 2, 0)]
    t[p + "k_lengths"] = ["I32", [1], struct.pack("<i", 4)])");
  REQUIRE(attest("solve inputs.safetensors --round f32 --out answers.safetensors").status == 0);
  REQUIRE(shell("python3 edit.py answers.safetensors outputs.safetensors "
                "'t[\"a.o\"][2] = struct.pack(\"<f\", 3) + t[\"a.o\"][2][4:]'")
              .status == 0);
  json const found = verified();
  REQUIRE(found["findings"].size() == 1);
  CHECK(found["evidence"]["judged"]["faults"] == 1);
  json const again = report(found["findings"][0]["reproducer"].get<std::string>().substr(7));
  INFO(again.dump(1));
  CHECK(again["findings"].size() == 1);
  CHECK(again["evidence"]["judged"]["faults"] == 1);
}

TEST_CASE("outputs that say another order of axes than their problem are refused", "[unit]") {
  write_beside_good("inputs.safetensors", R"(t.clear()
numbers = lambda step: struct.pack("<18f", *[(at * step % 7 - 3) / 4 for at in range(18)])
for at, name in enumerate("qkv"): t[name] = ["F32", [1, 3, 3, 2], numbers(at + 2)])");
  REQUIRE(attest("solve inputs.safetensors --round f32 --out answers.safetensors").status == 0);
  auto const edit = [](std::string const& line) {
    REQUIRE(shell("python3 edit.py answers.safetensors outputs.safetensors '" + line + "'").status == 0);
    return attest("verify inputs.safetensors outputs.safetensors --findings ''");
  };
  for (std::string const word : {"bhnd", "thd"})  // which are one order where nothing is packed
    CHECK(edit("meta[\"attest.layout\"] = \"" + word + "\"").status == 0);
  outcome const other = edit("swap(\"o\")\nmeta[\"attest.layout\"] = \"bnhd\"");
  CHECK(other.status == 2);
  CHECK(has(other.err, "attest.layout: is 'bnhd' beside the outputs and 'bhnd' beside the inputs"));
  outcome const unknown = edit("meta[\"attest.layout\"] = \"hbnd\"");
  CHECK(unknown.status == 2);
  CHECK(has(unknown.err, "attest.layout: is 'hbnd', expected bhnd or bnhd or thd or nbhd"));
}

TEST_CASE("an order of axes for all problems says nothing of merges", "[unit]") {
  std::string const parts = R"(
numbers = lambda step: struct.pack("<24f", *[(at * step % 7 - 3) / 4 for at in range(24)])
for at, r in enumerate("qkv"): t["a." + r] = ["F32", [1, 3, 2, 4], numbers(at + 2)]
t["m.o_parts"], t["m.lse_parts"] = ["F32", [2, 1, 2, 3, 2], numbers(3)], ["F32", [2, 1, 2, 3], numbers(5)[:48]]
)";
  // The key is in the file of all problems, or in the file of the outputs.
  write_beside_good("inputs.safetensors", "t.clear()" + parts + "meta[\"attest.layout\"] = \"bnhd\"");
  outcome const solved = attest("solve inputs.safetensors --round f32 --out answers.safetensors");
  INFO(solved.err);
  REQUIRE(solved.status == 0);
  CHECK(attest("verify inputs.safetensors answers.safetensors").status == 0);
  auto const with = [](std::string const& line) {
    REQUIRE(shell("python3 edit.py answers.safetensors outputs.safetensors '" + line + "'").status == 0);
    return attest("verify inputs.safetensors outputs.safetensors --findings ''");
  };
  write_beside_good("inputs.safetensors", "t.clear()" + parts + "meta[\"a.attest.layout\"] = \"bnhd\"");
  CHECK(with("meta = {\"attest.layout\": \"bnhd\"}").status == 0);
  // Weights have one order.
  CHECK(with("meta = {\"attest.layout\": \"bhnd\"}; drop(\"m\"); t.pop(\"a.o\")").status == 3);
  outcome const other = with("meta = {\"attest.layout\": \"bhnd\"}");
  CHECK(other.status == 2);
  CHECK(has(other.err, "attest.layout: is 'bhnd' beside the outputs and 'bnhd' beside the inputs of 'a'"));
  // What names the merge is about it.
  outcome const named = with("meta = {\"m.attest.layout\": \"bnhd\"}");
  CHECK(named.status == 2);
  CHECK(has(named.err, "m.attest.layout: is not bhnd: a merge is [b, hq, n, dv]"));
  write_beside_good("inputs.safetensors", "t.clear()" + parts + "meta[\"m.attest.layout\"] = \"bnhd\"");
  outcome const of_inputs = attest("verify inputs.safetensors --findings ''");
  CHECK(of_inputs.status == 2);
  CHECK(has(of_inputs.err, "m.attest.layout: is not bhnd: a merge is [b, hq, n, dv]"));
}

TEST_CASE("tokens without offsets are refused under the layout thd", "[unit]") {
  write_beside_good("tokens.safetensors", R"(t.clear()
meta["attest.layout"] = "thd"
for name in "qkv": t[name] = ["F32", [6, 2, 4], bytes(192)])");
  outcome const refused = attest("solve tokens.safetensors --round f32 --out answers.safetensors");
  CHECK(refused.status == 2);
  CHECK(has(refused.err, "attest.layout: is 'thd', and 'q_offsets' is missing"));
}

}  // namespace
}  // namespace attest::tests::cli_recorded_orders_test
