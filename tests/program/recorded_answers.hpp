// Answers to the inputs of `gen`, recorded, edited and judged.
#pragma once

#include <string>

#include "tests/program/program.hpp"
#include "tests/support/catch.hpp"

namespace attest::tests {

using nlohmann::json;

inline json report(std::string const& arguments) {
  outcome const ran = attest(arguments + " --json -");
  INFO(ran.err);
  return json::parse(ran.out);
}

/// Writes edit.py. It reads a safetensors file, runs a line of Python on its tensors (name: [dtype, shape, bytes]) and
/// metadata, and writes it again.
inline void have_editor() {
  write("edit.py", R"(import json, struct, sys
from_file, to_file, line = sys.argv[1:]
content = open(from_file, "rb").read()
length = struct.unpack("<Q", content[:8])[0]
header, data = json.loads(content[8:8 + length]), content[8 + length:]
meta = header.pop("__metadata__", {})
t = {name: [x["dtype"], x["shape"], data[slice(*x["data_offsets"])]] for name, x in header.items()}
cases = sorted(name[:-2] for name in t if name.endswith((".o", ".q")))
def swap(name):  # [b, h, n, d] -> [b, n, h, d], the elements too
    dtype, (b, h, n, d), x = t[name]
    row = lambda *at: x[4 * d * ((at[0] * h + at[1]) * n + at[2]):][:4 * d]
    t[name] = [dtype, [b, n, h, d], b"".join(row(i, k, j) for i in range(b) for j in range(n) for k in range(h))]
def drop(prefix):
    for role in ("o", "lse", "weights"): t.pop(prefix + "." + role, None)
exec(line)
header, at = {"__metadata__": meta}, 0
for name, (dtype, shape, x) in t.items():
    header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(x)]}
    at += len(x)
text = json.dumps(header).encode()
open(to_file, "wb").write(struct.pack("<Q", len(text)) + text + b"".join(x for _, _, x in t.values()))
)");
}

/// The inputs of these checks, and answers to them. In outputs.safetensors `line` has edited the answers.
inline void record(std::string const& chosen, std::string const& line) {
  have_editor();
  REQUIRE(attest("gen --quick --seed 2 --out inputs.safetensors " + chosen).status == 0);
  REQUIRE(attest("solve inputs.safetensors --out answers.safetensors --round f32").status == 0);
  outcome const edited = shell("python3 edit.py answers.safetensors outputs.safetensors '" + line + "'");
  INFO(edited.err);
  REQUIRE(edited.status == 0);
}

/// A line for record(): each O has its elements in the other order of axes, under the shape that it had.
inline constexpr char in_other_order_under_right_shape[] = R"(for prefix in cases:
    shape = t[prefix + ".o"][1]
    swap(prefix + ".o")
    t[prefix + ".o"][1] = shape)";

inline json verified(std::string const& further = "") {
  return report("verify inputs.safetensors outputs.safetensors " + further);
}

inline json const* finding_of(json const& from, std::string const& class_name) {
  for (json const& found : from["findings"])
    if (found["class"] == class_name) return &found;
  return nullptr;
}

}  // namespace attest::tests
