"""proofs/coq/ is checked from its sources, and rests on nothing else.

    coq_test.py SOURCES --pages    _CoqProject lists the folder, no file says `Admitted`, the README's table is true
    coq_test.py SOURCES            and every file compiles, with the axioms of the standard library's reals
    coq_test.py SOURCES --planted  each edit of tests/proof_edits/of_coq.txt breaks that
"""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(sys.argv[1])
FOLDER = SOURCES / "proofs/coq"
FILES = [line for line in (FOLDER / "_CoqProject").read_text(encoding="utf-8").split() if line.endswith(".v")]
# The real numbers of Coq's standard library, and what it takes of logic for them.
REALS = {"ClassicalDedekindReals.sig_not_dec", "ClassicalDedekindReals.sig_forall_dec",
         "FunctionalExtensionality.functional_extensionality_dep", "Classical_Prop.classic"}
UNPROVEN = re.compile(r"\b(Admitted|admit|give_up|Axioms?|Parameters?|Conjecture|Hypothes[ie]s|Variables?)\b"
                      r"|Unset Guard Checking|bypass_check")


def without_comments(text):
    inner = re.compile(r"\(\*(?:(?!\(\*|\*\)).)*\*\)", re.S)
    while inner.search(text):
        text = inner.sub(" ", text)
    return text


def compiled(folder, files):
    """What the compiler prints; None, and the error, where a file does not compile."""
    said = ""
    for file in files:
        done = subprocess.run(["coqc", "-q", "-Q", ".", "Attest", file], cwd=folder, capture_output=True, text=True)
        if done.returncode:
            return None, f"{file}: {done.stdout}{done.stderr}"
        said += done.stdout
    return said, ""


def axioms_of(said):
    return set(re.findall(r"^([\w.]+)(?= ?:|\n  :)", said, re.M)) - {"Axioms"}


def misplaced():
    """Theorems that the table of the README places elsewhere than they stand."""
    table = (FOLDER / "README.md").read_text(encoding="utf-8")
    for file, theorems in re.findall(r"^\|[^|]*\| `(\w+\.v)` \|([^|]*)\|", table, re.M):
        lines = (FOLDER / file).read_text(encoding="utf-8").splitlines()
        stated = {found[1]: line for line, text in enumerate(lines, 1)
                  if (found := re.match(r"(?:Theorem|Lemma|Corollary) (\w+)", text))}
        for name, line in re.findall(r"`(\w+)` (\d+)", theorems):
            if stated.get(name) != int(line):
                yield f"README.md: {file} has {name} at line {stated.get(name, '(nowhere)')}, not {line}"


def check_pages():
    """What is wrong with the folder before anything is compiled."""
    listed = sorted(FILES) == sorted(path.name for path in FOLDER.glob("*.v"))
    faults = [] if listed else ["_CoqProject and the folder have other files"]
    faults += misplaced()
    for file in FILES:
        for word in UNPROVEN.finditer(without_comments((FOLDER / file).read_text(encoding="utf-8"))):
            faults.append(f"{file} says {word.group()}")
    return faults


def check(folder):
    faults = check_pages()
    said, error = compiled(folder, FILES)
    if error:
        return faults + [error]
    main_text = without_comments((folder / "main.v").read_text(encoding="utf-8"))
    asked, theorems = main_text.count("Print Assumptions"), main_text.count("@")
    answered = said.count("Axioms:") + said.count("Closed under the global context")
    if asked == 0 or theorems < 100 or answered != asked:
        faults.append(f"main.v asks {asked} times for axioms, and {answered} answers come")
    faults += [f"an axiom: {axiom}" for axiom in axioms_of(said) - REALS]
    print(f"{len(FILES)} files, {theorems} theorems, axioms: {', '.join(sorted(axioms_of(said)))}")
    return faults


def planted(folder):
    """The edits that pass unnoticed, each in a copy of what is compiled."""
    faults = check(folder)
    edits = (SOURCES / "tests/proof_edits/of_coq.txt").read_text(encoding="utf-8").splitlines()
    for line in filter(None, edits):
        what, file, old, new = line.split(" @@ ")
        text = (folder / file).read_text(encoding="utf-8")
        if text.count(old) != 1:
            faults.append(f"{file} does not hold once: {old}")
            continue
        with tempfile.TemporaryDirectory() as name:
            edited = pathlib.Path(shutil.copytree(folder, name, dirs_exist_ok=True))
            (edited / file).write_text(text.replace(old, new), encoding="utf-8")
            _, error = compiled(edited, FILES[FILES.index(file):])
        print(f"{what}: {' '.join(error.split())[:150] or 'NOT NOTICED'}")
        # A proof must fail, not the reading of the file.
        if not error or re.search(r"Syntax error|was not found in the current environment", error):
            faults.append(f"passes unnoticed, or is no statement: {line}")
    return faults


def main():
    if "--pages" in sys.argv:
        sys.exit("\n".join(check_pages()) or 0)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file in FILES:
            shutil.copy(FOLDER / file, folder)
        faults = (planted if "--planted" in sys.argv else check)(folder)
    print("\n".join(faults))
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
