"""Merges of partial results in NumPy: a right one, and wrong ones. o [S, b, hq, n, dv], lse [S, b, hq, n]."""
from __future__ import annotations

import numpy as np
from attest_attention._call import Array, Unsupported


def right(o: Array, lse: Array) -> tuple[Array, Array]:
    """docs/semantics.md, Merge, in float64, rounded at the end."""
    with np.errstate(all="ignore"):
        s = lse.astype(np.float64)
        top = s.max(axis=0)
        e = np.exp(s - np.where(np.isfinite(top), top, 0))
        total = e.sum(axis=0)
        read = ~np.isneginf(s)[..., None]
        merged = np.where(read, (e / np.where(total == 0, 1, total))[..., None] * np.where(read, o.astype(np.float64),
                                                                                           0), 0)
        found = np.where(np.isposinf(top), np.nan, np.log(total) + np.where(np.isfinite(top), top, 0))
        found = np.where(np.isneginf(top), top, found)
        return np.where(np.isnan(found)[..., None], np.nan, merged.sum(axis=0)).astype(o.dtype), found.astype(lse.dtype)


def token_major(o: Array, lse: Array) -> tuple[Array, Array]:
    """The same for o [S, b, n, hq, dv], or for o [S, tokens, hq, dv] with lse [S, hq, tokens]."""
    packed = o.ndim == 4
    parts = o[:, None] if packed else o
    merged, found = right(parts.swapaxes(2, 3), lse[:, None] if packed else lse)
    merged = np.ascontiguousarray(merged.swapaxes(1, 2))
    return (merged[0], found[0]) if packed else (merged, found)


def o_alone(o: Array, lse: Array) -> Array:
    """Right, without an LSE."""
    return right(o, lse)[0]


def loses_last(o: Array, lse: Array) -> tuple[Array, Array]:
    """Wrong: leaves the last of several parts out."""
    return right(o[:-1], lse[:-1]) if len(o) > 1 else right(o, lse)


def changes_parts(o: Array, lse: Array) -> tuple[Array, Array]:
    """Wrong: writes to its input."""
    merged = right(o, lse)
    o[-1] = 0
    return merged


def raises_on_many(o: Array, lse: Array) -> tuple[Array, Array]:
    """Wrong: raises for more than 64 parts; does not take one part."""
    if len(o) > 64:
        raise KeyError("more than 64 parts")
    if len(o) == 1:
        raise Unsupported("one part")
    return right(o, lse)


def wrong_shape(o: Array, lse: Array) -> Array:
    """Wrong: the parts are still there."""
    return o


def needs_a_word(o: Array, lse: Array, word: str) -> tuple[Array, Array]:
    return right(o, lse)
