"""Attention by its formula in float64, for the tests of adapters, and calls that ask what adapters must not get
wrong."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from attest_attention._call import Array, Call


def formula(call: Call) -> tuple[Array, Array, Array]:
    """(o, lse, weights) of a call. Rows without a visible key are 0, their LSE is -inf."""
    group = call.hq // call.hk
    q, k, v = (x.astype(np.float64) for x in (call.q, call.k.repeat(group, 1), call.v.repeat(group, 1)))
    scores = q @ k.swapaxes(2, 3) * call.actual_scale
    if call.softcap:
        scores = call.softcap * np.tanh(scores / call.softcap)
    if call.bias is not None:
        scores = scores + call.bias.astype(np.float64)
    if (visible := call.visible()) is not None:
        scores = np.where(visible, scores, -np.inf)
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    shift = np.where(np.isinf(highest), 0, highest)
    weights = np.exp(scores - shift)
    total = weights.sum(-1, keepdims=True)
    with np.errstate(divide="ignore"):
        lse = (np.log(total) + shift)[..., 0]
    weights = weights / np.where(total == 0, 1, total)
    return weights @ v, lse, weights


def drawn(seed: int = 0, b: int = 2, hq: int = 4, hk: int = 4, n: int = 5, m: int = 7, d: int = 8, dv: int = 8,
          dtype: Any = np.float32, **asked: Any) -> Call:
    """A call of these sizes; mask="bhnm" and bias="bhnm" draw one, an axis of 1 where its letter is "1"."""
    random = np.random.default_rng(seed)

    def normal(*shape: int) -> Array:
        return random.standard_normal(shape).astype(dtype)

    q, k, v = normal(b, hq, n, d), normal(b, hk, m, d), normal(b, hk, m, dv)
    sizes = dict(zip("bhnm1", (b, hq, n, m, 1)))
    if "mask" in asked:
        asked["mask"] = random.random([sizes[axis] for axis in asked["mask"]]) < 0.6
        asked["mask"][..., 0] = True  # no row without a visible key: what those are differs between libraries
    if "bias" in asked:
        asked["bias"] = normal(*[sizes[axis] for axis in asked["bias"]])
    return Call(q=q, k=k, v=v, **asked)


# By name: what each asks beside plain attention. Bands of causal calls leave a key to every query.
CALLS: dict[str, Call] = {
    "plain": drawn(),
    "wide values": drawn(1, dv=11),
    "scale": drawn(2, scale=0.3),
    "negative scale": drawn(3, scale=-0.5),
    "softcap": drawn(4, softcap=2.0),
    "causal, top left": drawn(5, left=-1, right=0),
    "causal, more queries than keys": drawn(6, n=7, m=5, left=-1, right=0),
    "causal, one query": drawn(7, n=1, left=-1, right=0),
    "causal, bottom right": drawn(8, left=-1, right=0, diagonal=2),
    "window": drawn(9, left=2, right=1),
    "window at the last key": drawn(10, left=1, right=0, diagonal=2),
    "another diagonal": drawn(11, left=3, right=-1, diagonal=1),
    "grouped": drawn(12, hk=2),
    "one head of keys": drawn(13, hk=1, left=-1, right=0, diagonal=2),
    "mask of all": drawn(14, mask="bhnm"),
    "mask of keys": drawn(15, mask="b11m"),
    "mask of queries": drawn(16, mask="11nm"),
    "mask beside a band": drawn(17, mask="b1nm", left=-1, right=0, n=6, m=6),
    "bias": drawn(18, bias="1hnm"),
    "bias of keys": drawn(19, bias="b11m"),
    "bias beside a mask": drawn(20, bias="1hnm", mask="b1nm"),
    "bias beside a band": drawn(21, bias="1hnm", left=-1, right=0),
    "lengths": drawn(22, mask="b11m"),
    "three threads": drawn(23, threads=3),
}
CALLS["lengths"] = Call(q=CALLS["lengths"].q, k=CALLS["lengths"].k, v=CALLS["lengths"].v,
                        mask=(np.arange(7) < np.array([[3], [7]]))[:, None, None, :])

# Half a unit in the last place of values near 1, with room for the sums of a short row.
TOLERANCE = {"f32": 1e-5, "f64": 1e-13, "f16": 4e-3, "bf16": 3e-2}


def close(got: Array, wanted: Array, dtype: str) -> bool:
    """Whether every element is within the tolerance of the type; infinities must agree."""
    difference = np.abs(got.astype(np.float64) - wanted, where=np.isfinite(wanted), out=np.zeros(wanted.shape))
    return bool(np.all(difference <= TOLERANCE[dtype] * (1 + np.abs(np.where(np.isfinite(wanted), wanted, 0))))
                and np.array_equal(np.isinf(got), np.isinf(wanted))
                and not math.isnan(float(got.astype(np.float64).sum())))
