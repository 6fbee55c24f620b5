"""PyTorch on a GPU, cuDNN: a Boolean mask adds -65504; a lower visible score loses to hidden keys. Wanted: 1."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

q, k, v = (torch.zeros(1, 1, n, 64, dtype=torch.bfloat16, device="cuda") for n in (4, 8, 8))
q[..., 0], k[0, 0, 0, 0], v[:] = 1000, -1000, -100  # the score of key 0 is -10^6, all others are 0
v[0, 0, 0] = 1
visible = torch.zeros(1, 1, 4, 8, dtype=torch.bool, device="cuda")
visible[..., 0] = True
for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.EFFICIENT_ATTENTION):
    with sdpa_kernel(backend):
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=visible, scale=1.0)
    print(backend.name, o[0, 0, 0, 0].item())
