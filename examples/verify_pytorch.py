#!/usr/bin/env python3
"""PyTorch's CPU attention under audit. Needs torch, numpy and safetensors.

    attest gen --out cases.safetensors
    python3 verify_pytorch.py cases.safetensors outputs.safetensors
    attest verify cases.safetensors outputs.safetensors --report report.html

Cases that scaled_dot_product_attention cannot express (softcap) or refuses get no output but a status: verify counts them as
unsupported. The names of the problems are in the order in which they must be asked.
"""
import sys

import torch
from safetensors import safe_open
from safetensors.torch import save_file


def visible(n, m, diagonal, left, right):
    """Key j is inside the band of query i iff -left <= j - (i + diagonal) <= right; -1 = unbounded."""
    diagonal = max(-n - m, min(diagonal, n + m))  # beyond these nothing changes, and int64 overflows
    offset = torch.arange(m) - torch.arange(n)[:, None] - diagonal
    return ((left < 0) | (offset >= -left)) & ((right < 0) | (offset <= right))


def answer(get, meta):
    q, k, v, mask, bias = map(get, ("q", "k", "v", "mask", "bias"))
    diagonal, left, right = (int(meta(key)) for key in ("diagonal", "left", "right"))
    causal = meta("attest.as") == "causal-top-left"  # and no mask or bias
    if not causal and (left, right) != (-1, -1):
        band = visible(q.shape[2], k.shape[2], diagonal, left, right)
        mask = band if mask is None else mask & band
    if bias is not None:
        mask = bias if mask is None else bias.masked_fill(~mask, -torch.inf)
    scale = None if meta("scale") == "default" else float(meta("scale"))
    return torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=q.shape[1] != k.shape[1])


outputs, refused = {}, {}  # a refused case and why
with safe_open(sys.argv[1], "pt") as file:
    names, metadata = set(file.keys()), file.metadata()
    for case in sorted(name[:-2] for name in names if name.endswith(".q")):
        if float(metadata[f"{case}.softcap"]) != 0:
            refused[case] = "softcap"
            continue
        try:
            outputs[f"{case}.o"] = answer(lambda role: file.get_tensor(f"{case}.{role}") if f"{case}.{role}" in names else None,
                                          lambda key: metadata.get(f"{case}.{key}")).contiguous()
        except RuntimeError as error:
            refused[case] = str(error).splitlines()[0]
save_file(outputs, sys.argv[2], {f"{case}.attest.status": f"unsupported: {why}" for case, why in refused.items()})
print(f"torch {torch.__version__}: {len(outputs)} answers, {len(refused)} refused", file=sys.stderr)
for reason in sorted(set(refused.values())):
    print(f"  {sum(r == reason for r in refused.values())}: {reason}", file=sys.stderr)
