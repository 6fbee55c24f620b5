"""capture with the libraries themselves: what is recorded is what was computed, and nothing that is computed
changes."""
from __future__ import annotations

import os
import shutil
from typing import Any

import numpy as np
import pytest

import attest_attention as attest
from attest_attention import _hooked, _hooks

torch = pytest.importorskip("torch")
functional = pytest.importorskip("torch.nn.functional")
Module: Any = torch.nn.Module


class Layer(Module):  # type: ignore[misc]
    """Self-attention as models have it: torch's function by its usual name, with a mask or causal."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.project, self.out = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)

    def forward(self, x: Any, mask: Any = None, causal: bool = False) -> Any:
        b, n, width = x.shape
        q, k, v = self.project(x).view(b, n, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        o = torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal)
        return x + self.out(o.transpose(1, 2).reshape(b, n, width))


class Model(Module):  # type: ignore[misc]
    def __init__(self, layers: int = 2) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, x: Any, mask: Any = None, causal: bool = False) -> Any:
        for layer in self.layers:
            x = layer(x, mask, causal)
        return x


@pytest.fixture
def model() -> Any:
    torch.manual_seed(0)
    return Model().eval()


@pytest.fixture
def batch() -> Any:
    torch.manual_seed(1)
    return torch.randn(2, 6, 32)


def padding() -> Any:
    return (torch.arange(6) < torch.tensor([[6], [4]]))[:, None, None, :]


@pytest.mark.parametrize("arguments", [{}, {"causal": True}, {"mask": padding()},
                                       {"mask": torch.where(padding(), 0.0, torch.finfo(torch.float32).min)}])
def test_torch_s_function_in_a_model(model: Any, batch: Any, arguments: Any) -> None:
    with torch.no_grad():
        wanted = model(batch, **arguments)
        with attest.capture(model) as seen:
            got = model(batch, **arguments)
    assert torch.equal(got, wanted)
    assert [call.layer for call in seen.calls] == ["layers.0", "layers.1"]
    assert all(call.q is not None and call.q.shape == (2, 4, 6, 8) for call in seen.calls)
    assert seen.calls[0].right == (0 if "causal" in arguments else -1)
    assert (seen.calls[0].mask is None) == (arguments.get("mask") is None or arguments["mask"].dtype != torch.bool)
    assert seen.verify(findings="").verdict == "certified"


def test_gradients_and_random_numbers_are_untouched(model: Any, batch: Any) -> None:
    def trained(watch: Any) -> Any:
        torch.manual_seed(3)
        model.zero_grad()
        loss = functional.dropout(model(batch), 0.3).square().sum()
        if watch:
            with attest.capture():
                loss = functional.dropout(model(batch), 0.3).square().sum()
        else:
            loss = functional.dropout(model(batch), 0.3).square().sum()
        loss.backward()
        return [parameter.grad.clone() for parameter in model.parameters()]

    assert all(torch.equal(one, other) for one, other in zip(trained(False), trained(True)))


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
@pytest.mark.parametrize("before", [False, True], ids=["compiled meanwhile", "compiled before"])
def test_graphs_of_torch_compile_stay_as_they_are(model: Any, batch: Any, backend: Any, before: Any) -> None:
    graphs = []

    def keep(module: Any, inputs: Any) -> Any:
        graphs.append([(node.op, str(node.target)) for node in module.graph.nodes])
        return torch._dynamo.lookup_backend(backend)(module, inputs)

    torch._dynamo.reset()
    with torch.no_grad():
        plain = torch.compile(model, backend=keep)
        wanted = plain(batch, None, True)
        alone, graphs[:] = list(graphs), []
        if not before:
            torch._dynamo.reset()
        compiled = plain if before else torch.compile(model, backend=keep)
        with attest.capture(compiled) as seen:
            got = compiled(batch, None, True)
        assert torch.equal(got, wanted)
        assert graphs == ([] if before else alone) or graphs == alone  # what is made anew is the same
        assert torch.equal(compiled(batch, None, True), wanted)
    if backend == "aot_eager":
        assert len(seen.calls) == 2 and all(call.right == 0 and call.lse is not None for call in seen.calls)
        assert seen.verify(findings="").verdict == "certified"


def test_capture_during_compilation_leaves_the_compiler_as_it_was(model: Any, batch: Any) -> None:
    torch._dynamo.reset()
    with torch.no_grad(), attest.capture(model):
        torch.compile(model, backend="eager")(batch)
    torch._dynamo.reset()
    explained = torch._dynamo.explain(model)(batch)
    assert explained.graph_break_count == 0 and explained.graph_count == 1


def test_other_tracers_see_the_function_itself(model: Any, batch: Any) -> None:
    class Alone(Module):  # type: ignore[misc]
        # No annotations, which torch.jit.script would read, and no other comment behind "type: ignore", which it knows.
        def forward(self, q):  # type: ignore[no-untyped-def]
            return torch.nn.functional.scaled_dot_product_attention(q, q, q)

    q = torch.randn(1, 2, 4, 8)
    wanted = Alone()(q)
    with torch.no_grad(), attest.capture():
        scripted = torch.jit.script(Alone())
        made = [scripted, torch.jit.trace(Alone(), (q,)), torch.export.export(Alone(), (q,)).module(),
                torch.vmap(Alone())]
        assert all(torch.equal(one(q), wanted) for one in made)
        assert "scaled_dot_product_attention(q, q, q" in torch.fx.symbolic_trace(Alone()).code
    assert "scaled_dot_product_attention" in str(scripted.graph)
    assert torch.equal(torch.jit.script(Alone())(q), wanted)


@pytest.mark.skipif("ATTEST_TEST_INDUCTOR" not in os.environ or not (shutil.which("c++") or shutil.which("g++")),
                    reason="minutes, and a C++ compiler: set ATTEST_TEST_INDUCTOR=1")
def test_code_of_inductor_stays_as_it_is(model: Any, batch: Any) -> None:
    torch._dynamo.reset()
    with torch.no_grad():
        compiled = torch.compile(model)
        wanted = compiled(batch, None, True)
        with attest.capture(compiled) as before:
            assert torch.equal(compiled(batch, None, True), wanted)
        torch._dynamo.reset()
        with attest.capture() as meanwhile:
            assert torch.equal(torch.compile(model)(batch, None, True), wanted)
    for seen in (before, meanwhile):
        assert len(seen.calls) == 2 and seen.verify(findings="").verdict == "certified"


def test_grouped_heads_other_ranks_and_types() -> None:
    def drawn(*shape: Any, dtype: Any = torch.float32) -> Any:
        return torch.randn(*shape).to(dtype)

    with torch.no_grad(), attest.capture() as seen:
        functional.scaled_dot_product_attention(drawn(1, 4, 3, 8), drawn(1, 2, 5, 8), drawn(1, 2, 5, 8),
                                                enable_gqa=True, scale=0.5)
        functional.scaled_dot_product_attention(drawn(3, 8), drawn(5, 8), drawn(5, 8))
        functional.scaled_dot_product_attention(drawn(2, 3, 8), drawn(2, 5, 8), drawn(2, 5, 8), attn_mask=drawn(3, 5))
        functional.scaled_dot_product_attention(drawn(2, 3, 2, 4, 8), drawn(2, 3, 2, 4, 8), drawn(2, 3, 2, 4, 8))
        functional.scaled_dot_product_attention(drawn(1, 1, 3, 8), drawn(1, 1, 3, 8), drawn(1, 1, 3, 8), dropout_p=0.5)
    calls: list[Any] = seen.calls
    grouped, two, three, five = calls
    assert grouped.k.shape == (1, 2, 5, 8) and grouped.scale == 0.5
    assert two.q.shape == (1, 1, 3, 8) and three.q.shape == (1, 2, 3, 8) and three.bias.shape == (1, 1, 3, 5)
    assert five.q.shape == (6, 2, 4, 8)
    assert seen.not_recorded == {"dropout": 1}
    assert seen.verify(findings="").verdict == "certified"
    with torch.no_grad(), attest.capture() as seen:
        functional.scaled_dot_product_attention(*(drawn(1, 2, 4, 8, dtype=torch.bfloat16) for _ in range(3)))
    assert seen.calls[0].dtype == "bf16" and seen.verify(findings="").verdict == "certified"


def test_what_autocast_casts_within_the_function_is_not_recorded() -> None:
    flex = pytest.importorskip("torch.nn.attention.flex_attention")

    def drawn(dtype: Any) -> Any:
        return [torch.randn(1, 2, 4, 8).to(dtype) for _ in range(3)]

    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16), attest.capture() as seen:
        for attention in (functional.scaled_dot_product_attention, flex.flex_attention):
            for dtype in (torch.float32, torch.float16):
                assert attention(*drawn(dtype)).dtype == torch.bfloat16
            attention(*drawn(torch.bfloat16))
            attention(*drawn(torch.float64))  # which it does not cast
        functional.scaled_dot_product_attention(*drawn(torch.bfloat16), attn_mask=torch.zeros(4, 4))
        functional.scaled_dot_product_attention(*drawn(torch.bfloat16), attn_mask=torch.ones(4, 4, dtype=torch.bool))
        with torch.autocast("cpu", enabled=False):
            functional.scaled_dot_product_attention(*drawn(torch.float32))
    assert seen.not_recorded == {"tensors that torch.autocast casts": 5}
    assert [call.dtype for call in seen.calls] == ["bf16", "f64", "bf16", "f64", "bf16", "f32"]
    assert all(seen.verify(dtype=dtype, findings="").verdict == "certified" for dtype in ("bf16", "f64", "f32"))


def test_a_layer_under_autocast_is_recorded_where_its_tensors_are_cast_already() -> None:
    layer, tensors = torch.nn.Identity(), [torch.randn(1, 2, 4, 8) for _ in range(3)]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        with pytest.raises(_hooked.NotRecorded, match="autocast"):
            _hooks.transformers_attention(layer, *tensors)
        q, k, v = (one.bfloat16() for one in tensors)
        assert _hooks.transformers_attention(layer, q, k, v, torch.zeros(1, 1, 4, 4))


def test_flex_attention_with_a_block_mask() -> None:
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    q, k, v = (torch.randn(1, 2, 6, 8) for _ in range(3))
    block_mask = flex.create_block_mask(lambda b, h, i, j: j <= i, 1, 1, 6, 6, device="cpu")
    with torch.no_grad(), attest.capture() as seen:
        flex.flex_attention(q, k, v, block_mask=block_mask, return_aux=flex.AuxRequest(lse=True))
        flex.flex_attention(q, k, v, score_mod=lambda score, b, h, i, j: score + j)
    calls: list[Any] = seen.calls
    (one,) = calls
    assert np.array_equal(one.mask[0, 0], np.tri(6, dtype=bool)) and one.lse.shape == (1, 2, 6)
    assert seen.not_recorded == {"score_mod": 1}
    assert seen.verify(findings="").verdict == "certified"


def test_jax_s_function() -> None:
    jax = pytest.importorskip("jax")
    random = np.random.default_rng(0)
    q, k, v = (random.standard_normal((2, n, 3, 8)).astype(np.float32) for n in (5, 7, 7))
    mask = random.random((1, 1, 5, 7)) < 0.7
    mask[..., 0] = True
    wanted = jax.nn.dot_product_attention(q, k, v, mask=mask, scale=0.5)
    with attest.capture() as seen:
        got = jax.nn.dot_product_attention(q, k, v, mask=mask, scale=0.5)
        jax.nn.dot_product_attention(q, k, v, is_causal=True, return_residual=True)
        jax.nn.dot_product_attention(q, k, v, local_window_size=(2, 1))
        jax.nn.dot_product_attention(q[0], k[0], v[0])
        jax.jit(lambda q: jax.nn.dot_product_attention(q, k, v))(q)
    assert np.array_equal(got, wanted)
    calls: list[Any] = seen.calls
    masked, causal, window, alone = calls
    assert np.array_equal(masked.mask, mask) and masked.scale == 0.5
    assert causal.right == 0 and causal.diagonal == 0 and causal.lse.shape == (2, 3, 5)
    assert (window.left, window.right) == (2, 1) and alone.q.shape == (1, 3, 5, 8)
    assert seen.not_recorded == {"under jax.jit, grad or vmap": 1}
    assert seen.verify(findings="").verdict == "certified"
