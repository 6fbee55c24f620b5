"""The keywords by which callers say a problem: one table, of verify, assert_attention, reference and solve."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict

from ._parameters import GRADIENTS


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


class Gradients(TypedDict, total=False):
    """A recorded backward pass.

    do              [b, hq, n, dv]: the upstream gradient, beside which o and lse are what the kernel was handed
    dq, dk, dv      the gradients of sum(do·o), in the shapes of q, k and v
    dbias, dsink    in the shapes of bias and sink
    """

    do: Any
    dq: Any
    dk: Any
    dv: Any
    dbias: Any
    dsink: Any


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


class Judged(Keywords, Gradients, total=False):
    """The keywords of verify and assert_attention."""


def outputs_of(given: dict[str, Any], **outputs: Any) -> dict[str, Any]:
    """These outputs and, taken out of the keywords, what belongs to a backward pass; without what is None.

    Raises ValueError for what is not whole.
    """
    found = {**outputs, **{name: given.pop(name) for name in Gradients.__annotations__ if name in given}}
    found = {name: array for name, array in found.items() if array is not None}
    named = [name for name in GRADIENTS if name in found]
    if "do" not in found:
        if named:
            raise ValueError(f"{named[0]}: needs do, the upstream gradient")
        return {"o": None, **found}  # which the caller hears of
    if "dq" not in found:
        raise ValueError("dq: is missing beside do; of the other gradients any may be")
    if "weights" in found:
        raise ValueError("weights: a backward pass has none; judge them by a call without do")
    for name in ("dbias", "dsink"):
        if name in found and given.get(GRADIENTS[name]) is None:
            raise ValueError(f"{name}: there is no {GRADIENTS[name]}")
    return found
