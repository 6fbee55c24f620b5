"""The Python blocks of README.md run, and the file that one writes is judged as the shell block below it says.

usage: readme_python_test.py ROOT ATTEST

What a machine of tests lacks is stood in for: a GPU by NumPy arrays, the reader's package by a NumPy function,
safetensors by the package's own writer. The block that needs PyTorch runs where PyTorch is installed.
"""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

import numpy as np

root, program = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
sys.path.insert(0, str(root / "python"))
import attest_attention as attest  # noqa: E402  # the folder above
from attest_attention import _tensor_file  # noqa: E402

README = (root / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```", README, re.M | re.S)
ON_A_GPU = 'arrays="torch", device="cuda"'


def attention(q, k, v, scale=None, diagonal=None):
    """[b, h, n, d], computed in float64; query i sees the keys to i + diagonal."""
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat(group, axis=1), v.repeat(group, axis=1)
    s = q @ k.swapaxes(-1, -2) * (1 / np.sqrt(q.shape[-1]) if scale is None else scale)
    if diagonal is not None:
        s = np.where(np.tril(np.ones(s.shape[-2:], bool), diagonal), s, -np.inf)
    top = s.max(axis=-1, keepdims=True, initial=-np.inf)
    p = np.exp(s - np.where(np.isneginf(top), 0, top))
    total = p.sum(axis=-1, keepdims=True)
    return p / np.where(total == 0, 1, total) @ v


def flash(q, k, v, *, scale=None, causal=False):
    """[b, n, h, d], with the mistake of a causal mask that is aligned top-left."""
    o = attention(*(x.swapaxes(1, 2) for x in (q, k, v)), scale, 0 if causal else None)
    return o.swapaxes(1, 2).astype(q.dtype)


def main():
    assert len(BLOCKS) == 3, f"{len(BLOCKS)} Python blocks"
    audited, adapter, recorded = BLOCKS
    assert ON_A_GPU in audited and "my_package" in audited
    package = sys.modules["my_package"] = types.ModuleType("my_package")
    package.flash = flash
    names = {}
    audited = audited.replace(ON_A_GPU, 'arrays="numpy", seed=1')
    if not importlib.util.find_spec("ml_dtypes"):  # NumPy has no bfloat16
        audited = audited.replace("bf16", "f32")
    exec(compile(audited, "README.md", "exec"), names)
    assert names["report"].verdict == "refuted", names["report"]

    if importlib.util.find_spec("torch"):
        exec(compile(adapter, "README.md", "exec"), {"attest": attest})
        kept = attest.audit("pytorch-math", contract=root / "contracts/pytorch-cpu-math-f32.json")
        assert kept.verdict == "certified", kept
    else:
        assert (root / "contracts" / (re.search(r'contract="([^"]+)"', adapter).group(1) + ".json")).is_file()
        print("no PyTorch: the block of its adapter is not run")

    def save_file(tensors, path, metadata):
        _tensor_file.write(path, {name: _tensor_file.tensor(x) for name, x in tensors.items()}, metadata)

    fake = sys.modules["safetensors.torch"] = types.ModuleType("safetensors.torch")
    sys.modules["safetensors"] = types.ModuleType("safetensors")
    fake.save_file = save_file
    draw = np.random.default_rng(1)
    q, k, v = (draw.standard_normal((1, 2, n, 8)).astype(np.float32) for n in (3, 5, 5))
    o = attention(q, k, v, None, 0).astype(np.float32)
    attest.assert_attention(o, q, k, v, causal="top-left")
    exec(compile(recorded, "README.md", "exec"),
         {name: np.ascontiguousarray(x.swapaxes(1, 2)) for name, x in {"q": q, "k": k, "v": v, "o": o}.items()})
    words = re.search(r"^\./attest (verify .*?) *#", README, re.M).group(1).split()
    said = subprocess.run([program, *words], capture_output=True, text=True)
    assert said.returncode == 0 and "CERTIFIED" in said.stdout, said
    said = subprocess.run([program, *words[:2]], capture_output=True, text=True)  # every key is visible
    assert said.returncode == 1, said


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    main()
