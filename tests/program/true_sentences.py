"""What a report says about a cause holds, and does not contradict itself.

true_sentences.py ATTEST ZOO: audits of broken kernels. A condition is evaluated for the call of the finding under which
it stands, from the sizes and flags of that call. A cause of all inputs stands without partial ones, and no finding that
it explains has the answer of another mistake.
"""
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

attest, zoo = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
options = ["--seed", "1", "--quick"]
# The answer that a finding names where the mistake is made; the cause of a kernel names the mistake.
ANSWERS = {
    "always_top_left": ("band-top-left", "the answer with the band aligned top-left"),
    "always_bottom_right": ("band-bottom-right", "the answer with the band aligned bottom-right"),
    "ignored_mask": ("mask-ignored", "the answer without the mask"),
    "inverted_mask": ("mask-inverted", "the answer with the mask inverted"),
    "softcap_ignored": ("softcap-ignored", "the answer without the softcap"),
    "mean_of_v": ("weights-equal", "the mean of the visible rows of V"),
}
CONDITIONAL = ["window_wider_than_64", "threads_above_4", "window_in_groups_from_300", "a_tile_before_the_queries",
               "heads_interleaved", "decoding_is_not_causal", "nan_empty_block", "long_rows_lose_the_last_key"]
COMPARE = {"<": int.__lt__, "≤": int.__le__, "=": int.__eq__, "≠": int.__ne__, "≥": int.__ge__, ">": int.__gt__}


def report_of(kernel):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([attest, "audit", "--kernel", f"{zoo}:zoo_{kernel}", *options, "--draws", "0", "--json",
                               "-", "--findings", folder], capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 1, (kernel, done.returncode, done.stderr[-2000:])
    return json.loads(done.stdout)


def flags_of(found):
    """Metadata and tensors of the call of a finding. Returns None if gen does not make it in its size."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "call.safetensors"
        done = subprocess.run([attest, "gen", *options, "--only", f"{found['check']}/{found['case']}", "--out", file],
                              capture_output=True, text=True, check=False, timeout=300)
        if done.returncode != 0 or not file.exists():
            return None
        raw = file.read_bytes()
    header = json.loads(raw[8:8 + struct.unpack("<Q", raw[:8])[0]])
    metadata = header.pop("__metadata__", {})
    first = next((key[:-len(".attest.expect")] for key, value in sorted(metadata.items())
                  if key.endswith(".attest.expect") and value.split()[0] in ("answer", "weights", "visibility")), None)
    if first is None or first + ".q" not in header:
        return None
    s, q, k = found["sizes"], header[first + ".q"]["shape"], header[first + ".k"]["shape"]
    if [s["b"], s["hq"], s["n"], s["d"]] != q or [s["b"], s["hk"], s["m"], s["d"]] != k:
        return None
    flags = {key[len(first) + 1:]: value for key, value in metadata.items() if key.startswith(first + ".")}
    flags.update({name: True for name in ("mask", "bias") if f"{first}.{name}" in header})
    return flags


def number(name, sizes):
    names = {"heads": sizes["hq"], "kv heads": sizes["hk"], "hq": sizes["hq"], "hk": sizes["hk"],
             "group": sizes["hq"] // max(sizes["hk"], 1), "b·heads": sizes["b"] * sizes["hq"]}
    if name in names:
        return names[name]
    if "·" in name:
        first, second = (number(part, sizes) for part in name.split("·"))
        return None if first is None or second is None else first * second
    return sizes.get(name)


def holds(clause, sizes, flags):
    """True, False, or None if the call does not tell."""
    if clause == "grouped":
        return sizes["hq"] != sizes["hk"]
    if clause == "not grouped":
        return sizes["hq"] == sizes["hk"]
    if match := re.fullmatch(r"(.+) ([<≤=≠≥>]) (\w+)(?: ([+−]) (\d+))?", clause):
        left, how, right, sign, apart = match.groups()
        first = number(left, sizes)
        second = int(right) if right.isdigit() else number(right, sizes)
        if first is None or second is None:
            return None
        return COMPARE[how](first, second + (int(apart or 0) if sign != "−" else -int(apart)))
    if match := re.fullmatch(r"(\w+) from (\d+) to (\d+)", clause):
        first = number(match.group(1), sizes)
        return None if first is None else int(match.group(2)) <= first <= int(match.group(3))
    if flags is None:
        return None
    left, right = int(flags.get("left", -1)), int(flags.get("right", -1))
    known = {
        "causal": right >= 0, "causal-top-left": right >= 0, "any band with a right edge": right >= 0,
        "window": left >= 0, "symmetric-window": left >= 0, "any window": left >= 0,
        "any mask": "mask" in flags, "mask": "mask" in flags,
        "any bias": "bias" in flags, "bias": "bias" in flags, "softcap": float(flags.get("softcap", 0)) != 0,
        "no softcap": float(flags.get("softcap", 0)) == 0 or None,
    }
    return known.get(clause)


def clauses_of(condition):
    if match := re.fullmatch(r"wrong from (\w+) = (\d+) on", condition):
        return [f"{match.group(1)} ≥ {match.group(2)}"]
    if match := re.fullmatch(r"wrong up to (\w+) = (\d+)", condition):
        return [f"{match.group(1)} ≤ {match.group(2)}"]
    if match := re.fullmatch(r"wrong for (\w+ from \d+ to \d+)", condition):
        return [match.group(1)]
    if match := re.fullmatch(r"wrong where (.+)", condition):
        return match.group(1).split(" and ")
    if match := re.fullmatch(r"every failing input has (.+); no passing input has(?:; .+ was not asked)*", condition):
        return match.group(1).split(" and ")
    return []


told = 0
for kernel in [*ANSWERS, *CONDITIONAL]:
    report = report_of(kernel)
    report = report["reports"][0] if "reports" in report else report
    cause = report["cause"] or {"hypotheses": [], "partial": [], "condition": "", "unexplained": [], "sentence": ""}
    named = [mistake["name"] for mistake in cause["hypotheses"]]
    assert not named or not cause["partial"], (kernel, cause)
    assert bool(named) != cause["sentence"].startswith("no known mistake") or not cause["sentence"], (kernel, cause)
    assert len(named) == len(set(named)), (kernel, named)
    if cause["condition"]:
        assert all(one["condition"] in ("", cause["condition"]) for one in report["findings"]), (kernel, cause)
    for found in report["findings"]:
        answers = re.findall(r"equals? (the (?:answer|mean) [^;]*)", found["sentence"])
        explained = f"{found['check']}/{found['case']}" not in cause["unexplained"]
        if kernel in ANSWERS and named == [ANSWERS[kernel][0]] and explained:
            assert all(answer == ANSWERS[kernel][1] for answer in answers), (kernel, found["sentence"])
        clauses = clauses_of(found["condition"])
        flags = flags_of(found) if clauses else None
        for clause in clauses:
            is_true = holds(clause, found["sizes"], flags)
            assert is_true is not False, (kernel, found["condition"], clause, found["sizes"], flags)
            told += is_true is True
    print(f"{kernel}: {cause['sentence']} | {[one['condition'] for one in report['findings'] if one['condition']]}",
          flush=True)
assert told >= 3, told
