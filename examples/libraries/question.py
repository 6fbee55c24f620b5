"""One problem of a file that `attest gen` wrote, and the forms in which libraries take it. Needs numpy and safetensors.

q [b, hq, n, d]   k [b, hk, m, d]   v [b, hk, m, dv]   mask, bias [b|1, hq|1, n|1, m]
s_ij = scale · q_i·k_j, then softcap, then + bias_ij; key j is visible to query i where the mask is true and
-left <= j - (i + diagonal) <= right (-1: unbounded).
"""
import contextlib
import dataclasses

import numpy as np

with contextlib.suppress(ImportError):
    import ml_dtypes  # noqa: F401  gives numpy the type bfloat16: without it, files of that type have no answers


class Unsupported(Exception):
    """The library has no argument for something that the problem asks."""


def require(supported, what):
    if not supported:
        raise Unsupported(what)


@contextlib.contextmanager
def refusing(*exceptions, message=str):
    """Inside, these exceptions are how the library says that it does not take such arguments."""
    try:
        yield
    except exceptions as why:
        raise Unsupported(message(why)) from why


@dataclasses.dataclass
class Question:
    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    mask: np.ndarray | None
    bias: np.ndarray | None
    scale: float | None  # None: 1/sqrt(d)
    softcap: float
    diagonal: int
    left: int
    right: int
    threads: int  # 0: as many as the library likes

    @property
    def queries(self):
        return self.q.shape[2]

    @property
    def keys(self):
        return self.k.shape[2]

    @property
    def grouped(self):
        return self.q.shape[1] != self.k.shape[1]

    @property
    def square(self):
        return self.q.shape[3] == self.v.shape[3]

    @property
    def empty(self):
        return 0 in self.q.shape + self.k.shape + self.v.shape

    @property
    def banded(self):
        return (self.left, self.right) != (-1, -1)

    def causal(self, diagonal=0):
        """Whether the band is exactly j <= i + diagonal."""
        return (self.left, self.right) == (-1, 0) and self.diagonal == diagonal

    def causal_after_past(self):
        """Whether the band is causal for a cache of m - n keys before the n new ones: j <= i + m - n."""
        return self.keys >= self.queries and self.causal(self.keys - self.queries)

    def window(self):
        """(left, right) of a band around the main diagonal, no wider than n + m, or None."""
        widest = self.queries + self.keys
        return (min(self.left, widest), min(self.right, widest)) if self.banded and self.diagonal == 0 else None

    def band(self):
        """The keys inside the band, [n, m], or None where it is unbounded."""
        if not self.banded:
            return None
        n, m = self.queries, self.keys
        offset = np.arange(m) - np.arange(n)[:, None] - max(-n - m, min(self.diagonal, n + m))
        return ((self.left < 0) | (offset >= -self.left)) & ((self.right < 0) | (offset <= self.right))

    def visible(self):
        """Mask and band in one, [b|1, hq|1, n|1, m], or None where every key is visible."""
        band = self.band()
        if band is None or self.mask is None:
            return self.mask if band is None else band[None, None]
        return self.mask & band

    def additive(self, visible):
        """The bias, and -inf where `visible` is false: [b|1, hq|1, n|1, m], or None where there is neither."""
        if visible is None:
            return self.bias
        bias = np.zeros((), self.q.dtype) if self.bias is None else self.bias
        return np.where(visible, bias, -np.inf).astype(bias.dtype)

    def for_every_query(self, mask):
        """A mask or bias whose third axis is n, for libraries that do not broadcast over queries."""
        return None if mask is None else np.broadcast_to(mask, (*mask.shape[:2], self.queries, self.keys))

    def lengths(self):
        """How many keys each batch entry has, [b], where the mask hides nothing but the last keys of entries, else None."""
        if self.mask is None or self.mask.shape[1:3] != (1, 1) or not np.all(self.mask[..., :-1] >= self.mask[..., 1:]):
            return None
        return np.broadcast_to(self.mask.sum(axis=(1, 2, 3)), self.q.shape[:1])


def prefixes(names):
    """The problems of a file. The order of their names is the order in which they must be asked."""
    return sorted(name[:-2] for name in names if name.endswith(".q"))


def read(file, names, metadata, prefix):
    """The problem `prefix` of an open safetensors file."""
    def tensor(role):
        return file.get_tensor(f"{prefix}.{role}") if f"{prefix}.{role}" in names else None

    def parameter(name, default, parse):
        text = metadata.get(f"{prefix}.{name}", metadata.get(name, "default"))
        return default if text == "default" else parse(text)

    def real(text):
        return float.fromhex(text) if "0x" in text else float(text)

    expected = metadata.get(f"{prefix}.attest.expect", "").split()
    mask = tensor("mask")
    return Question(
        q=tensor("q"), k=tensor("k"), v=tensor("v"), mask=None if mask is None else mask != 0, bias=tensor("bias"),
        scale=parameter("scale", None, real), softcap=parameter("softcap", 0.0, real),
        diagonal=parameter("diagonal", 0, int), left=parameter("left", -1, int), right=parameter("right", -1, int),
        threads=int(expected[expected.index("threads") + 1]) if "threads" in expected else 0)
