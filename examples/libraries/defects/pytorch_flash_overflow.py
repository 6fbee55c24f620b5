"""PyTorch, flash kernel on CPUs: the mean of 20 values of 1e38 is infinite, since it is divided last. Wanted: 1e38."""
import torch

q, k, v = torch.zeros(1, 1, 1, 8), torch.zeros(1, 1, 20, 8), torch.full((1, 1, 20, 8), 1e38)
print(torch.nn.functional.scaled_dot_product_attention(q, k, v)[0, 0, 0, 0].item())
