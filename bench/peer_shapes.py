"""The calls that bench/peers.py measures, and what is wanted of attest in each."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Shape:
    name: str
    heads: int
    n: int
    m: int
    d: int
    wanted: float  # attest over the best peer, warm
    causal: bool = False
    threads: int = 1
    kv_heads: int = 0  # 0: as many as heads
    bf16: bool = False
    by: str = ""  # attest's other arithmetics of bf16: its products of "dot" or "tiles"
    backward: bool = False  # dQ, dK and dV, beside O and LSE


SHAPES = [
    Shape("n=m=64 d=64", 8, 64, 64, 64, 1.25),
    Shape("n=m=512 d=64", 8, 512, 512, 64, 80 / 70),
    Shape("n=m=2048 d=64", 8, 2048, 2048, 64, 82 / 65),
    Shape("n=m=4096 d=64", 8, 4096, 4096, 64, 82 / 60),
    Shape("n=m=2048 d=128", 8, 2048, 2048, 128, 85 / 68),
    Shape("n=m=2048 d=32", 8, 2048, 2048, 32, 68 / 55),
    Shape("causal 2048 d=64", 8, 2048, 2048, 64, 72 / 45, causal=True),
    Shape("causal 2048 d=128", 8, 2048, 2048, 128, 76 / 52, causal=True),
    Shape("2 threads n=m=64 d=64", 8, 64, 64, 64, 1.1, threads=2),
    Shape("2 threads n=m=512 d=64", 8, 512, 512, 64, 1.1, threads=2),
    Shape("2 threads 2048 d=64", 8, 2048, 2048, 64, 80 / 63, threads=2),
    Shape("2 threads 2048 d=128", 8, 2048, 2048, 128, 1.1, threads=2),
    Shape("2 threads 2048 d=32", 8, 2048, 2048, 32, 1.1, threads=2),
    Shape("2 threads causal 2048 d=64", 8, 2048, 2048, 64, 70 / 46, causal=True, threads=2),
    Shape("decode m=4096 32 heads d=64", 32, 1, 4096, 64, 1.0),
    Shape("decode m=32768 1 head d=128", 1, 1, 32768, 128, 1.0),
    Shape("decode m=4096 32 heads on 8 d=128", 32, 1, 4096, 128, 1.0, kv_heads=8),
    Shape("decode m=256 8 heads d=64", 8, 1, 256, 64, 1.0),
    Shape("2 threads decode m=4096 32 heads d=64", 32, 1, 4096, 64, 1.0, threads=2),
    Shape("2 threads decode m=32768 1 head d=128", 1, 1, 32768, 128, 1.1, threads=2),
    Shape("2 threads decode m=4096 32 heads on 8 d=128", 32, 1, 4096, 128, 1.0, threads=2, kv_heads=8),
    Shape("bf16 n=m=2048 d=64", 8, 2048, 2048, 64, 1.0, bf16=True),
    *(Shape(f"bf16 {by} {name}", *size, 1.0, bf16=True, by=by, **more) for by in ("dot", "tiles")
      for name, size, more in (
        ("n=m=2048 d=64", (8, 2048, 2048, 64), {}),
        ("n=m=512 d=64", (8, 512, 512, 64), {}),
        ("n=m=64 d=64", (8, 64, 64, 64), {}),
        ("causal 2048 d=64", (8, 2048, 2048, 64), {"causal": True}),
        ("decode m=4096 32 heads d=64", (32, 1, 4096, 64), {}),
        ("2 threads 2048 d=64", (8, 2048, 2048, 64), {"threads": 2}),
    )),
    Shape("bf16 decode m=4096 32 heads d=64", 32, 1, 4096, 64, 1.0, bf16=True),
    Shape("bf16 decode m=32768 1 head d=128", 1, 1, 32768, 128, 1.0, bf16=True),
    Shape("bf16 2 threads decode m=4096 32 heads d=64", 32, 1, 4096, 64, 1.0, threads=2, bf16=True),
    *(Shape(f"backward {'causal ' if causal else ''}{n} d={d}", 8, n, n, d, 1.2, causal=causal, backward=True)
      for causal in (False, True) for d in (64, 128) for n in (512, 2048, 4096)),
    Shape("backward 2 threads 2048 d=64", 8, 2048, 2048, 64, 1.2, threads=2, backward=True),
]
