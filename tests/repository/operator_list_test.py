"""The list "An operator" of docs/extending.md is complete, and a planted fault of each kind is found.

usage: operator_list_test.py ROOT
"""
import pathlib
import shutil
import sys
import tempfile

import operator_list

root = pathlib.Path(sys.argv[1]).resolve()
wrong = operator_list.faults(root)
assert not wrong, "\n".join(wrong)

# file | what stands there, nothing for a new file | what is put there | the fault
PLANTED = [
    (operator_list.PLANTED + "/row_sums_file.hpp", "", "// A further file.", "does not say what"),
    (operator_list.PLANTED + "/row_sums.hpp", "problem/operators.hpp", "the table",
     "do not name problem/operators.hpp"),
    (operator_list.PAGE, "`row_sums.c`", "`row_sums.cpp`", "row_sums.cpp, which is not in"),
    (operator_list.PAGE, "| `problem/operators.hpp` |", "| `problem/operations.hpp` |", "which does not exist"),
    (operator_list.PAGE, "`audit/files/merge_file.hpp`", "its file", "does not name audit/files/merge_file.hpp"),
    ("audit/files/tensor_group.cpp", "#include <algorithm>", "// row_sums", "names the planted operator"),
]
for path, before, after, fault in PLANTED:
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for part in ("docs", "include", "problem", "reference", "audit", "fast", operator_list.PLANTED):
            shutil.copytree(root / part, tree / part)
        text = (tree / path).read_text(encoding="utf-8") if before else ""
        assert before in text, f"{path} has no longer {before!r}"
        (tree / path).write_text(text.replace(before, after) if before else after, encoding="utf-8")
        found = operator_list.faults(tree)
        assert any(fault in line for line in found), f"{path}: {after!r} is not found: {found}"
print(f"the list is complete, and each of {len(PLANTED)} planted faults is found")
