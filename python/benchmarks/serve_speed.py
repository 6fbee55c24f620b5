"""What a call costs between the judge and a Python callable: `python python/benchmarks/serve_speed.py`.

1. Small and large calls of this side alone: q, k and v copied, the callable (which returns an array that is there), the
inputs
   compared, o copied. Processor time, so that other programs on the machine do not count.
2. The calls of an audit whose callable refuses each: with the judge's making of inputs, and the way there and back.
"""
from __future__ import annotations

import ctypes
import time

import numpy as np

from attest_attention import Call
from attest_attention import _audit, _serve
from attest_attention._arrays import DLDataType, DLDevice, DLTensor
from attest_attention._tensor_file import Array


def described(array: Array, keep: list[object]) -> "ctypes._Pointer[DLTensor]":
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    strides = (ctypes.c_int64 * array.ndim)(*(step // array.itemsize for step in array.strides))
    tensor = DLTensor(array.ctypes.data, DLDevice(1, 0), array.ndim, DLDataType(2, 8 * array.itemsize, 1), shape,
                      strides, 0)
    keep += [array, shape, strides, tensor]
    return ctypes.pointer(tensor)


def refuses(call: Call) -> Array:
    raise NotImplementedError("nothing is done")


def small_calls() -> None:
    """Calls through the whole path: the judge makes them, its shared memory, this process, and back."""
    kernel = _serve.Kernel(refuses)
    wall, own = time.perf_counter(), time.process_time()
    words = ["--kernel", "callable:nothing", "--quick", "--seed", "1", "--findings", "", "--draws", "2000", "--only",
             "drawn"]
    _audit.run_judging("audit", words, progress=False, served=kernel, name="nothing")
    wall, own = time.perf_counter() - wall, time.process_time() - own
    print(f"calls of an audit, refused: {kernel.calls} in {wall:.2f} s of which this process ran {own:.2f} s: "
          f"{kernel.calls / wall:,.0f} a second, {1e6 * own / kernel.calls:.0f} µs of this process each")


def by_itself(shape: tuple[int, ...], calls: int) -> tuple[float, float]:
    """Processor seconds of a call, and bytes a second, of the Python side alone."""
    keep: list[object] = []
    arrays = [np.zeros(shape, np.float32) for _ in range(4)]
    q, k, v, o = (described(one, keep) for one in arrays)
    call = _serve.AttestCall(1, 0, q, k, v, None, None, float("nan"), 0.0, 0, -1, -1, o, None, None)
    answer = np.zeros(shape, np.float32)
    kernel = _serve.Kernel(lambda call: answer.view(), say=print)
    function = _serve.KERNEL(kernel)
    function(ctypes.byref(call))
    begin = time.process_time()
    for _ in range(calls):
        if function(ctypes.byref(call)) != _serve.OK:
            raise RuntimeError("the call failed")
    spent = (time.process_time() - begin) / calls
    return spent, 4 * answer.nbytes / spent


if __name__ == "__main__":
    small, _ = by_itself((1, 2, 16, 8), 5000)
    print(f"small calls, this side alone: {1e6 * small:.0f} µs each, {1 / small:,.0f} a second")
    large, speed = by_itself((1, 16, 4096, 256), 10)
    print(f"large calls (q, k, v, o of 64 MiB each): {1e3 * large:.0f} ms each, {speed / 1e9:.2f} GB/s")
    small_calls()
