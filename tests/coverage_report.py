#!/usr/bin/env python3
"""Line and branch coverage of reference/, fast/ and audit/, and every line that no program ran.

    coverage_report.py ROOT PROFILE PROGRAM...      a merged profile, and the instrumented programs and libraries

A program that holds a function without calling it has a record of its own for it, with no counts. llvm-cov keeps one
record where it is given several programs, so each is asked by itself, and a line counts as run where any of them ran
it.
"""
import collections
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FOLDERS = ("reference", "fast", "audit")


def exported(program, profile, form):
    command = ["llvm-cov-19", "export", f"-format={form}", f"-instr-profile={profile}", program]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def of_program(program, profile, root):
    """{file: {("line", number) or ("branch", place, way): times}}; what a template is made for adds up."""
    counts = collections.defaultdict(collections.Counter)

    def judged(path):  # the zoo's kernels run to be found broken
        name = path.removeprefix(root + "/")
        return name if name.split("/")[0] in FOLDERS and "/zoo/" not in name else None

    name = None
    for line in exported(program, profile, "lcov").splitlines():
        kind, _, rest = line.partition(":")
        if kind == "SF":
            name = judged(rest)
        elif kind == "DA" and name:
            number, times = rest.split(",")[:2]
            counts[name]["line", int(number)] += int(times)
    for file in json.loads(exported(program, profile, "text"))["data"][0]["files"]:
        if name := judged(file["filename"]):
            for *place, yes, no, _, _, _ in file["branches"]:
                counts[name]["branch", tuple(place), True] += yes
                counts[name]["branch", tuple(place), False] += no
    return counts


def ranges(numbers):
    runs = []
    for n in sorted(numbers):
        if runs and runs[-1][1] == n - 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return " ".join(f"{a}-{b}" if a != b else str(a) for a, b in runs)


def main(root, profile, *programs):
    total = collections.defaultdict(dict)
    with ThreadPoolExecutor(2) as pool:
        for of_one_program in pool.map(lambda program: of_program(program, profile, root), programs):
            for name, counts in of_one_program.items():
                for place, times in counts.items():
                    total[name][place] = max(times, total[name].get(place, 0))
    for folder in sorted(FOLDERS):
        said = []
        for kind, plural in (("line", "lines"), ("branch", "branches")):
            run = [times > 0 for name, counts in total.items() if name.startswith(folder + "/")
                   for place, times in counts.items() if place[0] == kind]
            said.append(f"{100 * sum(run) / max(len(run), 1):6.2f} % of {len(run):6} {plural}")
        print(f"{folder:10}" + "   ".join(said))
    print("not run:")
    for name, counts in sorted(total.items()):
        missing = [place[1] for place, times in counts.items() if place[0] == "line" and times == 0]
        if missing:
            print(f"{len(missing):4}  {name}: {ranges(missing)}")


main(*sys.argv[1:])
