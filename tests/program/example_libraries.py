"""examples/libraries/run_library.py asks what a file asks, and outlives what it asks. Skipped (77) without numpy or
safetensors.

example_libraries.py SCRIPT ATTEST
"""
import ast
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

script, attest = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
for example in script.parent.rglob("*.py"):
    ast.parse(example.read_text(), str(example))
missing = [name for name in ("numpy", "safetensors") if importlib.util.find_spec(name) is None]
if missing:
    print("skipped: this Python has no", ", ".join(missing))
    sys.exit(77)

LIBRARY = '''
import os, signal, time
import numpy as np
from problem import require

def answer(asked):
    """Attention by its formula in float64, which dies, hangs, fails, refuses and cheats where a test wants it."""
    require(asked.softcap == 0, "softcap")
    if asked.scale == -0.5:
        os.kill(os.getpid(), signal.SIGFPE)
    if asked.scale == 0:
        time.sleep(600)
    if asked.scale < 1:
        raise RuntimeError("no such scale\\nand more")
    if asked.lengths() is not None and asked.bias is None and not asked.banded:
        asked.q[:] = 0
    group = asked.q.shape[1] // asked.k.shape[1]
    given = asked.q, asked.k.repeat(group, 1), asked.v.repeat(group, 1)
    q, k, v = (np.nan_to_num(x.astype(np.float64), posinf=1e300) for x in given)
    scores = q @ k.swapaxes(2, 3) * asked.actual_scale
    visible = asked.visible()
    scores = scores + (0 if asked.bias is None else asked.bias)
    scores = scores if visible is None else np.where(visible, scores, -np.inf)
    highest = scores.max(-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isinf(highest), 0, highest))
    total = weights.sum(-1, keepdims=True)
    return (weights / np.where(total == 0, 1, total) @ v).astype(asked.q.dtype)
'''

with tempfile.TemporaryDirectory() as folder:
    def run(*command):
        return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False)

    def judged(variant, *options):
        ended = run(sys.executable, script, variant, "cases", "outputs", *options)
        assert ended.returncode == 0, ended.stderr
        ended = run(attest, "verify", "cases", "outputs", "--json", "-")
        assert ended.returncode in (0, 1, 3), ended.stderr
        from safetensors import safe_open
        with safe_open(pathlib.Path(folder) / "outputs", "np") as outputs:
            metadata = outputs.metadata() or {}
        status = {key.removesuffix(".attest.status"): text for key, text in metadata.items()}
        return {check["name"]: check for check in json.loads(ended.stdout)["checks"]}, status

    assert run(attest, "gen", "--quick", "--seed", "1", "--out", "cases").returncode == 0
    (pathlib.Path(folder) / "mine.py").write_text(LIBRARY)
    by_name, status = judged("mine.py:answer", "--seconds", "20")

    def said(text):
        return {name for name, words in status.items() if words == text}

    assert any("scale/negative" in name for name in said("killed: 8")), status
    assert any("scale/zero" in name for name in said("hung")), status
    assert said("error: RuntimeError: no such scale"), status
    assert said("error: RuntimeError: the call has changed q"), status
    assert sum("softcap/" in name for name in said("unsupported: softcap")) >= by_name["softcap"]["cases"], status
    for name in ("accuracy", "bands", "heads", "bias", "empty-rows", "windows"):
        assert by_name[name]["elements"] > 0 and by_name[name]["failed"] == 0, by_name[name]

    ended = run(sys.executable, script, "mine.py:answer", "cases", "outputs", "--device", "cuda")
    assert ended.returncode == 2 and "--device: is for the adapters" in ended.stderr, ended.stderr
    if importlib.util.find_spec("onnx") is not None:
        ended = run(sys.executable, script, "onnx", "cases", "outputs", "--device", "cuda")
        assert ended.returncode == 1 and "the adapter onnx has no such option" in ended.stderr, ended.stderr
    if importlib.util.find_spec("torch") is not None:
        ended = run(sys.executable, script, "pytorch", "cases", "outputs", "--device", "nowhere")
        assert ended.returncode == 1 and ended.stderr.startswith("--device nowhere: "), ended.stderr
        by_name, status = judged("pytorch-math")
        for name in ("accuracy", "bands", "masks", "heads", "bias", "scale"):
            assert by_name[name]["cases"] > by_name[name]["unsupported"] and by_name[name]["failed"] == 0, by_name[name]
        assert by_name["softcap"]["unsupported"] == by_name["softcap"]["cases"]

    ended = run(sys.executable, script, "no-such-variant", "cases", "outputs")
    assert ended.returncode == 2 and "pytorch-flash" in ended.stderr, ended.stderr
print("1 passed, 0 failed")
