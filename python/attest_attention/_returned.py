"""What a callable returned, as the outputs of its call."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._arrays import host, swapped
from ._call import Array, Call
from ._parameters import GRADIENTS
from ._tensor_file import Tensor, tensor

Parts = tuple[Tensor, "Tensor | None", "Tensor | None"]


def parts_of(result: Any, call: Call, layout: str = "bhnd") -> Parts:
    """o, LSE and weights of what a callable returned: the first is o, then by rank LSE [b, hq, n] and weights [b, hq,
    n, m].

    Raises TypeError where it is no array, and ValueError for an output of another shape or type than the call has.
    """
    returned = list(result) if isinstance(result, (tuple, list)) else [result]
    if not returned:
        raise ValueError("returned an empty tuple, expected o")
    o = _o_of(returned[0], call, layout)
    lse = weights = None
    for at, other in enumerate(returned[1:], 1):
        if other is None:
            continue
        there = host(other, f"returned [{at}]")
        if len(there.shape) == 4 and (call.want_weights or there.shape == (call.b, call.hq, call.n, call.m)):
            weights = _checked(there, "weights", (call.b, call.hq, call.n, call.m), o.dtype)
        elif lse is None and len(there.shape) in (2, 3) and there.dtype in ("F32", "F64"):
            lse = _lse_of(there, call, o.dtype)
    return o, lse, weights


def _o_of(returned: Any, call: Call, layout: str) -> Tensor:
    shape = (call.q.shape[0], call.hq, call.q.shape[2], call.dv)  # 1 and all rows, where q is packed
    return _rows_of(returned, "o", shape, _type_of(call.q), layout, call.q_offsets is not None)


def _rows_of(returned: Any, name: str, shape: tuple[int, ...], dtype: str, layout: str, packed: bool) -> Tensor:
    """Rows of vectors of this layout as [b, h, n, d], `shape`."""
    part = host(returned, f"returned {name}")
    slots, heads, rows, size = shape
    there = shape if layout == "bhnd" else (slots, rows, heads, size)
    flat = layout == "thd" or (layout == "bnhd" and packed)
    part = _checked(part, name, (slots * rows, heads, size) if flat else there, dtype)
    return part if layout == "bhnd" else Tensor(swapped(part.data.reshape(there)), part.dtype)


def gradient_of(returned: Any, name: str, call: Call, layout: str = "bhnd") -> Tensor:
    """One gradient that came back, in the shape of its input. Raises as parts_of."""
    of = getattr(call, GRADIENTS[name])
    if name in ("dq", "dk", "dv"):
        packed = (call.q_offsets if name == "dq" else call.k_offsets) is not None
        return _rows_of(returned, name, of.shape, _type_of(of), layout, packed)
    part = host(returned, f"returned {name}")
    if name == "dsink" and of.ndim == 2 and len(of) == 1 and part.shape == of.shape[1:]:
        part = Tensor(part.data[None], part.dtype)
    return _checked(part, name, of.shape, _type_of(of))


def _lse_of(there: Tensor, call: Call, dtype: str) -> Tensor:
    slots, rows = call.q.shape[0], call.q.shape[2]
    shape = (slots, call.hq, rows)
    if len(there.shape) == 2 and there.shape == (call.hq, slots * rows):  # packed
        there = Tensor(there.data.reshape(call.hq, slots, rows).transpose(1, 0, 2), there.dtype)
    return _checked(there, "LSE", shape, "F64" if dtype == "F64" else "F32")


def _type_of(array: Array) -> str:
    return tensor(array).dtype


def _checked(part: Tensor, name: str, shape: Iterable[int], dtype: str) -> Tensor:
    expected = tuple(shape)
    if part.shape != expected:
        raise ValueError(f"returned {name} of shape {part.shape}, expected {expected}")
    if part.dtype != dtype:
        raise ValueError(f"returned {name} of type {part.dtype}, expected {dtype}")
    return part
