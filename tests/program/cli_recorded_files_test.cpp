// How `verify` treats files that leave something out, and files whose axes are in another order.
#include <string>

#include "tests/program/recorded_answers.hpp"
#include "tests/program/recorded_file.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {
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

/// A file with the problem "good", its right o, and what `line` adds to the tensors t.
void write_beside_good(std::string const& name, std::string const& line) {
  have_editor();
  write("good.safetensors", recorded(2, "good."));
  REQUIRE(shell("python3 edit.py good.safetensors " + name + " '" + line + "'").status == 0);
}

std::string observations(json const& from) { return from["observations"].dump(); }

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

TEST_CASE("tokens without offsets are refused under the layout thd", "[unit]") {
  write_beside_good("tokens.safetensors", R"(t.clear()
meta["attest.layout"] = "thd"
for name in "qkv": t[name] = ["F32", [6, 2, 4], bytes(192)])");
  outcome const refused = attest("solve tokens.safetensors --round f32 --out answers.safetensors");
  CHECK(refused.status == 2);
  CHECK(has(refused.err, "attest.layout: is 'thd', and 'q_offsets' is missing"));
}

}  // namespace
}  // namespace attest::tests
