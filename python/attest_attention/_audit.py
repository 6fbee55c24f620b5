"""attest.audit: adversarial inputs, made and judged by the program, answered by a Python callable."""
from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
import sysconfig
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _ask, _merge, _program, _serve, _serve_merge
from ._arrays import dtype_of, of_kind
from ._call import Call
from ._judging import Words, installed, run
from ._named import name_of
from ._report import Report
from ._spellings import Options
from ._tensor_file import tensor
from ._words import (Contract, among, contract_words, did_you_mean, domain_text, layout_word, listed, option_words,
                     text_of)


_SPEC = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")
_OF_KERNELS = re.compile("(TRITON|JAX|XLA|PALLAS|TORCH|TORCHINDUCTOR|PYTORCH|CUDA|NUMBA|OMP|MKL|OPENBLAS)_")


def is_python(spec: str) -> bool:
    """Whether this names a Python callable, MODULE:FUNCTION, rather than a library: PATH.so:SYMBOL, or builtin:SET.

    >>> is_python("package.module:attention"), is_python("libmine.so:attention"), is_python("builtin:avx2")
    (True, False, False)
    """
    module = spec.partition(":")[0]
    if not _SPEC.fullmatch(spec) or module == "builtin":
        return False
    return not (module.endswith(".so") or Path(spec).is_file() or Path(module).is_file())


