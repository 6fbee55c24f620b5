"""Attention in NumPy: a right one with every parameter, and wrong ones. The tests import them, and so do worker
processes."""
from __future__ import annotations

import os
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def right(q: Array, k: Array, v: Array, *, scale: float | None = None, mask: Array | None = None,
          bias: Array | None = None, diagonal: int = 0, left: int = -1, right: int = -1, softcap: float = 0.0,
          enable_gqa: bool = False, return_lse: bool = False, return_weights: bool = False) -> Any:
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


def dividing(q: Array, k: Array, v: Array) -> Array:
    """Divides by the number of heads, which may be none."""
    group = q.shape[1] // k.shape[1]
    return plain(q, np.repeat(k, group, axis=1), np.repeat(v, group, axis=1))


def mean_of_values(q: Array, k: Array, v: Array) -> Array:
    """Wrong: every key has the same weight."""
    total = v.astype(np.float64).sum(axis=2, keepdims=True) / max(v.shape[2], 1)
    return np.broadcast_to(total, (*q.shape[:3], v.shape[3])).astype(q.dtype)


def interpreted(q: Array, k: Array, v: Array) -> Array:
    """As mean_of_values, where the interpreter of Triton is asked for."""
    if os.environ.get("TRITON_INTERPRET") != "1":
        raise RuntimeError("0 active drivers")
    return mean_of_values(q, k, v)


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


def narrow(q: Array, k: Array, v: Array) -> Array:
    """Right, and takes no heads of 64 and more."""
    if q.shape[3] >= 64:
        raise NotImplementedError("heads of 64 and more")
    return plain(q, k, v)


def narrow_and_wrong(q: Array, k: Array, v: Array) -> Array:
    """Wrong for heads of 16, and takes no heads of 64 and more."""
    o = narrow(q, k, v)
    return o + 1 if q.shape[3] == 16 else o


def hangs_again(q: Array, k: Array, v: Array) -> Array:
    """Wrong: does not return for heads of 16."""
    while q.shape[3] == 16:
        pass
    return plain(q, k, v)


def aborts(q: Array, k: Array, v: Array) -> Array:
    """Wrong: aborts the process for two queries."""
    if q.shape[2] == 2:
        os.abort()
    return plain(q, k, v)


