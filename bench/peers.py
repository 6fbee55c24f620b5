#!/usr/bin/env python3
"""attest, PyTorch, ONNX Runtime and OpenVINO in turn on the same arrays, through the C interface of libattest_kernel.

    ./attest bench --peers [--seconds S] [--only TEXT] [--busy] [--out DIR]      installs what it needs in build/peers
    bench/peers.py LIBRARY [the same]                                    with any Python that has numpy

The backward rows need `--backward LIBRARY`, bench/backward_call.cpp as a library; PyTorch alone has them too.

Runs torch, onnxruntime + onnx and openvino, as far as they are installed. Every answer is compared with attest's before
it is timed. The order is drawn anew for each round, since the threads of some libraries spin for a while after a call,
and who comes next pays for that. **Warm**: the arrays were read by the call before. **Cold**: four times the last cache
was read in between. A ratio is the peer's best time over attest's (above 1: attest is ahead); the ratio of the medians
is in brackets. `--busy` is for processors that others use, too: it runs rows of one thread, and takes processor time in
the place of time. Writes peers.md, peers.json, and peers.png with matplotlib.
"""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import sys
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "examples" / "support"))
from attest_call import AttestCall

import backward_peers
from peer_shapes import SHAPES


def cut_to_bf16(x):
    """The upper halves of float32 numbers, as uint16. Both sides get the same, so they need not be rounded."""
    return np.ascontiguousarray(x.view(np.uint32) >> 16).astype(np.uint16)


def as_float(x):
    return x if x.dtype == np.float32 else (x.astype(np.uint32) << 16).view(np.float32)


def attest_run(library, shape, q, k, v):
    call = AttestCall(library, q, k, v, causal=shape.causal, threads=shape.threads)
    if shape.by:
        call.attention = getattr(library, f"attest_attention_bf16_{shape.by}")
    return call.run


def torch_run(shape, q, k, v):
    import torch
    torch.set_num_threads(shape.threads)
    torch.set_grad_enabled(False)
    tensors = [torch.from_numpy(x) for x in (q, k, v)]
    if shape.bf16:
        tensors = [x.view(torch.bfloat16) for x in tensors]
    attention, grouped = torch.nn.functional.scaled_dot_product_attention, shape.kv_heads > 0
    given = (lambda o: o.view(torch.uint16).numpy()) if shape.bf16 else (lambda o: o.numpy())
    return lambda: given(attention(*tensors, is_causal=shape.causal, enable_gqa=grouped))


