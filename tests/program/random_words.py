"""Random command lines of harmless commands: documented exit statuses, errors as sentences, nothing lost or hung.

usage: random_words.py ATTEST [COUNT [SEED]]    exit status 1 and the command lines that are wrong
"""
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

ATTEST = str(pathlib.Path(sys.argv[1]).resolve())
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 400
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1

# What begins a command line. An audit asks a kernel that does not exist first, so that it ends at once.
COMMANDS = [["verify", "right"], ["verify", "wrong"], ["verify"], ["explain", "right"],
            ["solve", "right", "--digits", "2"], ["solve", "right", "--out", "x"], ["reference", "right", "--out", "x"],
            ["gen", "--only", "masks", "--draws", "0", "--quick"], ["merge", "report"], ["list", "checks"], ["list"],
            ["audit", "--kernel", "./absent.so"], ["selftest", "--only", "absent"], ["vectors", "--no-such"], ["help"],
            ["version"], []]
OPTIONS = ["--json", "--junit", "--report", "--out", "--contract", "--waive", "--only", "--jobs", "--scale",
           "--softcap", "--diagonal", "--left", "--right", "--findings", "--reproducible", "--seed", "--shard",
           "--budget", "--draws", "--row", "--problem", "--digits", "--round", "--layout", "--size", "--plain",
           "--quick", "--help", "--version", "--no-such", "-x", "-h", "--"]
VALUES = ["", "-", "x", "y", "folder", "nowhere/x", "right", "wrong", "report", "f32", "f23", "mine.json", "0", "1",
          "-1", "1e-400", "nan", "inf", "0x1p-3", "18446744073709551616", "0,0,0", "1/2", "2/1", "empty-rows", "masks",
          "absent", "f16", "bhnd", "1 kB", "\x1b[31m", "\udcff", "é", "a" * 300, "a" * 5000, "'", "$(x)", "=", "--",
          "checks", "verify"]


def recorded(o: float) -> bytes:
    head = {name: {"dtype": "F32", "shape": [1, 1, 1, 1], "data_offsets": [4 * at, 4 * at + 4]}
            for at, name in enumerate("qkvo")}
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + struct.pack("<4f", 1, 1, 2, o)


def words(draw: random.Random) -> list[str]:
    line = list(draw.choice(COMMANDS))
    for _ in range(draw.choice([0, 1, 1, 2, 2, 3, 5, 9])):
        option, value = draw.choice(OPTIONS), draw.choice(VALUES)
        line += draw.choice([[option, value], [option, value], [option + "=" + value], [option], [value]])
    if draw.random() < 0.1 and line and line[0] not in ("audit", "selftest", "vectors"):  # those would run for minutes
        draw.shuffle(line)
    return line


def faults(line: list[str], folder: pathlib.Path) -> list[str]:
    for name in list(folder.iterdir()):
        if name.is_file() or name.is_fifo():
            name.unlink()
    (folder / "right").write_bytes(recorded(2))
    (folder / "wrong").write_bytes(recorded(3))
    (folder / "report").write_text("{}")
    (folder / "mine.json").write_text('{"from": "f32", "name": "mine"}')
    try:
        ran = subprocess.run([ATTEST, *line], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return ["did not end"]
    said, told = ran.stderr.decode(errors="surrogateescape"), ran.stdout
    wrong = []
    if ran.returncode not in (0, 1, 2, 3):
        wrong.append(f"exit status {ran.returncode}")
    if "internal error" in said:
        wrong.append("internal error")
    if ran.returncode == 2:
        lines = said.splitlines()
        if not lines or any(not one.startswith("attest: ") for one in lines):
            wrong.append("an error that is no sentence of attest's")
        if told and "judged: " not in said:
            wrong.append("text on standard output beside an error")
    if any(ord(c) < 0x20 and c != "\n" or 0xDC80 <= ord(c) <= 0xDCFF for c in said):
        wrong.append("raw bytes on standard error")
    if any(name.name.endswith(".attest-tmp") for name in folder.iterdir()):
        wrong.append("a temporary is left")
    return [f"{fault}: {said[:300]!r}" for fault in wrong]


def main() -> int:
    draw = random.Random(SEED)
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "folder").mkdir()
        for _ in range(COUNT):
            line = words(draw)
            for fault in faults(line, folder):
                failed += 1
                print(f"attest {' '.join(map(repr, line))}\n    {fault}")
    print(f"{COUNT} command lines of seed {SEED}, {failed} faults")
    return failed > 0


sys.exit(main())