def audit(kernel: Callable[..., Any] | str | os.PathLike[str] = "builtin", *,
          contract: Contract | None = None, dtype: str | None = None, device: str = "cpu",
          quick: bool = False, seed: int | None = None, draws: int | None = None, budget: float | None = None,
          only: str | Sequence[str] | None = None, domain: str | Mapping[str, Any] | None = None,
          jobs: int | None = None,
          layout: str = "bhnd",
          arrays: str | None = None, causal: str | None = None, supports: str | Sequence[str] = (),
          returns: str | None = None, adapter: Callable[[Call], Any] | None = None,
          merge: Callable[..., Any] | str | None = None, isolate: bool = False, allow: str | Sequence[str] = (),
          findings: str | os.PathLike[str] | None = None, waive: str | Sequence[str] = (), fail_fast: bool = False,
          progress: bool | None = None, json: str | os.PathLike[str] | None = None,
          html: str | os.PathLike[str] | None = None, junit: str | os.PathLike[str] | None = None,
          options: str | Sequence[str] = ()) -> Report:
    """Asks an attention kernel adversarial inputs, and judges every element of its answers under a derived bound.

    `kernel` is a callable f(q, k, v, …) -> o, or (o, lse), or (o, lse, weights); "package.module:function"; "builtin";
    the path of a shared library; or the name of a ready adapter ("pytorch-flash"). Shapes: q [b, hq, n, d], k [b, hk,
    m, d], v [b, hk, m, dv], o [b, hq, n, dv], lse [b, hq, n], weights [b, hq, n, m]. What a callable supports is found
    out from the names of its parameters (docs/python.md lists them): calls that need another are unsupported, which
    refutes nothing. NotImplementedError and attest_attention.Unsupported say so of one call; any other exception is a
    finding.

    contract  what the kernel claims: a name of `attest list contracts`, a JSON file, or a dict
              as such a file holds; without it the preset named like dtype, or f32
    dtype     f32, bf16, f16 or f64
    arrays    "numpy", "torch" or "jax": what the callable gets; without it by the module of the callable
    device    where torch's or JAX's arrays are, such as "cuda"
    layout    "bhnd", "bnhd" ([b, n, h, d]) or "thd" (packed: [sum of n, h, d], with cu_seqlens)
    causal    "top-left" or "bottom-right": what the callable's own causal and window parameters mean where n is not m;
              without it they are asked where n = m (is_causal is top-left)
    supports  ("gqa",): grouped heads may be asked although no parameter is named enable_gqa, since the callable reads
              them from the shapes; "bias-in-mask": its mask takes numbers that are added to the scores, as attn_mask
              does; "sink-by-entry": its sinks may be [b, hq], too
    returns   "o", "o,lse", "o,weights" or "o,lse,weights"; without it as the callable does
    adapter   a function of one Call instead of the matching of names
    merge     f(o, lse) -> (o, lse), or its name: merges of partial results, o [S, b, hq, n, dv] and lse [S, b, hq, n],
              which the check "merge" asks. Without a kernel nothing else is asked
    isolate   runs an importable function in a process of its own, caged, with a time limit; `allow` says what else it
              may reach
    domain    the calls that the kernel takes, such as "d=64,128 dv=d n%128 m=n", or {"d": (64, 128), "dv": "d", …}: all
              questions are asked inside. Without it, it is found by about a hundred small calls
    findings  the folder for inputs of findings; without it attest-findings in the current folder
    progress  whether progress is shown; without it on a terminal and in a notebook
    options   further words for the program

    Every other keyword is an option of the program (docs/cli.md). Ctrl-C ends the audit with the report so far.
    Raises ValueError or TypeError, with the name of the argument, for what cannot be asked. Raises an OSError, whose
    `report` is the report, where a file that was asked for could not be written.

    >>> report = audit("builtin", quick=True, seed=1, only="worked-examples", draws=0)
    >>> report.verdict, bool(report)
    ('certified', True)
    """
    layout = layout_word(layout)
    supports, allow, options = listed(supports, "supports"), listed(allow, "allow"), listed(options, "options")
    if adapter is not None and not callable(adapter):
        raise TypeError(f"adapter: is a {type(adapter).__name__}, expected a function of one Call")
    if merge is not None and kernel == "builtin":
        kernel, only = _merge.no_attention, only or "merge"
    contract_part, element = contract_words(contract, dtype)
    words: list[str | os.PathLike[str]] = [*contract_part]
    words += option_words({"quick": quick, "seed": seed, "draws": draws, "budget": budget, "only": only,
                           "domain": domain_text(domain), "jobs": jobs,
                           "waive": waive, "fail_fast": fail_fast,
                           "findings": None if findings is None else text_of(findings, "findings")})
    words += [*options]
    files = {"json": json, "html": html, "junit": junit}
    if isinstance(kernel, (str, os.PathLike)) and not callable(kernel):
        named = resolved(os.fspath(kernel), device)
        if isinstance(named, str):
            refuse_for_library(layout=None if among(layout, ("bhnd",)) else layout, arrays=arrays, adapter=adapter,
                                merge=merge, causal=causal, returns=returns, supports=supports or None)
            caged = [*words, *(["--device"] if device != "cpu" else []),
                     *(w for one in allow for w in ("--allow", one))]
            return run(["--kernel", named, *caged], files, progress)
        kernel = named
    if element == "bf16":
        dtype_of("bf16")  # raises where ml_dtypes is not there
    merges = _ask.imported(merge, argument="merge") if isinstance(merge, str) else merge
    asks = merges if kernel is _merge.no_attention else kernel
    chosen = Options(_ask.guessed_arrays(asks, device) if arrays is None else arrays, device, layout, causal,
                     tuple(supports), returns)
    check_device(chosen)
    spec, merge_name = importable_name(kernel), None if merges is None else importable_name(merges)
    matched = None if merges is None else _merge.MatchedMerge(merges, chosen)
    if isolate:
        if spec is None:
            raise ValueError(f"isolate: {name_of(kernel)} cannot be imported by name in another process; "
                             "put it at the top of a module")
        adapter_name = importable_name(adapter) if adapter is not None else None
        if adapter is not None and adapter_name is None:
            raise ValueError(f"isolate: the adapter {name_of(adapter)} cannot be imported by name in another process")
        if merges is not None and merge_name is None:
            raise ValueError(f"isolate: the merge {name_of(merges)} cannot be imported by name in another process")
        _ask.asked_of(kernel, chosen, adapter)  # raises here what the worker would have to say
        reach = [*(["--device"] if device != "cpu" else []), *allowed(spec, merge_name),
                 *(w for one in allow for w in ("--allow", one))]
        return run(["--kernel", command(spec, chosen, adapter_name, merge_name), *words, *reach], files, progress)
    asked = _ask.asked_of(kernel, chosen, adapter)
    again = spec if adapter is None and (merges is None or merge_name) else None  # a worker can do the same
    shown = command(again, chosen, merge=merge_name) if again else f"callable:{name_of(asks)}"
    served = _serve.Kernel(asked.answer, layout=asked.layout)
    if matched is not None:
        served.answers_merges(_serve_merge.MergeKernel(matched))
    if again:  # what the reproducers need, which run the function in the cage
        words += allowed(again, merge_name)
    name = merge_name if asks is merges else spec
    return run(["--kernel", shown, *words], files, progress, served=served, name=name or name_of(asks))


