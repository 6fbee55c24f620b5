"""PyTorch, flash kernel on CPUs: a score of +inf makes O nan, and dV 0 at other keys. Wanted: nan, as math has it."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.MATH):
    q, k, v = (torch.ones(1, 1, n, 8, requires_grad=True) for n in (1, 16, 16))
    k.data[0, 0, 15] = torch.inf
    with sdpa_kernel(backend):
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v)
    dv, = torch.autograd.grad(o.sum(), v)
    print(backend.name, "o", o[0, 0, 0, 0].item(), "dv", dv[0, 0, ::15, 0].tolist())
