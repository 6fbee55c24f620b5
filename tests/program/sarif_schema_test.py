"""What --sarif writes satisfies the schema of SARIF 2.1.0, and the schema can say no.

sarif_schema_test.py ATTEST KERNELS SCHEMA
"""
import copy
import json
import pathlib
import subprocess
import sys
import tempfile

from jsonschema import Draft4Validator

attest, kernels, schema = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
judge = Draft4Validator(json.loads(schema.read_text()))
AUDIT = ("audit", "--quick", "--draws", "0", "--seed", "1", "--findings", "")


def sarif(status, *words):
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([attest, *words, "--sarif", "x.sarif"], cwd=folder, capture_output=True, text=True,
                              check=False, timeout=300)
        assert done.returncode == status, (words, done.returncode, done.stderr)
        return json.loads((pathlib.Path(folder) / "x.sarif").read_text())


def of(name):
    return ("--kernel", kernels / f"{name}.so")


logs = {
    "certified": sarif(0, *AUDIT, "--only", "masks"),
    "refuted": sarif(1, *AUDIT, "--only", "empty-rows,masks,poison", *of("nan_empty_row")),
    "waived": sarif(0, *AUDIT, "--only", "empty-rows,masks", "--waive", "empty-rows,masks", *of("nan_empty_row")),
    "crash": sarif(1, *AUDIT, "--only", "masks,bands", *of("crash")),
    "undecided": sarif(3, *AUDIT, "--only", "accuracy", "--domain", "d=64", *of("refuses")),
    "two kernels": sarif(1, *AUDIT, "--only", "masks", *of("mean_v"), "--kernel", "builtin"),
}
for name, log in logs.items():
    for error in judge.iter_errors(log):
        sys.exit(f"{name}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")


def mutants(log):
    """Logs that the schema must refuse."""
    for change in (lambda x: x.pop("version"), lambda x: x["runs"][0].pop("tool"),
                   lambda x: x["runs"][0].update(more=1),
                   lambda x: x["runs"][0]["results"][0].pop("message"),
                   lambda x: x["runs"][0]["results"][0].update(level="bad"),
                   lambda x: x["runs"][0]["results"][0].update(ruleIndex="0"),
                   lambda x: x["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"].update(
                       startLine=0)):
        mutant = copy.deepcopy(log)
        change(mutant)
        yield mutant


for count, mutant in enumerate(mutants(logs["refuted"])):
    assert not judge.is_valid(mutant), f"mutant {count} is valid"
print(f"{len(logs)} logs are valid, {count + 1} mutants are not")
