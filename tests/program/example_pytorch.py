"""examples/verify_pytorch.py and record_pytorch.py do what their first lines say. Skipped (77) where torch, numpy or
safetensors are missing.

example_pytorch.py SCRIPT ATTEST
"""
import ast
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

script, attest = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
for example in script.parent.glob("*.py"):
    ast.parse(example.read_text(), str(example))
missing = [name for name in ("torch", "numpy", "safetensors") if importlib.util.find_spec(name) is None]
if missing:
    print("skipped: this Python has no", ", ".join(missing))
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    def run(*command):
        return subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False)

    assert run(attest, "gen", "--quick", "--seed", "1", "--out", "cases").returncode == 0
    ended = run(sys.executable, script, "cases", "outputs")
    assert ended.returncode == 0, ended.stderr
    judged = run(attest, "verify", "cases", "outputs", "--json", "-")
    assert judged.returncode in (0, 1), judged.stderr
    report = json.loads(judged.stdout)
    by_name = {check["name"]: check for check in report["checks"]}
    for name in ("accuracy", "bands", "masks", "heads", "bias", "scale"):
        assert by_name[name]["cases"] > by_name[name]["unsupported"] and by_name[name]["failed"] == 0, by_name[name]
    assert by_name["softcap"]["unsupported"] == by_name["softcap"]["cases"]

    ended = run(sys.executable, script.with_name("record_pytorch.py"), "recorded")
    assert ended.returncode == 0, ended.stderr
    judged = run(attest, "verify", "recorded", "--json", "-")
    assert judged.returncode == 0, judged.stderr
    assert json.loads(judged.stdout)["summary"]["elements"] == 2 * 8 * 100 * 64
    assert run(attest, "verify", "recorded", "--right", "1").returncode == 1  # another mask than was applied
print("1 passed, 0 failed")
