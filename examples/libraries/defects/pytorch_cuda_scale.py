"""PyTorch on a GPU, flash and cuDNN: a scale of 0 or below it answers NaN. Wanted: 1, since all rows of V are ones."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

q, k, v = (torch.ones(1, 1, n, 64, dtype=torch.bfloat16, device="cuda") for n in (4, 8, 8))
for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
    for scale in (0.125, 0.0, -0.125):
        with sdpa_kernel(backend):
            o = torch.nn.functional.scaled_dot_product_attention(q, k, v, scale=scale)
        print(backend.name, scale, o[0, 0, 0, 0].item())
