"""merge over reports that the program wrote: what is honest joins, what was edited never becomes a better verdict.

merge_reports.py ATTEST KERNELS [MUTATIONS]: shards of every kind join to the status of the whole; after each edit of a
number, a word, a list or a byte, a refuted shard (or both) is refused or stays refuted, and an undecided shard is never
certified; whoever gives edited facts their new hash may get any verdict, and nothing ends by a signal. The edits are
drawn with a fixed seed.
"""
import copy
import hashlib
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import real_reports

attest, kernels = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
mutations = int(sys.argv[3]) if len(sys.argv) > 3 else 60
draw = random.Random(1)


def merged(files, *options, says=None):
    done = subprocess.run([attest, "merge", *files, *options], capture_output=True, text=True, check=False, timeout=120)
    assert 0 <= done.returncode <= 3, (done.returncode, files, done.stderr[-2000:])
    assert "internal error" not in done.stderr, done.stderr
    if done.returncode == 2:
        assert done.stderr.startswith("attest: ") and done.stderr.count("\n") == 1, done.stderr
    if says:
        assert says in done.stderr, (says, done.stderr)
    return done.returncode, done.stdout


def places(value, path=()):
    """Every place in a report, except lists of numbers by the hundred."""
    yield path
    if isinstance(value, dict):
        for key in value:
            if key not in ("pictures", "map", "support", "maps", "supports", "ratios"):
                yield from places(value[key], path + (key,))
    if isinstance(value, list):
        for at in range(len(value)):
            yield from places(value[at], path + (at,))


def other(value):
    """Another value of about that kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return draw.choice([0, 1, value + 1, value - 1, 2 * value + 2, -1, 0.5, 2 ** 40, None, "inf"])
    if isinstance(value, str):
        return draw.choice(["", "certified", "undecided", "refuted", "inf", "-inf", "nan", "0x0p+0", "0x1p+0",
                            value + "x", 7, None])
    if isinstance(value, list):
        return draw.choice([[], value[:-1], value[1:], value + value[-1:], value[::-1], None])
    if isinstance(value, dict):
        return draw.choice([{}, [], None, dict(list(value.items())[1:])])
    return draw.choice([0, "", [], {}])


def edited(report, path, value):
    if not path:
        return value
    report = copy.deepcopy(report)
    at = report
    for key in path[:-1]:
        at = at[key]
    if value is None and draw.random() < 0.5:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return report


def mutated(text):
    """The report with a place of it changed, or with a byte of its text."""
    report = json.loads(text)
    if draw.random() < 0.1:
        at = draw.randrange(len(text))
        return text[:at] + draw.choice("0123456789\"{}[],-ex") + text[at + 1:]
    path = draw.choice(list(places(report)))
    at = report
    for key in path:
        at = at[key]
    return json.dumps(edited(report, path, other(at)))


def signed(text):
    """The report with the hash that its facts have now."""
    try:
        report = json.loads(text)
        facts = json.dumps(report["shard"]["facts"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        report["shard"]["sha256"] = hashlib.sha256(facts.encode()).hexdigest()
    except (ValueError, LookupError, TypeError):
        return text
    return json.dumps(report)


def check_signed_mutations(folder, files):
    copies = [folder / "signed 1.json", *files[1:]]
    facts = json.loads(files[0].read_text())
    copies[0].write_text(signed(json.dumps(facts)))
    assert merged(copies)[0] == merged(files)[0], "the hash that this test computes is that of attest"
    joined = 0
    for _ in range(mutations):
        at = draw.choice(list(places(facts["shard"]["facts"])))
        found = facts["shard"]["facts"]
        for key in at:
            found = found[key]
        copies[0].write_text(signed(json.dumps(edited(facts, ("shard", "facts", *at), other(found)))))
        joined += merged(copies, "--report", folder / "signed.html")[0] != 2
    return joined


def check_mutations(folder, files, may_be):
    texts = [file.read_text() for file in files]
    copies = [folder / f"edited {n}.json" for n in range(len(files))]
    refused = 0
    for _ in range(mutations):
        state = draw.getstate()
        changed = [mutated(texts[0])]
        if draw.random() < 0.5:
            after = draw.getstate()
            draw.setstate(state)
            changed.append(mutated(texts[1]))  # the same edit, as far as the files agree
            draw.setstate(after)
        else:
            changed.append(texts[1])
        for path, text in zip(copies, changed):
            path.write_text(text)
        status, out = merged(copies)
        refused += status == 2
        assert status in may_be, (status, [path.name for path in copies], out[-600:])
    return refused


def check_builds(folder):
    """Shards of two builds join by --same-kernel alone, and the verdict names them."""
    built = []
    for n in (1, 2):
        (folder / f"d{n}").mkdir()
        library = (kernels / "naive.so").read_bytes()
        (folder / f"d{n}" / "k.so").write_bytes(library if n == 1 else library + b"another build")
        built.append(real_reports.audit(attest, folder, f"built {n}", "--only", "masks", "--kernel",
                                        folder / f"d{n}" / "k.so", "--shard", f"{n}/2"))
    assert merged(built, says="--same-kernel takes them for one kernel")[0] == 2
    status, out = merged(built, "--same-kernel")
    assert status == 0 and "2 builds of the kernel, which --same-kernel takes for one" in " ".join(out.split()), out
    mine = []
    for n in (1, 2):
        contract = folder / f"d{n}" / "mine.json"
        contract.write_text(json.dumps({"from": "f32", "name": "mine", "model": {"k_x": 3 + n}}))
        mine.append(real_reports.audit(attest, folder, f"mine {n}", "--only", "masks", "--contract", contract,
                                       "--shard", f"{n}/2"))
    assert merged(mine, says="its contract 'mine' has 5 for 'model.k_x'")[0] == 2
    assert merged(mine, "--same-kernel")[0] == 2


def check_contracts_named(folder):
    """verify names each contract of a file, also if its name is part of another's."""
    half = real_reports.one_by_one("BF16", b"\x80\x3f", prefix="a.") | real_reports.one_by_one("F16", b"\x00\x3c",
                                                                                               prefix="b.")
    real_reports.write_safetensors(folder / "types.safetensors", half)
    done = subprocess.run([attest, "verify", "types.safetensors", "--json", "-"], cwd=folder, capture_output=True,
                          text=True, check=True)
    report = json.loads(done.stdout)
    assert report["contract"] == "bf16,f16", report["contract"]
    assert [claim["name"] for claim in report["contracts"]] == ["bf16", "f16"] and report["kernel_builds"] == []


