"""JAX's attention, with its LSE. Layout [b, n, h, d]."""
from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from .._call import Array, Call, require
from ._adapter import Adapter, Answer

jax: Any = importlib.import_module("jax")

STATIC = ("scale", "is_causal", "local_window_size", "return_residual")


@functools.cache
def compiled_function(attention: Any) -> Any:
    """The function under jax.jit, its parameters that are no arrays static. One, so that what was compiled is kept."""
    return jax.jit(attention, static_argnames=STATIC)


def jax_attention(jit: bool = False) -> Adapter:
    """jax.nn.dot_product_attention, op by op or compiled."""
    attention = compiled_function(jax.nn.dot_product_attention) if jit else jax.nn.dot_product_attention

    def returned(call: Call, of: Mapping[str, Any]) -> Any:
        require(call.softcap == 0, "softcap")
        require(call.square, "dv != d")
        require(jax.dtypes.canonicalize_dtype(call.q.dtype) == call.q.dtype, f"{call.dtype} (jax_enable_x64 is off)")
        causal = call.top_left
        window = call.window()
        window = window if window and min(window) >= 0 else None
        visible = call.mask if causal or window else call.visible()
        q, k, v = (of[role].swapaxes(1, 2) for role in "qkv")
        return attention(q, k, v, of.get("bias"), visible, scale=call.given_scale, is_causal=causal,
                         local_window_size=window, return_residual=call.want_lse)

    def answer(call: Call) -> Answer:
        given = {role: x for role in ("q", "k", "v", "bias") if (x := getattr(call, role)) is not None}
        answered = returned(call, given)
        o: Array = np.asarray(answered[0] if call.want_lse else answered).swapaxes(1, 2)
        if not call.want_lse:
            return o
        return o, np.asarray(answered[1]).swapaxes(1, 2).astype(np.float64 if call.dtype == "f64" else np.float32)

    return Adapter("jax-jit" if jit else "jax", answer, gives_lse=True,
                   attended=lambda call, of: returned(call, of).swapaxes(1, 2), arrays="jax")
