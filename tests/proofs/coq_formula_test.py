"""proofs/coq/formula.v beside reference/bound/: the formula of the bound, evaluated by Coq on rows of bound_rows.cpp.

    coq_formula_test.py SOURCES BOUND_ROWS ROWS SEED

A third evaluation, beside the code and tests/reference/bound_from_text.py. Rows in its scope: formula.v says which, and
`counts` below. Of each column the code's number is at least the formula with every entry of A that needs no exp in
place of A^D, and at most the formula without A^D.
"""
import math
import pathlib
import re
import subprocess
import sys
import tempfile
from fractions import Fraction

SOURCES = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SOURCES / "tests/reference"))
from bound_from_text import rows_of  # noqa: E402

ROOM = 1 + Fraction(1, 2**30)                                  # of doubles that round outward
CUT = Fraction(1, 2**140)                                      # of the dyadic numbers
LARGE = Fraction(2)**2000
NUMBERS = "u omega far x0 u_qk g_b e_c a_t u_s omega_s eps tau u_p omega_p u_pv largest_kappa".split()
COUNTS = "k_qk k_add k_x c_m k_pre k_f splits most_rescales height divisions promote p_normalised".split()
FLAGS = "fold_q fold_k bias_first flushes p_shared rank_counts".split()
KEY = "x_lower x_upper score_upper product_upper key_norm bias weight_lower weight_upper".split()


def exact(word):
    if not isinstance(word, str):
        return Fraction(word)
    return LARGE if word == "inf" else Fraction(float.fromhex(word))


def written(x):
    """A number of the type `dyadic`."""
    exponent = x.denominator.bit_length() - 1
    return f"({x.numerator}, {-exponent})" if x != LARGE else "(1, 2000)"


def in_scope(row):
    model, facts = row.model_words, row.facts
    lazy = model["tau"] != "0x0p+0" and model["splits"] != "1"
    return (row.terms["judged"] == "1" and len(row.keys) <= 16 and float.fromhex(row.terms["n_far"]) == 0
            and model["merge"] == "raw" and not facts["has_sink"] and not facts["drops"]
            and model["normalise"] == "sum" and model["order"] == "any" and model["unchanged_rescale"] == "exact"
            and model["merges"] == model["parts_are_keys"] == "0" and not lazy
            and model["eps_rescale"] == "0x0p+0" and model["l_height_divisor"] == "0"
            and not (model["fold_k"] == "1" and facts["scale_upper"] > 1))


