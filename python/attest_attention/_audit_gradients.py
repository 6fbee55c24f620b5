"""attest.audit_gradients: the backward pass of an attention function, made and judged by the program as audit's forward
pass is."""
from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _ask, _merge, _serve, _serve_gradients
from ._arrays import dtype_of
from ._audit import allowed, check_device, command, importable_name, refuse_for_library, resolved, run
from ._gradients import DIFFERENTIATING
from ._report import Report
from ._signature import Options, name_of
from ._words import Contract, among, contract_words, domain_text, layout_word, listed, option_words, text_of


def audit_gradients(kernel: Callable[..., Any] | str | os.PathLike[str] | None = None, *,
                    backward: Callable[..., Any] | str | None = None,
                    contract: Contract | None = None, dtype: str | None = None, device: str = "cpu",
                    quick: bool = False, seed: int | None = None, budget: float | None = None,
                    only: str | Sequence[str] = "backward", domain: str | Mapping[str, Any] | None = None,
                    jobs: int | None = None, layout: str = "bhnd", arrays: str | None = None, causal: str | None = None,
                    supports: str | Sequence[str] = (), isolate: bool = False, allow: str | Sequence[str] = (),
                    findings: str | os.PathLike[str] | None = None, waive: str | Sequence[str] = (),
                    fail_fast: bool = False, progress: bool | None = None, json: str | os.PathLike[str] | None = None,
                    html: str | os.PathLike[str] | None = None, junit: str | os.PathLike[str] | None = None,
                    options: str | Sequence[str] = ()) -> Report:
    """Asks for gradients on adversarial inputs, and judges every element of dQ, dK, dV, dBias and dSink.

    `kernel` is a forward function of torch or JAX, as audit takes it: torch.autograd.grad or jax.vjp differentiates it
    with the dO of each call. Its forward pass is its own, so that the errors of O and LSE that its contract allows it
    count. Or the name of a ready adapter, "builtin", or the path of a library with attest_attention_backward.

    backward  instead: g(q, k, v, do, o, lse, …) -> (dq, dk, dv), then dbias where there is a bias, dsink where there is
              a sink; or its name. o and lse are exact to one rounding, and g is judged by them. One without o and lse
              runs a forward pass of its own. NumPy, torch or JAX
    arrays    without it by the module of the callable, or else torch or JAX, if only one of them is imported

    The other keywords are as for audit. It raises the same, and a callable may raise the same.

    >>> audit_gradients("builtin", quick=True, seed=1, only="backward/equal-dp-0").verdict
    'certified'
    """
    layout = layout_word(layout)
    supports, allow, options = listed(supports, "supports"), listed(allow, "allow"), listed(options, "options")
    if (kernel is None) == (backward is None):
        raise ValueError("kernel, backward: give one of them")
    contract_part, element = contract_words(contract, dtype)
    words: list[str | os.PathLike[str]] = [*contract_part]
    words += option_words({"quick": quick, "seed": seed, "budget": budget, "only": only, "domain": domain_text(domain),
                           "jobs": jobs, "waive": waive, "fail_fast": fail_fast,
                           "findings": None if findings is None else text_of(findings, "findings")})
    words += [*options]
    reach = [*(["--device"] if device != "cpu" else []), *(word for one in allow for word in ("--allow", one))]
    files = {"json": json, "html": html, "junit": junit}
    asks: Any = _ask.imported(backward, device, "backward") if isinstance(backward, str) else backward
    if isinstance(kernel, (str, os.PathLike)):
        asks = resolved(os.fspath(kernel), device)
        if isinstance(asks, str):
            refuse_for_library(layout=None if among(layout, ("bhnd",)) else layout, arrays=arrays, causal=causal,
                               supports=supports or None)
            return run(["--kernel", asks, *words, *reach], files, progress)
    elif kernel is not None:
        asks = kernel
    if element == "bf16":
        dtype_of("bf16")  # raises where ml_dtypes is not there
    differentiates = backward is None
    if arrays is None:
        arrays = _differentiating(asks, device) if differentiates else _ask.guessed_arrays(asks, device)
    chosen = Options(arrays, device, layout, causal, tuple(supports))
    check_device(chosen)
    forward = asks if differentiates else _merge.no_attention
    asked = _ask.asked_of(forward, chosen)
    served = _serve.Kernel(asked.answer, layout=asked.layout)
    _serve_gradients.answer_with(served, forward, None if differentiates else asks, chosen)
    spec = importable_name(asks)
    if isolate and spec is None:
        raise ValueError(f"isolate: {name_of(asks)} cannot be imported by name in another process; "
                         "put it at the top of a module")
    if spec is None:
        return run(["--kernel", f"callable:{name_of(asks)}", *words], files, progress, served=served,
                   name=name_of(asks))
    shown = (command(spec, chosen, gradients=True) if differentiates
             else command(str(importable_name(forward)), chosen, backward=spec))
    words += allowed(spec)  # the worker needs it, of an isolated function or of a reproducer
    if isolate:
        return run(["--kernel", shown, *words, *reach], files, progress)
    return run(["--kernel", shown, *words], files, progress, served=served, name=spec)


def _differentiating(function: Any, device: str) -> str:
    """Which library differentiates a function: its own, or the one of the two that is imported."""
    own = function.arrays if _ask.is_adapter(function) else _ask.guessed_arrays(function, device)
    if own in DIFFERENTIATING:
        return own
    there = [name for name in DIFFERENTIATING if name in sys.modules]
    if len(there) != 1:
        raise ValueError(f"arrays: {' and '.join(there) or 'no library that differentiates'} "
                         f"{'are' if there else 'is'} imported; say arrays='torch' or 'jax', or give backward=")
    return there[0]
