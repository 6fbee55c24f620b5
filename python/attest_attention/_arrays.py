"""Arrays of the libraries that people use, to host memory and back: NumPy, PyTorch, JAX, and whatever has __dlpack__.

No library but NumPy is imported here unless the caller imported or named it. Tensors on a device are copied to the
host, which waits until they are computed. bfloat16 travels as its bits.
"""
from __future__ import annotations

import ctypes
import importlib
import sys
from typing import Any

import numpy as np

from ._tensor_file import Array, Tensor, tensor

FLOATING = {"F32": "f32", "F64": "f64", "F16": "f16", "BF16": "bf16"}
IN_FILES = {name: dtype for dtype, name in FLOATING.items()}


def kind_of(array: Any) -> str:
    """The library of an array: "numpy", "torch", "jax", or "other" (something with __dlpack__ or __array__)."""
    if isinstance(array, (np.ndarray, np.generic)):
        return "numpy"
    torch, jax = sys.modules.get("torch"), sys.modules.get("jax")
    if torch is not None and isinstance(array, torch.Tensor):
        return "torch"
    if jax is not None and isinstance(array, jax.Array):
        return "jax"
    return "other"


def dtype_of(dtype: str, argument: str = "dtype") -> np.dtype[Any]:
    """NumPy's type for "f32", "f64", "f16" or "bf16"; bfloat16 is ml_dtypes'. Raises ValueError for others."""
    if dtype == "bf16":
        try:
            bfloat16: np.dtype[Any] = np.dtype(importlib.import_module("ml_dtypes").bfloat16)
            return bfloat16
        except ImportError:
            raise ValueError(f"{argument}: bf16 needs the package ml_dtypes (pip install ml_dtypes), "
                             "since NumPy has no bfloat16") from None
    if dtype not in IN_FILES:
        raise ValueError(f"{argument}: is {dtype!r}, expected f32, f64, f16 or bf16")
    return np.dtype({"f32": np.float32, "f64": np.float64, "f16": np.float16}[dtype])


def as_numpy(part: Tensor) -> Array:
    """The array with its own type: bits of bfloat16 become ml_dtypes.bfloat16."""
    return part.data.view(dtype_of("bf16")) if part.dtype == "BF16" else part.data


def host(array: Any, argument: str) -> Tensor:
    """An array of any library as one in host memory, without a copy where that is possible.

    Raises TypeError, with the argument's name, for what is no array or has a type that attest does not know.
    Raises ValueError for an array that does not give its memory.
    """
    try:
        kind = kind_of(array)
        if kind == "numpy":
            return tensor(np.asarray(array))
        if kind == "torch":
            return _from_torch(array)
        if kind == "jax":
            return tensor(np.asarray(array))
        try:
            if hasattr(array, "__dlpack__"):
                return _from_dlpack(array)
            if hasattr(array, "__array__"):
                return tensor(np.asarray(array))
        except (BufferError, ValueError, RuntimeError) as why:
            raise ValueError(f"{argument}: {why}") from why
    except TypeError as why:
        raise TypeError(f"{argument}: {why}") from why
    raise TypeError(f"{argument}: is a {type(array).__name__}, expected an array (NumPy, PyTorch, JAX, or with "
                    "__dlpack__)")


def _from_torch(array: Any) -> Tensor:
    torch = sys.modules["torch"]
    if array.layout != torch.strided or array.is_meta:
        what = array.layout if array.layout != torch.strided else "on the device meta"
        raise TypeError(f"is {what}, expected an array of numbers")
    here = array.detach().to("cpu")
    if here.dtype == torch.bfloat16:
        return Tensor(here.contiguous().view(torch.int16).numpy().view(np.uint16), "BF16")
    try:
        return tensor(here.resolve_neg().resolve_conj().numpy())
    except TypeError:
        raise TypeError(f"has the type {array.dtype}, expected float32, float64, float16 or bfloat16") from None


def like(part: Tensor, template: Any, *, upward: bool = False) -> Any:
    """`part` as an array of the library, and on the device, of `template`.

    JAX has no float64 unless it is switched on: there a float64 becomes the nearest float32, or the next above with
    `upward`.
    """
    kind = kind_of(template)
    if kind == "torch":
        return of_kind("torch", part, template.device)
    if kind == "jax" and part.dtype == "F64" and not sys.modules["jax"].config.jax_enable_x64:
        with np.errstate(over="ignore"):
            rounded = part.data.astype(np.float32)
        if upward:
            rounded = np.where(rounded < part.data, np.nextafter(rounded, np.float32(np.inf)), rounded)
        return of_kind("jax", tensor(rounded))
    return of_kind("jax" if kind == "jax" else "numpy", part)


