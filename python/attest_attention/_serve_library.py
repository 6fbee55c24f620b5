"""libattest_serve (include/attest/serve.h), and the calls of include/attest/kernel.h that it hands over."""
from __future__ import annotations

import ctypes
import functools

from . import _program
from ._arrays import DLTensor
from ._said import cut

MAY_BE_REFUSAL = "\x01"  # in front of what is said of a failure: include/attest/serve.h

_tensor = ctypes.POINTER(DLTensor)


class AttestCall(ctypes.Structure):
    """attest_call of include/attest/kernel.h. Of a call of version 1 nothing behind `weights` is there, of one of
    version 2 nothing behind `reserved`."""

    _fields_ = [("abi_version", ctypes.c_uint32), ("threads", ctypes.c_int32),
                ("q", _tensor), ("k", _tensor), ("v", _tensor), ("mask", _tensor), ("bias", _tensor),
                ("scale", ctypes.c_double), ("softcap", ctypes.c_double),
                ("diagonal", ctypes.c_int64), ("left", ctypes.c_int64), ("right", ctypes.c_int64),
                ("out", _tensor), ("lse", _tensor), ("weights", _tensor),
                ("sink", _tensor), ("q_lengths", _tensor), ("k_lengths", _tensor), ("q_offsets", _tensor),
                ("k_offsets", _tensor), ("block_table", _tensor), ("block_mask", _tensor), ("keep", _tensor),
                ("q_scale", _tensor), ("k_scale", _tensor), ("v_scale", _tensor), ("dropout", ctypes.c_double),
                ("block_q", ctypes.c_int32), ("block_k", ctypes.c_int32), ("align", ctypes.c_int32),
                ("reserved", ctypes.c_int32),
                ("d_out", _tensor), ("d_q", _tensor), ("d_k", _tensor), ("d_v", _tensor), ("d_bias", _tensor),
                ("d_sink", _tensor)]


KERNEL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(AttestCall))


@functools.cache
def serve_library() -> ctypes.CDLL:
    """libattest_serve. Raises FileNotFoundError where it is not there."""
    library = ctypes.CDLL(str(_program.library("serve")))
    library.attest_serve_caged.restype, library.attest_serve_caged.argtypes = ctypes.c_void_p, [ctypes.c_char_p]
    library.attest_serve_attached.restype = ctypes.c_void_p
    library.attest_serve_attached.argtypes = [ctypes.c_int, ctypes.c_char_p]
    library.attest_serve_refuse.restype, library.attest_serve_refuse.argtypes = None, [ctypes.c_char_p]
    library.attest_serve_merges.restype, library.attest_serve_merges.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
    library.attest_serve_backward.restype = None
    library.attest_serve_backward.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int]
    library.attest_serve_next.restype = ctypes.c_int
    library.attest_serve_next.argtypes = [ctypes.c_void_p, KERNEL, ctypes.c_int]
    library.attest_serve_say.restype, library.attest_serve_say.argtypes = None, [ctypes.c_char_p]
    library.attest_serve_end.restype, library.attest_serve_end.argtypes = None, [ctypes.c_void_p]
    return library


def say(text: str) -> None:
    serve_library().attest_serve_say(text.encode("utf-8", "replace"))


def say_refusal(text: str) -> None:
    say(MAY_BE_REFUSAL + text)


def refuse(why: str) -> None:
    """Tells the judge that started this process that the kernel cannot be served, and why. The process then ends."""
    serve_library().attest_serve_refuse(cut(why, 500).encode("utf-8", "replace"))
