"""The blocks of the pages for users do what the pages say: docs/first_kernel.md, choose_a_contract.md, gpu.md.

usage: pages_test.py ROOT ATTEST CC

Kernels are compiled and audited, and commands without placeholders are run. Blocks of Python are read, and each call of
the package must have the keywords that its function takes. The blocks for a machine without a GPU run where PyTorch and
Triton, or JAX, are installed. The blocks for a GPU then run on the CPU, with a stand-in for the launched kernel.
"""
import ast
import importlib.util
import inspect
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

root, program, compiler = pathlib.Path(sys.argv[1]).resolve(), str(pathlib.Path(sys.argv[2]).resolve()), sys.argv[3]
sys.path.insert(0, str(root / "python"))


def blocks(page: str, language: str) -> list[str]:
    found = re.findall(rf"^```{language}\n(.*?)^```", (root / "docs" / page).read_text(encoding="utf-8"), re.M | re.S)
    assert found, f"docs/{page} has no block of {language}"
    return found


def attest(status: int, *words: str) -> str:
    done = subprocess.run([program, *words], capture_output=True, text=True)
    assert done.returncode == status, f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def commands(page: str) -> list[list[str]]:
    lines = "".join(blocks(page, "sh")).replace("\\\n", " ").splitlines()
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("attest ")]


def first_kernel() -> None:
    source, mended = blocks("first_kernel.md", "c")
    wrong = re.compile(r"if \(c->right >= 0\) keys = i \+ 1; .*\n")
    assert wrong.search(source), "the mistake of docs/first_kernel.md"
    audit = commands("first_kernel.md")[0]
    for text, status, says in ((source, 1, "the band is aligned top-left"),
                               (wrong.sub(lambda _: mended, source), 0, "CERTIFIED on its domain")):
        pathlib.Path("kernel.c").write_text(text, encoding="utf-8")
        subprocess.run([compiler, "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-O2",
                        f"-I{root}/problem/abi", "kernel.c", "-o", "libkernel.so", "-lm"], check=True)
        draws = [] if status else ["--draws", "0"]  # a wrong kernel is not drawn for until the time ends
        assert says in " ".join(attest(status, *audit, *draws).split()), says


def choose_a_contract() -> None:
    written = json.loads(blocks("choose_a_contract.md", "json")[0])
    pathlib.Path("mine.json").write_text(json.dumps(written), encoding="utf-8")
    asked = commands("choose_a_contract.md")
    assert len(asked) == 3
    for words in asked:
        attest(0, *words)
    names = attest(0, "list", "contracts")
    page = (root / "docs/choose_a_contract.md").read_text(encoding="utf-8")
    for name in re.findall(r"`((?:merge-)?(?:f|bf)(?:16|32|64)[a-z0-9-]*)`", page):
        assert re.search(rf"^{name} ", names, re.M), f"there is no contract {name}"
    said = json.loads(attest(0, "list", "contracts", "--json"))[0]["conventions"]
    listed = set(re.findall(r"^\| `([a-z_]+)` \|", page, re.M))
    assert set(said) == listed, f"conventions: {set(said) ^ listed}"


class Launched:
    """Stands for a kernel that the page does not show: my_kernel[grid](q, k, v, o, strides…, n, m, scale, CAUSAL=…)."""

    def __getitem__(self, grid: object) -> "Launched":
        return self

    def __call__(self, q, k, v, o, *numbers, CAUSAL, BLOCK) -> None:  # type: ignore[no-untyped-def]
        import torch
        n, m, scale = numbers[-3:]
        s = q.double() @ k.double().mT * scale
        if CAUSAL:
            s = s.masked_fill(torch.ones(n, m, dtype=torch.bool).tril().logical_not(), -torch.inf)
        o.copy_((torch.softmax(s, -1).nan_to_num() @ v.double()).to(o.dtype))


def differentiable(q, k, v, *, scale=None, causal=False):
    """PyTorch's attention, which autograd knows."""
    import torch
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal, scale=scale)


