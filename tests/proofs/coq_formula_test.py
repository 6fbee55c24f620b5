"""proofs/coq/formula.v, as Coq extracts it, beside reference/bound/: the bound of rows of bound_rows.cpp.

    coq_formula_test.py SOURCES BOUND_ROWS ROWS SEED

A third evaluation, beside the code and tests/reference/bound_from_text.py. Rows in its scope: formula.v says which,
and `in_scope` below; bound_rows draws only such models for `tied`. The formula is evaluated twice: with what is below
exp, ln and A^D, and with what is above. Every number of the code lies between the two. Of weights it is asked where
A^T judges.
"""
import math
import pathlib
import subprocess
import sys
import tempfile
from fractions import Fraction

SOURCES = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(SOURCES / "tests/reference"))
from bound_from_text import rows_of  # noqa: E402

ROOM = 1 + Fraction(1, 2**30)                                  # of doubles that round outward
CUT = Fraction(1, 2**48)                                       # of the dyadic numbers
LARGE = Fraction(2)**2000
NUMBERS = ("u omega far x0 u_qk g_b e_c a_t u_s omega_s eps tau u_p omega_p u_v u_pv u_out omega_out eps_log "
           "eps_rescale omega_log omega_w root sunk").split()
COUNTS = ("k_qk k_add k_x c_m k_pre k_f splits most_rescales height divisions promote p_normalised k_lse height_L "
          "lazy_merges always_rescaled d").split()
FLAGS = ("fold_q fold_k bias_first flushes p_shared rank_counts returned_rounded kept_rescaled first_pass").split()
FACTS = "scale_upper softcap query_norm max_upper normaliser_lower lse_upper lse_above_max".split()
KEY = "x_lower x_upper score_upper product_upper key_norm bias weight_lower weight_upper".split()


def exact(word):
    if not isinstance(word, str):
        return Fraction(word)
    return LARGE if word == "inf" else Fraction(float.fromhex(word))


def in_scope(row):
    model, facts = row.model_words, row.facts
    return (row.terms["judged"] == "1" and len(row.keys) <= 16 and model["merge"] == "raw"
            and not facts["has_sink"] and not facts["drops"] and model["normalise"] != "lse" and model["order"] == "any"
            and model["parts_are_keys"] == "0")


