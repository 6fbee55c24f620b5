"""PyTorch: a NaN in V at a key that the mask hides reaches the output, in every kernel. Wanted: 1.0."""
import torch
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

q, k, v = torch.ones(1, 1, 1, 8), torch.ones(1, 1, 3, 8), torch.ones(1, 1, 3, 8)
v[0, 0, 2] = torch.nan
mask = torch.tensor([[[[True, True, False]]]])
print(torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)[0, 0, 0, 0].item())
two_keys = create_block_mask(lambda b, h, i, j: j < 2, 1, 1, 1, 3, device="cpu")
print(flex_attention(q, k, v, block_mask=two_keys)[0, 0, 0, 0].item())
