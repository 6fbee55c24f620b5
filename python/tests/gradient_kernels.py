"""Backward passes in NumPy: a right one with every parameter, and wrong ones. The tests import them, and so do worker
processes."""
from __future__ import annotations

import numpy as np
from kernels import Array


def right(q: Array, k: Array, v: Array, do: Array, o: Array, lse: Array, *, scale: float | None = None,
          mask: Array | None = None, bias: Array | None = None, diagonal: int = 0, left: int = -1, right: int = -1,
          softcap: float = 0.0, enable_gqa: bool = False, sinks: Array | None = None) -> tuple[Array, ...]:
    """docs/semantics.md, "Gradients", in float64, from the O and the LSE that are handed over, rounded at the end."""
    group = q.shape[1] // k.shape[1] if enable_gqa else 1
    types = (q.dtype, None if bias is None else bias.dtype, None if sinks is None else sinks.dtype)
    wide_q, wide_do, wide_o, wide_lse = (one.astype(np.float64) for one in (q, do, o, lse))
    keys, values = (one.astype(np.float64).repeat(group, axis=1) for one in (k, v))
    sigma = 1 / np.sqrt(q.shape[3]) if scale is None else scale
    n, m = q.shape[2], k.shape[2]
    with np.errstate(all="ignore"):
        s = wide_q @ keys.swapaxes(-1, -2) * sigma
        slope = np.ones(s.shape)
        if softcap:
            slope = 1 - np.tanh(s / softcap) ** 2
            s = softcap * np.tanh(s / softcap)
        offset = np.arange(m) - np.arange(n)[:, None] - float(diagonal)
        visible = np.broadcast_to(((left < 0) | (offset >= -left)) & ((right < 0) | (offset <= right)), s.shape)
        if mask is not None:
            visible = visible & mask
        if bias is not None:
            s = s + bias.astype(np.float64)
        dead = np.isneginf(wide_lse)[..., None]  # rows that see nothing
        p = np.where(visible & ~dead, np.exp(s - np.where(dead, 0, wide_lse[..., None])), 0)
        delta = np.where(dead[..., 0], 0, (wide_do * wide_o).sum(axis=-1))
        ds = np.where(visible & ~dead, p * (wide_do @ values.swapaxes(-1, -2) - delta[..., None]), 0)
        through = np.where(visible & ~dead, ds * slope, 0)
        dq = sigma * hidden_are_zeros(through, keys, visible & ~dead)
        dk = sigma * hidden_are_zeros(through.swapaxes(-1, -2), wide_q, (visible & ~dead).swapaxes(-1, -2))
        dv = hidden_are_zeros(p.swapaxes(-1, -2), wide_do, (visible & ~dead).swapaxes(-1, -2))
        dk, dv = (one.reshape(*k.shape[:2], group, *one.shape[2:]).sum(axis=2) for one in (dk, dv))
    found = [dq.astype(types[0]), dk.astype(types[0]), dv.astype(types[0])]
    if bias is not None:
        axes = tuple(axis for axis, size in enumerate(bias.shape) if size == 1 and ds.shape[axis] != 1)
        found.append(ds.sum(axis=axes, keepdims=True).astype(types[1]))
    if sinks is not None:
        weight = np.where(dead[..., 0], 0, np.exp(sinks.astype(np.float64)[:, None] - wide_lse))
        found.append((-weight * delta).sum(axis=(0, 2)).astype(types[2]))
    return tuple(found)


def hidden_are_zeros(weights: Array, rows: Array, visible: Array) -> Array:
    """weights @ rows without the rows that a weight does not see: NaN · 0 is no 0."""
    finite = np.isfinite(rows)
    poisoned = visible.astype(np.float64) @ (~finite).astype(np.float64) > 0
    product: Array = np.where(poisoned, np.nan, weights @ np.where(finite, rows, 0))
    return product


def plain(q: Array, k: Array, v: Array, do: Array, o: Array, lse: Array) -> tuple[Array, ...]:
    """Nothing but q, k, v and what a backward pass is handed."""
    return right(q, k, v, do, o, lse)


def scale_forgotten(q: Array, k: Array, v: Array, do: Array, o: Array, lse: Array) -> tuple[Array, ...]:
    """Wrong: the scale is missing in dQ."""
    dq, dk, dv = right(q, k, v, do, o, lse)
    return dq * np.asarray(np.sqrt(q.shape[3]), q.dtype), dk, dv


def delta_forgotten(q: Array, k: Array, v: Array, do: Array, o: Array, lse: Array) -> tuple[Array, ...]:
    """Wrong: dS = P·dP, without the row sums of dO·O."""
    return right(q, k, v, do, np.zeros_like(o), lse)


def alone(q: Array, k: Array, v: Array, do: Array) -> tuple[Array, ...]:
    """Right, and runs a forward pass of its own."""
    with np.errstate(all="ignore"):
        s = q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2) / np.sqrt(q.shape[3])
        top = s.max(axis=-1, keepdims=True, initial=-np.inf)
        top = np.where(np.isneginf(top), 0, top)
        e = np.exp(s - top)
        total = e.sum(axis=-1, keepdims=True)
        o = hidden_are_zeros(e / np.where(total == 0, 1, total), v.astype(np.float64), np.ones(s.shape, bool))
        return right(q, k, v, do, o, (np.log(total) + top)[..., 0])


def returns_dq_alone(q: Array, k: Array, v: Array, do: Array, o: Array, lse: Array) -> Array:
    """Wrong: one array."""
    return right(q, k, v, do, o, lse)[0]


_BUFFERS: dict[tuple[int, ...], Array] = {}


def one_buffer(q: Array, k: Array, v: Array, do: Array, o: Array, lse: Array) -> tuple[Array, ...]:
    """Wrong: returns the same dQ for every call of a shape."""
    dq, dk, dv = right(q, k, v, do, o, lse)
    kept = _BUFFERS.setdefault((*dq.shape, dq.dtype.num), dq)
    kept[...] = dq if kept is dq else dq + 1
    return kept, dk, dv


def changes_do(q: Array, k: Array, v: Array, do: Array, o: Array, lse: Array) -> tuple[Array, ...]:
    """Wrong: writes to its input do."""
    found = right(q, k, v, do, o, lse)
    do[...] = 0
    return found


