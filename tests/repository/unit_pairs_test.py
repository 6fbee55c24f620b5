"""No two units include each other, except the pairs of unit_pairs.txt, each with its reason.

usage: unit_pairs_test.py ROOT
"""
import pathlib
import sys
import tempfile

import unit_pairs

PLANTED = {"audit/report/text.hpp": "", "audit/report/text.cpp": '#include "audit/report/verdict.hpp"\n',
           "audit/report/verdict.hpp": '#include "audit/report/text.hpp"\n',
           "fast/row.cpp": '#include "fast/row-inl.hpp"\n', "fast/row-inl.hpp": '#include "fast/row.hpp"\n',
           "fast/row.hpp": ""}
with tempfile.TemporaryDirectory() as folder:
    for path, text in PLANTED.items():
        (pathlib.Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
        (pathlib.Path(folder) / path).write_text(text)
    assert unit_pairs.pairs(pathlib.Path(folder).resolve()) == [("audit/report/text", "audit/report/verdict")]

root = pathlib.Path(sys.argv[1]).resolve()
lines = (root / "tests/repository/unit_pairs.txt").read_text(encoding="utf-8").splitlines()
allowed = {tuple(line.split(": ")[0].split()) for line in lines}
assert len(allowed) == len(lines) and all(": " in line for line in lines), "a line is 'UNIT UNIT: reason'"
found = set(unit_pairs.pairs(root))
faults = [f"{one} and {other} include each other: what both need belongs to a third header"
          for one, other in sorted(found - allowed)]
faults += [f"{one} and {other} do not include each other: tests/repository/unit_pairs.txt says so"
           for one, other in sorted(allowed - found)]
print("\n".join(faults) if faults else f"{len(found)} pairs of units include each other, each for a reason")
sys.exit(bool(faults))
