#!/usr/bin/env python3
"""attest, PyTorch and ONNX Runtime in turn on the same arrays, through the C interface of libattest_kernel.

    bench/peers.py build/release/fast/libattest_kernel.so [--seconds S] [--json FILE]

Needs numpy; runs those of torch, onnxruntime + onnx that are installed. Every answer is compared with attest's before
it is timed. A figure is the best repetition; the table gives each peer's time over attest's (above 1: attest is ahead).
"""
import argparse
import ctypes as c
import json
import time

import numpy as np

SHAPES = [  # name, heads, n, m, d, causal, threads
    ("n=m=512 d=64", 8, 512, 512, 64, False, 1),
    ("n=m=2048 d=64", 8, 2048, 2048, 64, False, 1),
    ("n=m=4096 d=64", 8, 4096, 4096, 64, False, 1),
    ("n=m=2048 d=128", 8, 2048, 2048, 128, False, 1),
    ("n=m=2048 d=32", 8, 2048, 2048, 32, False, 1),
    ("causal 2048 d=64", 8, 2048, 2048, 64, True, 1),
    ("causal 2048 d=128", 8, 2048, 2048, 128, True, 1),
    ("n=m=64 d=64", 8, 64, 64, 64, False, 1),
    ("2 threads 2048 d=64", 8, 2048, 2048, 64, False, 2),
    ("2 threads causal 2048 d=64", 8, 2048, 2048, 64, True, 2),
    ("decode m=4096 32 heads d=64", 32, 1, 4096, 64, False, 2),
    ("decode m=32768 1 head d=128", 1, 1, 32768, 128, False, 2),
]


class Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class DataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):  # DLTensor
    _fields_ = [("data", c.c_void_p), ("device", Device), ("ndim", c.c_int32), ("dtype", DataType),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Call(c.Structure):  # attest_call of <attest/kernel.h>
    _fields_ = [("abi_version", c.c_uint32), ("threads", c.c_int32)] + \
               [(name, c.POINTER(Tensor)) for name in ("q", "k", "v", "mask", "bias")] + \
               [("scale", c.c_double), ("softcap", c.c_double), ("diagonal", c.c_int64), ("left", c.c_int64),
                ("right", c.c_int64)] + [(name, c.POINTER(Tensor)) for name in ("out", "lse", "weights")]


def tensor(array):
    axes = c.c_int64 * array.ndim
    strides = axes(*(s // array.itemsize for s in array.strides))
    return Tensor(array.ctypes.data, Device(1, 0), array.ndim, DataType(2, 32, 1), axes(*array.shape), strides, 0)


def attest(library, q, k, v, causal, threads):
    out = np.empty_like(q)
    kept = [tensor(x) for x in (q, k, v, out)]
    call = Call(abi_version=1, threads=threads, scale=float("nan"), left=-1, right=0 if causal else -1)
    call.q, call.k, call.v, call.out = (c.pointer(t) for t in kept)

    def run():
        if library.attest_attention(c.byref(call)) != 0:
            raise RuntimeError("attest_attention failed")
        return out
    run.kept = (kept, call, q, k, v)
    return run


def torch_run(q, k, v, causal, threads):
    import torch
    tensors = [torch.from_numpy(x) for x in (q, k, v)]

    def run():
        torch.set_num_threads(threads)
        with torch.no_grad():
            return torch.nn.functional.scaled_dot_product_attention(*tensors, is_causal=causal).numpy()
    return run


def onnx_run(q, k, v, causal, threads):
    import onnx
    import onnxruntime
    heads, d = q.shape[1], q.shape[3]
    names = ["q", "k", "v"]
    inputs = [onnx.helper.make_tensor_value_info(x, onnx.TensorProto.FLOAT, [1, None, heads * d]) for x in names]
    output = onnx.helper.make_tensor_value_info("o", onnx.TensorProto.FLOAT, [1, None, heads * d])
    node = onnx.helper.make_node("MultiHeadAttention", names, ["o"], domain="com.microsoft", num_heads=heads,
                                 unidirectional=int(causal))
    imports = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "attention", inputs, [output]),
                                   opset_imports=imports, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    # [1, h, n, d] to [1, n, h·d]: the operator's own order, outside the timing.
    flat = {x: np.ascontiguousarray(a.transpose(0, 2, 1, 3).reshape(1, a.shape[2], heads * d))
            for x, a in zip(names, (q, k, v))}

    def run():
        return session.run(None, flat)[0].reshape(1, q.shape[2], heads, d).transpose(0, 2, 1, 3)
    return run


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--json")
    parser.add_argument("--only", default="")
    asked = parser.parse_args()
    library = c.CDLL(asked.library)
    peers = {}
    for name, module, make in (("torch", "torch", torch_run), ("onnxruntime", "onnxruntime", onnx_run)):
        try:
            __import__(module)
            peers[name] = make
        except ImportError:
            print(f"{name} is not installed: skipped")
    table = []
    print(f"{'shape':30}{'attest ms':>12}" + "".join(f"{p + ' ms':>18}{'ratio':>8}" for p in peers))
    for name, heads, n, m, d, causal, threads in SHAPES:
        if asked.only not in name:
            continue
        random = np.random.default_rng(1)
        q, k, v = (random.standard_normal((1, heads, rows, d), dtype=np.float32) for rows in (n, m, m))
        runs = {"attest": attest(library, q, k, v, causal, threads)}
        truth = runs["attest"]().copy()
        for peer, make in peers.items():
            try:
                run = make(q, k, v, causal, threads)
                worst = float(np.abs(run() - truth).max())
                if worst > 2e-5:
                    raise RuntimeError(f"differs from attest by {worst:.2g}")
                runs[peer] = run
            except Exception as why:  # a peer that lacks the operator is a line in the table, not the end of it
                print(f"{name}: {peer}: {why}")
        best = dict.fromkeys(runs, float("inf"))
        start, repetitions = time.perf_counter(), 0
        while repetitions < 5 or time.perf_counter() - start < asked.seconds * len(runs):
            for peer, run in runs.items():
                begin = time.perf_counter()
                run()
                best[peer] = min(best[peer], time.perf_counter() - begin)
            repetitions += 1
        row = {"shape": name, "repetitions": repetitions, "seconds": best}
        table.append(row)
        print(f"{name:30}{best['attest'] * 1e3:12.3f}" +
              "".join(f"{best[p] * 1e3:18.3f}{best[p] / best['attest']:8.2f}" if p in best else f"{'—':>26}"
                      for p in peers), flush=True)
    if asked.json:
        with open(asked.json, "w", encoding="utf-8") as file:
            json.dump(table, file, indent=1)


if __name__ == "__main__":
    main()
