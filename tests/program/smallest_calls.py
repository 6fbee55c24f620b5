"""The element, the sizes and the file that a report prints belong to one call.

smallest_calls.py ATTEST ZOO: audits of broken kernels. verify finds the same element in the file of a finding, and the
command that a finding has for explain shows its row. A fault in a call after others has that call's sizes.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

attest, zoo = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])


def says(*words):
    done = subprocess.run([attest, *words], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode in (0, 1, 3), (words, done.returncode, done.stderr[-2000:])
    return done.stdout


def report_of(*words):
    return json.loads(says(*words, "--json", "-"))


def sizes_text(sizes):
    return " ".join(f"{axis}={sizes[axis]}" for axis in ("b", "hq", "hk", "n", "m", "d", "dv"))


def fits(index, output, sizes):
    b, h, i, at = index
    width = {"o": sizes["dv"], "weights": sizes["m"], "lse": 1}[output]
    return b < sizes["b"] and h < sizes["hq"] and i < sizes["n"] and at < width


def check_finding(found):
    """Its sentence, its sizes and its file are of one call. Returns whether the file holds the answers to it."""
    if found["output"] in ("o", "lse", "weights"):
        assert fits(found["index"], found["output"], found["sizes"]), found
    if not found["file"]:
        return False
    sentence, small = found["shrunk_sentence"], found["shrunk"]
    named = re.match(r"(o|lse|weights)\[([0-9, ]+)\] is ", sentence)
    if named:
        index = [int(n) for n in named.group(2).split(", ")]
        assert fits((index + [0])[:4], named.group(1), small), (sentence, small)
    place = re.search(r"; in call (\d+) of (\d+) of this input, with (b=.*?dv=\d+)", sentence)
    if place:
        assert place.group(3) == sizes_text(small), (sentence, small)
    if "calls were alive" in sentence:  # one by one, as a file has them, they are right
        return False
    recorded = report_of("verify", found["file"])
    has_answers = recorded["verdict"] != "undecided"  # else no time was left to ask it again
    # What it equals is said with the cause in view, which one call alone may not have.
    assert not has_answers or any(
        one["sentence"].split("; ")[0] == sentence.split("; ")[0] and one["sizes"] == small
        for one in recorded["findings"]), (sentence, recorded)
    if not named:
        return has_answers
    assert found["explain"], found
    shown = says(*shlex.split(found["explain"])[1:])
    row = f"[{', '.join(str(n) for n in (index + [0])[:3])}] of "
    if found["check"] == "merge":
        row += "a merge of {m} parts, b={b} hq={hq} n={n} dv={dv}".format(**small)
    else:
        row += sizes_text(small)
    assert row in shown, (found, shown[:300])
    if named.group(1) == "o":  # the sentence has the recorded number
        got = sentence.split(" is ", 1)[1].split(",")[0]
        assert not has_answers or got in ("nan", "inf", "-inf") or f"{float(got):.6g}"[:6] in shown, (got, shown)
    return has_answers


def check_kernel(kernel, *words, earlier=False, least=1):
    found = report_of("audit", "--kernel", f"{zoo}:zoo_{kernel}", "--seed", "1", "--quick", "--draws", "0",
                      *words)["findings"]
    assert found, kernel
    held = sum(check_finding(one) for one in found)
    assert held >= least, kernel
    if earlier:
        assert any("of this input, with b=" in one["sentence"] for one in found), found
    print(f"{kernel}: {len(found)} findings, {held} of them in a file with their answers", flush=True)


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    check_kernel("ignored_mask", "--only", "masks")
    check_kernel("no_scale", "--only", "accuracy,support")
    check_kernel("lse_in_base_2", "--only", "accuracy")
    check_kernel("heads_interleaved", "--only", "heads")
    check_kernel("merge_base_2", "--only", "merge")
    # State that is kept between calls, and calls of several sizes.
    check_kernel("one_key_more_than_before", "--only", "sequences", earlier=True)
    # While the tensors of other calls are alive: no file holds such answers.
    check_kernel("fewer_keys_than_before", "--only", "sequences,earlier-outputs", least=0)
    check_kernel("after_a_single_key", "--only", "sequences", earlier=True)
