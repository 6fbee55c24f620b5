"""Audits kernels of the zoo as kernels of typical domains: honest ones must be certified, mutants refuted.

usage: domains.py ATTEST ZOO_IN_DOMAIN ZOO [--domains NAME,…] [--kernels NAME,…] [--honest N] [--mutants N] [--seed N]
                  [--outside unsupported|failed|aborts] [--declared] [--jobs N] [--default] [--family backward]
                  [--features NAME,…] [--draws N]

An honest kernel that is too slow for a verdict of --quick is audited again without it. Without --kernels, N honest
kernels and N mutants of the zoo in turn, others with every seed. Without --declared attest finds the domain itself.
Prints a row for each kernel and domain, then the counts of each domain, then the mutants that are refuted in none: a
domain without masks cannot express a mistake about masks. Exit status 1 if an honest kernel is not certified, or if
there is such a mutant.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import time
from typing import Any, NamedTuple

DATA = pathlib.Path(__file__).with_name("domains.txt")


class Domain(NamedTuple):
    name: str
    text: str
    features: str


class Row(NamedTuple):
    domain: str
    kernel: str
    honest: bool
    verdict: str
    first: str  # class and case of the first finding, or why there is no report
    found: str  # the domain that attest found
    probes: str
    calls: int
    seconds: float
    slow: bool = False  # too slow for a verdict


def domains(names: str) -> list[Domain]:
    lines = [line for line in DATA.read_text().splitlines() if line and not line.startswith("#")]
    every = [Domain(*(part.strip() for part in line.split("|"))) for line in lines]
    wanted = names.split(",") if names else [one.name for one in every]
    return [one for name in wanted for one in every if one.name == name]


def in_turn(names: list[str], count: int, seed: int) -> list[str]:
    """`count` of them, others with the next seed."""
    return [names[(seed * count + at) % len(names)] for at in range(min(count, len(names)))]


def contract_of(text: str, folder: pathlib.Path) -> str:
    """A preset, or a file of one with fields of its own: 'f32 {"x0": 17}'."""
    preset, _, fields = text.partition(" ")
    if not fields:
        return preset
    path = folder / "contract.json"
    path.write_text(json.dumps({"from": preset, "model": json.loads(fields)}))
    return str(path)


def audited(options: argparse.Namespace, domain: Domain, kernel: dict[str, Any]) -> Row:
    row = audited_once(options, domain, kernel)
    if options.default or not (row.honest and row.slow):
        return row
    return audited_once(argparse.Namespace(**{**vars(options), "default": True}), domain, kernel)


def audited_once(options: argparse.Namespace, domain: Domain, kernel: dict[str, Any]) -> Row:
    name, honest = kernel["name"], kernel["class"] == "honest"
    taken = domain.features if options.features is None else options.features
    features = ",".join(filter(None, [taken, "gradients-alone" if options.family == "backward" else ""]))
    words = [options.program, options.outside, domain.text, features or "none", options.zoo, "zoo_" + name]
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [options.attest, "audit", "--kernel", "command:" + shlex.join(words)]
        command += ["--allow", f"read:{pathlib.Path(options.zoo).resolve().parent}"]
        command += ["--contract", contract_of(kernel["contract"], pathlib.Path(folder))]
        command += ["--seed", str(options.seed), "--findings", "", "--json", str(report)]
        command += ["--verbose"] + ([] if options.default else ["--quick"])
        command += [] if honest else ["--fail-fast"]
        command += ["--domain", domain.text] if options.declared else []
        command += [] if options.draws is None else ["--draws", str(options.draws)]
        begun = time.monotonic()
        ran = subprocess.run(command, capture_output=True, text=True)
        seconds = time.monotonic() - begun
        if not report.exists():
            return Row(domain.name, name, honest, "no report", ran.stderr.strip()[:200], "", "", 0, seconds)
        said = json.loads(report.read_text())
    first = "{class}: {check}/{case}".format(**said["findings"][0]) if said["findings"] else ""
    probes = re.search(r"found by (\d+) calls", ran.stdout)
    return Row(domain.name, name, honest, said["verdict"], first, said["domain"]["text"], probes[1] if probes else "",
               (said["coverage"] or {"calls": {"asked": 0}})["calls"]["asked"], seconds,
               "a call takes" in said.get("undecided_because", ""))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("attest", "program", "zoo"):
        parser.add_argument(name)
    parser.add_argument("--domains", default="FA,TRITON,DECODE,MLA,CUTLASS", help="empty: all of domains.txt")
    parser.add_argument("--kernels", default="")
    parser.add_argument("--honest", type=int, default=3)
    parser.add_argument("--mutants", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--outside", default="unsupported", choices=["unsupported", "failed", "aborts"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--declared", action="store_true")
    parser.add_argument("--default", action="store_true", help="not --quick")
    parser.add_argument("--family", default="", help="backward: gradients alone are asked")
    parser.add_argument("--features", help="optional tensors and numbers, instead of the domain's")
    parser.add_argument("--draws", type=int, help="draws instead of as many as the time allows")
    options = parser.parse_args()
    listed = subprocess.run([options.attest, "list", "zoo", "--json"], capture_output=True, text=True, check=True)
    every = {one["name"]: one for one in json.loads(listed.stdout) if one["family"] == options.family}
    names = options.kernels.split(",") if options.kernels else [
        *in_turn([n for n, one in every.items() if one["class"] == "honest"], options.honest, options.seed),
        *in_turn([n for n, one in every.items() if one["class"] != "honest"], options.mutants, options.seed)]
    if unknown := [name for name in names if name not in every]:
        parser.error(f"the zoo has no kernel called {', '.join(unknown)}")
    asked = [(domain, every[name]) for domain in domains(options.domains) for name in names]
    rows = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for row in pool.map(lambda one: audited(options, *one), asked):
            rows.append(row)
            kind = "honest" if row.honest else "mutant"
            print(f"{row.domain:<20}{row.kernel:<34}{kind:<8}{row.verdict:<11}{row.probes:>5}{row.calls:>7}"
                  f"{row.seconds:>7.1f} s  {row.first[:90]}", flush=True)
    print(f"\n{'domain':<20}{'honest certified':>18}{'mutants refuted':>17}  found")
    for domain in dict.fromkeys(row.domain for row in rows):
        of = [row for row in rows if row.domain == domain]
        honest, mutants = [row for row in of if row.honest], [row for row in of if not row.honest]
        certified, refuted = (sum(row.verdict == verdict for row in some)
                              for some, verdict in ((honest, "certified"), (mutants, "refuted")))
        texts = " / ".join(dict.fromkeys(row.found for row in of))
        print(f"{domain:<20}{f'{certified} of {len(honest)}':>18}{f'{refuted} of {len(mutants)}':>17}  {texts}")
    refuted = {row.kernel for row in rows if row.verdict == "refuted"}
    missed = sorted({row.kernel for row in rows if not row.honest} - refuted)
    print("\nrefuted in no domain: " + (", ".join(missed) or "none"))
    return int(bool(missed) or any(row.honest and row.verdict != "certified" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
