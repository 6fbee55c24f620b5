"""The tree follows the arrows of include_arrows.py, and a planted include that none allows is found.

usage: include_arrows_test.py ROOT
"""
import pathlib
import sys
import tempfile

import include_arrows

root = pathlib.Path(sys.argv[1]).resolve()
wrong = include_arrows.faults(root)
assert not wrong, "\n".join(wrong)

PLANTED = {
    "reference/real/ball.hpp": '#include "fast/attention.hpp"\n',
    "fast/plan.cpp": '#include "reference/bound/bound.hpp"\n',
    "audit/support/files.hpp": '  #  include "audit/tensors/owned_tensor.hpp"\n',
    "audit/cause/diagnosis.cpp": '#include "fast/attention.hpp"\n',
    "audit/judge/judge_case.cpp": '#include "audit/cause/explain.hpp"\n',
    "bench/fast.cpp": '#include "reference/textbook/variance.hpp"\n',
    "tests/stray.cpp": "",
    "audit/stray.cpp": "",
}
HEADERS = ["fast/attention.hpp", "audit/cause/explain.hpp", "reference/bound/bound.hpp",
           "audit/tensors/owned_tensor.hpp", "reference/textbook/variance.hpp"]
with tempfile.TemporaryDirectory() as folder:
    tree = pathlib.Path(folder)
    for path, text in {**{header: "" for header in HEADERS}, **PLANTED}.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_text(text)
    found = include_arrows.faults(tree.resolve())
    assert len(found) == 7, found  # all but tests/stray.cpp, which lies in tests/
    for path in PLANTED:
        assert path == "tests/stray.cpp" or any(fault.startswith(path) for fault in found), (path, found)
print("every include follows an arrow, and planted ones that follow none are found")
