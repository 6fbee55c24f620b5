"""The C interface of <attest/kernel.h> for arrays of NumPy."""
import ctypes as c

import numpy as np


class Device(c.Structure):
    _fields_ = [("type", c.c_int32), ("id", c.c_int32)]


class DataType(c.Structure):
    _fields_ = [("code", c.c_uint8), ("bits", c.c_uint8), ("lanes", c.c_uint16)]


class Tensor(c.Structure):  # DLTensor
    _fields_ = [("data", c.c_void_p), ("device", Device), ("ndim", c.c_int32), ("dtype", DataType),
                ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]


class Call(c.Structure):  # attest_call
    _fields_ = [("abi_version", c.c_uint32), ("threads", c.c_int32)] + \
               [(name, c.POINTER(Tensor)) for name in ("q", "k", "v", "mask", "bias")] + \
               [("scale", c.c_double), ("softcap", c.c_double), ("diagonal", c.c_int64), ("left", c.c_int64),
                ("right", c.c_int64)] + [(name, c.POINTER(Tensor)) for name in ("out", "lse", "weights")]


def tensor(array):
    axes = c.c_int64 * array.ndim
    strides = axes(*(s // array.itemsize for s in array.strides))
    code, bits = {"float32": (2, 32), "uint16": (4, 16), "uint8": (1, 8)}[array.dtype.name]
    return Tensor(array.ctypes.data, Device(1, 0), array.ndim, DataType(code, bits, 1), axes(*array.shape), strides, 0)


class AttestCall:
    """One call of a library's attest_attention, which may be run many times.

    q [b, hq, n, d], k [b, hk, m, d], v [b, hk, m, dv] float32, or uint16 that holds bf16; mask uint8 [b|1, hq|1, n|1,
    m]. run() returns o [b, hq, n, dv]; with want_weights, `weights` [b, hq, n, m] belong to the last run, and with
    want_lse `lse` [b, hq, n].
    """

    def __init__(self, library, q, k, v, mask=None, causal=False, threads=0, want_weights=False,
                 want_lse=False):
        self.attention = library.attest_attention
        self.out = np.empty((*q.shape[:3], v.shape[3]), q.dtype)
        self.weights = np.empty((*q.shape[:3], k.shape[2]), q.dtype) if want_weights else None
        self.lse = np.empty(q.shape[:3], np.float32) if want_lse else None
        self.arrays = dict(q=q, k=k, v=v, mask=mask, out=self.out, weights=self.weights, lse=self.lse)
        self.call = Call(abi_version=1, threads=threads, scale=float("nan"), left=-1, right=0 if causal else -1)
        for name, array in self.arrays.items():
            if array is not None:
                setattr(self.call, name, c.pointer(tensor(array)))

    def run(self):
        if self.attention(c.byref(self.call)) != 0:
            raise RuntimeError("attest_attention failed")
        return self.out
