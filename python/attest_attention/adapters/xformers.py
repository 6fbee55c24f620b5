"""xFormers' memory_efficient_attention, with the LSE. Layout [b, n, h, d]; grouped heads are a fifth axis."""
from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .._call import Call, require
from ._adapter import Adapter, Answer
from ._torch import array, tensor, torch

OPERATORS = {"cutlass": "xformers.ops.fmha.cutlass", "flash": "xformers.ops.fmha.flash"}


def xformers_attention(operator: str | None = None, device: str = "cuda", ops: Any = None) -> Adapter:
    """memory_efficient_attention with the kernel `operator`: cutlass, flash, or None for its own choice.

    It says by NotImplementedError what its kernels do not take. `ops` stands for the module xformers.ops.
    """
    if operator is not None and operator not in OPERATORS:
        raise ValueError(f"operator: there is no {operator!r}; there are {', '.join(OPERATORS)}, and None")
    ops = ops or importlib.import_module("xformers.ops")
    kernel = None if operator is None else importlib.import_module(OPERATORS[operator]).FwOp

    def answer(call: Call) -> Answer:
        require(call.softcap == 0, "softcap")
        require(call.hk > 0, "no heads")
        q, k, v = (tensor(x.swapaxes(1, 2), device) for x in (call.q, call.k, call.v))
        masks = importlib.import_module("xformers.ops.fmha.attn_bias") if call.causal and call.mask is None else None
        bias: Any = None
        if call.bias is None and masks is not None:
            bias = masks.LowerTriangularMask() if call.top_left else masks.LowerTriangularFromBottomRightMask()
        elif (added := call.additive(call.visible())) is not None:
            bias = tensor(np.broadcast_to(added, (call.b, call.hq, call.n, call.m)), device).to(q.dtype)
        if call.grouped:
            group = call.hq // call.hk
            q = q.reshape(call.b, call.n, call.hk, group, call.d)
            k, v = (x.unsqueeze(3).expand(-1, -1, -1, group, -1) for x in (k, v))
            if isinstance(bias, torch.Tensor):
                bias = bias.reshape(call.b, call.hk, group, call.n, call.m)
        with torch.no_grad():
            if call.want_lse:
                o, lse = ops.memory_efficient_attention_forward_requires_grad(q, k, v, bias, scale=call.given_scale,
                                                                              op=kernel)
                lse = array(lse).reshape(call.b, call.hq, -1)[..., :call.n]  # some kernels pad its rows
            else:
                o = ops.memory_efficient_attention(q, k, v, bias, scale=call.given_scale,
                                                   op=None if kernel is None else (kernel, None))
        o = array(o).reshape(call.b, call.n, call.hq, call.dv).swapaxes(1, 2)
        return (o, lse) if call.want_lse else o

    return Adapter("xformers" + (f"-{operator}" if operator else ""), answer, gives_lse=True)
