"""JAX's attention on CPUs, with its LSE. Layout [b, n, h, d]."""
import jax
import numpy as np

from question import require


def call(attention, asked):
    require(asked.softcap == 0, "softcap")
    require(asked.square, "dv != d")
    causal = asked.causal()
    window = asked.window()
    window = window if window and min(window) >= 0 else None
    visible = asked.mask if causal or window else asked.visible()
    turned = (x.transpose(0, 2, 1, 3) for x in (asked.q, asked.k, asked.v))
    o, lse = attention(*turned, asked.bias, visible, scale=asked.scale, is_causal=causal, local_window_size=window,
                       return_residual=True)
    return np.asarray(o).transpose(0, 2, 1, 3), np.asarray(lse).transpose(0, 2, 1).astype(np.float32)


def eager(asked):
    return call(jax.nn.dot_product_attention, asked)


COMPILED = jax.jit(jax.nn.dot_product_attention, static_argnames=("scale", "is_causal", "local_window_size", "return_residual"))


def compiled(asked):
    return call(COMPILED, asked)