def entries(q: Array, k: Array, v: Array, *, scale: float | None = None, mask: Array | None = None,
            bias: Array | None = None, diagonal: int = 0, left: int = -1, right: int = -1, align: int = 0,
            softcap: float = 0.0, enable_gqa: bool = False, sinks: Array | None = None, seqused_q: Array | None = None,
            seqused_k: Array | None = None, cu_seqlens_q: Array | None = None, cu_seqlens_k: Array | None = None,
            block_table: Array | None = None, block_mask: Array | None = None, block_q: int = 0, block_k: int = 0,
            keep: Array | None = None, dropout_p: float = 0.0, return_lse: bool = False) -> Any:
    """docs/semantics.md with all of its entries, one after the other in float64; packed rows [1, h, total, d], pools
    HND."""
    b = len(q) if cu_seqlens_q is None else len(cu_seqlens_q) - 1
    hq, wide = q.shape[1], np.float64 if q.dtype == np.float64 else np.float32
    o, lse = np.zeros((*q.shape[:3], v.shape[3]), q.dtype), np.zeros(q.shape[:3], wide)

    def of_entry(array: Array, e: int, offsets: Array | None, lengths: Array | None, table: Array | None) -> Array:
        if table is not None and lengths is not None:
            page, count = array.shape[2], int(lengths[e])
            pages = [array[int(table[e, at])] for at in range(-(-count // page))]
            return np.concatenate([*pages, np.empty((array.shape[1], 0, array.shape[3]), array.dtype)],
                                  axis=1)[:, :count]
        rows: Array = array[e] if offsets is None else array[0][:, int(offsets[e]):int(offsets[e + 1])]
        return rows if lengths is None else rows[:, :int(lengths[e])]

    def part(array: Array | None, e: int, n: int, m: int) -> Array | None:
        return None if array is None else array[e if len(array) > 1 else 0, :, :n if array.shape[2] > 1 else 1, :m]

    for e in range(b):
        one = of_entry(q, e, cu_seqlens_q, seqused_q, None)
        key, value = (of_entry(x, e, cu_seqlens_k, seqused_k, block_table) for x in (k, v))
        n, m = one.shape[1], key.shape[1]
        offset = np.arange(m) - np.arange(n)[:, None] - float(diagonal + (m - n if align else 0))
        visible = np.broadcast_to(((left < 0) | (offset >= -left)) & ((right < 0) | (offset <= right)), (hq, n, m))
        if (there := part(mask, e, n, m)) is not None:
            visible = visible & there
        if block_mask is not None:
            blocks = block_mask[e if len(block_mask) > 1 else 0].repeat(block_q, axis=1).repeat(block_k, axis=2)
            visible = visible & blocks[:, :n, :m]
        sink = None if sinks is None else sinks if sinks.ndim == 1 else sinks[e if len(sinks) > 1 else 0]
        rows = one_entry(one, key, value, scale, softcap, visible, part(bias, e, n, m), sink, part(keep, e, n, m),
                         dropout_p)
        begin = 0 if cu_seqlens_q is None else int(cu_seqlens_q[e])
        at = e if cu_seqlens_q is None else 0
        o[at, :, begin:begin + n], lse[at, :, begin:begin + n] = rows
    return (o, lse) if return_lse else o


def one_entry(q: Array, k: Array, v: Array, scale: float | None, softcap: float, visible: Array, bias: Array | None,
              sink: Array | None, keep: Array | None, dropout: float) -> tuple[Array, Array]:
    """O and LSE of [h, n, d], in float64."""
    group = q.shape[0] // max(k.shape[0], 1)
    q, k, v = (one.astype(np.float64) for one in (q, k.repeat(group, 0), v.repeat(group, 0)))
    with np.errstate(all="ignore"):
        s = q @ k.swapaxes(-1, -2) * (1 / np.sqrt(q.shape[2]) if scale is None else scale)
        if softcap:
            s = softcap * np.tanh(s / softcap)
        if bias is not None:
            s = s + bias.astype(np.float64)
        s = np.where(visible, s, -np.inf)
        t = np.full((len(q), 1, 1), -np.inf) if sink is None else sink.astype(np.float64)[:, None, None]
        t = np.where(np.isposinf(t) | np.isnan(t), np.where(visible.any(-1, keepdims=True), np.nan, t), t)
        top = np.maximum(s.max(axis=-1, keepdims=True, initial=-np.inf), np.where(np.isnan(t), np.nan, t))
        e = np.exp(s - np.where(np.isneginf(top), 0, top))
        total = e.sum(axis=-1, keepdims=True) + np.exp(t - np.where(np.isneginf(top), 0, top))
        none = ~visible.any(-1, keepdims=True)
        p = np.where(none, 0, e / np.where(total == 0, 1, total))
        lse = np.where(none, t, np.log(total) + np.where(np.isneginf(top), 0, top))[..., 0]
        if keep is not None:
            p = np.where(np.broadcast_to(keep, p.shape), p / (1 - dropout), np.where(np.isnan(p), p, 0))
        poisoned = visible.astype(np.float64) @ (~np.isfinite(v)).astype(np.float64) > 0
        return np.where(poisoned, np.nan, p @ np.where(np.isfinite(v), v, 0)), lse


def sinks_ignored(q: Array, k: Array, v: Array, *, sinks: Array | None = None, **rest: Any) -> Any:
    """Wrong: names sinks, and ignores them."""
    return entries(q, k, v, enable_gqa=True, **rest)


def token_major(q: Array, k: Array, v: Array, *, sinks: Array | None = None, cu_seqlens_q: Array | None = None,
                cu_seqlens_k: Array | None = None, seqused_q: Array | None = None, seqused_k: Array | None = None,
                block_table: Array | None = None, window_size: tuple[int, int] = (-1, -1),
                causal: bool = False) -> Array:
    """The same with packed rows [total, h, d], dense ones [b, n, h, d] and pools NHD; its band ends at the last key."""
    def heads_first(x: Array) -> Array:
        return (x[None] if x.ndim == 3 else x).swapaxes(1, 2)

    left, right = window_size if not causal else (window_size[0], 0)
    o = entries(*map(heads_first, (q, k, v)), sinks=sinks, cu_seqlens_q=cu_seqlens_q, cu_seqlens_k=cu_seqlens_k,
                seqused_q=seqused_q, seqused_k=seqused_k, block_table=block_table, left=left, right=right, align=1)
    back: Array = o.swapaxes(1, 2)
    return back[0] if q.ndim == 3 else back


def decode(q: Array, k_cache: Array, v_cache: Array, block_table: Array, cache_seqlens: Array, *,
           sinks: Array | None = None, scale: float | None = None, causal: bool = False) -> Array:
    """The newest queries of each sequence over a paged cache, NHD: the example of docs/python.md."""
    scale = scale if scale is not None else 1 / np.sqrt(q.shape[3])
    o: Array = np.empty((*q.shape[:3], v_cache.shape[3]), q.dtype)
    group = q.shape[2] // k_cache.shape[2]
    for e, length in enumerate(cache_seqlens):
        pages = block_table[e, : -(-length // k_cache.shape[1])]
        k, v = (pool[pages].reshape(-1, *pool.shape[2:])[:length].repeat(group, 1).astype(np.float64)
                for pool in (k_cache, v_cache))
        s = np.einsum("nhd,mhd->hnm", q[e].astype(np.float64), k) * scale
        if causal:  # the last query sees the last key
            s = np.where(np.arange(length) > np.arange(q.shape[1])[:, None] + (length - q.shape[1]), -np.inf, s)
        t = np.full((len(s), 1, 1), -np.inf) if sinks is None else sinks.astype(np.float64)[:, None, None]
        top = np.maximum(s.max(-1, keepdims=True, initial=-np.inf), t)
        p = np.exp(s - np.where(np.isfinite(top), top, 0))
        total = p.sum(-1, keepdims=True) + np.exp(t - np.where(np.isfinite(top), top, 0))
        o[e] = np.einsum("hnm,mhd->nhd", p / np.where(total == 0, 1, total), v)
    return o
