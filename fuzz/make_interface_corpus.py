#!/usr/bin/env python3
"""Writes fuzz/corpus/cli (one argument a line) and fuzz/corpus/abi (the bytes that fuzz/abi_call.cpp reads in turn).

Usage: fuzz/make_interface_corpus.py [FOLDER]    (default: fuzz/corpus beside this script)
"""
import sys
from pathlib import Path

COMMANDS = """
--help
--version
help
audit
audit --help
audit --kernel builtin --contract f32 --seed 1 --only poison,accuracy --waive lse,accuracy --json -
audit --kernel ./lib.so:symbol --contract bf16-ieee --jobs 64 --budget 0.1 --reproducible --fail-fast --quick
audit --shard 2/5 --seed 18446744073709551615
audit --shard 2/5
audit --shard 0/0 --seed 1
audit --shard 5/2x --seed 1
audit --jobs 0
audit --jobs 99999999999999999999
audit --budget nan
audit --budget 1e6
audit --contract f33
audit --waive everything
audit --replay file.safetensors --findings folder
verify in.safetensors
verify in.safetensors out.safetensors --scale 0x1p-3 --softcap 30 --diagonal 1 --left -1 --right 0 --contract f16
verify
verify a b c
gen --out cases.safetensors --seed 5 --contract f64 --quick
gen
solve in.safetensors --out o --round bf16
solve in.safetensors --digits 30
solve in.safetensors --digits 31
solve in.safetensors --digits 3 --round f32
selftest --jobs 2 --seed 3 --only mutant,other
list kernels
list contracts --json
list checks
list classes --json
list everything
vectors --out folder
explain file --row 0,1,2
merge a.json b.json
audit --seed -1
audit --seed=1 --only= --json=
audit -h
audit audit
list kernels extra
"""

# b hk hq/hk n m d dv type there broadcast gap seed threads [diagonal left right], then wrecks: tensor what how…
CALLS = {
    "plain": [1, 0, 0, 3, 7, 4, 5, 0, 0, 0, 0, 1, 0],
    "everything": [2, 1, 1, 2, 9, 3, 3, 0, 0xFF, 0, 0, 2, 1, 4, 3, 1],
    "f64": [1, 0, 0, 2, 5, 4, 2, 1, 12, 0, 0, 3, 0],
    "bf16": [1, 1, 0, 2, 5, 4, 2, 2, 31, 63, 0, 4, 0],
    "f16": [1, 0, 1, 2, 5, 4, 2, 3, 15, 9, 0, 5, 0],
    "gaps": [2, 1, 1, 2, 5, 3, 3, 0, 15, 0, 3, 6, 0],
    "no_keys": [1, 0, 0, 2, 0, 3, 2, 0, 12, 0, 0, 7, 0],
    "no_dimensions": [1, 0, 0, 2, 3, 0, 0, 0, 12, 0, 0, 8, 0],
    "no_batch": [0, 1, 2, 2, 3, 2, 2, 0, 12, 0, 0, 9, 0],
}
for tensor in range(8):
    for what in range(20):
        CALLS[f"wreck-{tensor}-{what}"] = [1, 0, 1, 2, 4, 3, 3, (tensor + what) % 4, 0xF, 0, what % 2, 10, 0, tensor, what,
                                           (tensor * 3 + what) % 16, (what * 5 + 7) % 16]


def write(folder: Path, seeds: dict[str, bytes]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in seeds.items():
        (folder / name).write_bytes(content)
    print(f"{len(seeds)} seeds in {folder}")


if __name__ == "__main__":
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent / "corpus"
    lines = COMMANDS.strip("\n").split("\n")
    write(root / "cli", {f"{at:02}": "\n".join(line.split(" ")).encode() for at, line in enumerate(lines)})
    write(root / "abi", {name: bytes(content) for name, content in CALLS.items()})
