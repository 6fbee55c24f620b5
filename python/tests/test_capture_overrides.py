"""capture beside tensors and modes of torch that decide by themselves what a function computes."""
from __future__ import annotations

from typing import Any

import pytest

import attest_attention as attest

torch = pytest.importorskip("torch")
functional = pytest.importorskip("torch.nn.functional")
Module: Any = torch.nn.Module
Tensor: Any = torch.Tensor
Mode: Any = torch.overrides.TorchFunctionMode


class Rule(Tensor):  # type: ignore[misc]
    """A tensor that decides by itself what the function is, as torch's CausalBias does."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.scaled_dot_product_attention:
            q, k, v = (x.as_subclass(Tensor) for x in args[:3])
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return super().__torch_function__(func, types, args, kwargs or {})


def biased(q: Any, k: Any, v: Any) -> Any:
    bias = pytest.importorskip("torch.nn.attention.bias")
    return functional.scaled_dot_product_attention(q, k, v, bias.causal_upper_left(6, 6))


def ruled(q: Any, k: Any, v: Any) -> Any:
    return functional.scaled_dot_product_attention(q.as_subclass(Rule), k, v)


def under_mode(q: Any, k: Any, v: Any) -> Any:
    class Causal(Mode):  # type: ignore[misc]
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            causal = {"is_causal": True} if func is torch.nn.functional.scaled_dot_product_attention else {}
            return func(*args, **(kwargs or {}), **causal)

    with Causal():
        return functional.scaled_dot_product_attention(q, k, v)


def counted_flops(q: Any, k: Any, v: Any) -> Any:
    with pytest.importorskip("torch.utils.flop_counter").FlopCounterMode(display=False):
        return ruled(q, k, v)


@pytest.mark.parametrize(("called", "says"), [(biased, 1), (ruled, 1), (under_mode, 1), (counted_flops, 0)])
def test_what_decides_by_itself_what_the_function_is_sees_the_function(called: Any, says: int) -> None:
    torch.manual_seed(0)
    tensors = [torch.randn(1, 2, 6, 8) for _ in range(3)]
    with torch.no_grad():
        wanted = functional.scaled_dot_product_attention(*tensors, is_causal=True)
        with attest.capture() as seen:
            wrapper = functional.scaled_dot_product_attention
            for _ in range(2):
                assert torch.equal(called(*tensors), wanted)
                assert functional.scaled_dot_product_attention is wrapper
            assert torch.equal(functional.scaled_dot_product_attention(*tensors, is_causal=True), wanted)
    assert len(seen.calls) == 1 and seen.seen_calls == 2 * says + 1
    assert list(seen.not_recorded.items()) == [("a tensor subclass or a torch-function mode", 2)] * says


def test_tensors_of_other_classes_that_decide_nothing_are_recorded() -> None:
    class Named(Tensor):  # type: ignore[misc]
        pass

    def drawn() -> Any:
        return torch.randn(1, 2, 6, 8)

    with torch.no_grad(), attest.capture() as seen:
        functional.scaled_dot_product_attention(torch.nn.Parameter(drawn()), drawn(), drawn())
        functional.scaled_dot_product_attention(drawn(), drawn().as_subclass(Named), drawn())
        with torch.device("cpu"):
            functional.scaled_dot_product_attention(drawn(), drawn(), drawn())
    assert len(seen.calls) == 3 and not seen.not_recorded and seen.verify(findings="").verdict == "certified"


def test_a_call_of_a_subclass_outside_the_model_is_not_counted() -> None:
    class Model(Module):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return functional.scaled_dot_product_attention(x, x, x)

    model, tensors = Model(), [torch.randn(1, 2, 6, 8) for _ in range(3)]
    with torch.no_grad(), attest.capture(model) as seen:
        ruled(*tensors)
        model(tensors[0])
    assert seen.seen_calls == 1 and not seen.not_recorded
