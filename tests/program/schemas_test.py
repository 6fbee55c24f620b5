"""Contracts and reports satisfy docs/contract.schema.json and docs/report.schema.json, and the schemas can say no.

schemas_test.py ATTEST KERNELS SCHEMAS CONTRACTS

Contracts: all files of CONTRACTS, all presets; a mutated contract that attest reads must be valid. Reports: of audit,
verify and merge, with every verdict; a report with a key less, a key more or a value of another kind must not be.
"""
import copy
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from jsonschema import Draft202012Validator

import real_reports

attest, kernels, schemas, contracts = (pathlib.Path(argument).resolve() for argument in sys.argv[1:5])
draw = random.Random(1)


def validator(name):
    schema = json.loads((schemas / name).read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


of_contract, of_report = validator("contract.schema.json"), validator("report.schema.json")


def run(folder, *arguments):
    done = subprocess.run([attest, *arguments], cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    assert 0 <= done.returncode <= 3 and "internal error" not in done.stderr, (arguments, done.returncode, done.stderr)
    return done


def require_valid(judge, value, name):
    for error in judge.iter_errors(value):
        sys.exit(f"{name}: {error.json_path}: {error.message[:300]}")


def places(value, path=()):
    yield path, value
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from places(inner, path + (key,))


def with_value(value, path, new):
    """With `new` at that place, or without the place where `new` is Ellipsis."""
    if not path:
        return new
    value = copy.deepcopy(value)
    at = value
    for key in path[:-1]:
        at = at[key]
    if new is Ellipsis:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return value


def check_reports(folder):
    files = []
    for name in real_reports.kinds(kernels):
        parts = real_reports.shards(attest, folder, kernels, name)
        files += parts
        run(folder, "merge", *parts, "--json", f"merged {name}.json")
        files.append(folder / f"merged {name}.json")
    files.append(real_reports.interrupted_shard(attest, folder, kernels, 1))
    one = struct.pack("<f", 1)
    real_reports.write_safetensors(folder / "right", real_reports.one_by_one())
    real_reports.write_safetensors(folder / "wrong", real_reports.one_by_one(out=struct.pack("<f", 2)))
    real_reports.write_safetensors(folder / "silent", {name: ("F32", [1, 1], one) for name in "qkv"})
    for name in ("right", "wrong", "silent"):
        run(folder, "verify", name, "--json", f"{name}.json")
        files.append(folder / f"{name}.json")
    with_findings = folder / "with findings.json"
    run(folder, "audit", "--quick", "--seed", "1", "--only", "masks", "--kernel", kernels / "mean_v.so", "--json",
        with_findings)
    files.append(with_findings)

    verdicts = set()
    for file in files:
        report = json.loads(file.read_text())
        require_valid(of_report, report, file.name)
        for one in report.get("reports", [report]):
            verdicts.add(one["verdict"])
            for claim in one["contracts"]:
                require_valid(of_contract, claim, file.name)
    assert verdicts == {"certified", "refuted", "undecided"}
    assert json.loads(with_findings.read_text())["findings"][0]["pictures"], "a finding with pictures was validated"
    check_wrong(json.loads((folder / "refuted 1.json").read_text()))
    check_wrong(json.loads((folder / "silent.json").read_text()))
    return len(files)


def check_wrong(report):
    """A key less, a key more, a value of another kind."""
    free = {"contracts", "refusals", "rows", "columns", "facts"}  # objects whose keys this schema does not say
    for path, value in draw.sample(list(places(report)), 150):
        if free & set(path):
            continue
        wrong = [with_value(report, path, 7 if isinstance(value, str) else True if value is None else "a word")]
        if path and isinstance(path[-1], str) and path not in (("shard",), ("recorded",)):  # not in every report
            wrong.append(with_value(report, path, ...))
        if isinstance(value, dict):
            wrong.append(with_value(report, path, value | {"further": 1}))
        for one in wrong:
            assert not of_report.is_valid(one), f"the report stays valid with another {path}"
    for edit in ({"schema": 2}, {"verdict": "fine"}, {"verdict": "undecided"} if report["verdict"] != "undecided"
                 else {"verdict": "certified"}, {"checks": [{**report["checks"][0], "max_error_in_bounds": "-0x1p+0"}]},
                 {"seed": -1}, {"checks": [{**report["checks"][0], "failed": 0.5}]},
                 {"checks": [{**report["checks"][0], "max_ulp": "nan"}]}):
        assert not of_report.is_valid({**report, **edit}), f"the report stays valid with {edit}"


def check_contracts(folder):
    claims = {path.name: json.loads(path.read_text()) for path in sorted(contracts.glob("*.json"))}
    assert claims, "no contract files"
    for claim in json.loads(run(folder, "list", "contracts", "--json").stdout):
        claims[claim["name"]] = claim
    for name, claim in claims.items():
        require_valid(of_contract, claim, name)
        for wrong in ({"extra": 1}, {"input": "f8"}, {"model": {}}, {"model": 1}, {"conventions": {"nan": "ignored"}},
                      {"sources": {"k_y": "x"}}, {"name": ""}):
            assert not of_contract.is_valid({**claim, **wrong}), f"{name} stays valid with {wrong}"
    return claims


def check_mutated_contracts(folder, claims, mutations=150):
    """No mutated contract ends attest by a signal, and what attest reads is valid."""
    real_reports.write_safetensors(folder / "problem", real_reports.one_by_one())
    values = [0, 1, 2, -1, 0.5, 1e-9, 1e300, "inf", "-inf", "nan", "0x1p-24", "0X1P-3", "1e-7", ".5", "+1", " 1", "1.",
              "", "raw", "lse", None, True, [], {}, 1000001, 0.3]
    read = 0
    for _ in range(mutations):
        claim = {"from": "f32", "name": "mine",
                 "model": {}} if draw.random() < 0.3 else draw.choice(list(claims.values()))
        path = draw.choice([path for path, _ in places(claim) if path])
        changed = with_value(claim, path, draw.choice(values + [...]))
        if draw.random() < 0.2 and isinstance(changed.get("model"), dict):
            changed = with_value(changed, ("model", draw.choice(["k_x", "u_p", "tau", "s_limit", "order"])),
                                 draw.choice(values))
        (folder / "mutated.json").write_text(json.dumps(changed))
        done = run(folder, "verify", "problem", "--contract", "mutated.json", "--findings", "")
        if done.returncode == 2:
            assert done.stderr.startswith("attest: ") and done.stderr.count("\n") == 1, done.stderr
            if "the contract mine is about" not in done.stderr and "element type is f32" not in done.stderr:
                continue
        read += 1
        require_valid(of_contract, changed, f"a contract that attest reads: {path}, {json.dumps(changed)[:200]}")
    assert read > mutations // 20, "too few mutated contracts were read to say something"
    return read


with tempfile.TemporaryDirectory() as made:
    claims = check_contracts(pathlib.Path(made))
    read = check_mutated_contracts(pathlib.Path(made), claims)
    reports = check_reports(pathlib.Path(made))
    print(f"{len(claims)} contracts, {read} mutated contracts that attest reads and {reports} reports are valid")
