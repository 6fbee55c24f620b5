#!/usr/bin/env python3
"""Writes the seeds of the fuzz target cli: command lines, one argument a line.

Usage: fuzz/seeds/cli.py FOLDER
"""
import sys
from pathlib import Path

COMMANDS = """
--help
--version
help
help verify
version
verify --version
audit --quick -- --kernel ./x.so
gen --out x -- y
verify -- in.safetensors
verify in.safetensors --json= --quick
audit --seed -1
audit
audit --help
audit --kernel builtin --contract f32 --seed 1 --only poison,accuracy --waive empty-rows,accuracy --json -
audit --kernel command:cat --quick
audit --kernel callable:f --channel 3
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
verify in.safetensors out.safetensors --only masks,layer0 --reproducible --findings folder
verify
verify a b c
gen --out cases.safetensors --seed 5 --contract f64 --quick
gen --out cases.safetensors --seed 5 --contract f64-in-f32 --draws 0
audit --kernel builtin --contract f32-gradual --only subnormals
audit --kernel builtin --contract f16-scores --draws 1
verify in.safetensors --contract bf16-throughout
gen --out cases.safetensors --only masks,bands --plain --size 3MiB --layout bnhd
gen --out cases.safetensors --size -1kb
gen
solve in.safetensors --out o --round bf16
solve in.safetensors --digits 30
solve in.safetensors --digits 31
solve in.safetensors --digits 3 --round f32
reference in.safetensors --out o --contract bf16
reference in.safetensors --out o --round f64 --quick
selftest --jobs 2 --seed 3 --only mutant,other
list kernels
list kernels --kernel builtin --contract bf16 --json
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

SEEDS = {f"{at:02}": "\n".join(line.split(" ")).encode() for at, line in enumerate(COMMANDS.strip("\n").split("\n"))}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)
