"""PyTorch, flash kernel on CPUs: a query of NaN answers 0 where there are fewer than 16 keys. Wanted: nan always."""
import torch

for keys in (1, 7, 15, 16, 33):
    q, k, v = torch.full((1, 1, 1, 8), torch.nan), torch.ones(1, 1, keys, 8), torch.ones(1, 1, keys, 8)
    print(keys, torch.nn.functional.scaled_dot_product_attention(q, k, v)[0, 0, 0, 0].item())
