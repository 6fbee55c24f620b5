"""The keywords by which callers say a problem: one table, of verify, assert_attention, reference and solve."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict


class Further(TypedDict, total=False):
    """What version 2 of the C interface adds.

    sink            [hq] or [b|1, hq]: one more score of each row, by query head
    q_lengths, k_lengths    [b]: how many rows of its slot each entry has
    q_offsets, k_offsets    [b + 1]: where the entries of packed rows begin; with layout "thd" cu_seqlens says both
    block_table     [b, width]: k and v are pools of pages; kv_layout says in which order of axes
    kv_layout       "hnd" ([pages, hk, page, d]) or "nhd" ([pages, page, hk, d]); without it "nhd" unless the layout is
                    "bhnd"
    block_mask, block_q, block_k    which blocks of queries and keys are visible, and how large a block is
    keep, dropout   the weights that dropout keeps, and its probability
    align           "top-left" or "bottom-right": whether keys less queries of each entry are added to the diagonal
    """

    sink: Any
    q_lengths: Any
    k_lengths: Any
    q_offsets: Any
    k_offsets: Any
    block_table: Any
    block_mask: Any
    keep: Any
    dropout: float | None
    block_q: int | None
    block_k: int | None
    align: str | None
    kv_layout: str | None


class Keywords(Further, total=False):
    """All of them. None says the same as no keyword.

    mask, bias      [b|1, hq|1, n|1, m]: true = attend; numbers that are added to the scores
    causal          "top-left", "bottom-right", or True where n = m
    window          (left, right), inclusive, -1 unbounded, around the diagonal of causal or `diagonal`
    diagonal        an int: 0 is i = j
    scale, softcap  floats; without them 1/sqrt(d) and none
    layout          "bhnd" (without it), "bnhd" or "thd": the axes of q, k, v and o
    cu_seqlens      with "thd": the offsets of the queries and of the keys
    """

    mask: Any
    bias: Any
    causal: str | bool | None
    window: Sequence[int] | None
    diagonal: int | None
    scale: float | None
    softcap: float | None
    layout: str
    cu_seqlens: tuple[Any, Any] | None
