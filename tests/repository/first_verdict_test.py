"""The program of the first verdict is built without correct rounding, which other commands load.

usage: first_verdict_test.py BUILD
"""
import pathlib
import subprocess
import sys

build = pathlib.Path(sys.argv[1])
if not (build / "build.ninja").is_file():
    print("skipped: this build has no build.ninja")
    sys.exit(77)
inputs = subprocess.run(["ninja", "-C", build, "-t", "inputs", "attest"], capture_output=True, text=True,
                        check=True).stdout
sources = [line for line in inputs.splitlines() if line.endswith((".cpp", ".cxx"))]
assert any("compiled/row.cpp" in name for name in sources), "no source of the oracle is among the inputs"
for needless in ("reference/compiled/rounding.cpp", "reference/machine/rounded.cpp"):
    assert not any(needless in name for name in sources), f"attest is built with {needless}"
print(f"{len(sources)} sources, none of them about correct rounding")