def onnx_run(shape, q, k, v):
    import onnx
    import onnxruntime
    if shape.bf16:
        raise RuntimeError("its attention on the CPU has no bf16")
    if shape.kv_heads > 0:
        raise RuntimeError("its MultiHeadAttention has no grouped heads")
    heads, d = q.shape[1], q.shape[3]
    names = ["q", "k", "v"]
    inputs = [onnx.helper.make_tensor_value_info(x, onnx.TensorProto.FLOAT, [1, None, heads * d]) for x in names]
    output = onnx.helper.make_tensor_value_info("o", onnx.TensorProto.FLOAT, [1, None, heads * d])
    node = onnx.helper.make_node("MultiHeadAttention", names, ["o"], domain="com.microsoft", num_heads=heads,
                                 unidirectional=int(shape.causal))
    imports = [onnx.helper.make_opsetid("", 17), onnx.helper.make_opsetid("com.microsoft", 1)]
    model = onnx.helper.make_model(onnx.helper.make_graph([node], "attention", inputs, [output]),
                                   opset_imports=imports, ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = shape.threads
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    # [1, h, n, d] to [1, n, h·d]: the operator's own order, outside the timing.
    flat = {x: np.ascontiguousarray(a.transpose(0, 2, 1, 3).reshape(1, a.shape[2], heads * d))
            for x, a in zip(names, (q, k, v))}

    def run():
        return session.run(None, flat)[0].reshape(1, q.shape[2], heads, d).transpose(0, 2, 1, 3)
    return run


def openvino_run(shape, q, k, v):
    import openvino
    from openvino import opset13 as ops
    if shape.bf16:
        raise RuntimeError("is not asked in bf16")
    if shape.kv_heads > 0:
        raise RuntimeError("its operator has no grouped heads")
    inputs = [ops.parameter(x.shape, np.float32) for x in (q, k, v)]
    model = openvino.Model([ops.scaled_dot_product_attention(*inputs, causal=shape.causal)], inputs, "attention")
    compiled = openvino.compile_model(model, "CPU", {"INFERENCE_NUM_THREADS": shape.threads, "NUM_STREAMS": 1,
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


def processor():
    """What this runs on: the processor's name and, from the first level on, its data caches in KiB."""
    name, caches = "unknown processor", []
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            name = next((line.split(":", 1)[1].strip() for line in file if line.startswith("model name")), name)
        for index in sorted(pathlib.Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
            if (index / "type").read_text().strip() != "Instruction":
                caches.append(int((index / "size").read_text().strip().rstrip("K")))
    except (OSError, ValueError):
        pass
    return name, caches


def has_amx():
    """Whether products of tiles are an instruction; elsewhere they are slow by design."""
    try:
        return "amx_bf16" in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return False


class Eviction:
    """Reads four times the last cache, so that nothing else is left in it."""

    def __init__(self, last_cache):
        self.array = np.ones(max(last_cache, 1 << 20), np.float32)  # 4 bytes each

    def __call__(self):
        self.array.sum()


def backward_runs(library, backward, shape, peers, arrays, random):
    """The callables of a backward row by name. Both sides get the same Q, K, V and dO, and their own O and LSE."""
    d_o = random.standard_normal(arrays[0].shape, dtype=np.float32)
    call = AttestCall(library, *arrays, causal=shape.causal, want_lse=True)
    runs = {"attest": backward_peers.attest_run(backward, shape, (call.run(), call.lse), *arrays, d_o)}
    if "torch" in peers:
        runs["torch"] = backward_peers.torch_run(shape, *arrays, d_o)
        truth, other = (backward_peers.numbers(runs[name]()) for name in ("attest", "torch"))
        if not (worst := float(np.abs(truth - other).max())) <= 1e-4:
            raise RuntimeError(f"torch differs from attest by {worst:.2g}")
    return runs


def forward_runs(library, shape, peers, arrays):
    """The same of a forward row, each compared with attest's."""
    runs = {"attest": attest_run(library, shape, *arrays)}
    truth = as_float(runs["attest"]()).copy()
    allowed = 2e-5 if not shape.bf16 else 2e-2  # PyTorch rounds weights to bf16
    for peer in peers:
        try:
            run = MAKERS[peer](shape, *arrays)
            worst = float(np.abs(as_float(np.ascontiguousarray(run())) - truth).max())
            if not worst <= allowed:
                raise RuntimeError(f"differs from attest by {worst:.2g}")
            runs[peer] = run
        except Exception as why:  # a peer that lacks the operator is a line in the table, not the end of it
            print(f"{shape.name}: {peer}: {why}")
    return runs


def measured(library, backward, shape, peers, seconds, evict, clock):
    """Seconds of each call by name, warm and cold: each once in a round, at least five rounds of either."""
    random = np.random.default_rng(1)
    made = [random.standard_normal((1, h, rows, shape.d), dtype=np.float32)
            for h, rows in ((shape.heads, shape.n), (shape.kv_heads or shape.heads, shape.m),
                            (shape.kv_heads or shape.heads, shape.m))]
    if shape.bf16:
        made = [cut_to_bf16(x) for x in made]
    runs = (backward_runs(library, backward, shape, peers, made, random) if shape.backward
            else forward_runs(library, shape, peers, made))
    taken = {"warm": {name: [] for name in runs}, "cold": {name: [] for name in runs}}
    for state, times in taken.items():
        start = time.perf_counter()
        while len(times["attest"]) < 5 or time.perf_counter() - start < seconds * len(runs) / 2:
            for name in random.permutation(list(runs)):
                if state == "cold":
                    evict()
                begin = clock()
                runs[name]()
                times[name].append(clock() - begin)
    return {"shape": shape.name, "wanted": shape.wanted,
            **{state: {name: {"best": min(each), "median": float(np.median(each)), "calls": len(each)}
                       for name, each in times.items()} for state, times in taken.items()}}


def over(row, state, which, peers):
    """The least of the peers' times over attest's; None without a peer."""
    times = row[state]
    rivals = [times[peer][which] for peer in peers if peer in times]
    return min(rivals) / times["attest"][which] if rivals else None


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
        axes.barh(places, [over(row, "warm", "best", [peer]) or 0 for row in table], 0.23, color=colours[peer],
                  label=versions[peer])
    axes.axvline(1, color="black", linewidth=1)
    axes.set_yticks(range(len(table)), [row["shape"] for row in table])
    axes.invert_yaxis()
    axes.set_xlabel("time over attest's, warm: beyond 1 attest is ahead")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each shape and library")
    parser.add_argument("--out", default=".", help="folder of peers.md, peers.json and peers.png")
    parser.add_argument("--only", default="", help="shapes whose name contains this")
    parser.add_argument("--busy", action="store_true", help="processor time, of rows with one thread")
    parser.add_argument("--backward", help="bench/backward_call.cpp as a library, for the backward rows")
    asked = parser.parse_args()
    library = ctypes.CDLL(asked.library)
    backward = ctypes.CDLL(asked.backward) if asked.backward else None
    peers = installed()
    name, caches = processor()
    evict = Eviction(caches[-1] * 1024 if caches else 32 << 20)
    os.makedirs(asked.out, exist_ok=True)
    table = []
    clock = time.process_time if asked.busy else time.perf_counter
    with open(os.path.join(asked.out, "peers.md"), "w", encoding="utf-8") as file:
        def say(line):
            print(line, flush=True)
            print(line, file=file, flush=True)
        say(f"{datetime.date.today()}, {name}, data caches of {' / '.join(map(str, caches)) or '?'} KiB; "
            f"{', '.join(peers.values())}{'; processor time' if asked.busy else ''}\n")
        say("| shape | attest ms: warm, cold |" + "".join(f" {peer}: warm, cold |" for peer in peers)
            + " over the best: warm, cold | wanted |")
        say("|---|---|" + "---|" * len(peers) + "---|---|")
        for shape in SHAPES:
            if asked.only not in shape.name or (shape.by == "tiles" and not has_amx()) or \
                    (shape.backward and backward is None) or (asked.busy and shape.threads > 1):
                continue
            try:
                row = measured(library, backward, shape, peers, asked.seconds, evict, clock)
            except RuntimeError as why:
                if not shape.by:
                    raise
                print(f"{shape.name}: {why}: does this processor have them?")
                continue
            table.append(row)

            def ratios(of):
                cells = []
                for state in ("warm", "cold"):
                    best, median = over(row, state, "best", of), over(row, state, "median", of)
                    cells.append("—" if best is None else f"{best:.2f} ({median:.2f})")
                return ", ".join(cells)
            own = ", ".join(f"{row[state]['attest']['best'] * 1e3:.3f}" for state in ("warm", "cold"))
            say(f"| {shape.name} | {own} |" + "".join(f" {ratios([p])} |" for p in peers)
                + f" {ratios(peers)} | {shape.wanted:.2f} |")
    with open(os.path.join(asked.out, "peers.json"), "w", encoding="utf-8") as file:
        json.dump({"date": str(datetime.date.today()), "processor": name, "data_caches_KiB": caches, "versions": peers,
                   "rows": table}, file, indent=1)
    draw(table, peers, os.path.join(asked.out, "peers.png"))


if __name__ == "__main__":
    main()
