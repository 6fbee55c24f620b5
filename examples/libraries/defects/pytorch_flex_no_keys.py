"""PyTorch FlexAttention: no keys is an IndexError. scaled_dot_product_attention answers 0. Wanted: twice the same."""
import torch
from torch.nn.attention.flex_attention import flex_attention

q, k = torch.ones(1, 1, 2, 8), torch.ones(1, 1, 0, 8)
print(torch.nn.functional.scaled_dot_product_attention(q, k, k)[0, 0, 0, 0].item())
print(flex_attention(q, k, k)[0, 0, 0, 0].item())
