"""A problem as the caller has it, arrays and keywords, as the tensors and metadata of a file that the program reads."""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ._arrays import FLOATING, host, swapped
from ._keywords import Further, Keywords
from ._parameters import BYTES, CORNERS, FLOATS, KEYS, LATER, NUMBERS, QUERIES, REALS
from ._tensor_file import Tensor
from ._words import among, layout_word

if TYPE_CHECKING:
    from typing_extensions import Unpack

_BAND = ("diagonal", "left", "right", "align")  # numbers that causal, window, diagonal and align say together


@dataclasses.dataclass(frozen=True)
class Problem:
    """The tensors of one problem, by role, and its parameters: what a file says of it under one prefix.

    `packed`: for the layout thd, the prefix of each sequence and its rows, (queries, keys).
    """

    tensors: dict[str, Tensor]
    parameters: dict[str, str]
    dtype: str  # of q: f32, f64, f16, bf16
    packed: list[tuple[str, slice, slice]] | None = None


def floating(array: Any, name: str) -> Tensor:
    part = host(array, name)
    if part.dtype not in FLOATING:
        raise TypeError(f"{name}: has the type {part.dtype}, expected float32, float64, float16 or bfloat16")
    return part


def problem(q: Any, k: Any, v: Any, *, outputs: Mapping[str, Any] | None = None,
            **keywords: Unpack[Keywords]) -> Problem:
    """The problem of these arrays. Raises ValueError or TypeError that name the argument."""
    for name in keywords:
        if name not in Keywords.__annotations__:
            raise TypeError(f"{name}: there is no such argument")
    layout = layout_word(keywords.get("layout", "bhnd"))
    if not among(layout, ("bhnd", "bnhd", "thd")):
        raise ValueError(f"layout: is {layout!r}, expected 'bhnd', 'bnhd' or 'thd'")
    given: dict[str, Any] = {name: value for name, value in keywords.items() if value is not None}
    further = any(name in given for name in Further.__annotations__)
    if further:
        given |= _offsets_by_entry(given)
    tensors = {name: floating(array, name) for name, array in (("q", q), ("k", k), ("v", v))}
    tensors |= {name: floating(array, name) for name, array in (outputs or {}).items()}
    tensors |= {name: _optional(given[name], name) for name in ("mask", "bias", *LATER) if name in given}
    parameters = {name: _number(given[name], name) for name in NUMBERS if name in given and name not in _BAND}
    if further:
        return _by_entry(tensors, parameters, given, layout)
    if layout == "thd":
        for name in ("mask", "bias", "weights"):
            if name in tensors:
                raise ValueError(f"{name}: the layout thd has none")
        return _packed(tensors, parameters, given)
    if "cu_seqlens" in given:
        raise ValueError("cu_seqlens: belongs to layout='thd'")
    rank = len(tensors["q"].shape)
    if layout == "bnhd":
        for name in (*QUERIES, *KEYS):
            if name in tensors and len(tensors[name].shape) != 4:
                raise ValueError(f"{name}: has {len(tensors[name].shape)} axes, the layout bnhd has 4")
        parameters["attest.layout"] = "bnhd"
    if rank < 2 or len(tensors["k"].shape) != rank:
        raise ValueError(f"k: has {len(tensors['k'].shape)} axes, q has {rank}; both have 2, 3 or 4")
    axis = 1 if layout == "bnhd" else rank - 2
    parameters |= band_of(*_band(given), tensors["q"].shape[axis], tensors["k"].shape[axis])
    return Problem(tensors, parameters, FLOATING[tensors["q"].dtype])


def _band(given: Mapping[str, Any]) -> tuple[str | bool | None, Sequence[int] | None, int | None]:
    return given.get("causal"), given.get("window"), given.get("diagonal")


def _optional(array: Any, name: str) -> Tensor:
    return _mask(array, name) if name in BYTES else floating(array, name) if name in FLOATS else whole(array, name)


def _mask(mask: Any, name: str) -> Tensor:
    part = host(mask, name)
    if part.dtype in FLOATING:
        instead = " (true = attend); if its values are added to the scores, pass it as bias" if name == "mask" else ""
        raise TypeError(f"{name}: has the type {part.dtype}, expected Booleans{instead}")
    if part.dtype == "U8":
        return part
    return Tensor(part.data != 0, "BOOL")


