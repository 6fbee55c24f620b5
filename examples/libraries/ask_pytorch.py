"""PyTorch's attention on CPUs. Masks are booleans, a mask beside a bias is -inf in the bias; nothing is padded or repeated."""
import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.flex_attention import AuxRequest, create_block_mask, flex_attention
from torch.nn.functional import scaled_dot_product_attention

from question import require

DEFAULT_THREADS = torch.get_num_threads()


def tensor(array):
    if array is None:
        return None
    array = np.ascontiguousarray(array)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def array(tensor, like):
    return tensor.contiguous().view(torch.uint16).numpy().view(like) if tensor.dtype == torch.bfloat16 else tensor.numpy()


def default(asked):
    """scaled_dot_product_attention, which chooses its kernel. is_causal is aligned at the top left."""
    require(asked.softcap == 0, "softcap")
    torch.set_num_threads(asked.threads or DEFAULT_THREADS)
    causal = asked.causal() and asked.mask is None and asked.bias is None
    visible = None if causal else asked.visible()
    mask = visible if asked.bias is None else asked.additive(visible)
    with torch.no_grad():
        o = scaled_dot_product_attention(tensor(asked.q), tensor(asked.k), tensor(asked.v), attn_mask=tensor(mask),
                                         is_causal=causal, scale=asked.scale, enable_gqa=asked.grouped)
    return array(o, asked.q.dtype)


def flash(asked):
    require(asked.square, "dv != d")
    require(not asked.empty, "empty tensors")
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        return default(asked)


def math(asked):
    with sdpa_kernel(SDPBackend.MATH):
        return default(asked)


def flex(asked):
    """flex_attention without torch.compile: softcap and bias as score_mod, mask and band as mask_mod; with the LSE."""
    torch.set_num_threads(asked.threads or DEFAULT_THREADS)
    shape = (*asked.q.shape[:3], asked.keys)
    q, k, v = map(tensor, (asked.q, asked.k, asked.v))
    bias = None if asked.bias is None else tensor(asked.bias).expand(shape)

    cap = torch.tensor(asked.softcap)  # a float would be compiled anew for every value

    def score_mod(score, b, h, i, j):
        if asked.softcap:
            score = cap * torch.tanh(score / cap)
        return score if bias is None else score + bias[b, h, i, j]

    block_mask = None
    if (visible := asked.visible()) is not None:
        mask = tensor(np.broadcast_to(visible, shape))
        block_mask = create_block_mask(lambda b, h, i, j: mask[b, h, i, j], *shape, device="cpu")
    with torch.no_grad():
        o, aux = flex_attention(q, k, v, score_mod=score_mod if asked.softcap or bias is not None else None,
                                block_mask=block_mask, scale=asked.scale, enable_gqa=asked.grouped,
                                return_aux=AuxRequest(lse=True))
    return array(o, asked.q.dtype), aux.lse.numpy()
