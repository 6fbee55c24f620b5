"""The package flash_attn (FlashAttention 2), on a GPU, in bf16 and f16, with the LSE. Layout [b, n, h, d]."""
from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from .._call import Call, require
from ._adapter import Adapter, Answer
from ._torch import array, tensors, torch


def window_of(call: Call) -> tuple[bool, tuple[int, int]]:
    """(causal, window_size) for the band of the call; both are aligned to the last key, from release 2.1 on.

    Raises Unsupported where the band has another diagonal than m - n.
    """
    if not call.banded:
        return False, (-1, -1)
    require(call.diagonal == call.m - call.n, "a band that does not end at the last key")
    if (call.left, call.right) == (-1, 0):
        return True, (-1, -1)
    window = call.window(call.m - call.n)
    assert window is not None
    return False, window


def flash_attn(device: str = "cuda", function: Any = None) -> Adapter:
    """flash_attn.flash_attn_func, or what `function` calls with the same arguments."""
    attention = function or importlib.import_module("flash_attn").flash_attn_func

    def returned(call: Call, of: Mapping[str, Any]) -> Any:
        require(call.dtype in ("bf16", "f16"), "types other than bf16 and f16")
        require(call.mask is None, "mask")
        require(call.bias is None, "bias")
        require(call.square, "dv != d")
        causal, window = window_of(call)
        return attention(*(of[role].swapaxes(1, 2).contiguous() for role in "qkv"), softmax_scale=call.given_scale,
                         causal=causal, window_size=window, softcap=call.softcap, return_attn_probs=call.want_lse)

    def answer(call: Call) -> Answer:
        with torch.no_grad():
            answered = returned(call, tensors(call, device))
        o = array(answered[0] if call.want_lse else answered).swapaxes(1, 2)
        return (o, array(answered[1])) if call.want_lse else o

    return Adapter("flash-attn", answer, gives_lse=True, attended=lambda call, of: returned(call, of).swapaxes(1, 2),
                   arrays="torch", device=device)
