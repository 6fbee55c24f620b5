"""PyTorch on a GPU, memory-efficient, f32: a key of infinity whose score is -inf answers NaN. Wanted: 1, without it."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

q, k, v = (torch.ones(1, 1, n, 64, device="cuda") for n in (1, 8, 8))
q[..., 0], k[0, 0, 3, 0] = -1, torch.inf
for backend in (SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
    with sdpa_kernel(backend):
        print(backend.name, torch.nn.functional.scaled_dot_product_attention(q, k, v)[0, 0, 0, 0].item())
