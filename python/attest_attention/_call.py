"""One call of an attention function, and the forms in which libraries take it.

q [b, hq, n, d]   k [b, hk, m, d]   v [b, hk, m, dv]   mask, bias, keep [b|1, hq|1, n|1, m]   sink [hq] or [b|1, hq]
packed: q [1, hq, total, d] with q_offsets [b + 1], k and v [1, hk, total, .] with k_offsets [b + 1]
paged: k and v are pools [pages, hk, page, .], with block_table [b, width] and k_lengths [b]
s_ij = scale · q_i·k_j, then softcap, then + bias_ij; key j is visible to query i where the mask is true and
-left <= j - (i + diagonal) <= right (-1: unbounded); with align 1 the keys of an entry less its queries are added to
diagonal. docs/semantics.md states every rule.
"""
from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ._parameters import BYTES, LATER, LaterTensors, Parameters
from ._tensor_file import Array as Array

_ENTRIES = ("q_lengths", "k_lengths", "q_offsets", "k_offsets", "block_table")

# The names that attest has for the types of q, by the names that NumPy and ml_dtypes have for them.
TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}


class Unsupported(NotImplementedError):
    """The function has no argument for something that the call asks: raise it with a word for what, such as
    "softcap"."""


def require(supported: bool, what: str) -> None:
    """Raises Unsupported(what) unless `supported`."""
    if not supported:
        raise Unsupported(what)


@contextlib.contextmanager
def refusing(*exceptions: type[Exception], message: Callable[[object], str] = str) -> Iterator[None]:
    """Inside, these exceptions are how a library says that it does not take such arguments: they become Unsupported."""
    try:
        yield
    except Unsupported:
        raise
    except exceptions as why:
        raise Unsupported(message(why)) from why


def _room(offsets: Array | None, rows: int) -> int:
    """The most rows of an entry: the longest span of packed ones, else `rows`."""
    return rows if offsets is None else int(np.diff(offsets).max(initial=0))


def _used(lengths: Array | None, offsets: Array | None, entries: int, room: int) -> Array:
    """The rows of each entry."""
    if lengths is not None:
        return lengths.astype(np.int64)
    return np.full(entries, room, np.int64) if offsets is None else np.diff(offsets).astype(np.int64)


