"""Attention in NumPy: a right one with every parameter, and wrong ones. The tests import them, and so do worker processes."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def right(q: Array, k: Array, v: Array, *, scale: float | None = None, mask: Array | None = None, bias: Array | None = None,
          diagonal: int = 0, left: int = -1, right: int = -1, softcap: float = 0.0, enable_gqa: bool = False,
          return_lse: bool = False, return_weights: bool = False) -> Any:
    """docs/semantics.md in float64, rounded at the end. Hidden keys and values are not read."""
    type_, n, m = q.dtype, q.shape[2], k.shape[2]
    group = q.shape[1] // k.shape[1] if enable_gqa else 1
    q, k, v = (one.astype(np.float64) for one in (q, np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)))
    with np.errstate(all="ignore"):
        s = q @ k.swapaxes(-1, -2) * (1 / np.sqrt(q.shape[3]) if scale is None else scale)
        if softcap:
            s = softcap * np.tanh(s / softcap)
        offset = np.arange(m) - np.arange(n)[:, None] - float(diagonal)
        visible = np.broadcast_to(((left < 0) | (offset >= -left)) & ((right < 0) | (offset <= right)), s.shape)
        if mask is not None:
            visible = visible & mask
        if bias is not None:
            s = s + bias.astype(np.float64)
        s = np.where(visible, s, -np.inf)
        top = s.max(axis=-1, keepdims=True, initial=-np.inf)
        e = np.exp(s - np.where(np.isneginf(top), 0, top))
        total = e.sum(axis=-1, keepdims=True)
        p = e / np.where(total == 0, 1, total)
        poisoned = visible.astype(np.float64) @ (~np.isfinite(v)).astype(np.float64) > 0
        o = np.where(poisoned, np.nan, p @ np.where(np.isfinite(v), v, 0)).astype(type_)
        lse = (np.log(total) + np.where(np.isneginf(top), 0, top))[..., 0]
    asked = [lse.astype(np.float64 if type_ == np.float64 else np.float32)] if return_lse else []
    asked += [p.astype(type_)] if return_weights else []
    return (o, *asked) if asked else o


def plain(q: Array, k: Array, v: Array) -> Array:
    """Nothing but q, k and v."""
    o: Array = right(q, k, v)
    return o


def mean_of_values(q: Array, k: Array, v: Array) -> Array:
    """Wrong: every key has the same weight."""
    total = v.astype(np.float64).sum(axis=2, keepdims=True) / max(v.shape[2], 1)
    return np.broadcast_to(total, (*q.shape[:3], v.shape[3])).astype(q.dtype)


def raises_on_long(q: Array, k: Array, v: Array) -> Array:
    """Wrong: raises for more than three queries."""
    if q.shape[2] > 3:
        raise KeyError("more than three queries")
    return plain(q, k, v)


def changes_keys(q: Array, k: Array, v: Array) -> Array:
    """Wrong: writes to its input k."""
    o = plain(q, k, v)
    k[...] = 0
    return o


_BUFFERS: dict[tuple[int, ...], Array] = {}


def one_buffer(q: Array, k: Array, v: Array) -> Array:
    """Wrong: returns the same array for every call of a shape."""
    o = plain(q, k, v)
    kept = _BUFFERS.setdefault((*o.shape, o.dtype.num), o)
    kept[...] = o
    return kept


def hangs(q: Array, k: Array, v: Array) -> Array:
    """Wrong: does not return for two queries."""
    while q.shape[2] == 2:
        pass
    return plain(q, k, v)


def exits(q: Array, k: Array, v: Array) -> Array:
    """Wrong: ends the process for two queries."""
    if q.shape[2] == 2:
        os._exit(7)
    return plain(q, k, v)
