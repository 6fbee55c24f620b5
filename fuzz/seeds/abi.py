#!/usr/bin/env python3
"""Writes the seeds of the fuzz target abi: the bytes that fuzz/support/abi_call.cpp reads in turn.

Usage: fuzz/seeds/abi.py FOLDER
"""
import sys
from pathlib import Path

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
    for wreck in range(20):
        CALLS[f"wreck-{tensor}-{wreck}"] = [1, 0, 1, 2, 4, 3, 3, (tensor + wreck) % 4, 0xF, 0, wreck % 2, 10, 0, tensor,
                                            wreck, (tensor * 3 + wreck) % 16, (wreck * 5 + 7) % 16]

SEEDS = {name: bytes(content) for name, content in CALLS.items()}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in SEEDS.items():
        (folder / name).write_bytes(content)
