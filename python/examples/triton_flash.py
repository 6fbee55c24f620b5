"""Attention in Triton: one pass over the keys with a running maximum, as FlashAttention-2 has it.

    TRITON_INTERPRET=1 attest audit triton_flash:attention --arrays torch --causal bottom-right

runs it on the CPU, without the variable on a GPU (`--device cuda`). f32 and f16.
"""
import torch
import triton
import triton.language as tl

BLOCK_M, BLOCK_N = 16, 32


@triton.jit
def flash(Q, K, V, O, stride_qb, stride_qh, stride_qn, stride_kb, stride_kh, stride_kn, stride_vb, stride_vh, stride_vn,
          stride_ob, stride_oh, stride_on, heads, group, n, m, scale, CAUSAL: tl.constexpr, D: tl.constexpr,
          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """One block of BLOCK_M queries of one head. Columns have stride 1."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    b, h = tl.program_id(1) // heads, tl.program_id(1) % heads
    cols, x = tl.arange(0, BLOCK_N), tl.arange(0, D)
    q = tl.load(Q + b * stride_qb + h * stride_qh + rows[:, None] * stride_qn + x[None, :],
                mask=rows[:, None] < n, other=0.0)
    k_head = K + b * stride_kb + (h // group) * stride_kh
    v_head = V + b * stride_vb + (h // group) * stride_vh
    top = tl.full([BLOCK_M], float("-inf"), tl.float32)  # the running maximum of the scores
    total = tl.zeros([BLOCK_M], tl.float32)
    o = tl.zeros([BLOCK_M, D], tl.float32)
    for start in range(0, m, BLOCK_N):
        keys = start + cols
        k = tl.load(k_head + keys[:, None] * stride_kn + x[None, :], mask=keys[:, None] < m, other=0.0)
        v = tl.load(v_head + keys[:, None] * stride_vn + x[None, :], mask=keys[:, None] < m, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = keys[None, :] < m
        if CAUSAL:
            seen = seen & (keys[None, :] <= rows[:, None] + m - n)
        s = tl.where(seen, s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        shift = tl.where(new_top == float("-inf"), 0.0, new_top)  # no key so far: exp(-inf - 0) is 0
        p = tl.exp(s - shift[:, None])
        rescale = tl.exp(top - shift)
        total = total * rescale + tl.sum(p, 1)
        o = o * rescale[:, None] + tl.dot(p.to(v.dtype), v, input_precision="ieee")
        top = new_top
    o = tl.where(total[:, None] == 0, 0.0, o / tl.where(total == 0, 1.0, total)[:, None])
    tl.store(O + b * stride_ob + h * stride_oh + rows[:, None] * stride_on + x[None, :], o.to(O.dtype.element_ty),
             mask=rows[:, None] < n)


def attention(q, k, v, *, scale=None, causal=False, enable_gqa=False):
    """q [b, h, n, d], k and v [b, g, m, d]; h is a multiple of g. Causal: query i sees the keys to i + m - n."""
    d = q.shape[3]
    if d not in (16, 32, 64, 128) or v.shape[3] != d or q.dtype not in (torch.float32, torch.float16):
        raise NotImplementedError("d is 16, 32, 64 or 128, and dv = d; f32 and f16")
    q, k, v = (x if x.stride(3) == 1 else x.contiguous() for x in (q, k, v))
    o = torch.empty_like(q, memory_format=torch.contiguous_format)
    b, heads, n, _ = q.shape
    scale = d**-0.5 if scale is None else scale
    flash[triton.cdiv(n, BLOCK_M), b * heads](
        q, k, v, o, *q.stride()[:3], *k.stride()[:3], *v.stride()[:3], *o.stride()[:3], heads, heads // k.shape[1], n,
        k.shape[2], scale, CAUSAL=causal, D=d, BLOCK_M=BLOCK_M, BLOCK_N=BLOCK_N)
    return o
