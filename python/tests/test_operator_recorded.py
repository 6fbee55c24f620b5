"""capture and calls with pages or sinks."""
from __future__ import annotations

import sys
import types
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from attest_attention import _hooks
from test_operator import head_major, normal, whole


def test_a_paged_call_is_recorded_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def flash_attn_varlen_func(q: Any, k: Any, v: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: int,
                               max_seqlen_k: int, causal: bool = False, block_table: Any = None) -> Any:
        o = kernels.entries(head_major(q), k.swapaxes(1, 2), v.swapaxes(1, 2), cu_seqlens_q=cu_seqlens_q, right=0,
                            align=1, seqused_k=np.diff(cu_seqlens_k), block_table=block_table)
        return o[0].swapaxes(0, 1)

    made: Any = types.ModuleType("flash_attn")
    made.flash_attn_varlen_func = flash_attn_varlen_func
    monkeypatch.setitem(sys.modules, "flash_attn", made)
    q, pool, table = normal(5, 4, 8), normal(7, 3, 2, 8), whole([[5, 1, -9], [0, 6, 99]])
    with attest.capture() as seen:
        made.flash_attn_varlen_func(q, pool, pool, whole([0, 2, 5]), whole([0, 4, 10]), 3, 6, causal=True,
                                    block_table=table)
    assert not seen.not_recorded and seen.calls[0].block_table is not None and seen.calls[0].align == 1
    assert seen.verify().verdict == "certified"


def test_sinks_of_transformers_are_recorded() -> None:
    query, module = normal(1, 4, 3, 8), types.SimpleNamespace(training=False, sinks=normal(4))
    (problem,) = _hooks.transformers_attention(module, query, query, query)
    assert problem.inputs["sink"] is module.sinks
    (problem,) = _hooks.transformers_attention(types.SimpleNamespace(training=False), query, query, query)
    assert "sink" not in problem.inputs
