"""A problem as the caller has it, arrays and keywords, as the tensors and metadata of a file that the program reads."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import FLOATING, host, swapped
from ._tensor_file import Tensor

Window = tuple[int, int]


@dataclasses.dataclass(frozen=True)
class Problem:
    """The tensors of one problem, by role, and its parameters: what a file says of it under one prefix.

    `packed`: for the layout thd, the prefix of each sequence and its rows, (queries, keys).
    """

    tensors: dict[str, Tensor]
    parameters: dict[str, str]
    dtype: str  # of q: f32, f64, f16, bf16
    packed: list[tuple[str, slice, slice]] | None = None


def _floating(array: Any, name: str) -> Tensor:
    part = host(array, name)
    if part.dtype not in FLOATING:
        raise TypeError(f"{name}: has the type {part.dtype}, expected float32, float64, float16 or bfloat16")
    return part


def problem(q: Any, k: Any, v: Any, *, outputs: Mapping[str, Any] | None = None, mask: Any = None, bias: Any = None,
            causal: str | bool | None = None, window: Sequence[int] | None = None, diagonal: int | None = None,
            scale: float | None = None, softcap: float | None = None, layout: str = "bhnd",
            cu_seqlens: tuple[Any, Any] | None = None) -> Problem:
    """The problem of these arrays. Raises ValueError or TypeError that name the argument."""
    if layout not in ("bhnd", "bnhd", "thd"):
        raise ValueError(f"layout: is {layout!r}, expected 'bhnd', 'bnhd' or 'thd'")
    tensors = {name: _floating(array, name) for name, array in (("q", q), ("k", k), ("v", v))}
    tensors |= {name: _floating(array, name) for name, array in (outputs or {}).items() if array is not None or name == "o"}
    if mask is not None:
        tensors["mask"] = _mask(mask)
    if bias is not None:
        tensors["bias"] = _floating(bias, "bias")
    parameters: dict[str, str] = {}
    if scale is not None:
        parameters["scale"] = _number(scale, "scale")
    if softcap:
        parameters["softcap"] = _number(softcap, "softcap")
    if layout == "thd":
        if mask is not None or bias is not None:
            raise ValueError(f"{'mask' if mask is not None else 'bias'}: the layout thd has none")
        return _packed(tensors, parameters, causal, window, diagonal, cu_seqlens)
    if cu_seqlens is not None:
        raise ValueError("cu_seqlens: belongs to layout='thd'")
    rank = len(tensors["q"].shape)
    if layout == "bnhd":
        for name in ("q", "k", "v", "o"):
            if name in tensors and len(tensors[name].shape) != 4:
                raise ValueError(f"{name}: has {len(tensors[name].shape)} axes, the layout bnhd has 4")
        parameters["attest.layout"] = "bnhd"
    if rank < 2 or len(tensors["k"].shape) != rank:
        raise ValueError(f"k: has {len(tensors['k'].shape)} axes, q has {rank}; both have 2, 3 or 4")
    axis = 1 if layout == "bnhd" else rank - 2
    parameters |= band_of(causal, window, diagonal, tensors["q"].shape[axis], tensors["k"].shape[axis])
    return Problem(tensors, parameters, FLOATING[tensors["q"].dtype])


def _mask(mask: Any) -> Tensor:
    part = host(mask, "mask")
    if part.dtype in FLOATING:
        raise TypeError(f"mask: has the type {part.dtype}, expected Booleans (true = attend); "
                        "if its values are added to the scores, pass it as bias")
    if part.dtype == "U8":
        return part
    return Tensor(part.data != 0, "BOOL")


def _number(value: Any, name: str) -> str:
    try:
        return float(value).hex() if np.isfinite(float(value)) else repr(float(value))
    except (TypeError, ValueError):
        raise TypeError(f"{name}: is {value!r}, expected a number") from None


def band_of(causal: str | bool | None, window: Sequence[int] | None, diagonal: int | None, n: int, m: int) -> dict[str, str]:
    """The metadata of the band: −left <= j − (i + diagonal) <= right.

    causal is "top-left" (j <= i), "bottom-right" (j <= i + m − n), or True where n = m, so that both are one; window is (left,
    right), inclusive, −1 unbounded, around that diagonal or `diagonal`.

    >>> band_of("bottom-right", None, None, 2, 5)
    {'diagonal': '3', 'left': '-1', 'right': '0'}
    """
    if causal not in (None, False, True, "top-left", "bottom-right"):
        raise ValueError(f"causal: is {causal!r}, expected 'top-left', 'bottom-right', or True where n = m")
    if causal and not isinstance(causal, str) and n != m and diagonal is None:
        raise ValueError(f"causal: n is {n} and m is {m}; say 'top-left' (j <= i) or 'bottom-right' (j <= i + m - n)")
    if diagonal is not None and not isinstance(diagonal, (int, np.integer)):
        raise TypeError(f"diagonal: is {diagonal!r}, expected a whole number")
    left, right = -1, -1
    if window is not None:
        if (not hasattr(window, "__len__") or len(window) != 2
                or not all(isinstance(side, (int, np.integer)) and side >= -1 for side in window)):
            raise ValueError(f"window: is {window!r}, expected (left, right), both at least -1, which is unbounded")
        left, right = int(window[0]), int(window[1])
        if not causal and diagonal is None and n != m:
            raise ValueError(f"window: n is {n} and m is {m}; say the diagonal that it lies around: diagonal=0, or m - n")
    if causal:
        right = 0
    if (left, right) == (-1, -1):
        return {}
    if diagonal is None:
        diagonal = m - n if causal == "bottom-right" else 0
    elif isinstance(causal, str):
        raise ValueError("diagonal: causal says it already; give one of them")
    return {"diagonal": str(int(diagonal)), "left": str(left), "right": str(right)}


def _packed(tensors: dict[str, Tensor], parameters: dict[str, str], causal: str | bool | None,
            window: Sequence[int] | None, diagonal: int | None, cu_seqlens: tuple[Any, Any] | None) -> Problem:
    """A problem for each sequence of [sum of n, h, d], named by its number."""
    if cu_seqlens is None:
        raise ValueError("cu_seqlens: the layout thd needs (offsets of the queries, offsets of the keys)")
    of_q, of_k = (_offsets(one, tensors[role]) for one, role in zip(cu_seqlens, "qk"))
    if len(of_q) != len(of_k):
        raise ValueError(f"cu_seqlens: {len(of_q) - 1} sequences of queries, {len(of_k) - 1} of keys")
    parts: dict[str, Tensor] = {}
    packed = []
    metadata = dict(parameters)
    for at in range(len(of_q) - 1):
        prefix = f"{at:05}"
        rows = {"q": slice(of_q[at], of_q[at + 1]), "k": slice(of_k[at], of_k[at + 1])}
        packed.append((prefix, rows["q"], rows["k"]))
        for role, part in tensors.items():
            if role == "lse":  # [h, sum of n]
                parts[f"{prefix}.lse"] = Tensor(part.data[:, rows["q"]][None], part.dtype)
                continue
            of = part.data[rows["k" if role in "kv" else "q"]]
            parts[f"{prefix}.{role}"] = Tensor(swapped(of[None]), part.dtype)
        band = band_of(causal, window, diagonal, of_q[at + 1] - of_q[at], of_k[at + 1] - of_k[at])
        metadata |= {f"{prefix}.{name}": value for name, value in band.items()}
    return Problem(parts, metadata, FLOATING[tensors["q"].dtype], packed)


def _offsets(given: Any, of: Tensor) -> list[int]:
    offsets = [int(one) for one in host(np.asarray(given) if isinstance(given, (list, tuple)) else given, "cu_seqlens").data]
    if len(of.shape) != 3:
        raise ValueError(f"q, k, v: have {len(of.shape)} axes, the layout thd has 3")
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != of.shape[0] or sorted(offsets) != offsets:
        raise ValueError(f"cu_seqlens: {offsets} do not rise from 0 to {of.shape[0]}, the rows that there are")
    return offsets
