"""One merge of partial results, and how a function of it is asked.

O = sum_s w_s O_s with w_s = exp(LSE_s) / sum exp(LSE_s), and LSE = ln sum exp(LSE_s): what combines the results of
split keys, of rings and of a shared prefix. A part whose LSE is -inf in a row saw no key there, and its O is not read:
it may be NaN. docs/semantics.md states every rule.
"""
from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import host, of_kind
from ._call import Array, Unsupported
from ._named import name_of
from ._spellings import SPELLINGS, Options
from ._tensor_file import Tensor, tensor


@dataclasses.dataclass(frozen=True, eq=False)
class Merge:
    """The results of S parts: o [S, b, hq, n, dv], lse [S, b, hq, n] (float64 for float64, else float32), NumPy's, in
    row-major order. Whoever answers returns o [b, hq, n, dv] in the type of `o`, or that and the LSE [b, hq, n] in the
    type of `lse`."""

    o: Array
    lse: Array
    want_lse: bool = False
    threads: int = 0  # 0: as many as the library likes


# Of o [..., b, hq, n, dv] and the LSE [..., b, hq, n], by layout.


def o_in(layout: str, o: Array) -> Array:
    """The O of parts or of an answer as a callable of this layout has it."""
    if layout == "bhnd":
        return o
    swapped = o.swapaxes(-3, -2)
    return np.ascontiguousarray(swapped.reshape(*o.shape[:-4], -1, *swapped.shape[-2:]) if layout == "thd" else swapped)


def lse_in(layout: str, lse: Array) -> Array:
    """The LSE as a callable of this layout has it: [..., hq, b·n] for thd."""
    if layout != "thd":
        return lse
    return np.ascontiguousarray(lse.swapaxes(-3, -2)).reshape(*lse.shape[:-3], lse.shape[-2], -1)


def o_from(layout: str, o: Array, rows: tuple[int, int, int]) -> Array:
    """[..., b, hq, n, dv] of what o_in gives; `rows` is (b, hq, n)."""
    if layout == "bhnd":
        return o
    b, hq, n = rows
    return o.reshape(*o.shape[: -3 if layout == "thd" else -4], b, n, hq, o.shape[-1]).swapaxes(-3, -2)


def lse_from(layout: str, lse: Array, rows: tuple[int, int, int]) -> Array:
    """[..., b, hq, n] of what lse_in gives."""
    if layout != "thd":
        return lse
    b, hq, n = rows
    return lse.reshape(*lse.shape[:-2], hq, b, n).swapaxes(-3, -2)


class MatchedMerge:
    """A callable f(o, lse), or f(o, lse, threads=...), as a function of a Merge that returns (o, LSE or None),
    Tensors."""

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        if not callable(function):
            raise TypeError(f"merge: is a {type(function).__name__}, expected a callable or a name")
        self.function, self.options = function, options
        self._threads = _threads_of(function)

    def __call__(self, merge: Merge) -> tuple[Tensor, Tensor | None]:
        layout = self.options.layout
        arguments = {self._threads: merge.threads} if self._threads and merge.threads > 0 else {}
        returned = self.function(self._given(o_in(layout, merge.o)), self._given(lse_in(layout, merge.lse)),
                                 **arguments)
        parts = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        if not 1 <= len(parts) <= 2:
            raise ValueError(f"returned {len(parts)} arrays, expected o, or o and the LSE")
        rows = (merge.o.shape[1], merge.o.shape[2], merge.o.shape[3])
        o = self._checked(parts[0], "o", o_in(layout, merge.o[0]))
        o = Tensor(o_from(layout, o.data, rows), o.dtype)
        if len(parts) < 2 or parts[1] is None:
            if merge.want_lse:
                raise Unsupported("LSE")
            return o, None
        lse = self._checked(parts[1], "LSE", lse_in(layout, merge.lse[0]))
        return o, Tensor(lse_from(layout, lse.data, rows), lse.dtype)

    def _given(self, array: Array) -> Any:
        kind = self.options.arrays
        return array if kind == "numpy" else of_kind(kind, tensor(array), self.options.device, share=True)

    @staticmethod
    def _checked(returned: Any, name: str, like: Array) -> Tensor:
        part, expected = host(returned, f"returned {name}"), tensor(like)
        if part.shape != expected.shape:
            raise ValueError(f"returned {name} of shape {part.shape}, expected {expected.shape}")
        if part.dtype != expected.dtype:
            raise ValueError(f"returned {name} of type {part.dtype}, expected {expected.dtype}")
        return part


def _threads_of(function: Callable[..., Any]) -> str | None:
    """The parameter for threads, if any. Raises ValueError for one without a default that no merge has a value for."""
    try:
        parameters = [one for one in inspect.signature(function).parameters.values()
                      if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
    except (ValueError, TypeError):
        return None  # a function of C: it gets o and lse
    for one in parameters[2:]:
        if one.default is one.empty:
            raise ValueError(f"merge: {name_of(function)} needs the argument {one.name!r}, which no merge has a value "
                             "for")
    return next((one.name for one in parameters[2:] if one.name in SPELLINGS["threads"]), None)


def no_attention(q: Array, k: Array, v: Array) -> Array:
    """The kernel of an audit of merges or backward passes alone."""
    raise Unsupported("it has no attest_attention")
