#!/usr/bin/env python3
"""The attention of a sentence encoder, recorded while it runs and judged: capture_encoder.py [FILE]. Needs torch.

An encoder of the shape of all-MiniLM-L6 (6 layers, 12 heads, d = 32, widths 384 and 1536), its weights drawn, on
sentences of different lengths. attest records the calls of torch's attention function and judges every element of what
it returned, under the preset f32 and under the contract of PyTorch's CPU kernel, which is sharper.
"""
import contextlib
import pathlib
import sys

import torch
from torch import nn
from torch.nn import functional

ROOT = pathlib.Path(__file__).resolve().parents[1]
with contextlib.suppress(ImportError):
    import attest_attention  # noqa: F401  the installed package
if "attest_attention" not in sys.modules:  # else the package of this clone
    sys.path.insert(0, str(ROOT / "python"))
import attest_attention as attest  # noqa: E402

LAYERS, HEADS, WIDTH, INNER, WORDS, LONGEST = 6, 12, 384, 1536, 30522, 128


class Attention(nn.Module):
    """Q, K and V by one projection each, torch's attention under a padding mask, and the projection of its output."""

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.output = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x, present):
        b, n, _ = x.shape
        projected = (project(x) for project in (self.query, self.key, self.value))
        q, k, v = (y.view(b, n, HEADS, WIDTH // HEADS).transpose(1, 2) for y in projected)
        o = functional.scaled_dot_product_attention(q, k, v, attn_mask=present[:, None, None, :])
        return self.output(o.transpose(1, 2).reshape(b, n, WIDTH))


class Layer(nn.Module):
    """Attention and a perceptron, a residual and a norm after each."""

    def __init__(self):
        super().__init__()
        self.attention, self.norm_attention = Attention(), nn.LayerNorm(WIDTH)
        self.inner, self.outer, self.norm = nn.Linear(WIDTH, INNER), nn.Linear(INNER, WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x, present):
        x = self.norm_attention(x + self.attention(x, present))
        return self.norm(x + self.outer(functional.gelu(self.inner(x))))


class Encoder(nn.Module):
    """Words [b, n] and which of them are there [b, n] to sentences [b, WIDTH]: the mean over the words, of length 1."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LONGEST, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, words, present):
        x = self.norm(self.words(words) + self.places(torch.arange(words.shape[1])))
        for layer in self.layers:
            x = layer(x, present)
        there = present[:, :, None]
        return functional.normalize((x * there).sum(1) / there.sum(1), dim=1)


def main():
    torch.manual_seed(1)
    encoder = Encoder().eval()
    batches = []
    for lengths in ([12, 7, 30, 21], [64, 128, 90, 3], [5]):
        longest = max(lengths)
        batches.append((torch.randint(WORDS, (len(lengths), longest)),
                        torch.arange(longest) < torch.tensor(lengths)[:, None]))

    with torch.no_grad():
        alone = [encoder(*batch) for batch in batches]
        with attest.capture(encoder, calls=20) as seen:
            watched = [encoder(*batch) for batch in batches]
    changed = sum(not torch.equal(one, other) for one, other in zip(alone, watched))
    print(seen)
    print(f"{changed} of {len(batches)} batches of sentences changed by recording")

    reports = [seen.verify(contract, findings="")
               for contract in ("f32", ROOT / "contracts" / "pytorch-cpu-flash-f32.json")]
    for report in reports:
        print(report.sentence)
    if len(sys.argv) > 1:
        seen.save(sys.argv[1])
        print(f"attest verify {sys.argv[1]}")
    return 0 if all(reports) and not changed and len(seen.calls) == LAYERS * len(batches) else 1


if __name__ == "__main__":
    sys.exit(main())