def check_device(options: Options) -> None:
    """Raises ValueError where no array can be put on the device: each call would fail, and refute the kernel."""
    if options.device == "cpu":
        return
    try:
        of_kind(options.arrays, tensor(np.zeros(1, np.float32)), options.device)
    except ValueError:
        raise
    except Exception as why:
        raise ValueError(f"device: {options.arrays} has no {options.device!r}: {why}") from why


def refuse_for_library(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name}: is about Python callables, and the kernel is none")


def resolved(kernel: str, device: str) -> Callable[..., Any] | str:
    """The callable that a name means, or the name where it is one for the program. Raises ValueError if no kernel has
    it."""
    if is_python(kernel):
        return _ask.imported(kernel, device)
    if kernel.startswith("builtin") or "/" in kernel or "." in kernel or ":" in kernel or Path(kernel).exists():
        return kernel
    known = _ask.adapters().names()
    if kernel not in known:
        raise ValueError(f"kernel: there is no file and no ready adapter {kernel!r}"
                         f"{did_you_mean(kernel, ['builtin', *known])}; attest_attention.adapters.names() lists the "
                         "adapters, `attest list kernels` the other names")
    return _ask.imported(f"attest_attention.adapters:{kernel}", device)


def importable_name(function: object) -> str | None:
    """MODULE:NAME by which another process can import this very object, or None."""
    if _ask.is_adapter(function):
        name = getattr(function, "name", None)
        return f"attest_attention.adapters:{name}" if name in _ask.adapters().names() else None
    module, path = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str) or module == "__main__" or "<" in path:
        return None
    found: Any = sys.modules.get(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    return f"{module}:{path}" if found is function else None


def command(spec: str, options: Options, adapter: str | None = None, merge: str | None = None,
            backward: str | None = None, gradients: bool = False) -> str:
    """The kernel `command:…` whose program is the worker for this function, for merges by that one, and for backward
    passes by another, or with `gradients` by its own library."""
    folders = dict.fromkeys(folder for one in (spec, merge, backward) if one for folder in _folders(one))
    words = [*_set_variables(), sys.executable, "-m", "attest_attention._worker", *_worker_words(options, [*folders])]
    words += ["--adapter", adapter] if adapter else []
    words += ["--merge", merge] if merge else []
    words += ["--backward", backward] if backward else ["--gradients"] if gradients else []
    return "command:" + shlex.join([*words, spec])


def _set_variables() -> list[str]:
    """`env NAME=VALUE …` for what this process has set since it began, of the variables that say how a kernel is
    compiled or run: a worker for the same function needs them, and the shell that starts it has them not."""
    try:
        begun = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return []
    changed = [f"{name}={value}" for name, value in sorted(os.environ.items())
               if _OF_KERNELS.match(name) and os.fsencode(f"{name}={value}") not in begun]
    env = shutil.which("env")
    return [env, *changed] if env and changed else []


def _worker_words(options: Options, folders: Sequence[str]) -> list[str]:
    """The words with which the worker has these options. It is not imported here: `python -m` would warn of that."""
    words = [word for folder in folders for word in ("--path", folder)]
    for name in ("arrays", "device", "layout", "causal", "returns"):
        value = getattr(options, name)
        if value is not None and value != getattr(Options, name):
            words += [f"--{name}", value]
    return words + [word for one in options.supports for word in ("--supports", one)]


def _folders(spec: str) -> list[str]:
    """The folder that the function's module is imported from, where Python does not know it by itself."""
    module = sys.modules.get(spec.partition(":")[0])
    file = getattr(module, "__file__", None)
    if not file:
        return []
    depth = spec.partition(":")[0].count(".") + (1 if Path(file).name == "__init__.py" else 0)
    folder = Path(file).resolve().parents[depth]
    return [] if any(folder.is_relative_to(known) for known in installed()) else [str(folder)]


def allowed(*specs: str | None) -> list[str]:
    """What the cage must let the worker read: this Python, this package, the modules of the functions."""
    package = Path(__file__).resolve().parents[1]
    paths = [*installed(), package, Path(sys.executable).resolve().parent, _program.library("serve").parent,
             *(Path(folder) for spec in specs if spec for folder in _folders(spec))]
    paths += [Path(entry).resolve() for entry in sys.path if entry and Path(entry).is_dir()]
    least = [path for path in dict.fromkeys(paths) if path.exists() and path != Path("/")
             and not any(path != other and path.is_relative_to(other) for other in paths if other != Path("/"))]
    return [word for path in least for word in ("--allow", f"read:{path}")]


# --- running the program ----------------------------------------------------------------------------------------------
