"""Damaged safetensors files before `verify`, `explain`, `solve` and `audit --replay`: no signal, no hang, no internal
error; an error is one line that begins with "attest: " and holds no control character.

usage: damaged_files.py ATTEST [SEED [FILES]]
"""
import json, os, random, resource, struct, subprocess, sys, tempfile

ATTEST = sys.argv[1]
SEED = int(sys.argv[2]) if len(sys.argv) > 2 else 1
FILES = int(sys.argv[3]) if len(sys.argv) > 3 else 150
rng = random.Random(SEED)
COMMANDS = [["verify"]] * 6 + [["explain"], ["solve"], ["reference"], ["audit", "--only", "nothing", "--replay"]]
NUMBERS = [-1, 0, 1, 2, 3, 7, 2**20, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, 1e308, 0.5, True, None, "2", [], {}]
DTYPES = ["F32", "F64", "F16", "BF16", "U8", "BOOL", "I64", "F8_E4M3", "", "f32", "\x1b[31m", "F32" * 1000]
TEXTS = ["", "nan", "inf", "-1", "1e400", "0x1p-3", "\x00", "\u202e", "9" * 5000, "bnhd", "call", "warm-up",
         "same-bits threads -3", "hung", "killed: 99", "unsupported: \x07"]


def seed_file():
    """Some problems of attest's form, with outputs and metadata."""
    header, data = {"__metadata__": {}}, b""
    for number in range(rng.choice([1, 1, 2, 3])):
        prefix = rng.choice(["", f"p{number}.", f"{number:05}/masks/one."])
        b, h, n, m, d, dv = (rng.randint(1, 3) for _ in range(6))
        shapes = {"q": [b, h, n, d], "k": [b, h, m, d], "v": [b, h, m, dv], "o": [b, h, n, dv]}
        shapes |= {role: shape for role, shape in (("lse", [b, h, n]), ("weights", [b, h, n, m]),
                                                   ("bias", [1, 1, n, m]))
                   if rng.random() < 0.2}
        for role, shape in shapes.items():
            count = 1
            for extent in shape:
                count *= extent
            raw = struct.pack(f"<{count}f",
                              *(rng.choice([0, 1, -2, 0.1, 1e30, float("nan"), float("inf")]) for _ in range(count)))
            header[prefix + role] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
            data += raw
        for key in ("scale", "softcap", "diagonal", "left", "right", "attest.expect", "attest.group", "attest.check",
                    "attest.status", "attest.layout", "attest.curve", "attest.memory", "attest.together",
                    "attest.beyond"):
            if rng.random() < 0.02:
                header["__metadata__"][prefix + key] = rng.choice(TEXTS)
            elif rng.random() < 0.1:
                header["__metadata__"][prefix + key] = {"attest.expect": "answer", "attest.group": prefix + "g",
                                                        "attest.layout": "bhnd", "attest.status": "hung"}.get(key, "1")
    return header, data


def damaged(header, data):
    kind = rng.randrange(18)
    names = [name for name in header if name != "__metadata__"]
    name = rng.choice(names)
    if kind == 0:
        header[name]["shape"] = [rng.choice(NUMBERS) for _ in range(rng.randint(0, 5))]
    elif kind == 1:
        header[name]["data_offsets"] = [rng.choice(NUMBERS) for _ in range(rng.choice([2, 2, 2, 0, 3]))]
    elif kind == 2:
        header[name]["dtype"] = rng.choice(DTYPES + NUMBERS)
    elif kind == 3:
        header[rng.choice(TEXTS) + name] = header.pop(name)
    elif kind == 4:
        header[name] = rng.choice(NUMBERS)
    elif kind == 5:
        header["__metadata__"] = rng.choice([{"scale": rng.choice(TEXTS + NUMBERS)}, [], 3, {"x": {}}])
    elif kind == 6:  # rows without elements
        header[name]["shape"] = [rng.choice([2**20, 2**40, 2**62]), 0]
        header[name]["data_offsets"] = [0, 0]
    text = json.dumps(header, ensure_ascii=rng.random() < 0.5).encode("utf-8", "surrogatepass")
    length = len(text)
    if kind == 7:
        text = bytearray(text)
        for _ in range(rng.choice([1, 1, 3, 30])):
            at = rng.randrange(len(text))
            text[at:at + rng.randint(0, 2)] = bytes(rng.choice(b"{}[]:,\"\\0919-eE\x00\xff\n")
                                                    for _ in range(rng.randint(0, 2)))
        length = len(text)
    whole = struct.pack("<Q", length if rng.random() < 0.95
                        else rng.choice([0, 1, length + 1, 2**32, 2**63, 2**64 - 1])) + text + data
    if kind > 8:  # the elements alone
        whole = bytearray(whole)
        for _ in range(rng.randint(0, 4)):
            whole[rng.randrange(len(whole) - len(data), len(whole))] = rng.randrange(256)
    if kind == 8:
        whole = whole[:rng.randrange(len(whole))] if rng.random() < 0.5 else whole + bytes(rng.randint(1, 9))
    return whole


def limits():
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


faults, statuses, slowest = [], {}, 0
with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "damaged")
    for number in range(FILES):
        with open(file, "wb") as to:
            to.write(damaged(*seed_file()))
        command = rng.choice(COMMANDS)
        command = [ATTEST, *command, file] + (["--out", os.path.join(folder, "out")]
                                              if command[0] in ("solve", "reference") else
                                              ["--findings", ""] if command == ["verify"] else [])
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        try:
            ran = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=60, preexec_fn=limits)
        except subprocess.TimeoutExpired:
            faults.append(f"seed {SEED}, file {number}: {command[1]} hangs")
            continue
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        slowest = max(slowest, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        statuses[ran.returncode] = statuses.get(ran.returncode, 0) + 1
        said = ran.stderr.decode("utf-8", "replace")
        lines = said.splitlines()
        if ran.returncode not in (0, 1, 2, 3) or "internal error" in said:
            faults.append(f"seed {SEED}, file {number}: {command[1]} ends with {ran.returncode}: {said[:200]!r}")
        if ran.returncode == 2 and (len(lines) != 1 or not lines[0].startswith("attest: ") or ran.stdout):
            faults.append(f"seed {SEED}, file {number}: {command[1]} says {said[:200]!r}")
        if any(ord(c) < 32 and c != "\n" or 0x7f <= ord(c) < 0xa0 for c in said
               + ran.stdout.decode("utf-8", "replace")):
            faults.append(f"seed {SEED}, file {number}: {command[1]} lets a control character through")
print(f"{FILES} files, exit statuses {dict(sorted(statuses.items()))}, slowest {slowest:.2f} s of a processor")
print("\n".join(faults[:20]))
assert not faults and len(statuses) >= 3