def counts_of(row):
    """What section 3 counts: roundings, blocks, heights. (Everything else is formed by Coq.)"""
    m, n, N, S = row.model, len(row.keys), row.facts["m"], row.model["splits"]
    blocks = -(-N // m["block"])
    height = {"in_sequence": n - 1, "block_local": m["block"] + blocks - 2,
              "declared": -(-N // m["height_divisor"]) + m["height_base"]}[m["height"]]
    products = row.facts["nonzero" if m["zero_products"] == "exact" else "d"]
    return {"k_qk": m["k_qk_per_d"] * products + m["k_qk_base"], "height": min(n - 1, height),
            "most_rescales": {"none": 1, "per_block": blocks, "rank_of_score": n}[m["rescales"]] - 1 + S - 1,
            "divisions": m["k_block"] * (-(-N // m["divided_block"]) - 1),
            "p_normalised": ["no", "yes", "unknown"].index(m["p_normalised"])} | {
                name: m[name] for name in ("k_add", "k_x", "c_m", "k_pre", "k_f", "splits", "promote")}


def coq_of(row):
    words, counts = row.model_words, counts_of(row)
    values = {name: exact(words[name]) for name in NUMBERS if name in words}
    values |= {name: exact(words["format." + name]) for name in ("u", "omega", "far")} | {"largest_kappa": Fraction(0)}
    values["u_qk"] = values["u_qk"] or values["u"]
    if row.model["p_shared"] and values["u_p"] and values["omega_p"]:    # far_P, rounded down: it decides the scope
        values["far"] = min(values["far"], Fraction(math.floor(-math.log(values["omega_p"] / values["u_p"])) - 1))
    model = [written(values[name]) for name in NUMBERS] + [str(counts[name]) for name in COUNTS]
    model += [str(words.get(name, "1") == "1").lower() for name in FLAGS]
    keys = "; ".join("@Key dyadic " + " ".join(written(exact(key[name])) for name in KEY) + " (0, 0) 0 (0, 0)"
                     for key in row.keys)
    facts = [str(row.facts["d"])] + [written(Fraction(row.facts[name])) for name in
                                     ("scale_upper", "softcap", "query_norm", "max_upper", "normaliser_lower")]
    columns = "; ".join("([" + "; ".join(written(exact(v)) for v in column["values"]) + "], "
                        + f"{written(exact(column['mid']))}, {written(exact(column['radius']))})"
                        for column in row.columns)
    return f"@evaluated dyadic (@Model dyadic {' '.join(model)}) (@Facts dyadic {' '.join(facts)} [{keys}]) [{columns}]"


PROLOGUE = """From Coq Require Import List ZArith.
From Attest Require Import formula.
Import ListNotations.
Set Printing Width 1000000. Set Printing Depth 1000000.
"""


def evaluated(rows):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "formula.v").write_text((SOURCES / "proofs/coq/formula.v").read_text(encoding="utf-8"), "utf-8")
        text = PROLOGUE + "".join(f"Eval vm_compute in {coq_of(row)}.\n" for row in rows)
        # Counts are numbers of the type nat, everything else pairs of whole numbers.
        (folder / "rows.v").write_text(text, "utf-8")
        for file in ("formula.v", "rows.v"):
            done = subprocess.run(["coqc", "-q", "-Q", ".", "Attest", file], cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{file}: {done.stderr[:2000]}")
    for answer in re.findall(r"= \((true|false), (.*)\)\n", done.stdout):
        words = [int(word) for word in re.findall(r"-?\d+", answer[1])]
        numbers = [m * Fraction(2)**e for m, e in zip(words[::2], words[1::2])]
        yield answer[0] == "true", numbers


def main():
    program, count, seed = sys.argv[2:5]
    done = subprocess.run([program, count, seed], capture_output=True, text=True, check=True)
    drawn = list(rows_of(done.stdout.splitlines(True)))
    rows = [row for row in drawn if in_scope(row)]
    faults, compared, sharp, near = [], 0, 0, 0
    answers = list(evaluated(rows))
    if len(answers) != len(rows):
        sys.exit(f"{len(rows)} rows, {len(answers)} answers")
    for row, (scope, numbers) in zip(rows, answers):
        if not scope:
            continue
        near += 1
        D, gamma_L, gamma_O = numbers[:3]
        spare = len(row.keys) * exact(row.model_words["format.u"]) / 2**49   # E8: n*2^-50 on M_L
        pairs = [("D", D / ROOM, exact(row.terms["D_lower"]), D),
                 ("gamma_O", gamma_O, exact(row.terms["gamma_O"]), gamma_O * ROOM),
                 ("gamma_L", gamma_L, exact(row.terms["gamma_L"]), gamma_L * ROOM + spare)]
        for at, column in enumerate(row.columns):
            low, high = numbers[3 + 2 * at: 5 + 2 * at]
            if column["unrounded"] != "inf":
                pairs.append((f"B[{at}]", low, exact(column["unrounded"]), high * ROOM))
                compared += 1
                sharp += high <= low * ROOM
        faults += [f"{row.name.strip()} {name}: {float(low):.17g} <= {float(code):.17g} <= {float(high):.17g} fails"
                   for name, low, code, high in pairs if not low * (1 - CUT) <= code <= high * (1 + CUT)]
    print(f"{len(drawn)} rows, {near} in scope, {compared} columns, {sharp} of them from both sides")
    print("\n".join(faults[:40]))
    sys.exit(bool(faults) or compared < len(drawn) // 40)


if __name__ == "__main__":
    main()
