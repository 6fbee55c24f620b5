"""The numbers and the optional tensors of a problem: whoever has one or the other reads these rows.

problem/parameters.hpp and problem/optional_tensors.hpp are the same lists; docs/semantics.md states what each row
means.
"""
from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from ._tensor_file import Array

CORNERS = ("top-left", "bottom-right")  # the words of files and keywords for the values of align


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class Parameters:
    """The numbers of a problem. Each default asks for nothing."""

    scale: float | None = None  # None: 1/sqrt(d)
    softcap: float = 0.0  # 0: none
    diagonal: int = 0
    left: int = -1  # -1: unbounded
    right: int = -1
    dropout: float = 0.0
    block_q: int = 0
    block_k: int = 0
    align: int = 0  # 0: the diagonal as given; 1: + (keys - queries) of each entry


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class LaterTensors:
    """The tensors of a call of version 2 of the C interface: a call with none of them is one of version 1."""

    sink: Array | None = None  # one more score of each row, by query head; the type of q or float32
    q_lengths: Array | None = None  # lengths, offsets and the table are int32
    k_lengths: Array | None = None
    q_offsets: Array | None = None
    k_offsets: Array | None = None
    block_table: Array | None = None  # its columns at or behind ceil(length / page) hold anything
    block_mask: Array | None = None  # Boolean, by blocks of block_q queries and block_k keys
    keep: Array | None = None  # Boolean: the weights that dropout keeps, which are divided by 1 - dropout


_ROWS = dataclasses.fields(Parameters)
NUMBERS = tuple(row.name for row in _ROWS)
REALS = frozenset(row.name for row in _ROWS if str(row.type).startswith("float"))  # the others are whole numbers
LATER = tuple(row.name for row in dataclasses.fields(LaterTensors))
BYTES = ("mask", "block_mask", "keep")  # Booleans here, any byte but 0 = true there
FLOATS = ("bias", "sink")  # what is in neither holds whole numbers: lengths, offsets and tables
# Gradients by the input that they are of; problem/operators.hpp has the same list.
GRADIENTS = {"dq": "q", "dk": "k", "dv": "v", "dbias": "bias", "dsink": "sink"}
QUERIES = ("q", "o", "do", "dq")  # what has rows of the queries, and of the keys
KEYS = ("k", "v", "dk", "dv")


def numbers_of(parameters: Parameters) -> dict[str, Any]:
    """The numbers by name."""
    return {name: getattr(parameters, name) for name in NUMBERS}


def metadata_of(parameters: Parameters) -> dict[str, str]:
    """The numbers as a file says them. What has its default is not said."""
    values = ((row, getattr(parameters, row.name)) for row in _ROWS)
    return {row.name: _said(row.name, value) for row, value in values if value != row.default}


def _said(name: str, value: Any) -> str:
    if name == "align":
        return CORNERS[value]
    return float(value).hex() if name in REALS else str(value)


def numbers_in(metadata: Mapping[str, str], prefix: str) -> dict[str, Any]:
    """The numbers that a file says of the problem `prefix`, or of all of its problems."""
    said = {name: metadata.get(f"{prefix}.{name}", metadata.get(name, "default")) for name in NUMBERS}
    return {name: _read(name, text) for name, text in said.items() if text != "default"}


def _read(name: str, text: str) -> Any:
    if name == "align":
        return CORNERS.index(text)
    if name not in REALS:
        return int(text)
    return float.fromhex(text) if "0x" in text else float(text)
