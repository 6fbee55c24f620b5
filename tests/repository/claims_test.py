"""Each row of claims.md has its four cells, and what its command names exists: the commands of ./attest, the tests and
labels that -R and -L choose, the programs of the build, and the scripts.

usage: claims_test.py SOURCES BUILD ATTEST
"""
import json
import pathlib
import re
import shlex
import subprocess
import sys

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
ATTEST = sys.argv[3]
OF_THE_TREE = re.compile(r"(\./)?(tests|bench|examples|python|fuzz|\.ci)/[^*]*")
wrong = []


def lines_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


tests = json.loads(lines_of("ctest", "--test-dir", BUILD, "--show-only=json-v1"))["tests"]
names = [test["name"] for test in tests]
labels = {label for test in tests for one in test["properties"] if one["name"] == "LABELS" for label in one["value"]}
# What the build can make, where its generator says so.
made = None
if (BUILD / "build.ninja").exists():
    made = set(re.findall(r"^(.*): ", lines_of("ninja", "-C", BUILD, "-t", "targets", "all"), re.M))
benches = made is None or "bin/fast_bench" in made  # an option of the build
verbs = {verb for helps in (lines_of(ROOT / "attest", "help"), lines_of(ATTEST, "--help"))
         for verb in re.findall(r"^  ([a-z]+) ", helps, re.M)}
assert {"audit", "test", "bench"} <= verbs and len(names) > 100, (verbs, len(names))


def faults(words):
    """What these words of a command name that there is not."""
    for option, chosen in zip(words, words[1:]):
        among = {"-R": names, "-L": labels}.get(option)
        if among is not None and not any(re.search(chosen, name) for name in among):
            yield f"{option} {chosen} chooses no test"
    for before, word in zip(["", *words], words):
        if before == "./attest" and word not in verbs:
            yield f"./attest has no command {word}"
        path = word.partition(":")[0].partition("=")[2] or word.partition(":")[0]
        if path.startswith("build/release/"):
            built = path.removeprefix("build/release/")
            if built.endswith("_bench") and not benches:
                continue
            if made is not None and "NAME" not in path and built not in made and not (BUILD / built).exists():
                yield f"the build has no {built}"
        elif OF_THE_TREE.fullmatch(path) and "NAME" not in path and not (ROOT / path).exists():
            yield f"there is no {path}"


rows = [line for line in (ROOT / "claims.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
commands = 0
for row in rows[1:]:
    cells = re.split(r"(?<!\\)\|", row.strip())[1:-1]
    if len(cells) != 4:
        wrong.append(f"{len(cells)} cells instead of 4: {row[:100]}")
        continue
    if not cells[3].strip():
        wrong.append(f"no command: {row[:100]}")
    for span in re.findall(r"`([^`]+)`", cells[3]):
        commands += 1
        wrong += [f"{fault}: {span}" for fault in faults(shlex.split(span.replace("\\|", "|")))]
assert commands > 150, commands
print("\n".join(wrong) if wrong else f"{len(rows) - 1} claims with {commands} commands name what there is")
sys.exit(bool(wrong))
