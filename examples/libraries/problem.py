"""One problem of a file that `attest gen` wrote, as a call of the package in python/. Needs numpy and safetensors."""
import contextlib
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "python"))
with contextlib.suppress(ImportError):
    import ml_dtypes  # noqa: F401  gives numpy the type bfloat16: without it, files of that type have no answers

# For variants of their own files.
from attest_attention._call import LATER, Call, Unsupported, require  # noqa: E402,F401
from attest_attention._heeding import heeding  # noqa: E402,F401


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
    return Call(
        q=tensor("q"), k=tensor("k"), v=tensor("v"), mask=tensor("mask"), bias=tensor("bias"),
        **{role: tensor(role) for role in LATER}, dropout=parameter("dropout", 0.0, real),
        block_q=parameter("block_q", 0, int), block_k=parameter("block_k", 0, int),
        align=parameter("align", 0, ("top-left", "bottom-right").index),
        scale=parameter("scale", math.nan, real), softcap=parameter("softcap", 0.0, real),
        diagonal=parameter("diagonal", 0, int), left=parameter("left", -1, int), right=parameter("right", -1, int),
        threads=int(expected[expected.index("threads") + 1]) if "threads" in expected else 0)