def backward(q, k, v, do, o, lse):
    """The gradients of one head each, in float64."""
    wide = [x.double() for x in (q, k, v, do, o)]
    scale = q.shape[-1] ** -0.5
    p = (wide[0] @ wide[1].mT * scale - lse[..., None]).exp()
    ds = p * (wide[3] @ wide[2].mT - (wide[3] * wide[4]).sum(-1, keepdim=True))
    return tuple(x.to(q.dtype) for x in (scale * ds @ wide[1], scale * ds.mT @ wide[0], p.mT @ wide[3]))


def run_blocks(python: list[str]) -> None:
    has = {name for name in ("torch", "triton", "jax", "ml_dtypes") if importlib.util.find_spec(name)}
    sys.path.insert(0, str(root / "python/examples"))
    for needs, word in (({"torch", "triton"}, "from triton_flash"), ({"jax"}, "from pallas_flash")):
        block, = (one for one in python if word in one)
        if needs <= has:
            exec(compile(block, "docs/gpu.md", "exec"), {})
        else:
            print(f"the block '{word}' is not run: no {', '.join(sorted(needs - has))}")
    if not {"torch", "ml_dtypes"} <= has:
        print("the blocks for a GPU are not run: no torch or no ml_dtypes")
        return
    import torch
    names = {"my_kernel": Launched()}
    exec(compile(python[0], "docs/gpu.md", "exec"), names)
    on_cpu = python[1].replace('device="cuda"', 'device="cpu", quick=True, only=["accuracy", "bands"], draws=0')
    exec(compile(on_cpu, "docs/gpu.md", "exec"), names)
    assert names["report"].verdict == "certified", names["report"]
    differentiated, = (one for one in python if "audit_gradients" in one)
    for line in differentiated.replace('device="cuda"', 'quick=True, only="backward/equal-dp-0"').splitlines():
        here = names | {"attention": differentiable, "my_backward": backward}
        exec(compile(line, "docs/gpu.md", "exec"), here)
        assert here["report"].verdict == "certified", here["report"]
    q, k, v = (torch.randn(1, 2, 8, 64, dtype=torch.bfloat16) for _ in range(3))
    recorded, = (one for one in python if "attest.capture" in one)
    exec(compile(recorded, "docs/gpu.md", "exec"), {
        **names, "batch": v, "model": lambda v: torch.nn.functional.scaled_dot_product_attention(q, k, v)})
    attest(0, "verify", "calls.safetensors", "--contract", "bf16")
    asserted, = (one for one in python if "assert_attention" in one)
    exec(compile(asserted, "docs/gpu.md", "exec"),
         {**names, "q": q, "k": k, "v": v, "o": names["attention"](q, k, v, causal=True)})


def gpu() -> None:
    python = blocks("gpu.md", "python")
    try:
        import attest_attention as package
    except ImportError as why:
        package = None
        print(f"calls of the package are not compared: {why}")
    asked = 0
    for call in (node for block in python for node in ast.walk(ast.parse(block)) if isinstance(node, ast.Call)):
        if package and isinstance(call.func, ast.Attribute) and getattr(call.func.value, "id", "") == "attest":
            taken = inspect.signature(getattr(package, call.func.attr)).parameters
            several = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())
            for keyword in call.keywords:
                assert several or keyword.arg in taken, f"{call.func.attr} does not take {keyword.arg}"
            asked += 1
    assert asked >= 5 or not package, asked
    for path in re.findall(r"contracts/[\w.-]+\.json", (root / "docs/gpu.md").read_text(encoding="utf-8")):
        assert (root / path).is_file(), path
    run_blocks(python)
    audit, gen, verify = commands("gpu.md")
    attest(0, *gen)
    attest(2, *audit)  # there is no such library
    pathlib.Path("calls.safetensors").unlink(missing_ok=True)
    attest(2, *verify)
    assert pathlib.Path("cases.safetensors").stat().st_size > 100_000


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    first_kernel()
    choose_a_contract()
    gpu()
print("the blocks of the pages do what the pages say")
