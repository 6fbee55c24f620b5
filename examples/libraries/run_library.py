#!/usr/bin/env python3
"""A library's attention on a file's problems: run_library.py VARIANT CASES OUTPUTS, then attest verify CASES OUTPUTS.

    attest gen --seed 1 --out cases.safetensors                 (--abi 2: also sinks, packed and paged calls, and so on)
    python3 run_library.py pytorch-flash cases.safetensors outputs.safetensors
    attest verify cases.safetensors outputs.safetensors --contract contracts/pytorch-cpu-flash-f32.json

The variants are the adapters of the package in python/; without arguments: their list. FILE.py:FUNCTION is a variant
too; FUNCTION(call) returns o, or o and lse. Everything that is asked is derived from the file. The library runs in a
process of its own, and in a new one after a crash. A problem without an answer has the metadata PREFIX.attest.status in
OUTPUTS: `unsupported: ...` (the library has no argument for it), `error: ...`, `killed: SIGNAL` or `hung`. Needs numpy,
safetensors and the library. --device cuda puts the tensors of PyTorch's variants there; after an error of that device
the library's process is a new one, since what follows such an error on a GPU is answered by the same error.
"""
import argparse
import collections
import dataclasses
import importlib
import multiprocessing
import os
import pathlib
import sys
import warnings

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

import problem
from attest_attention import adapters


def answered(answer, asked):
    """One problem's outputs by role; raises where the library refuses or breaks a promise that needs no judge."""
    asked = dataclasses.replace(asked, want_lse=getattr(answer, "gives_lse", False))
    roles = ("q", "k", "v", "mask", "bias", *problem.LATER)
    given = [getattr(asked, role) for role in roles]
    kept = [None if tensor is None else tensor.copy() for tensor in given]
    # What was written for files without sinks, lengths and so on does not look at them: `unsupported: sink`.
    outputs = problem.heeding(answer)(asked)
    outputs = dict(zip(("o", "lse"), outputs if isinstance(outputs, tuple) else (outputs,)))
    for role, before, after in zip(roles, kept, given):
        if before is not None and before.tobytes() != after.tobytes():
            raise RuntimeError(f"the call has changed {role}")
    shape = asked.q.shape[:3] + asked.v.shape[3:]
    for role, wanted, output in zip(outputs, (shape, shape[:3]), outputs.values()):
        if output.shape != wanted:
            raise RuntimeError(f"{role} has shape {output.shape}, not {wanted}")
    if outputs["o"].dtype != asked.q.dtype:
        raise RuntimeError(f"o has type {outputs['o'].dtype}, not {asked.q.dtype}")
    return {role: np.ascontiguousarray(output) for role, output in outputs.items()}


def serve(variant, cases, device, pipe):
    """The library's process: takes prefixes from the pipe, sends back (outputs, status)."""
    warnings.simplefilter("ignore")
    if variant in adapters.names():
        try:
            answer = adapters.named(variant, **({"device": device} if device else {}))
            if device:
                importlib.import_module("torch").empty(0, device=device)
        except (ValueError, RuntimeError) as why:  # the adapter has no devices, or the machine not this one
            pipe.send(f"--device {device}: {str(why).splitlines()[0]}")
            return
    else:
        path, function = variant.rsplit(":", 1)
        sys.path.insert(0, str(pathlib.Path(path).parent))
        answer = getattr(importlib.import_module(pathlib.Path(path).stem), function)
    with safe_open(cases, "np") as file:
        names, metadata = set(file.keys()), file.metadata()
        pipe.send("ready")
        while prefix := pipe.recv():
            try:
                pipe.send((answered(answer, problem.read(file, names, metadata, prefix)), ""))
            except Exception as why:  # whatever a library raises is what the file shall say
                first = (str(why).splitlines() or [""])[0][:300]
                refused = isinstance(why, NotImplementedError)
                pipe.send(({}, f"unsupported: {first}" if refused else f"error: {type(why).__name__}: {first}"))


class Library:
    """The library's process, started when it is first asked and after it has died."""

    def __init__(self, variant, cases, seconds, device):
        self.variant, self.cases, self.seconds, self.device, self.process = variant, cases, seconds, device, None

    def start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=serve, args=(self.variant, self.cases, self.device, other), daemon=True)
        self.process.start()
        other.close()
        said = self.received() if self.pipe.poll(120) else None
        if said != "ready":
            sys.exit(said or f"{self.variant} could not be loaded")

    def received(self):
        try:
            return self.pipe.recv()
        except EOFError:
            return None

    def ask(self, prefix):
        if self.process is None:
            self.start()
        self.pipe.send(prefix)
        if not self.pipe.poll(self.seconds):
            self.stop()
            return {}, "hung"
        if (reply := self.received()) is None:
            self.process.join()
            code, self.process = self.process.exitcode, None
            return {}, f"killed: {-code}" if code < 0 else f"error: the process ended with status {code}"
        if self.device and reply[1].startswith("error:") and "CUDA error" in reply[1]:
            self.stop()
        return reply

    def stop(self):
        if self.process is not None:
            self.process.kill()
            self.process.join()
            self.process = None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0],
                                     epilog="variants: " + " ".join(adapters.names()))
    parser.add_argument("variant")
    parser.add_argument("cases")
    parser.add_argument("outputs")
    parser.add_argument("--seconds", type=float, default=60, help="for one problem, then it counts as hung")
    parser.add_argument("--device",
                        help="where the tensors go, for the variants of PyTorch and of what is built on it: cuda")
    parser.add_argument("--only", default="", help="problems whose name contains this")
    asked = parser.parse_args()
    known = asked.variant in adapters.names()
    if not known and ".py:" not in asked.variant:
        parser.error(f"there is no variant {asked.variant}. There are: {' '.join(adapters.names())}")
    if asked.device and not known:
        parser.error("--device: is for the adapters; a function of your own puts its tensors where it likes")
    variant = asked.variant if known else os.path.abspath(asked.variant)
    with safe_open(asked.cases, "np") as file:
        prefixes = [p for p in problem.prefixes(file.keys()) if asked.only in p]
    library = Library(variant, os.path.abspath(asked.cases), asked.seconds, asked.device)
    outputs, metadata, refused = {}, {}, collections.Counter()
    for prefix in prefixes:
        answer, status = library.ask(prefix)
        outputs |= {f"{prefix}.{role}": output for role, output in answer.items()}
        if status:
            metadata[f"{prefix}.attest.status"] = status
            refused[status] += 1
    library.stop()
    save_file(outputs, asked.outputs, metadata)
    print(f"{asked.variant}: asked {len(prefixes)}, answered {len(prefixes) - refused.total()}", file=sys.stderr)
    for status, count in refused.most_common():
        print(f"  {count}: {status}", file=sys.stderr)


if __name__ == "__main__":
    main()
