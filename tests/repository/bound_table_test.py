"""Section 12 of docs/bound.md names what is there, and a planted fault of each kind is found.

usage: bound_table_test.py ROOT
"""
import pathlib
import shutil
import sys
import tempfile

import bound_table

root = pathlib.Path(sys.argv[1]).resolve()
wrong = bound_table.faults(root)
assert not wrong, "\n".join(wrong)

# file | what stands there | what is put there | the fault
PLANTED = [
    (bound_table.MODEL, "  int k_add = 0;", "  int k_add = 0, k_new = 0;", "k_new has no row"),
    (bound_table.MODEL, "  int k_lse = 1;", "  int k_log = 1;", "k_lse is no field"),
    ("reference/bound/formulas-inl.hpp", "constexpr R score_error(", "constexpr R error_of_score(",
     "does not define score_error"),
    ("reference/bound/score_terms.hpp", "struct score_terms :", "struct terms_of_scores :",
     "does not define score_terms"),
    ("reference/bound/constant_terms.hpp", "  double n = 0;", "  double n = 0, n_new = 0;", "n_new has no row"),
    ("reference/bound/weight_terms.hpp", "one_minus_D = 1,", "other_than_D = 1,", "has no field one_minus_D"),
    (bound_table.PAGE, "`formulas-inl.hpp`: `dominance`", "`formula-inl.hpp`: `dominance`",
     "formula-inl.hpp does not exist"),
]
for path, before, after, fault in PLANTED:
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for part in ("docs", "problem", "reference", "fast", "audit/judge"):
            shutil.copytree(root / part, tree / part)
        text = (tree / path).read_text()
        assert before in text, (path, before)
        (tree / path).write_text(text.replace(before, after))
        found = bound_table.faults(tree)
        assert any(fault in line for line in found), (path, after, found)
print("section 12 of docs/bound.md names what is there, and planted faults are found")