with tempfile.TemporaryDirectory() as made:
    folder = pathlib.Path(made)
    files = {name: real_reports.shards(attest, folder, kernels, name) for name in real_reports.kinds(kernels)}
    for name, (_, status, _) in real_reports.kinds(kernels).items():
        assert merged(files[name])[0] == status, (name, merged(files[name])[0])
        assert merged(files[name][::-1])[0] == status, name
    stopped = [real_reports.interrupted_shard(attest, folder, kernels, part) for part in (1, 2)]
    assert merged(stopped)[0] == 3
    assert all(json.loads(file.read_text())["shard"]["facts"]["reports"][0]["incomplete_because"] for file in stopped)
    check_builds(folder)
    check_contracts_named(folder)

    # What once became CERTIFIED: a tool that cuts long arrays.
    cut = []
    for file in files["refuted"]:
        report = json.loads(file.read_text())
        report["findings"] = report["shard"]["facts"]["reports"][0]["findings"] = []
        cut.append(folder / ("cut " + file.name))
        cut[-1].write_text(json.dumps(report))
    assert merged(cut, says="was changed after attest wrote it")[0] == 2

    counts = {name: check_mutations(folder, files[name], may_be)
              for name, may_be in (("refuted", (1, 2)), ("of several classes", (1, 2)), ("two kernels", (1, 2)),
                                   ("unanswered", (2, 3)), ("certified", (0, 2)), ("waived", (0, 1, 2)))}
    joined = {name: check_signed_mutations(folder, files[name]) for name in ("refuted", "two kernels", "drawn")}
    print(f"{mutations} edits each; refused:", counts, "joined with a new hash:", joined)