def of_kind(kind: str, part: Tensor, device: Any = "cpu", *, share: bool = False) -> Any:
    """`part` as an array of NumPy, torch or jax, on `device`: a new one, or with `share` the same memory where that can
    be.

    Raises ValueError where the library is not installed.
    """
    if kind == "numpy":
        return as_numpy(part if share else Tensor(np.array(part.data, order="C"), part.dtype))
    if kind == "torch":
        torch = _library("torch")
        copy = np.ascontiguousarray(part.data) if share else np.array(part.data, order="C")
        if part.dtype == "BF16":
            return torch.from_numpy(copy.view(np.int16)).view(torch.bfloat16).to(device)
        return torch.from_numpy(copy).to(device)
    if kind == "jax":
        jax = _library("jax")
        where = device if device is not None and not isinstance(device, str) else _jax_device(jax, device)
        return jax.device_put(np.array(as_numpy(part), order="C"), where)
    raise ValueError(f"arrays: is {kind!r}, expected numpy, torch or jax")


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as why:
        raise ValueError(f"arrays: {name} cannot be imported: {why}") from why


def _jax_device(jax: Any, device: str | None) -> Any:
    name, _, number = (device or "cpu").partition(":")
    try:
        return jax.devices(name)[int(number or 0)]
    except (RuntimeError, IndexError, ValueError) as why:
        raise ValueError(f"device: jax has no {device!r}: {why}") from why


# --- DLPack, for what NumPy's own reader does not take: bfloat16, and devices -----------------------------------------


class DLDevice(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    """A tensor as DLPack has it: `strides` are in elements, NULL for row-major order."""

    _fields_ = [("data", ctypes.c_void_p), ("device", DLDevice), ("ndim", ctypes.c_int32), ("dtype", DLDataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


# (code, bits) of DLPack: the type in files
DLPACK_TYPES = {(2, 32): "F32", (2, 64): "F64", (2, 16): "F16", (4, 16): "BF16", (1, 8): "U8", (6, 8): "BOOL",
                (0, 32): "I32", (0, 64): "I64"}
_STORED: dict[str, np.dtype[Any]] = {"F32": np.dtype(np.float32), "F64": np.dtype(np.float64),
                                     "F16": np.dtype(np.float16),
           "BF16": np.dtype(np.uint16), "U8": np.dtype(np.uint8), "BOOL": np.dtype(np.bool_), "I32": np.dtype(np.int32),
           "I64": np.dtype(np.int64)}


_memory = ctypes.pythonapi.PyMemoryView_FromMemory
_memory.restype, _memory.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int]


def of_dltensor(what: DLTensor, *, writable: bool = False) -> Tensor:
    """A view of a tensor on the host: valid as long as its memory. Raises TypeError for a type that attest does not
    know."""
    dtype = DLPACK_TYPES.get((what.dtype.code, what.dtype.bits))
    if dtype is None or what.dtype.lanes != 1:
        raise TypeError(f"has DLPack's type (code {what.dtype.code}, {what.dtype.bits} bits), which attest does not "
                        "know")
    stored = _STORED[dtype]
    size = stored.itemsize
    shape = tuple(what.shape[: what.ndim])
    if 0 in shape:
        return Tensor(np.empty(shape, stored), dtype)
    strides: tuple[int, ...] | None = None
    before, elements = 0, 1  # elements that lie before the first one, and all of them
    if what.strides:
        steps = what.strides[: what.ndim]
        strides = tuple(step * size for step in steps)
        ways = [(extent - 1) * step for extent, step in zip(shape, steps)]
        before = -sum(way for way in ways if way < 0)
        elements += sum(map(abs, ways))
    else:
        for extent in shape:
            elements *= extent
    memory = _memory(what.data + what.byte_offset - before * size, elements * size, 0x200 if writable else 0x100)
    return Tensor(np.ndarray(shape, stored, memory, before * size, strides), dtype)


def _from_dlpack(array: Any) -> Tensor:
    device = tuple(int(part) for part in array.__dlpack_device__())
    if device[0] != 1:  # not the host's memory
        if hasattr(array, "get"):  # CuPy: waits, and copies
            return tensor(np.asarray(array.get()))
        capsule = array.__dlpack__(dl_device=(1, 0), copy=True)
    else:
        capsule = array.__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    managed = DLTensor.from_address(pointer(capsule, b"dltensor"))
    there = of_dltensor(managed)
    # The capsule, which frees the tensor, ends with this function: keep a copy.
    return Tensor(np.array(there.data, order="C"), there.dtype)


# --- layouts ----------------------------------------------------------------------------------------------------------


def swapped(array: Array) -> Array:
    """[b, h, n, d] as [b, n, h, d], or the other way round: a view."""
    other: Array = array.transpose(0, 2, 1, 3)
    return other
