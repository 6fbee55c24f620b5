// Recorded files that other programs wrote, made by a script.
#pragma once

#include <string>

#include "tests/program/recorded_answers.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

/// foreign.py LINE: file.safetensors from inputs.safetensors and, if there are any, answers.safetensors.
inline constexpr char script[] = R"(import json, os, pickle, struct, sys, zipfile
def load(path):
    if not os.path.exists(path): return {}
    content = open(path, "rb").read()
    length = struct.unpack("<Q", content[:8])[0]
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    header.pop("__metadata__", None)
    return {name: [x["dtype"], x["shape"], data[slice(*x["data_offsets"])]] for name, x in header.items()}
def numbers(shape, step):
    count = 1
    for size in shape: count *= size
    return ["F32", list(shape), struct.pack("<%df" % count, *[(at * step % 31 - 15) / 8 for at in range(count)])]
def axes(name, *order):  # the elements move, too
    dtype, shape, x = t[name]
    bytes_of = {"F32": 4, "F16": 2}[dtype]
    steps = [bytes_of]
    for size in shape[:0:-1]: steps.insert(0, steps[0] * size)
    def rows(level, at):
        if level == len(order): return x[at:at + bytes_of]
        return b"".join(rows(level + 1, at + i * steps[order[level]]) for i in range(shape[order[level]]))
    t[name] = [dtype, [shape[i] for i in order], rows(0, 0)]
def all_axes(*order):
    for name in "qkvo": axes(name, *order)
def rename(old, new): t[new] = t.pop(old)
def ints(*x): return ["I32", [len(x)], struct.pack("<%di" % len(x), *x)]
t, meta = {**load("inputs.safetensors"), **load("answers.safetensors")}, {}
exec(sys.argv[1])
header, at = {"__metadata__": meta}, 0
for name, (dtype, shape, x) in t.items():
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(x)]}
    at += len(x)
text = json.dumps(header).encode()
open("file.safetensors", "wb").write(struct.pack("<Q", len(text)) + text + b"".join(x for _, _, x in t.values()))
)";

inline void make(std::string const& line) {
  outcome const ran = shell("python3 foreign.py '" + line + "'");
  INFO(line << ran.err);
  REQUIRE(ran.status == 0);
}

/// inputs.safetensors, and its right answers: with 4 heads, 8 queries and m keys of width 4.
inline void solve(std::string const& line, std::string const& options = "") {
  write("foreign.py", script);
  shell("rm -f inputs.safetensors answers.safetensors");
  make("t = {}\n" + line);
  shell("mv file.safetensors inputs.safetensors");
  outcome const ran = attest("solve inputs.safetensors --round f32 --out answers.safetensors" + options);
  INFO(ran.err);
  REQUIRE(ran.status == 0);
  make("t.pop(\"lse\"); t.pop(\"weights\", None)");
  shell("mv file.safetensors inputs.safetensors; rm answers.safetensors");
}

inline std::string dense(int m) {
  return "t[\"q\"] = numbers([2, 4, 8, 4], 3)\nt[\"k\"], t[\"v\"] = [numbers([2, 4, " + std::to_string(m) +
         ", 4], s) for s in (5, 7)]";
}

/// The one finding of file.safetensors.
inline std::string finding_in(std::string const& arguments = "") {
  json const found = report("verify file.safetensors --findings ''" + arguments);
  INFO(found.dump(1));
  REQUIRE(found["verdict"] == "refuted");
  REQUIRE_FALSE(found["findings"].empty());
  return found["findings"][0]["sentence"];
}

inline void check_refused_file(std::string const& says, std::string const& arguments = "") {
  outcome const ran = attest("verify file.safetensors --findings ''" + arguments);
  INFO(ran.err);
  CHECK(ran.status == 2);
  CHECK(has(ran.err, says));
}

inline void check_certified(std::string const& arguments) {
  outcome const ran = attest("verify file.safetensors --findings ''" + arguments);
  INFO(arguments << '\n' << ran.out << ran.err);
  CHECK(ran.status == 0);
}

}  // namespace attest::tests
