#!/usr/bin/env python3
"""A call of PyTorch's CPU attention: record_pytorch.py FILE, then attest verify FILE. Needs torch, safetensors."""
import sys

import torch
from safetensors.torch import save_file

q, k, v = (torch.randn(2, 8, n, 64) for n in (100, 300, 300))
o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
save_file({"q": q, "k": k, "v": v, "o": o}, sys.argv[1], {"diagonal": "0", "right": "0"})  # causal: j - i <= 0
