"""Does the second evaluation of gradients notice errors in reference/gradient/? proof_edits/of_gradient.txt has edits.

usage: gradient_sensitivity.py BUILD [WORD]    BUILD: a build tree with gradient_bound_rows; WORD: only lines with it
       gradient_sensitivity.py --check         compiles nothing: 1 if what an edit replaces is not in its file once

A line `file @@ before <<old ==> new>> after` puts `new` for `old` where `before old after` stands in
reference/gradient/file. All edits are compiled into one copy of gradient_bound_rows. The environment variable
ATTEST_EDIT says which of them is made. bound_from_text.py must find a bound below the text of
docs/bound_backward.md, or above it, or a number outside its enclosure. 1 if an edit passes unnoticed.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path("reference/gradient")
SEEDS, COUNT = range(1, 61), 60
SWITCH = """#include <cstdlib>
#include <type_traits>
inline int attest_edit_made() {
  static int const number = std::atoi(std::getenv("ATTEST_EDIT"));
  return number;
}
constexpr bool attest_edited(int number) { return !std::is_constant_evaluated() && attest_edit_made() == number; }
"""


class edit:
    def __init__(self, number, line):
        self.number, self.line = number, line
        self.file, text = (part.strip() for part in line.split(" @@ ", 1))
        before, self.old, self.new, after = re.fullmatch(r"(.*?)<<(.*) ==> (.*?)>>(.*)", text).groups()
        source = (ROOT / FOLDER / self.file).read_text()
        flat, places = flattened(source)
        whole = " ".join((before + self.old + after).split())
        self.count = flat.count(whole)
        if self.count == 1:
            start = flat.index(whole) + len(" ".join((before + "x").split())) - 1
            self.begin, self.end = places[start], places[start + len(self.old) - 1] + 1


def flattened(text):
    """The text with single spaces, and the place of each of its characters."""
    flat, places = [], []
    for at, x in enumerate(text):
        if x.isspace() and (not flat or flat[-1] == " "):
            continue
        flat.append(" " if x.isspace() else x)
        places.append(at)
    return "".join(flat), places


def rounds(edits):
    """Groups of edits that do not overlap."""
    groups = []
    for each in edits:
        for group in groups:
            if all(o.file != each.file or o.end <= each.begin or each.end <= o.begin for o in group):
                group.append(each)
                break
        else:
            groups.append([each])
    return groups


def compile_edited(build, group, scratch):
    """gradient_bound_rows with the edits of the group, linked with the libraries of the build tree."""
    copy = scratch / FOLDER
    copy.mkdir(parents=True, exist_ok=True)
    for path in (ROOT / FOLDER).iterdir():
        text = path.read_text()
        for each in sorted((e for e in group if e.file == path.name), key=lambda e: -e.begin):
            chosen = f"(attest_edited({each.number}) ? ({each.new}) : ({text[each.begin:each.end]}))"
            text = text[:each.begin] + chosen + text[each.end:]
        (copy / path.name).write_text(re.sub(r"template class gradient_source<(?!float).*\n", "", text))
    (scratch / "switch.hpp").write_text(SWITCH)
    flags = ["-std=c++20", "-O1", "-w", "-ffp-contract=off", "-include", scratch / "switch.hpp", "-I", scratch,
             "-I", ROOT, "-I", build / "forwarding"]
    objects = []
    for name in ("row.cpp", "source.cpp"):
        objects.append(scratch / (name + ".o"))
        subprocess.run(["c++", *flags, "-c", copy / name, "-o", objects[-1]], check=True)
    link = subprocess.run(["ninja", "-C", build, "-t", "commands", "gradient_bound_rows"], check=True,
                          capture_output=True, text=True).stdout.splitlines()[-1]
    program = scratch / "gradient_bound_rows"
    link = re.sub(r"-o \S+", lambda _: f"-o {program}", link)
    link = re.sub(r"(\S*bound_rows\.cpp\.o)", lambda found: " ".join([found[1], *map(str, objects)]), link)
    subprocess.run(link, shell=True, check=True, cwd=build)
    return program


def is_noticed(program, number):
    sys.path.insert(0, str(ROOT / "tests/reference/gradient"))
    from bound_from_text import comparison, problem
    environment = {**os.environ, "ATTEST_EDIT": str(number)}
    for seed in SEEDS:
        out = subprocess.run([program, str(COUNT), str(seed)], check=True, capture_output=True, text=True,
                             env=environment).stdout
        try:
            found = comparison()
            for at, line in enumerate(out.splitlines()):
                found.add(problem(line), f"seed {seed}, problem {at}")
        except (AssertionError, ArithmeticError) as why:
            return str(why) or "a number is no number"
    return None


def main(build, word=""):
    lines = (ROOT / "tests/proof_edits/of_gradient.txt").read_text().splitlines()
    edits = [edit(number, line) for number, line in enumerate(lines, 1)]
    lost = [each for each in edits if each.count != 1]
    for each in lost:
        print(f"NOT ONCE   {each.line}")
    if lost or build == "--check":
        print(f"{len(edits)} edits, {len(lost)} not standing once")
        return 1 if lost or len(edits) < 150 else 0
    unnoticed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for at, group in enumerate(rounds([each for each in edits if word in each.line])):
            program = compile_edited(Path(build).resolve(), group, Path(scratch) / str(at))
            why = is_noticed(program, 0)
            assert why is None, f"without an edit: {why}"
            for each in group:
                why = is_noticed(program, each.number)
                unnoticed += why is None
                print(f"{'noticed   ' if why else 'UNNOTICED '} {each.line}", f"    {why}" if why else "", flush=True)
    print(f"{unnoticed} unnoticed")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
