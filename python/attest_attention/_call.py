"""One call of an attention function, and the forms in which libraries take it.

q [b, hq, n, d]   k [b, hk, m, d]   v [b, hk, m, dv]   mask, bias [b|1, hq|1, n|1, m]
s_ij = scale · q_i·k_j, then softcap, then + bias_ij; key j is visible to query i where the mask is true and
-left <= j - (i + diagonal) <= right (-1: unbounded). docs/semantics.md states every rule.
"""
from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[Any]

# The names that attest has for the types of q, by the names that NumPy and ml_dtypes have for them.
TYPES = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16"}


class Unsupported(NotImplementedError):
    """The function has no argument for something that the call asks: raise it with a word for what, such as "softcap"."""


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


@dataclasses.dataclass(frozen=True, eq=False)
class Call:
    """O = softmax(scale·Q·Kᵀ, softcapped, + bias, masked)·V, with everything that a kernel is told about it.

    The arrays are NumPy's (bfloat16 is that of ml_dtypes), in row-major order; an adapter must not change them. Whoever answers
    returns o [b, hq, n, dv] in the type of q; or o and the log-sum-exp of the scores, [b, hq, n] (f64 for f64, else f32); or o,
    LSE and the weights [b, hq, n, m].
    """

    q: Array
    k: Array
    v: Array
    mask: Array | None = None  # Boolean, true = attend; other types: nonzero = attend
    bias: Array | None = None
    scale: float = math.nan  # NaN: 1/sqrt(d)
    softcap: float = 0.0  # 0: none
    diagonal: int = 0
    left: int = -1  # -1: unbounded
    right: int = -1
    want_lse: bool = False
    want_weights: bool = False
    threads: int = 0  # 0: as many as the library likes

    def __post_init__(self) -> None:
        if self.mask is not None and self.mask.dtype != np.bool_:
            object.__setattr__(self, "mask", self.mask != 0)

    # --- sizes --------------------------------------------------------------------------------------------------------

    @property
    def b(self) -> int:
        """Batch entries."""
        return int(self.q.shape[0])

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
        """Queries."""
        return int(self.q.shape[2])

    @property
    def m(self) -> int:
        """Keys."""
        return int(self.k.shape[2])

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
        return (self.left, self.right, self.diagonal) == (-1, 0, 0)

    @property
    def bottom_right(self) -> bool:
        """Whether the band is exactly j <= i + m - n with m >= n: causal for n new keys after a cache of m - n."""
        return self.m >= self.n and (self.left, self.right, self.diagonal) == (-1, 0, self.m - self.n)

    @property
    def causal(self) -> str | None:
        """"top-left" where the band is j <= i, "bottom-right" where it is j <= i + m - n and n is not m, else None."""
        if self.top_left:
            return "top-left"
        if (self.left, self.right, self.diagonal) == (-1, 0, self.m - self.n):
            return "bottom-right"
        return None

    def window(self, diagonal: int = 0) -> tuple[int, int] | None:
        """(left, right) of a band around this diagonal, no wider than n + m and -1 where unbounded; None: no such band."""
        if not self.banded or self.diagonal != diagonal:
            return None
        widest = self.n + self.m
        return min(self.left, widest), min(self.right, widest)

    def band_mask(self) -> Array | None:
        """The keys inside the band, Boolean [n, m], or None where it is unbounded."""
        if not self.banded:
            return None
        # Beyond these nothing changes, and int64 overflows.
        diagonal = max(-self.n - self.m, min(self.diagonal, self.n + self.m))
        offset = np.arange(self.m) - np.arange(self.n)[:, None] - diagonal
        inside = np.ones(offset.shape, np.bool_)
        if self.left >= 0:
            inside &= offset >= -self.left
        if self.right >= 0:
            inside &= offset <= self.right
        return inside

    # --- masks in the forms that libraries take -------------------------------------------------------------------------

    def visible(self) -> Array | None:
        """Mask and band in one, Boolean [b|1, hq|1, n|1, m], or None where every key is visible."""
        band = self.band_mask()
        if band is None:
            return self.mask
        return band[None, None] if self.mask is None else self.mask & band

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
        """How many keys each batch entry has, [b], where the mask hides nothing but the last keys of entries, else None."""
        mask = self.mask
        if mask is None or mask.shape[1:3] != (1, 1) or not bool(np.all(mask[..., :-1] >= mask[..., 1:])):
            return None
        return np.broadcast_to(mask.sum(axis=(1, 2, 3)), (self.b,))
