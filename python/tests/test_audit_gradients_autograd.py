"""Functions of PyTorch and JAX, differentiated by their libraries, through the judge itself."""
from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import attest_attention as attest
import gradient_kernels
import numpy as np
import pytest
from attest_attention._gradients import Backward, Traced
from attest_attention._signature import Options

SMALL: dict[str, Any] = {"quick": True, "seed": 1, "progress": False}


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Findings are saved in the current folder."""
    monkeypatch.chdir(tmp_path)


def torch_eager(query: Any, key: Any, value: Any, *, attn_mask: Any = None, scale: float | None = None,
                is_causal: bool = False, softcap: float = 0.0, enable_gqa: bool = False) -> Any:
    """Attention in PyTorch, as documents have it. Rows without a key answer 0."""
    import torch
    if enable_gqa:
        key, value = (x.repeat_interleave(query.shape[1] // x.shape[1], 1) for x in (key, value))
    s = query @ key.transpose(-1, -2) * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if softcap:
        s = softcap * torch.tanh(s / softcap)
    hidden = torch.zeros(s.shape[-2:], dtype=torch.bool)
    if is_causal:
        hidden = torch.ones_like(hidden).triu(1)
    if attn_mask is not None and attn_mask.dtype == torch.bool:
        hidden = hidden | ~attn_mask
    elif attn_mask is not None:
        s = s + attn_mask
    s = s.masked_fill(hidden, -torch.inf)
    p = torch.softmax(s, -1)
    return torch.where(hidden.all(-1, keepdim=True), torch.zeros_like(p), p) @ value


def jax_eager(q: Any, k: Any, v: Any, *, bias: Any = None, scale: float | None = None) -> Any:
    """Attention in JAX."""
    import jax
    s = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    return jax.nn.softmax(s if bias is None else s + bias, axis=-1) @ v


def detached_keys(query: Any, key: Any, value: Any) -> Any:
    """Wrong: no gradient flows to the keys."""
    return torch_eager(query, key.detach(), value)


def jax_stops(q: Any, k: Any, v: Any) -> Any:
    """Wrong: no gradient flows to the queries."""
    import jax
    return jax_eager(jax.lax.stop_gradient(q), k, v)


def call_of(bias: bool = False, mask: bool = False) -> Backward:
    """A small call with a bias for all queries and a mask that it broadcasts over."""
    random = np.random.default_rng(3)
    q, k, v, do = (random.normal(size=(2, 2, n, 4)).astype(np.float32) for n in (3, 5, 5, 3))
    further: dict[str, Any] = {}
    if bias:
        further["bias"] = random.normal(size=(1, 2, 1, 5)).astype(np.float32)
    if mask:
        further["mask"] = random.random((2, 1, 3, 5)) < 0.7
        further["mask"][..., 0] = True
    return Backward(q, k, v, do=do, wanted=("dq", "dk", "dv", *(("dbias",) if bias else ())), **further)


def formula(call: Backward) -> dict[str, Any]:
    """The gradients by the formula."""
    import kernels
    rest = {name: getattr(call, name) for name in ("bias", "mask")}
    o, lse = kernels.right(call.q, call.k, call.v, return_lse=True, **rest)
    found = gradient_kernels.right(call.q, call.k, call.v, call.do, o, lse, **rest)
    return dict(zip(("dq", "dk", "dv", "dbias"), found))


@pytest.mark.parametrize("asked", [{}, {"bias": True}, {"bias": True, "mask": True}, {"mask": True}],
                         ids=lambda asked: "+".join(asked) or "plain")
@pytest.mark.parametrize("layout", ["bhnd", "bnhd"])
def test_what_torch_differentiates_is_the_formula(asked: dict[str, bool], layout: str) -> None:
    pytest.importorskip("torch")

    def in_layout(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
        if layout == "bhnd":
            return torch_eager(query, key, value, attn_mask=attn_mask)
        return torch_eager(*(x.transpose(1, 2) for x in (query, key, value)), attn_mask=attn_mask).transpose(1, 2)

    call = call_of(**asked)
    found, wanted = Traced(in_layout, Options(arrays="torch", layout=layout))(call), formula(call)
    assert set(found) == set(call.wanted)
    for name in call.wanted:
        np.testing.assert_allclose(found[name].data, wanted[name], atol=1e-5, err_msg=name)


def test_what_jax_differentiates_is_the_formula() -> None:
    pytest.importorskip("jax")
    call = call_of(bias=True)
    found, wanted = Traced(jax_eager, Options(arrays="jax"))(call), formula(call)
    for name in call.wanted:
        np.testing.assert_allclose(found[name].data, wanted[name], atol=1e-5, err_msg=name)


# PyTorch's own kernels read K and V at masked keys, where poison-… and special-values-… have NaN.
ORDINARY = [f"backward/{name}" for name in ("equal-dp-0", "equal-dp-64", "one-hot-6", "two-keys", "unseen-keys",
                                            "group-2", "many-queries", "bias-1h1m", "bias-bhnm", "softcap-steep")]


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("name", ["pytorch-math", "pytorch-flash"])
def test_gradients_of_pytorch(name: str, dtype: str) -> None:
    pytest.importorskip("torch")
    if dtype == "bf16":
        pytest.importorskip("ml_dtypes")
    report = attest.audit_gradients(name, dtype=dtype, only=ORDINARY, **SMALL)
    assert report.verdict == "certified", report
    assert report.checks[0]["unsupported"] < report.checks[0]["cases"]


def test_a_function_of_torch_is_asked_by_the_names_of_its_parameters() -> None:
    pytest.importorskip("torch")
    report = attest.audit_gradients(torch_eager, arrays="torch", only=ORDINARY, **SMALL)
    assert report.verdict == "certified", report
    assert "dbias" not in next(line for line in report.text.splitlines() if line.startswith("not supported"))


def test_a_gradient_that_does_not_flow_is_refuted() -> None:
    pytest.importorskip("torch")
    report = attest.audit_gradients(detached_keys, arrays="torch", only=ORDINARY, **SMALL)
    assert report.verdict == "refuted" and {one["output"] for one in report.findings} == {"dk"}


def test_gradients_of_jax() -> None:
    jax = pytest.importorskip("jax")
    given = {**SMALL, "domain": "dv=d"}  # JAX compiles each call of a search for it
    report = attest.audit_gradients(jax.nn.dot_product_attention, only=ORDINARY[:4], **given)
    assert report.verdict == "certified", report
    report = attest.audit_gradients(jax_stops, arrays="jax", only=ORDINARY[:1], **given)
    assert report.verdict == "refuted" and {one["output"] for one in report.findings} == {"dq"}


def test_a_backward_kernel_of_torch() -> None:
    torch = pytest.importorskip("torch")

    def backward(q: Any, k: Any, v: Any, do: Any, out: Any, lse: Any) -> Any:
        sigma = 1 / math.sqrt(q.shape[-1])
        p = torch.exp(q @ k.mT * sigma - lse[..., None])
        ds = p * (do @ v.mT - (do * out).sum(-1, keepdim=True))
        return sigma * ds @ k, sigma * ds.mT @ q, p.mT @ do

    report = attest.audit_gradients(backward=backward, arrays="torch", only=ORDINARY[:4], **SMALL)
    assert report.verdict == "certified", report


def test_what_autograd_does_not_know_is_a_finding() -> None:
    torch = pytest.importorskip("torch")

    def without(query: Any, key: Any, value: Any) -> Any:
        with torch.no_grad():
            return torch_eager(query, key, value)

    report = attest.audit_gradients(without, arrays="torch", only=ORDINARY[:1], **SMALL)
    assert report.verdict == "refuted"
    assert "returned o depends on nothing that autograd knows" in report.findings[0]["sentence"]
