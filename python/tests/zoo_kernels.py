"""Kernels of libattest_zoo.so, C functions with one defect each, as Python functions of an attest_attention.Call.

`zoo_kernels.zoo_zeros` is the function around the symbol zoo_zeros, made when it is first named, so that a worker can
import it: "zoo_kernels:zoo_zeros". The C function gets the arrays of the Call as they are, and outputs that are full of
NaN.
"""
from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from attest_attention import Call, Unsupported, _program
from attest_attention._arrays import DLDataType, DLDevice, DLTensor
from attest_attention._call import Array
from attest_attention._serve import OK, UNSUPPORTED, AttestCall

_TYPES = {"float32": (2, 32), "float64": (2, 64), "float16": (2, 16), "bfloat16": (4, 16), "uint8": (1, 8)}
_ABI = 1


def library_path() -> Path:
    """$ATTEST_ZOO_LIBRARY, else the library that the program asks in its selftest."""
    if named := os.environ.get("ATTEST_ZOO_LIBRARY"):
        return Path(named)
    folder = _program.program().resolve().parent
    beside, installed = folder / "libattest_zoo.so", folder.parent / "lib" / "attest" / "libattest_zoo.so"
    return beside if beside.is_file() else installed


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(str(library_path()))


class _Described:
    """A row-major array and the DLTensor that describes it."""

    def __init__(self, array: Array) -> None:
        if not array.flags.c_contiguous:
            raise ValueError("the array is not in row-major order")
        self.array = array
        extents = (ctypes.c_int64 * array.ndim)(*array.shape)
        steps = (ctypes.c_int64 * array.ndim)(*(int(np.prod(array.shape[axis + 1:])) for axis in range(array.ndim)))
        code, bits = _TYPES[array.dtype.name]
        self.pointer = ctypes.pointer(DLTensor(array.ctypes.data, DLDevice(1, 0), array.ndim, DLDataType(code, bits, 1),
                                               extents, steps, 0))


def _kernel(symbol: str) -> Callable[[Call], Any]:
    function = getattr(_library(), symbol)  # raises AttributeError
    function.restype, function.argtypes = ctypes.c_int, [ctypes.POINTER(AttestCall)]

    def asked(call: Call) -> Any:
        inputs = {"q": call.q, "k": call.k, "v": call.v, "bias": call.bias,
                  "mask": None if call.mask is None else np.ascontiguousarray(call.mask).view(np.uint8)}
        rows = (call.b, call.hq, call.n)
        lse = np.float64 if call.dtype == "f64" else np.float32
        outputs = {"out": np.full((*rows, call.dv), np.nan, call.q.dtype),
                   "lse": np.full(rows, np.nan, lse) if call.want_lse else None,
                   "weights": np.full((*rows, call.m), np.nan, call.q.dtype) if call.want_weights else None}
        described = {name: _Described(array) for name, array in (inputs | outputs).items() if array is not None}
        status = function(ctypes.byref(AttestCall(
            abi_version=_ABI, threads=call.threads, scale=call.scale, softcap=call.softcap, diagonal=call.diagonal,
            left=call.left, right=call.right, **{name: one.pointer for name, one in described.items()})))
        if status == UNSUPPORTED:
            raise Unsupported(symbol)
        if status != OK:
            raise RuntimeError(f"{symbol} returned {status}")
        if call.want_weights:
            return outputs["out"], outputs["lse"], outputs["weights"]
        return (outputs["out"], outputs["lse"]) if call.want_lse else outputs["out"]

    asked.__module__, asked.__name__, asked.__qualname__ = __name__, symbol, symbol
    return asked


def __getattr__(name: str) -> Callable[[Call], Any]:
    if not name.startswith("zoo_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    made = globals()[name] = _kernel(name)  # one object for each name: what is imported by name is the same one
    return made
