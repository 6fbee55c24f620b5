"""safetensors files, written and read with NumPy alone.

A file is 8 bytes (the length of the header, little-endian), the header (JSON: each tensor's dtype, shape and place, and
`__metadata__`, texts), and the tensors' bytes in row-major order.
"""
from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# How NumPy stores each type of a safetensors file. bfloat16 is stored as its bits.
STORED: dict[str, np.dtype[Any]] = {
    "F64": np.dtype("<f8"), "F32": np.dtype("<f4"), "F16": np.dtype("<f2"), "BF16": np.dtype("<u2"),
    "BOOL": np.dtype("?"), "U8": np.dtype("u1"), "I8": np.dtype("i1"), "I16": np.dtype("<i2"), "U16": np.dtype("<u2"),
    "I32": np.dtype("<i4"), "U32": np.dtype("<u4"), "I64": np.dtype("<i8"), "U64": np.dtype("<u8")}

LARGEST_HEADER = 100_000_000


class Tensor(NamedTuple):
    """An array and the name of its type in a file: for BF16 the array holds the bits, uint16."""

    data: Array
    dtype: str

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape


def tensor(data: Array) -> Tensor:
    """A tensor of a NumPy array. ml_dtypes' bfloat16 is known by its name. Raises TypeError for a type that files
    lack."""
    if data.dtype.name == "bfloat16":
        return Tensor(data.view(np.uint16), "BF16")
    for name, stored in STORED.items():
        if name != "BF16" and data.dtype == stored:
            return Tensor(data, name)
    raise TypeError(f"has the type {data.dtype}, which attest does not know")


def write(path: str | os.PathLike[str], tensors: Mapping[str, Tensor],
          metadata: Mapping[str, str] | None = None) -> None:
    """Writes a file. Tensors lie in the order of `tensors`, the largest alignment first, so that each is aligned."""
    order = sorted(tensors, key=lambda name: -tensors[name].data.dtype.itemsize)
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    end = 0
    for name in order:
        begin, end = end, end + tensors[name].data.nbytes
        header[name] = {"dtype": tensors[name].dtype, "shape": list(tensors[name].shape), "data_offsets": [begin, end]}
    text = json.dumps(header, ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for name in order:
            file.write(np.ascontiguousarray(tensors[name].data).reshape(-1).view(np.uint8).data)


def _header(file: IO[bytes], path: object) -> tuple[dict[str, Any], int]:
    begins = file.read(8)
    if len(begins) < 8:
        raise ValueError(f"{path}: has {len(begins)} bytes; a safetensors file has 8 at least")
    (length,) = struct.unpack("<Q", begins)
    if length > LARGEST_HEADER:
        raise ValueError(f"{path}: its header would have {length} bytes; at most {LARGEST_HEADER} are read")
    text = file.read(length)
    if len(text) < length:
        raise ValueError(f"{path}: ends within its header")
    try:
        header = json.loads(text)
    except ValueError as why:
        raise ValueError(f"{path}: its header is no JSON: {why}") from why
    if not isinstance(header, dict):
        raise ValueError(f"{path}: its header is no JSON object")
    return header, 8 + length


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors of a file, by name, and its metadata. The tensors are read when they are used (a memory map,
    read-only).

    Raises ValueError where the file is no safetensors file.
    """
    with open(path, "rb") as file:
        header, begin = _header(file, path)
        size = os.fstat(file.fileno()).st_size
    metadata = header.pop("__metadata__", {})
    bytes_: Array = np.memmap(path, np.uint8, "r") if size else np.empty(0, np.uint8)
    tensors = {}
    for name, entry in header.items():
        try:
            dtype, shape, (first, last) = entry["dtype"], tuple(entry["shape"]), entry["data_offsets"]
            stored = STORED[dtype]
            part = bytes_[begin + first:begin + last]
            count = int(np.prod(shape, dtype=np.int64))
            if first < 0 or part.nbytes != last - first or part.nbytes != count * stored.itemsize:
                raise ValueError("its bytes are not those of its shape")
            aligned = part if part.ctypes.data % stored.itemsize == 0 else part.copy()
            tensors[name] = Tensor(np.asarray(aligned).view(stored).reshape(shape), dtype)
        except (KeyError, TypeError, ValueError) as why:
            raise ValueError(f"{path}: the tensor {name!r} cannot be read: {why}") from why
    return tensors, metadata