def counts_of(row):
    """What section 3 counts: roundings, blocks, heights. (Everything else is formed by Coq.)"""
    m, n, N, S = row.model, len(row.keys), row.facts["m"], row.model["splits"]
    rounded = m["unchanged_rescale"] == "rounded"
    blocks = {"none": 1, "per_block": -(-N // m["block"]), "rank_of_score": N if rounded else n}[m["rescales"]]
    raw = max(S - 1, m["merges"])
    height = {"in_sequence": n - 1, "block_local": m["block"] + -(-N // m["block"]) - 2,
              "declared": -(-N // m["height_divisor"]) + m["height_base"]}[m["height"]]
    products = row.facts["nonzero" if m["zero_products"] == "exact" else "d"]
    height_L = -(-N // m["l_height_divisor"]) + m["l_height_base"] if m["l_height_divisor"] else height
    return {"k_qk": m["k_qk_per_d"] * products + m["k_qk_base"], "height": min(n - 1, height),
            "height_L": min(n - 1, height_L), "most_rescales": blocks - 1 + raw,
            "lazy_merges": raw if m["tau"] else 0, "always_rescaled": N if rounded else 0,
            "divisions": m["k_block"] * (-(-N // m["divided_block"]) - 1),
            "p_normalised": ["no", "yes", "unknown"].index(m["p_normalised"]), "d": row.facts["d"]} | {
                name: m[name] for name in ("k_add", "k_x", "c_m", "k_pre", "k_f", "splits", "promote", "k_lse")}


def written(x):
    """m*2^e: m in binary, e in decimal."""
    if x == LARGE:
        return "1 2000"
    return f"{'-' if x < 0 else ''}{abs(x.numerator):b} {1 - x.denominator.bit_length()}"


def listed(items):
    items = list(items)
    return " ".join([str(len(items))] + items)


def words_of(row):
    words, counts = row.model_words, counts_of(row)
    values = {name: exact(words[name]) for name in NUMBERS if name in words}
    values |= {name: exact(words["format." + name]) for name in ("u", "omega", "far")}
    values["u_qk"] = values["u_qk"] or values["u"]
    values["eps_rescale"] = values["eps_rescale"] or values["eps"]
    e_tau = Fraction(math.exp(values["tau"])) * (1 - CUT)
    values["omega_w"] = exact(words["format.omega_w"]) * e_tau
    values["root"] = max(Fraction(1), Fraction(math.sqrt(row.facts["scale_upper"])))
    values["sunk"] = exact(words["format.h0_limit"]) / 64
    if row.model["p_shared"] and values["u_p"]:                    # far_P, and the omega_W of a shared P
        if values["omega_p"]:
            values["far"] = min(values["far"], Fraction(-math.log(values["omega_p"] / values["u_p"])))
        values["omega_w"] = max(values["omega_w"], 2 * values["omega_p"] * e_tau)
    flags = {name: words.get(name, "1") == "1" for name in FLAGS}
    flags["rank_counts"] = words["unchanged_rescale"] == "exact"
    flags["kept_rescaled"] = not flags["rank_counts"] or counts["lazy_merges"] > 0
    flags["first_pass"] = words["normalise"] == "first_pass"
    flags["returned_rounded"] = words["returned_weights"] != "unrounded"
    return " ".join([
        listed(written(values[name]) for name in NUMBERS), listed(str(counts[name]) for name in COUNTS),
        listed("1" if flags[name] else "0" for name in FLAGS),
        listed(written(Fraction(row.facts[name])) for name in FACTS),
        listed(listed(written(exact(key[name])) for name in KEY) for key in row.keys),
        listed(f"{listed(written(exact(v)) for v in column['values'])} {written(exact(column['mid']))} "
               f"{written(exact(column['radius']))}" for column in row.columns)])


EXTRACTED = """From Coq Require Import Extraction ExtrOcamlBasic.
From Attest Require Import formula.
Extraction "formula.ml" evaluated_lists.
"""


def evaluated(rows):
    """Of each row whether Coq's formula covers it, and its numbers from below and from above."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "formula.v").write_text((SOURCES / "proofs/coq/formula.v").read_text(encoding="utf-8"), "utf-8")
        (folder / "extracted.v").write_text(EXTRACTED, "utf-8")
        (folder / "main.ml").write_text((SOURCES / "tests/proofs/coq_formula.ml").read_text(encoding="utf-8"), "utf-8")
        coqc = ["coqc", "-q", "-Q", ".", "Attest"]
        for command in (coqc + ["formula.v"], coqc + ["extracted.v"],
                        ["ocamlfind", "ocamlopt", "formula.mli", "formula.ml", "main.ml", "-o", "evaluate"]):
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{command}: {done.stderr[:2000]}")
        done = subprocess.run([folder / "evaluate"], input="\n".join(map(words_of, rows)), capture_output=True,
                              text=True, check=True)
    lines = done.stdout.splitlines()
    for low, high in zip(lines[::2], lines[1::2]):
        yield low[0] == high[0] == "1", numbers_of(low), numbers_of(high)


def numbers_of(line):
    words = [int(word, 2) for word in line.split()[1:]]
    return [m * Fraction(2)**e for m, e in zip(words[::2], words[1::2])]


def pairs_of(row, below, above):
    """(name, least, the code's number, most)"""
    n = len(row.keys)
    spare = n * exact(row.model_words["format.u"]) / 2**49         # E8: n*2^-50 on M_L
    lost = Fraction(n, 2**1074)                                    # E1: what underflows joins A and A' instead
    both = list(zip(below, (x * ROOM for x in above)))
    D, gamma_L, gamma_O, hull, lse = both[:5]
    weights, bounds = both[5:5 + n], both[5 + n:]
    yield "D", below[0] / ROOM, exact(row.terms["D_lower"]), above[0]
    yield "gamma_O", gamma_O[0] - lost, exact(row.terms["gamma_O"]), gamma_O[1]
    yield "gamma_L", gamma_L[0] - lost, exact(row.terms["gamma_L"]), gamma_L[1] + spare
    yield "hull", hull[0], exact(row.hull[1][1]), hull[1] + 4 * spare
    if row.lse["size"] != "inf":
        yield "lse", lse[0], exact(row.lse["size"]), lse[1] + 4 * spare
    for at, (size, by, _) in enumerate(row.weights):
        if by == "0" and row.terms["theorem_holds"] == "1":
            yield f"weight[{at}]", weights[at][0], exact(size), weights[at][1] + 4 * spare
    for at, column in enumerate(row.columns):
        if column["unrounded"] != "inf":
            # E1, E7: in doubles the middle of the sizes, and what underflows, are known up to this.
            largest = max(abs(exact(v)) for v in column["values"])
            known = (16 * n + 64) * (largest / 2**53 + max(1, largest) / Fraction(2)**1074)
            yield f"B[{at}]", bounds[at][0], exact(column["unrounded"]), bounds[at][1] + known


def main():
    program, count, seed = sys.argv[2:5]
    done = subprocess.run([program, count, seed, "tied"], capture_output=True, text=True, check=True)
    drawn = list(rows_of(done.stdout.splitlines(True)))
    rows = [row for row in drawn if in_scope(row)]
    answers = list(evaluated(rows))
    if len(answers) != len(rows):
        sys.exit(f"{len(rows)} rows, {len(answers)} answers")
    faults, compared, models = [], {}, set()
    for row, (scope, below, above) in zip(rows, answers):
        if not scope:
            continue
        models.add(tuple(sorted(row.model_words.items())))
        for name, low, code, high in pairs_of(row, below, above):
            kind = name.split("[")[0]
            compared[kind] = compared.get(kind, 0) + 1
            if not low * (1 - CUT) <= code <= high * (1 + CUT):
                low, code, high = map(float, (low, code, high))
                faults.append(f"{row.name.strip()} {name}: {low:.17g} <= {code:.17g} <= {high:.17g} fails")
    print(f"{len(drawn)} rows, {len(models)} models in scope; compared: {compared}")
    print("\n".join(faults[:40]))
    least = min(compared.get(kind, 0) for kind in ("D", "B", "weight", "hull", "lse"))
    sys.exit(bool(faults) or least < len(drawn) // 2)


if __name__ == "__main__":
    main()
