"""Calls of models of transformers, as capture sees them."""
from __future__ import annotations

import sys
import types
from typing import Any

import pytest
import attest_attention as attest
from test_capture_libraries import functional, model, torch  # noqa: F401


@pytest.mark.parametrize("implementation", ["eager", "sdpa"])
def test_a_model_of_transformers(implementation: str) -> None:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
                                      num_key_value_heads=2, vocab_size=64, attn_implementation=implementation)
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config).eval()
    words, present = torch.arange(12).reshape(2, 6), torch.tensor([[1] * 6, [1, 1, 1, 1, 0, 0]])
    with torch.no_grad():
        wanted = model(words, attention_mask=present).logits
        with attest.capture(model) as seen:
            got = model(words, attention_mask=present).logits
    assert torch.equal(got, wanted) and len(seen.calls) == 2
    assert seen.calls[1].layer == "model.layers.1.self_attn"
    if implementation == "eager":
        first: Any = seen.calls[0]
        assert first.function.endswith("eager_attention_forward") and first.weights.shape == (2, 4, 6, 6)
        assert first.k.shape == (2, 2, 6, 8)
    report = seen.verify(findings="")
    assert report.verdict == "certified" and report.json["summary"]["elements"] >= 2 * 2 * 4 * 6 * 8


def test_a_function_registered_with_transformers() -> None:
    transformers = pytest.importorskip("transformers")
    ALL_ATTENTION_FUNCTIONS = pytest.importorskip("transformers.modeling_utils").ALL_ATTENTION_FUNCTIONS

    def mine(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: Any = None,
              dropout: float = 0.0, **kwargs: Any) -> Any:
        groups = query.shape[1] // key.shape[1]
        scores = query @ key.repeat_interleave(groups, 1).mT * scaling
        weights = torch.softmax(scores if attention_mask is None else scores + attention_mask, -1)
        return (weights @ value.repeat_interleave(groups, 1)).transpose(1, 2), weights

    ALL_ATTENTION_FUNCTIONS.register("mine", mine)
    try:
        config = transformers.BertConfig(hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                                         num_attention_heads=4, vocab_size=64, attn_implementation="mine")
        model = transformers.BertModel(config).eval()
        with torch.no_grad(), attest.capture(model) as seen:
            model(torch.arange(12).reshape(2, 6))
        assert ALL_ATTENTION_FUNCTIONS["mine"] is mine
    finally:
        del ALL_ATTENTION_FUNCTIONS._global_mapping["mine"]
    assert len(seen.calls) == 2 and seen.verify(findings="").verdict == "certified"


def looks_ahead(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: Any = None,
                dropout: float = 0.0, **kwargs: Any) -> Any:
    """A function of transformers that forgets that a call without a mask may be causal."""
    return functional.scaled_dot_product_attention(query, key, value, scale=scaling).transpose(1, 2), None


def looks_back(module: Any, query: Any, key: Any, value: Any, attention_mask: Any, scaling: Any = None,
               dropout: float = 0.0, **kwargs: Any) -> Any:
    o = functional.scaled_dot_product_attention(query, key, value, scale=scaling, is_causal=query.shape[2] > 1)
    return o.transpose(1, 2), None


REGISTERED = [(looks_ahead, "refuted"), (looks_back, "certified")]


@pytest.mark.parametrize(("function", "verdict"), REGISTERED)
def test_a_causal_layer_without_a_mask_is_recorded_as_such(function: Any, verdict: str,
                                                           monkeypatch: pytest.MonkeyPatch) -> None:
    class Registered:
        ALL_ATTENTION_FUNCTIONS = types.SimpleNamespace(_global_mapping={"mine": function})

    for name in ("transformers", "transformers.modeling_utils"):
        monkeypatch.setitem(sys.modules, name, Registered)
    layer, tensors = torch.nn.Identity(), [torch.randn(1, 2, 5, 8) for _ in range(3)]
    layer.is_causal = True
    with torch.no_grad(), attest.capture() as seen:
        Registered.ALL_ATTENTION_FUNCTIONS._global_mapping["mine"](layer, *tensors, None)
    assert seen.calls[0].function.endswith(function.__name__)
    assert seen.verify(findings="").verdict == verdict


@pytest.mark.parametrize(("function", "verdict"), REGISTERED)
def test_a_causal_model_of_transformers_with_a_function_of_one_s_own(function: Any, verdict: str) -> None:
    transformers = pytest.importorskip("transformers")
    transformers.AttentionInterface.register("mine", function)
    try:
        config = transformers.LlamaConfig(vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2,
                                          num_attention_heads=4)
        config._attn_implementation = "mine"
        torch.manual_seed(0)
        model = transformers.LlamaModel(config).eval()
        with torch.no_grad(), attest.capture(model) as seen:
            model(input_ids=torch.arange(9)[None])
    finally:
        del transformers.AttentionInterface._global_mapping["mine"]
    assert len(seen.calls) == 2 and seen.verify(findings="").verdict == verdict
