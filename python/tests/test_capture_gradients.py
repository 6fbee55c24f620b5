"""capture of backward passes, with PyTorch."""
from __future__ import annotations

import gc
import sys
import types
import weakref
from pathlib import Path
from typing import Any

import attest_attention as attest
import numpy as np
import pytest
from attest_attention import _tensor_file

torch: Any = pytest.importorskip("torch")
functional: Any = torch.nn.functional


def sdpa(*args: Any, **kwargs: Any) -> Any:
    return functional.scaled_dot_product_attention(*args, **kwargs)


def leaves(*, grad: str = "qkv", seed: int = 0) -> list[Any]:
    """q, k and v; `grad` names what requires a gradient."""
    made = torch.Generator().manual_seed(seed)
    return [torch.randn(2, 3, rows, 8, generator=made).requires_grad_(role in grad)
            for role, rows in (("q", 5), ("k", 7), ("v", 7))]


class Block(torch.nn.Module):  # type: ignore[misc]
    """Self-attention of one tensor, which is used outside of the attention, too."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.inner = torch.nn.Linear(8, 8)

    def forward(self, x: Any) -> Any:
        y = self.inner(x)
        return (x * y).sum() + (sdpa(y, y, y, is_causal=True) * y).square().sum()


def test_the_gradients_of_a_call_are_recorded_beside_it() -> None:
    q, k, v = leaves()
    with attest.capture() as seen:
        o = sdpa(q, k, v, scale=0.3)
        (o * o).sum().backward()
    (call,) = seen.calls
    assert np.array_equal(call.do, 2 * o.detach().numpy())
    for name, leaf in (("dq", q), ("dk", k), ("dv", v)):
        assert np.array_equal(getattr(call, name), leaf.grad.numpy()), name
    report = seen.verify(findings="")
    assert report.verdict == "certified" and report.checks[0]["elements"] > 2 * 3 * (5 + 7 + 7) * 8


def test_a_wrong_gradient_is_refuted(tmp_path: Path) -> None:
    q, k, v = leaves()
    k.register_hook(lambda gradient: gradient * 2)  # behind the call: of no concern
    with attest.capture() as seen:
        sdpa(q, k, v).sum().backward()
    assert seen.verify(findings="").verdict == "certified"
    seen.save(tmp_path / "calls.safetensors")
    tensors, metadata = _tensor_file.read(tmp_path / "calls.safetensors")
    (prefix,) = {name.rpartition(".")[0] for name in tensors}
    assert {name.rpartition(".")[2] for name in tensors} == {"q", "k", "v", "o", "do", "dq", "dk", "dv"}
    seen.calls[0].tensors["dk"].data[0, 0, 0, 0] += 1
    report = seen.verify(findings="")
    assert report.verdict == "refuted" and report.findings[0]["output"] == "dk", (prefix, metadata)


def test_of_a_tensor_that_is_used_elsewhere_only_what_comes_from_the_call() -> None:
    model, x = Block(), torch.randn(2, 3, 5, 8, generator=torch.Generator().manual_seed(2))

    def trained(watch: bool) -> tuple[list[Any], Any]:
        model.zero_grad()
        given = x.clone().requires_grad_()
        if not watch:
            model(given).backward()
            return [given.grad, *(one.grad for one in model.parameters())], None
        with attest.capture(model) as seen:
            model(given).backward()
        return [given.grad, *(one.grad for one in model.parameters())], seen

    wanted, _ = trained(False)
    wanted = [one.clone() for one in wanted]
    got, seen = trained(True)
    assert all(torch.equal(one, other) for one, other in zip(got, wanted)), "capture changed what was computed"
    assert seen.verify(findings="").verdict == "certified" and seen.calls[0].dq is not None


def test_a_bias_and_the_grouped_heads() -> None:
    q, k, v = leaves()
    bias = torch.randn(3, 5, 7).requires_grad_()
    with attest.capture() as seen:
        sdpa(q, k[:, :1], v[:, :1], attn_mask=bias, enable_gqa=True).square().sum().backward()
        sdpa(q, k, v, attn_mask=bias[..., :1]).sum().backward()  # broadcast over keys: no bias of the file
    first, second = seen.calls
    assert first.dbias.shape == (1, 3, 5, 7) and first.dk.shape == (2, 1, 7, 8)
    assert second.dbias is None and second.dq is not None
    assert seen.verify(findings="").verdict == "certified"


@pytest.mark.parametrize(("grad", "recorded", "why"), [
    ("q", {"do", "dq"}, {}), ("qv", {"do", "dq", "dv"}, {}), ("", set(), {}),
    ("kv", set(), {"gradients without that of q": 1})])
def test_what_requires_no_gradient_has_none(grad: str, recorded: set[str], why: dict[str, int]) -> None:
    with attest.capture() as seen:
        o = sdpa(*leaves(grad=grad))
        if grad:
            o.sum().backward()
    assert set(seen.calls[0].tensors) == {"q", "k", "v", "o"} | recorded and seen.not_recorded == why
    assert seen.verify(findings="").verdict == "certified"


def test_a_backward_pass_behind_the_block_is_not_recorded() -> None:
    with attest.capture() as seen:
        loss = sdpa(*leaves()).sum()
    loss.backward()
    assert set(seen.calls[0].tensors) == {"q", "k", "v", "o"}


def test_the_first_of_two_backward_passes_is_recorded() -> None:
    q, k, v = leaves()
    with attest.capture() as seen:
        loss = sdpa(q, k, v).square().sum()
        loss.backward(retain_graph=True)
        first = q.grad.clone()
        (3 * loss).backward()
    assert np.array_equal(seen.calls[0].dq, first.numpy())


class Flash(torch.autograd.Function):  # type: ignore[misc]
    """o and the LSE of [b, n, h, d], with a backward pass that knows no gradient of the LSE."""

    @staticmethod
    def forward(context: Any, q: Any, k: Any, v: Any) -> Any:
        s = torch.einsum("bnhd,bmhd->bhnm", q, k) / q.shape[-1] ** 0.5
        context.save_for_backward(q, k, v, torch.softmax(s, -1))
        return torch.einsum("bhnm,bmhd->bnhd", torch.softmax(s, -1), v), torch.logsumexp(s, -1)

    @staticmethod
    def backward(context: Any, do: Any, _: Any) -> Any:
        q, k, v, p = context.saved_tensors
        dp = torch.einsum("bnhd,bmhd->bhnm", do, v)
        ds = p * (dp - (p * dp).sum(-1, keepdim=True)) / q.shape[-1] ** 0.5
        return (torch.einsum("bhnm,bmhd->bnhd", ds, k), torch.einsum("bhnm,bnhd->bmhd", ds, q),
                torch.einsum("bhnm,bnhd->bmhd", p, do))


def flash_attn_func(q: Any, k: Any, v: Any, return_attn_probs: bool = False) -> Any:
    """As flash_attn has it."""
    o, lse = Flash.apply(q, k, v)
    return (o, lse, None) if return_attn_probs else o


@pytest.mark.parametrize("uses_lse", [False, True])
def test_another_layout_and_the_lse(monkeypatch: pytest.MonkeyPatch, uses_lse: bool) -> None:
    library: Any = types.ModuleType("flash_attn")
    library.flash_attn_func = flash_attn_func
    monkeypatch.setitem(sys.modules, "flash_attn", library)
    q, k, v = (x.detach().transpose(1, 2).contiguous().requires_grad_() for x in leaves())
    with attest.capture() as seen:
        o, lse, _ = library.flash_attn_func(q, k, v, return_attn_probs=True)
        (o.square().sum() + (lse.sum() if uses_lse else 0)).backward()
    (call,) = seen.calls
    assert seen.verify(findings="").verdict == "certified"
    if uses_lse:
        assert call.dq is None and seen.not_recorded == {"a gradient that flows into the LSE or the weights": 1}
    else:
        assert np.array_equal(call.dk, k.grad.transpose(1, 2).numpy()) and call.lse is not None


def test_a_graph_that_was_watched_is_freed() -> None:
    q, k, v = leaves()
    y = q * 2
    alive = weakref.ref(y.untyped_storage())
    with attest.capture():
        o = sdpa(y, k, v)
        del y, o
    gc.collect()
    assert alive() is None
