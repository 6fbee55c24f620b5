#!/usr/bin/env python3
"""attest, PyTorch, ONNX Runtime and OpenVINO in turn on the same arrays, through the C interface of libattest_kernel.

    ./attest bench --peers [--seconds S] [--only TEXT] [--out DIR]      installs what it needs in build/peers
    bench/peers.py LIBRARY [the same]                                    with any Python that has numpy

Runs those of torch, onnxruntime + onnx and openvino that are installed. Every answer is compared with attest's before
it is timed. A figure is the best repetition; the table gives each peer's time over attest's (above 1: attest is ahead),
and, beside the best peer, the ratio that is wanted (docs/speed.md). Writes peers.json, and peers.png with matplotlib.
"""
import argparse
import ctypes
import json
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples" / "support"))
from attest_call import AttestCall

SHAPES = [  # name, heads, n, m, d, causal, threads, wanted: target of attest over the best peer measured beside it
    ("n=m=512 d=64", 8, 512, 512, 64, False, 1, 80 / 70),
    ("n=m=2048 d=64", 8, 2048, 2048, 64, False, 1, 82 / 65),
    ("n=m=4096 d=64", 8, 4096, 4096, 64, False, 1, 82 / 60),
    ("n=m=2048 d=128", 8, 2048, 2048, 128, False, 1, 85 / 68),
    ("n=m=2048 d=32", 8, 2048, 2048, 32, False, 1, 68 / 55),
    ("causal 2048 d=64", 8, 2048, 2048, 64, True, 1, 72 / 45),
    ("causal 2048 d=128", 8, 2048, 2048, 128, True, 1, 76 / 52),
    ("n=m=64 d=64", 8, 64, 64, 64, False, 1, 60 / 46),
    ("2 threads 2048 d=64", 8, 2048, 2048, 64, False, 2, 80 / 63),
    ("2 threads causal 2048 d=64", 8, 2048, 2048, 64, True, 2, 70 / 46),
    ("decode m=4096 32 heads d=64", 32, 1, 4096, 64, False, 2, 1.0),
    ("decode m=32768 1 head d=128", 1, 1, 32768, 128, False, 2, 1.1),
]


def attest(library, q, k, v, causal, threads):
    return AttestCall(library, q, k, v, causal=causal, threads=threads).run


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


def openvino_run(q, k, v, causal, threads):
    import openvino
    from openvino import opset13 as ops
    inputs = [ops.parameter(x.shape, np.float32) for x in (q, k, v)]
    model = openvino.Model([ops.scaled_dot_product_attention(*inputs, causal=causal)], inputs, "attention")
    compiled = openvino.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1,
                                                     "INFERENCE_PRECISION_HINT": "f32"})
    request = compiled.create_infer_request()
    for at, x in enumerate((q, k, v)):
        request.set_input_tensor(at, openvino.Tensor(x, shared_memory=True))

    def run():
        request.infer()
        return request.get_output_tensor(0).data
    return run


PEERS = {"torch": ("torch",), "onnxruntime": ("onnxruntime", "onnx"), "openvino": ("openvino",)}
MAKERS = {"torch": torch_run, "onnxruntime": onnx_run, "openvino": openvino_run}


def installed():
    found = {}
    for peer, modules in PEERS.items():
        try:
            found[peer] = " ".join(f"{m} {__import__(m).__version__.split('-')[0]}" for m in modules)
        except ImportError:
            print(f"{peer} is not installed: skipped")
    return found


def measured(library, shape, peers, seconds):
    """Best seconds of each, by name: each once in a round, at least five rounds. The order of a round is drawn, because the
    threads of some libraries spin for a while after a call, and who comes next pays for that."""
    name, heads, n, m, d, causal, threads, _ = shape
    random = np.random.default_rng(1)
    q, k, v = (random.standard_normal((1, heads, rows, d), dtype=np.float32) for rows in (n, m, m))
    runs = {"attest": attest(library, q, k, v, causal, threads)}
    truth = runs["attest"]().copy()
    for peer in peers:
        try:
            run = MAKERS[peer](q, k, v, causal, threads)
            worst = float(np.abs(run() - truth).max())
            if not worst <= 2e-5:
                raise RuntimeError(f"differs from attest by {worst:.2g}")
            runs[peer] = run
        except Exception as why:  # a peer that lacks the operator is a line in the table, not the end of it
            print(f"{name}: {peer}: {why}")
    best = dict.fromkeys(runs, float("inf"))
    start, repetitions = time.perf_counter(), 0
    while repetitions < 5 or time.perf_counter() - start < seconds * len(runs):
        for peer in random.permutation(list(runs)):
            begin = time.perf_counter()
            runs[peer]()
            best[peer] = min(best[peer], time.perf_counter() - begin)
        repetitions += 1
    return {"shape": name, "repetitions": repetitions, "seconds": best, "wanted": shape[-1]}


def draw(table, versions, path):
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("matplotlib is not installed: no picture")
        return
    colours = {"torch": "#d55e00", "onnxruntime": "#0072b2", "openvino": "#009e73"}
    figure, axes = pyplot.subplots(figsize=(9, 0.55 * len(table) + 1.5), layout="constrained")
    for at, peer in enumerate(versions):
        places = [row + (at - (len(versions) - 1) / 2) * 0.25 for row in range(len(table))]
        axes.barh(places, [row["seconds"].get(peer, 0) / row["seconds"]["attest"] for row in table], 0.23,
                  color=colours[peer], label=versions[peer])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(table)), [row["shape"] for row in table])
    axes.invert_yaxis()
    axes.set_xlabel("time over attest's: beyond 1 attest is ahead")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each shape and library")
    parser.add_argument("--out", default=".", help="folder of peers.json and peers.png")
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    asked = parser.parse_args()
    library = ctypes.CDLL(asked.library)
    peers = installed()
    table = []
    print("| shape | attest ms |" + "".join(f" {name} ms | ratio |" for name in peers) + " over the best | wanted |")
    print("|---|---|" + "---|---|" * len(peers) + "---|---|")
    for shape in SHAPES:
        if asked.only not in shape[0]:
            continue
        row = measured(library, shape, peers, asked.seconds)
        table.append(row)
        best, own = row["seconds"], row["seconds"]["attest"]
        rivals = [best[p] for p in peers if p in best]
        row["over_best_peer"] = min(rivals) / own if rivals else None
        cells = "".join(f" {best[p] * 1e3:.3f} | {best[p] / own:.2f} |" if p in best else " — | — |" for p in peers)
        over = f"{row['over_best_peer']:.2f}" if rivals else "—"
        print(f"| {row['shape']} | {own * 1e3:.3f} |{cells} {over} | {row['wanted']:.2f} |", flush=True)
    os.makedirs(asked.out, exist_ok=True)
    with open(os.path.join(asked.out, "peers.json"), "w", encoding="utf-8") as file:
        json.dump({"versions": peers, "rows": table}, file, indent=1)
    draw(table, peers, os.path.join(asked.out, "peers.png"))


if __name__ == "__main__":
    main()
