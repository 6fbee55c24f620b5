"""The report of an audit does not depend on the processor, except for times.

other_processors.py ATTEST PRELOAD [DRAWS]: the audit of builtin:scalar in every element type is the same JSON on four
processors: this one, one without AVX-512 (Highway's targets, by PRELOAD), one without AVX2 and FMA in the C library
(its functions, by GLIBC_TUNABLES), and with one thread. That PRELOAD is heeded shows an audit with the baseline alone,
whose last places differ; where it does not (no AVX2 here, or Highway inside the program) the test is skipped, with exit
status 77.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

attest, preload = (str(pathlib.Path(argument).resolve()) for argument in sys.argv[1:3])
draws = sys.argv[3] if len(sys.argv) > 3 else "5"
older_library = "glibc.cpu.hwcaps=-AVX,-AVX2,-FMA,-FMA4,-AVX512F,-AVX512VL,-AVX512BW,-AVX512DQ"


def timeless(value):
    if isinstance(value, dict):
        return {key: timeless(item) for key, item in value.items() if not key.endswith("_seconds")}
    return [timeless(item) for item in value] if isinstance(value, list) else value


def report(*options, **environment):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "report.json"
        command = [attest, "audit", "--kernel", "builtin:scalar", "--seed", "1", "--findings", "", "--json", file,
                   *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=3000,
                              env={**os.environ, **environment})
        assert done.returncode in (0, 1, 3), (command, done.returncode, done.stderr[-2000:])
        return timeless(json.loads(file.read_text()))


def differences(one, other, place=""):
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for at, (a, b) in enumerate(zip(one, other)):
            yield from differences(a, b, f"{place}[{at}]")
    elif one != other:
        yield place, one, other


def on(targets):
    return {"LD_PRELOAD": preload, "ATTEST_TEST_TARGETS": targets}


few = ("--only", "accuracy,masks,long-sums")
if report(*few) == report(*few, **on("baseline")):
    print("the SIMD targets of the program cannot be taken away here")
    sys.exit(77)
for contract in ("f32", "f64", "bf16", "f16"):
    asked = ("--contract", contract, "--draws", draws, "--draw-products", "8388608", "--shard", "1/2")
    here = report(*asked)
    there = report(*asked, "--jobs", "1", **on("avx2"), GLIBC_TUNABLES=older_library)
    found = list(differences(here, there))
    assert not found, (contract, len(found), found[:5])
    print(contract, here["verdict"], here["summary"]["elements"], "elements: the same report")
