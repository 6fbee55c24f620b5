"""Attention in Pallas: a block of queries over blocks of keys with a running maximum.

    attest audit pallas_flash:attention --arrays jax --causal bottom-right

runs it on the CPU by Pallas' interpreter; PALLAS_INTERPRET=0 compiles it for an accelerator. f32 and f16.
"""
import functools
import os

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl

BLOCK_M, BLOCK_N = 16, 32
INTERPRET = os.environ.get("PALLAS_INTERPRET", "1") != "0"


def flash(q_ref, k_ref, v_ref, o_ref, *, scale, causal, n, m):
    """One block of BLOCK_M queries of one head; k and v are padded to whole blocks."""
    q = q_ref[...]
    rows = pl.program_id(2) * BLOCK_M + jax.lax.broadcasted_iota(jnp.int32, (BLOCK_M, BLOCK_N), 0)

    def block(index, carry):
        top, total, o = carry
        start = index * BLOCK_N
        k, v = k_ref[pl.ds(start, BLOCK_N), :], v_ref[pl.ds(start, BLOCK_N), :]
        s = jnp.dot(q, k.T, preferred_element_type=jnp.float32, precision="highest") * scale
        keys = start + jax.lax.broadcasted_iota(jnp.int32, (BLOCK_M, BLOCK_N), 1)
        seen = keys < m
        if causal:
            seen &= keys <= rows + m - n
        s = jnp.where(seen, s, -jnp.inf)
        new_top = jnp.maximum(top, s.max(axis=1))
        shift = jnp.where(new_top == -jnp.inf, 0.0, new_top)  # no key so far: exp(-inf - 0) is 0
        p = jnp.exp(s - shift[:, None])
        rescale = jnp.exp(top - shift)
        total = total * rescale + p.sum(axis=1)
        o = o * rescale[:, None] + jnp.dot(p.astype(v.dtype), v, preferred_element_type=jnp.float32,
                                           precision="highest")
        return new_top, total, o

    d = q.shape[1]
    begin = jnp.full(BLOCK_M, -jnp.inf), jnp.zeros(BLOCK_M), jnp.zeros((BLOCK_M, d))
    _, total, o = jax.lax.fori_loop(0, k_ref.shape[0] // BLOCK_N, block, begin)
    o_ref[...] = jnp.where(total[:, None] == 0, 0.0, o / jnp.where(total == 0, 1.0, total)[:, None]).astype(o_ref.dtype)


@functools.partial(jax.jit, static_argnames=("scale", "causal"))
def padded(q, k, v, scale, causal):
    """The kernel on whole blocks of queries and keys, without the rows that were added."""
    b, heads, n, d = q.shape
    m, group = k.shape[2], heads // k.shape[1]
    q = jnp.pad(q, ((0, 0), (0, 0), (0, -n % BLOCK_M), (0, 0)))
    k, v = (jnp.pad(x, ((0, 0), (0, 0), (0, -m % BLOCK_N), (0, 0))) for x in (k, v))
    of_queries = pl.BlockSpec((None, None, BLOCK_M, d), lambda b, h, i: (b, h, i, 0))
    of_keys = pl.BlockSpec((None, None, k.shape[2], d), lambda b, h, i: (b, h // group, 0, 0))
    o = pl.pallas_call(functools.partial(flash, scale=scale, causal=causal, n=n, m=m),
                       grid=(b, heads, q.shape[2] // BLOCK_M), in_specs=[of_queries, of_keys, of_keys],
                       out_specs=of_queries, out_shape=jax.ShapeDtypeStruct(q.shape, q.dtype), interpret=INTERPRET)(
                           q, k, v)
    return o[:, :, :n]


def attention(q, k, v, *, scale=None, causal=False, enable_gqa=False):
    """q [b, h, n, d], k and v [b, g, m, d]; h is a multiple of g. Causal: query i sees the keys to i + m - n."""
    d = q.shape[3]
    if d not in (16, 32, 64, 128) or v.shape[3] != d or q.dtype not in (jnp.float32, jnp.float16):
        raise NotImplementedError("d is 16, 32, 64 or 128, and dv = d; f32 and f16")
    return padded(q, k, v, d**-0.5 if scale is None else float(scale), bool(causal))