@dataclasses.dataclass(frozen=True, eq=False)
class Call(Parameters, LaterTensors):
    """O = softmax(scale·Q·Kᵀ, softcapped, + bias, masked)·V, with everything that a kernel is told about it.

    The arrays are NumPy's (bfloat16 is ml_dtypes'), in row-major order; an adapter must not change them. Whoever
    answers returns o [b, hq, n, dv] in the type of q; or o and the log-sum-exp of the scores, [b, hq, n] (f64 for f64,
    else f32); or o, LSE and the weights [b, hq, n, m].
    """

    q: Array
    k: Array
    v: Array
    mask: Array | None = None  # Boolean, true = attend; other types: nonzero = attend
    bias: Array | None = None
    _: dataclasses.KW_ONLY
    scale: float = math.nan  # NaN: 1/sqrt(d)
    want_lse: bool = False
    want_weights: bool = False
    threads: int = 0  # 0: as many as the library likes

    def __post_init__(self) -> None:
        for name in BYTES:
            given = getattr(self, name)
            if given is not None and given.dtype != np.bool_:
                object.__setattr__(self, name, given != 0)
        if self.align and not any(getattr(self, name) is not None for name in _ENTRIES):
            # All entries are of one size: the alignment is a diagonal.
            object.__setattr__(self, "diagonal", self.diagonal + self.m - self.n)
            object.__setattr__(self, "align", 0)

    @property
    def needs(self) -> tuple[str, ...]:
        """What this call has beyond version 1 of the C interface, by name: who answers it must heed each of them."""
        there = [name for name in LATER if getattr(self, name) is not None]
        return (*there, *(["align"] if self.align and self.banded else []))

    # --- sizes --------------------------------------------------------------------------------------------------------

    @property
    def b(self) -> int:
        """Entries: batch entries, or packed sequences."""
        return int(self.q.shape[0]) if self.q_offsets is None else len(self.q_offsets) - 1

    @property
    def hq(self) -> int:
        """Heads of the queries."""
        return int(self.q.shape[1])

    @property
    def hk(self) -> int:
        """Heads of the keys and values."""
        return int(self.k.shape[1])

    @property
    def n(self) -> int:
        """Queries: the most that an entry has room for."""
        return _room(self.q_offsets, int(self.q.shape[2]))

    @property
    def m(self) -> int:
        """Keys: the most that an entry has room for."""
        pages = 1 if self.block_table is None else int(self.block_table.shape[1])
        return _room(self.k_offsets, int(self.k.shape[2]) * pages)

    def queries_of(self) -> Array:
        """The queries of each entry, [b]."""
        return _used(self.q_lengths, self.q_offsets, self.b, self.n)

    def keys_of(self) -> Array:
        """The keys of each entry, [b]."""
        return _used(self.k_lengths, self.k_offsets, self.b, self.m)

    @property
    def d(self) -> int:
        """Size of a query and of a key."""
        return int(self.q.shape[3])

    @property
    def dv(self) -> int:
        """Size of a value."""
        return int(self.v.shape[3])

    @property
    def dtype(self) -> str:
        """The type of q as attest names it: f32, f64, bf16 or f16. Any other type has NumPy's name."""
        return TYPES.get(str(self.q.dtype.name), str(self.q.dtype.name))

    @property
    def grouped(self) -> bool:
        """Whether several heads of the queries share one of the keys."""
        return self.hq != self.hk

    @property
    def square(self) -> bool:
        """Whether values are as wide as keys."""
        return self.d == self.dv

    @property
    def empty(self) -> bool:
        """Whether q, k or v has no element."""
        return 0 in (*self.q.shape, *self.k.shape, *self.v.shape)

    # --- parameters ---------------------------------------------------------------------------------------------------

    @property
    def given_scale(self) -> float | None:
        """The scale, or None where it is the default 1/sqrt(d)."""
        return None if math.isnan(self.scale) else self.scale

    @property
    def actual_scale(self) -> float:
        """The scale as a number: 1/sqrt(d) where none is given (+inf for d = 0)."""
        if not math.isnan(self.scale):
            return self.scale
        return 1 / math.sqrt(self.d) if self.d else math.inf

    # --- band ---------------------------------------------------------------------------------------------------------

    @property
    def banded(self) -> bool:
        """Whether the band hides anything in some problem: one of its sides is bounded."""
        return (self.left, self.right) != (-1, -1)

    @property
    def top_left(self) -> bool:
        """Whether the band is exactly j <= i."""
        return (self.left, self.right, self.diagonal, self.align) == (-1, 0, 0, 0)

    @property
    def bottom_right(self) -> bool:
        """Whether the band is exactly j <= i + m - n with m >= n: causal for n new keys after a cache of m - n."""
        return self.m >= self.n and self.causal is not None and self.diagonal == self.m - self.n

    @property
    def causal(self) -> str | None:
        """"top-left" where the band is j <= i, "bottom-right" where it is j <= i + m - n and n is not m, else None."""
        if self.top_left:
            return "top-left"
        if (self.left, self.right, self.diagonal, self.align) == (-1, 0, self.m - self.n, 0):
            return "bottom-right"
        return None

    def diagonals(self) -> Array:
        """The diagonal of each entry, [b], with its alignment."""
        beside = self.keys_of() - self.queries_of() if self.align else np.zeros(self.b, np.int64)
        return beside + self.diagonal

    def window(self, diagonal: int = 0) -> tuple[int, int] | None:
        """(left, right) of a band around this diagonal, no wider than n + m and -1 where unbounded; None: no such
        band."""
        if not self.banded or self.diagonal != diagonal:
            return None
        widest = self.n + self.m
        return min(self.left, widest), min(self.right, widest)

    def band_mask(self) -> Array | None:
        """The keys inside the band, Boolean [n, m], or None where it is unbounded; [b, 1, n, m] with an alignment."""
        if not self.banded:
            return None
        # Beyond these nothing changes, and int64 overflows.
        most = 2 * (self.n + self.m)
        diagonal = np.clip(self.diagonals(), -most, most)[:, None, None, None] if self.align else max(
            -most, min(self.diagonal, most))
        offset = np.arange(self.m) - np.arange(self.n)[:, None] - diagonal
        inside = np.ones(offset.shape, np.bool_)
        if self.left >= 0:
            inside &= offset >= -self.left
        if self.right >= 0:
            inside &= offset <= self.right
        return inside

    # --- masks in the forms that libraries take -----------------------------------------------------------------------

    def visible(self) -> Array | None:
        """Mask and band in one, Boolean [b|1, hq|1, n|1, m], or None where every key is visible."""
        band = self.band_mask()
        if band is None:
            return self.mask
        band = band if band.ndim == 4 else band[None, None]
        return band if self.mask is None else self.mask & band

    def additive(self, visible: Array | None) -> Array | None:
        """The bias, and -inf where `visible` is false: [b|1, hq|1, n|1, m], or None where there is neither."""
        if visible is None:
            return self.bias
        bias = np.zeros((), self.q.dtype) if self.bias is None else self.bias
        return np.where(visible, bias, np.asarray(-np.inf, bias.dtype))

    def for_every_query(self, mask: Array | None) -> Array | None:
        """A mask or bias whose third axis is n, for libraries that do not broadcast over queries."""
        return None if mask is None else np.broadcast_to(mask, (*mask.shape[:2], self.n, self.m))

    def lengths(self) -> Array | None:
        """How many keys each batch entry has, [b], where the mask hides nothing but the last keys of entries, else
        None."""
        mask = self.mask
        if mask is None or mask.shape[1:3] != (1, 1) or not bool(np.all(mask[..., :-1] >= mask[..., 1:])):
            return None
        return np.broadcast_to(mask.sum(axis=(1, 2, 3)), (self.b,))