def _number(value: Any, name: str) -> str:
    """A number as a file says it."""
    if name not in REALS:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name}: is {value!r}, expected a whole number")
        return str(int(value))
    try:
        return float(value).hex()
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name}: is {value!r}, expected a number") from None


def band_of(causal: str | bool | None, window: Sequence[int] | None, diagonal: int | None, n: int,
            m: int) -> dict[str, str]:
    """The metadata of the band: −left <= j − (i + diagonal) <= right.

    causal is "top-left" (j <= i), "bottom-right" (j <= i + m − n), or True where n = m, so that both are one; window is
    (left, right), inclusive, −1 unbounded, around that diagonal or `diagonal`.

    >>> band_of("bottom-right", None, None, 2, 5)
    {'diagonal': '3', 'left': '-1', 'right': '0'}
    """
    if not among(causal, (None, False, True, *CORNERS)):
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
            raise ValueError(f"window: n is {n} and m is {m}; say the diagonal that it lies around: diagonal=0, or m "
                             "- n")
    if causal:
        right = 0
    if (left, right) == (-1, -1):
        return {}
    if diagonal is None:
        diagonal = m - n if causal == "bottom-right" else 0
    elif isinstance(causal, str):
        raise ValueError("diagonal: causal says it already; give one of them")
    return {"diagonal": str(int(diagonal)), "left": str(left), "right": str(right)}


def _offsets_by_entry(given: Mapping[str, Any]) -> dict[str, Any]:
    """The offsets that cu_seqlens says, by name."""
    if "cu_seqlens" not in given:
        return {}
    said = {name: of for name, of in zip(("q_offsets", "k_offsets"), _pair(given["cu_seqlens"])) if of is not None}
    for name in said:
        if name in given:
            raise ValueError(f"{name}: cu_seqlens says it already; give one of them")
    return said


def _by_entry(tensors: dict[str, Tensor], parameters: dict[str, str], given: Mapping[str, Any], layout: str) -> Problem:
    """One problem, as the file format has it. What does not fit together is the program's to say."""
    if layout == "thd" and "q_offsets" not in tensors and "k_offsets" not in tensors:
        raise ValueError("cu_seqlens: the layout thd needs (offsets of the queries, offsets of the keys)")
    paged = "block_table" in tensors
    kv_layout = given.get("kv_layout", "hnd" if layout == "bhnd" else "nhd")
    if not among(kv_layout, ("hnd", "nhd")):
        raise ValueError(f"kv_layout: is {kv_layout!r}, expected 'hnd' or 'nhd'")
    if paged:
        parameters["attest.kv_layout"] = kv_layout
    rows = layout
    if layout == "bnhd" and any(name in tensors and len(tensors[of].shape) == 3
                                for name, of in (("q_offsets", "q"), ("k_offsets", "k"))):
        rows = "thd"
    if rows == "thd":  # where a file has the dense ones as [b, h, n, d]
        for name in (*QUERIES, *(() if paged else KEYS)):
            if name in tensors and len(tensors[name].shape) == 4:
                tensors[name] = Tensor(swapped(tensors[name].data), tensors[name].dtype)
    if rows != "bhnd":
        parameters["attest.layout"] = rows
    return Problem(tensors, parameters | _band_by_entry(given, tensors, rows), FLOATING[tensors["q"].dtype])


def _band_by_entry(given: Mapping[str, Any], tensors: Mapping[str, Tensor], layout: str) -> dict[str, str]:
    """The band, with its corner at the corner of each entry."""
    causal, window, diagonal = _band(given)
    align = given.get("align")
    if not among(align, (None, *CORNERS)):
        raise ValueError(f"align: is {align!r}, expected 'top-left' or 'bottom-right'")
    if align is not None and isinstance(causal, str) and causal != align:
        raise ValueError(f"align: is {align!r}, and causal is {causal!r}; give one of them")
    by_entry = any(name in tensors for name in ("q_lengths", "k_lengths", "q_offsets", "k_offsets", "block_table"))
    if align is None and not by_entry:  # all entries are of one size
        axis = 1 if layout == "bnhd" else len(tensors["q"].shape) - 2
        return band_of(causal, window, diagonal, tensors["q"].shape[axis], tensors["k"].shape[axis])
    corner = align or (causal if isinstance(causal, str) else None)
    if corner is None and (causal or window is not None) and diagonal is None:
        raise ValueError(f"{'causal' if causal else 'window'}: say the corner of each entry: "
                         + ("'top-left' or 'bottom-right'" if causal else "align='top-left' or 'bottom-right'"))
    band = band_of(bool(causal), window, diagonal or 0, 0, 0)
    return {**band, "align": corner} if band and corner else band


