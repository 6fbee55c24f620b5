"""Every test is registered on every machine: a build has the same tests whatever is installed, by each generator and
with sanitizers; where something is missing they are skipped, and say what installs it.

usage: test_names_test.py SOURCES BUILD
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT, BUILD = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
# The optional packages hidden, or taken for installed: the machine decides nothing.
CONFIGURATIONS = {
    "a bare machine": ["-G", "Ninja", "-DATTEST_OPTIONAL=none"],
    "a machine with everything": ["-G", "Ninja Multi-Config", "-DATTEST_OPTIONAL=all"],
    "sanitizers": ["-G", "Ninja", "-DATTEST_OPTIONAL=none", "-DATTEST_SANITIZE=address,undefined"],
}
# Tests that a bare machine must skip, with their sentences. A machine that has everything skips no test.
PROMISED = {"ball.unit": "no MPFR: ./attest setup ci", "report.browser": "no Chromium: ./attest setup browser",
            "coq": "no Coq or no Flocq: ./attest setup coq",
            "python.tests": "no NumPy or no pytest in python3: ./attest setup python"}


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def names_of(build):
    return sorted(re.findall(r"^ *Test +#\d+: (.*)$", run("ctest", "--test-dir", build, "-C", "Release", "-N"), re.M))


def skipped_of(build):
    rows = [line.split("\t") for line in (build / "tests/registered.txt").read_text(encoding="utf-8").splitlines()]
    assert sorted(row[0] for row in rows) == names_of(build), "registered.txt lists other tests than ctest"
    return {name: why for name, _, why in rows if why}


def unregistered_tags(names):
    """Tags of test cases in a source whose tests have no such label: these cases would never run."""
    for source in sorted((ROOT / "tests").rglob("*_test.cpp")):
        subject = source.stem.removesuffix("_test")
        labels = {name.rpartition(".")[2] for name in names if re.fullmatch(rf"(\w+_)?{subject}\.\w+", name)}
        for tag in re.findall(r'"\[(unit|property|slow|nightly)\]"', source.read_text(encoding="utf-8")):
            if tag not in labels:
                yield f"{source.relative_to(ROOT)}: no test runs its cases with the tag [{tag}]"


expected = names_of(BUILD)
faults = sorted(set(unregistered_tags(expected)))
sections = set((ROOT / "packages/debian.txt").read_text(encoding="utf-8").splitlines())
with tempfile.TemporaryDirectory() as folder:
    for what, options in CONFIGURATIONS.items():
        build = pathlib.Path(folder) / what.replace(" ", "_")
        run("cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", *options)
        names, skipped = names_of(build), skipped_of(build)
        if names != expected:
            faults.append(f"{what}: {sorted(set(names) ^ set(expected))} are registered there or here alone")
        if what == "a machine with everything" and skipped:
            faults.append(f"{what} skips {skipped}")
        if what == "a bare machine":
            faults += [f"{what} does not skip {name} for '{why}'" for name, why in PROMISED.items()
                       if skipped.get(name) != why]
        for name, why in skipped.items():
            section = re.search(r"./attest setup (\w+)", why)
            if section and f"[{section.group(1)}]" not in sections:
                faults.append(f"{name} names a section that packages/debian.txt has not: {why}")
        # What is skipped says so, and passes for nothing else.
        if what == "a bare machine":
            said = run("ctest", "--test-dir", build, "-R", "^report.browser$", "-V")
            if "skipped: no Chromium" not in said or "(Skipped)" not in said:
                faults.append(f"a skipped test does not say so:\n{said}")
print("\n".join(faults)
      if faults else f"{len(expected)} tests are registered in each of {len(CONFIGURATIONS)} configurations")
sys.exit(bool(faults))
