#!/usr/bin/env python3
"""Writes a recorded problem of ordinary size, answered by NumPy in float32, for `attest verify`. Needs numpy.

usage: recorded.py FILE [heads [n [d]]]     then: ./attest verify FILE
"""
import json
import struct
import sys

import numpy as np

path = sys.argv[1]
heads, n, d = (list(map(int, sys.argv[2:])) + [16, 1024, 64][len(sys.argv) - 2:])
random = np.random.default_rng(7)
q, k, v = (random.standard_normal((1, heads, n, d)).astype(np.float32) for _ in range(3))
s = np.matmul(q, k.swapaxes(-1, -2)) * np.float32(1 / np.sqrt(d))
p = np.exp(s - s.max(-1, keepdims=True))
o = np.matmul(p, v) / p.sum(-1, keepdims=True)

header, data = {}, b""
for name, tensor in {"q": q, "k": k, "v": v, "o": o}.items():
    header[name] = {"dtype": "F32", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + tensor.nbytes]}
    data += tensor.astype("<f4").tobytes()
text = json.dumps(header).encode()
with open(path, "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)