def whole(given: Any, name: str) -> Tensor:
    """Whole numbers, as int32 or int64: a file has no others."""
    if isinstance(given, (list, tuple)):
        try:
            given = np.asarray(given)
        except ValueError as why:
            raise ValueError(f"{name}: {why}") from why
    part = host(given, name)
    if part.dtype in FLOATING or part.dtype == "BOOL":
        raise TypeError(f"{name}: has the type {part.dtype}, expected whole numbers")
    return part if part.dtype in ("I32", "I64") else Tensor(part.data.astype(np.int64), "I64")


def _packed(tensors: dict[str, Tensor], parameters: dict[str, str], given: Mapping[str, Any]) -> Problem:
    """A problem for each sequence of [sum of n, h, d], named by its number."""
    pair = _pair(given.get("cu_seqlens"))
    for role, tensor in tensors.items():
        if (axes := len(tensor.shape)) != (expected := 2 if role == "lse" else 3):
            raise ValueError(f"{role}: has {axes} axes, the layout thd has {expected}")
    of_q, of_k = (_offsets(one, tensors[role].shape[0]) for one, role in zip(pair, "qk"))
    if len(of_q) != len(of_k):
        raise ValueError(f"cu_seqlens: {len(of_q) - 1} sequences of queries, {len(of_k) - 1} of keys")
    if len(of_q) == 1:
        raise ValueError("cu_seqlens: there are no sequences")
    if (rows_of_v := tensors["v"].shape[0]) != of_k[-1]:
        raise ValueError(f"v: has {rows_of_v} rows, k has {of_k[-1]}")
    parts: dict[str, Tensor] = {}
    packed = []
    metadata = dict(parameters)
    for at in range(len(of_q) - 1):
        prefix = f"{at:05}"
        rows = {"q": slice(of_q[at], of_q[at + 1]), "k": slice(of_k[at], of_k[at + 1])}
        packed.append((prefix, rows["q"], rows["k"]))
        # What an output has behind the last query stays with the last sequence: its shape is judged, too.
        last = at == len(of_q) - 2
        rows |= dict.fromkeys(("o", "lse", "do", "dq"), slice(of_q[at], None if last else of_q[at + 1]))
        rows |= dict.fromkeys(("dk", "dv"), slice(of_k[at], None if last else of_k[at + 1])) | {"v": rows["k"]}
        for role, part in tensors.items():
            if role == "lse":  # [h, sum of n]
                parts[f"{prefix}.lse"] = Tensor(part.data[:, rows["lse"]][None], part.dtype)
                continue
            of = part.data[rows[role]]
            parts[f"{prefix}.{role}"] = Tensor(swapped(of[None]), part.dtype)
        band = band_of(*_band(given), of_q[at + 1] - of_q[at], of_k[at + 1] - of_k[at])
        metadata |= {f"{prefix}.{name}": value for name, value in band.items()}
    return Problem(parts, metadata, FLOATING[tensors["q"].dtype], packed)


def _pair(cu_seqlens: Any) -> list[Any]:
    """The offsets of the queries, and of the keys."""
    expected = "(offsets of the queries, offsets of the keys)"
    if cu_seqlens is None:
        raise ValueError(f"cu_seqlens: the layout thd needs {expected}")
    try:
        pair = list(cu_seqlens)
    except TypeError:
        raise TypeError(f"cu_seqlens: is {cu_seqlens!r}, expected {expected}") from None
    if len(pair) != 2:
        raise ValueError(f"cu_seqlens: has {len(pair)} entries, expected {expected}")
    return pair


def _offsets(given: Any, rows: int) -> list[int]:
    part = whole(given, "cu_seqlens")
    if len(part.shape) != 1:
        raise ValueError(f"cu_seqlens: has offsets of {len(part.shape)} axes, expected a list of whole numbers")
    offsets: list[int] = part.data.tolist()
    if len(offsets) < 1 or offsets[0] != 0 or offsets[-1] != rows or sorted(offsets) != offsets:
        raise ValueError(f"cu_seqlens: {offsets} do not rise from 0 to {rows}, the rows that there are")
    return offsets
