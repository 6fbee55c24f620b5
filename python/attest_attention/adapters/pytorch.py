"""PyTorch's attention. Masks are Boolean, a mask beside a bias is -inf in the bias; nothing is padded or repeated."""
from __future__ import annotations

import contextlib
import functools
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._call import Call, Unsupported, require
from ._adapter import Adapter, Answer
from ._torch import array, tensor, tensors, torch, use_threads

functional: Any = importlib.import_module("torch.nn.functional")

# Which kernels scaled_dot_product_attention may choose: names of torch.nn.attention.SDPBackend.
BACKENDS = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "cudnn": "CUDNN_ATTENTION", "math": "MATH"}


@contextlib.contextmanager
def only(backend: str | None) -> Any:
    """Inside, scaled_dot_product_attention has this kernel alone, and a call that it does not take is unsupported."""
    if backend is None:
        yield
        return
    attention: Any = importlib.import_module("torch.nn.attention")
    try:
        with attention.sdpa_kernel(getattr(attention.SDPBackend, BACKENDS[backend])):
            yield
    except RuntimeError as why:
        if not any(words in str(why) for words in ("No available kernel", "No viable backend")):
            raise
        raise Unsupported(f"no {backend} kernel for this call") from why


def torch_sdpa(backend: str | None = None, device: str | None = None, function: Any = None) -> Adapter:
    """scaled_dot_product_attention with the kernel `backend`: flash, efficient, cudnn, math, or None for its own
    choice.

    is_causal is aligned at the top left. `function` is called instead where given: a compiled form of it.
    """
    if backend is not None and backend not in BACKENDS:
        raise ValueError(f"backend: there is no {backend!r}; there are {', '.join(BACKENDS)}, and None")

    def attended(call: Call, of: Mapping[str, Any]) -> Any:
        require(call.softcap == 0, "softcap")
        if backend == "flash":
            require(call.square, "dv != d")
            require(not call.empty, "empty tensors")
        use_threads(call)
        causal = call.top_left and call.mask is None and call.bias is None
        visible = None if causal else call.visible()
        mask = tensor(visible, device)
        if call.bias is not None:
            mask = of["bias"] if mask is None else torch.where(mask, of["bias"], -torch.inf)
        with only(backend):
            return (function or functional.scaled_dot_product_attention)(
                of["q"], of["k"], of["v"], attn_mask=mask, is_causal=causal, scale=call.given_scale,
                enable_gqa=call.grouped)

    def answer(call: Call) -> Answer:
        with torch.no_grad():
            return array(attended(call, tensors(call, device)))

    return Adapter("pytorch" + (f"-{backend}" if backend else ""), answer, attended=attended, arrays="torch",
                   device=device)


def torch_flex(compiled: bool = False, device: str | None = None, function: Any = None) -> Adapter:
    """flex_attention: softcap and bias as score_mod, mask and band as mask_mod, with the LSE.

    `compiled`: by torch.compile, which makes code anew for every kind of call, and for the CPU none with the LSE.
    `function`: what is called instead.
    """
    flex: Any = importlib.import_module("torch.nn.attention.flex_attention")
    attention = function or (torch.compile(flex.flex_attention) if compiled else flex.flex_attention)

    def returned(call: Call, of: Mapping[str, Any]) -> Any:
        require(not (compiled and call.want_lse and device in (None, "cpu")), "LSE")
        use_threads(call)
        shape = (call.b, call.hq, call.n, call.m)
        bias = of["bias"].expand(shape) if "bias" in of else None
        cap = torch.tensor(call.softcap, device=device)  # a float would be compiled anew for every value

        def score_mod(score: Any, b: Any, h: Any, i: Any, j: Any) -> Any:
            if call.softcap:
                score = cap * torch.tanh(score / cap)
            return score if bias is None else score + bias[b, h, i, j]

        block_mask = None
        if (visible := call.visible()) is not None:
            mask = tensor(np.broadcast_to(visible, shape), device)
            block_mask = flex.create_block_mask(lambda b, h, i, j: mask[b, h, i, j], *shape, device=device or "cpu")
        arguments = {"score_mod": score_mod if call.softcap or bias is not None else None, "block_mask": block_mask,
                     "scale": call.given_scale, "enable_gqa": call.grouped}
        if call.want_lse:
            arguments["return_aux"] = flex.AuxRequest(lse=True)
        return attention(of["q"], of["k"], of["v"], **arguments)

    def answer(call: Call) -> Answer:
        with torch.no_grad():
            found = returned(call, tensors(call, device))
        if not call.want_lse:
            return array(found)
        o, aux = found
        if aux.lse is None:
            raise RuntimeError("flex_attention returned no LSE, which return_aux asked for")
        return array(o), array(aux.lse)

    return Adapter("pytorch-flex" + ("-compiled" if compiled else ""), answer, gives_lse=True, attended=returned,
                   arrays="torch", device=device)


def torch_mha(device: str | None = None) -> Adapter:
    """torch.nn.MultiheadAttention whose projections are identities, with the weights of every head.

    A projection by the identity is exact for finite numbers alone, since 0 · inf is NaN: calls with others are
    unsupported.
    """

    @functools.cache
    def module(heads: int, size: int, dtype: Any) -> Any:
        made = torch.nn.MultiheadAttention(heads * size, heads, bias=False, batch_first=True, device=device,
                                           dtype=dtype).eval()
        identity = torch.eye(heads * size, device=device, dtype=dtype)
        with torch.no_grad():
            made.in_proj_weight.copy_(torch.cat([identity] * 3))
            made.out_proj.weight.copy_(identity)
        return made

    def answer(call: Call) -> Answer:
        require(call.softcap == 0, "softcap")
        require(not call.grouped, "grouped heads")
        require(call.square, "dv != d")
        require(call.given_scale is None, "scale")
        require(call.hq > 0 and call.d > 0, "no heads or no dimensions")
        require(all(bool(np.isfinite(x).all()) for x in (call.q, call.k, call.v)), "numbers that are not finite")
        use_threads(call)
        shape = (call.b, call.hq, call.n, call.m)
        visible = call.visible()
        # True in a Boolean mask is a key that is hidden.
        mask = (None if visible is None else ~visible) if call.bias is None else call.additive(visible)
        if mask is not None:
            mask = np.broadcast_to(mask, shape).reshape(-1, call.n, call.m)
        q, k, v = (tensor(x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1), device)
                   for x in (call.q, call.k, call.v))
        with torch.no_grad():
            o, weights = module(call.hq, call.d, q.dtype)(
                q, k, v, attn_mask=tensor(mask, device), need_weights=call.want_weights, average_attn_weights=False)
        o = array(o).reshape(call.b, call.n, call.hq, call.dv).swapaxes(1, 2)
        return (o, None, array(weights)) if call.want_weights else o

    return Adapter("pytorch-mha", answer, gives_weights=True)
