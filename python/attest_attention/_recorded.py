"""A recorded call, and the choice of the calls that are kept."""
from __future__ import annotations

import dataclasses
import random
from typing import Any

import numpy as np

from ._arrays import FLOATING, as_numpy, host
from ._parameters import BYTES, FLOATS, GRADIENTS, LATER, Parameters, metadata_of
from ._problem import whole
from ._tensor_file import Array, Tensor


@dataclasses.dataclass(frozen=True, eq=False)
class Recorded(Parameters):
    """One call: what it was given and what it returned, copied to the host, and its numbers.

    function  the function's name; layer: the name, in the model, of the layer that called it ("" where it is not known)
    number    how many calls were seen before it
    tensors   by role (q, k, v, mask, bias, o, lse, weights, sink, …), in the axes of a file: [b, h, n, d], [b, h, n],
              [b, h, n, m]; do, dq, dk, dv, dbias and dsink, where its backward pass was seen
    """

    function: str
    layer: str
    number: int
    tensors: dict[str, Tensor]

    def __getattr__(self, role: str) -> Array | None:
        if role in ("q", "k", "v", "o", "mask", "bias", "lse", "weights", "do", *GRADIENTS, *LATER):
            return as_numpy(self.tensors[role]) if role in self.tensors else None
        raise AttributeError(role)

    @property
    def dtype(self) -> str:
        """The type of q: f32, f64, bf16 or f16."""
        return FLOATING[self.tensors["q"].dtype]

    @property
    def nbytes(self) -> int:
        """The bytes of all tensors."""
        return sum(tensor.data.nbytes for tensor in self.tensors.values())

    def metadata(self) -> dict[str, str]:
        """The parameters, as a file has them."""
        return metadata_of(self)

    def __repr__(self) -> str:
        shapes = " ".join(f"{role}{list(tensor.shape)}" for role, tensor in self.tensors.items())
        return f"<{self.function}{' in ' + self.layer if self.layer else ''}: {shapes} {self.dtype}>"


class Sample:
    """Which calls are kept: the first of each kind, then any further one with the same probability, within both
    limits."""

    def __init__(self, calls: int, limit: int, seed: int) -> None:
        self.calls, self.limit, self.random = calls, limit, random.Random(seed)
        self.kept: list[tuple[bool, Any, int]] = []  # (first of its kind, the record, its bytes)
        self.kinds: set[Any] = set()
        self.used = 0
        self.further = 0

    def wants(self, kind: Any) -> bool:
        """Whether this call shall be kept; each call is asked about once."""
        if kind not in self.kinds:
            self.kinds.add(kind)
            return self.calls > 0
        self.further += 1
        if len(self.kept) < self.calls:
            return True
        repeats = sum(not first for first, _, _ in self.kept)
        return repeats > 0 and self.random.random() * self.further < repeats

    def add(self, kind_is_new: bool, record: Any, size: int) -> bool:
        """Keeps a record, instead of repeated ones where there is no room; False where there is none even so."""
        repeats = [entry for entry in self.kept if not entry[0]]
        freed: list[tuple[bool, Any, int]] = []

        def full() -> bool:
            gone = sum(entry[2] for entry in freed)
            return len(self.kept) - len(freed) >= self.calls or self.used - gone + size > self.limit

        while full():
            if not repeats:
                return False
            freed.append(repeats.pop(self.random.randrange(len(repeats))))
        self.kept = [entry for entry in self.kept if not any(entry is one for one in freed)]
        self.kept.append((kind_is_new, record, size))
        self.used += size - sum(entry[2] for entry in freed)
        return True


def kind_of(argument: Any) -> Any:
    """What makes calls of one kind: an array's shape and type, a number or a word itself, and the type of anything
    else."""
    shape = getattr(argument, "shape", None)
    if isinstance(shape, tuple):
        return tuple(shape), str(getattr(argument, "dtype", ""))
    return argument if argument is None or isinstance(argument, (bool, int, float, str)) else type(argument)


def copied(array: Any, role: str) -> Tensor:
    """A copy on the host. A mask becomes Booleans, and lengths, offsets and tables int32 or int64.

    Raises TypeError for a type that attest does not know.
    """
    tensor = whole(array, role) if role in LATER and role not in (*FLOATS, *BYTES) else host(array, role)
    data = np.array(tensor.data, order="C")
    return Tensor(data != 0, "BOOL") if role in BYTES and tensor.dtype != "BOOL" else Tensor(data, tensor.dtype)
