"""A library with an attention function that capture watches."""
from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest
from attention_formula import formula
from attest_attention import _hooks
from attest_attention._call import Call


def flash_attn_func(q: Any, k: Any, v: Any, dropout_p: float = 0.0, softmax_scale: Any = None, causal: bool = False,
                    window_size: tuple[int, int] = (-1, -1), softcap: float = 0.0, alibi_slopes: Any = None,
                    deterministic: bool = False, return_attn_probs: bool = False) -> Any:
    """What flash_attn.flash_attn_func computes, with arrays [b, n, h, d] of NumPy."""
    if q.shape[1] == 13:
        raise RuntimeError("thirteen queries")
    n, m = q.shape[1], k.shape[1]
    left, right = (window_size[0], 0) if causal else window_size
    q, k, v = (x.swapaxes(1, 2) for x in (q, k, v))
    scale = np.nan if softmax_scale is None else softmax_scale
    o, lse, _ = formula(Call(q, k, v, scale=scale, softcap=softcap, left=left, right=right, diagonal=m - n))
    o = o.swapaxes(1, 2).astype(q.dtype)
    return (o, lse.astype(np.float32), None) if return_attn_probs else o


def flash_attn_varlen_func(q: Any, k: Any, v: Any, cu_seqlens_q: Any, cu_seqlens_k: Any, max_seqlen_q: int,
                           max_seqlen_k: int, causal: bool = False) -> Any:
    """What flash_attn.flash_attn_varlen_func computes, with arrays [sum of n, h, d] of NumPy."""
    rows = zip(zip(cu_seqlens_q, cu_seqlens_q[1:]), zip(cu_seqlens_k, cu_seqlens_k[1:]))
    return np.concatenate([flash_attn_func(q[None, slice(*i)], k[None, slice(*j)], v[None, slice(*j)], causal=causal)[0]
                           for i, j in rows])


@pytest.fixture(autouse=True)
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module flash_attn, and a module that has imported its function by name."""
    made: Any = types.ModuleType("flash_attn")
    made.flash_attn_func, made.flash_attn_varlen_func = flash_attn_func, flash_attn_varlen_func
    user: Any = types.ModuleType("user_of_flash_attn")
    user.attention = flash_attn_func
    monkeypatch.setitem(sys.modules, "flash_attn", made)
    monkeypatch.setitem(sys.modules, "user_of_flash_attn", user)
    # The rest of the watched libraries may be imported by other tests of this process.
    monkeypatch.setattr(_hooks, "NAMED", [entry for entry in _hooks.NAMED if entry[0].startswith("flash_attn")])
    return made


def tensors(seed: int = 0, n: int = 5, m: int = 7, h: int = 2, d: int = 8, dtype: Any = np.float32) -> Any:
    random = np.random.default_rng(seed)
    return [random.standard_normal((1, rows, h, d)).astype(dtype) for rows in (n, m, m)]
