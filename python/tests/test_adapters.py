"""Ready adapters answer what they are asked, refuse what their libraries have no argument for, and change no input."""
from __future__ import annotations

import dataclasses
import subprocess
import sys
import types
from typing import Any

import numpy as np
import pytest
from attention_formula import CALLS, close, drawn, formula

from attest_attention import adapters
from attest_attention._call import Call, Unsupported

# What the adapters that run without a GPU refuse of CALLS, beside softcap.
GROUPED = {"grouped", "one head of keys"}
REFUSED: dict[str, set[str]] = {
    "pytorch": {"softcap"},
    "pytorch-math": {"softcap"},
    "pytorch-flash": {"softcap", "wide values"},
    "pytorch-flex": set(),
    "pytorch-mha": {"softcap", "wide values", "scale", "negative scale", *GROUPED},
    "jax": {"softcap", "wide values"},
    "jax-jit": {"softcap", "wide values"},
    "onnx": set(),
    "onnxruntime-attention-23": {"negative scale"},
    "onnxruntime-attention-24": {"negative scale"},
    "onnxruntime-mha": {"softcap", *GROUPED},
    "onnxruntime-gqa": {"wide values", "causal, more queries than keys"},
    "openvino": {"softcap", *GROUPED},
    "openvino-stateful": {"softcap", *GROUPED, "causal, more queries than keys"},
    "transformers-sdpa": {"softcap"},
}
# Answers that are wrong, each a defect of the library that docs/libraries.md describes.
DEFECTS = {
    "onnx": {"negative scale", "mask beside a band"},  # 14, 13
    "onnxruntime-mha": {"causal, top left", "causal, one query", "bias beside a band"},  # 10
    "openvino-stateful": {"causal, top left", "causal, one query"},  # 4
}
LIBRARY = {"pytorch": "torch", "onnxruntime": "onnxruntime", "openvino": "openvino", "jax": "jax", "onnx": "onnx",
           "transformers": "transformers"}


def made(name: str, **options: Any) -> Any:
    library = LIBRARY[name.split("-")[0]]
    pytest.importorskip(library)
    if library in ("onnxruntime", "transformers"):
        pytest.importorskip("onnx" if library == "onnxruntime" else "torch")
    return adapters.named(name, **options)


@pytest.mark.parametrize("name", ["pytorch-cudnn", "pytorch-efficient"])
def test_a_kernel_that_pytorch_has_for_gpus_alone_is_unsupported_on_a_cpu(name: str) -> None:
    adapter = made(name, device="cpu")
    for call in CALLS.values():
        with pytest.raises(Unsupported):
            adapter.answer(call)


def ready(function: object, device: str | None = None) -> Any:
    """The adapter of a library's function, which has one."""
    adapter = adapters.for_callable(function, device)  # type: ignore[arg-type]
    assert adapter is not None
    return adapter


def first_entry(call: Call) -> Call:
    """The first batch entry of a call by itself."""
    return dataclasses.replace(call, **{role: getattr(call, role)[:1] for role in ("q", "k", "v", "mask", "bias")
                                        if getattr(call, role) is not None})


@pytest.mark.parametrize("asked", CALLS)
@pytest.mark.parametrize("name", REFUSED)
def test_the_answer_is_that_of_the_formula(name: str, asked: str) -> None:
    adapter, call = made(name), CALLS[asked]
    if name == "onnxruntime-gqa":
        call = first_entry(call)  # with past keys it takes one batch entry
    given = {role: getattr(call, role).copy() for role in ("q", "k", "v", "mask", "bias")
             if getattr(call, role) is not None}
    call = dataclasses.replace(call, want_lse=adapter.gives_lse, want_weights=adapter.gives_weights)
    if asked in REFUSED[name]:
        with pytest.raises(Unsupported):
            adapter(call)
        return
    o, *further = answer if isinstance(answer := adapter(call), tuple) else (answer,)
    wanted, lse, weights = formula(call)
    assert o.shape == wanted.shape and o.dtype == call.q.dtype
    if asked in DEFECTS.get(name, ()):
        return
    assert close(o, wanted, call.dtype)
    if adapter.gives_lse:
        assert further[0].dtype == np.float32 and close(further[0], lse, call.dtype)
    if adapter.gives_weights:
        assert close(further[1], weights, call.dtype)
    for role, before in given.items():
        assert np.array_equal(getattr(call, role), before), f"the call has changed {role}"


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", ["pytorch", "pytorch-math", "pytorch-flash", "pytorch-mha", "transformers-sdpa",
                                  "jax"])
def test_other_types(name: str, dtype: Any) -> None:
    adapter = made(name)
    if dtype == "bfloat16":
        dtype = pytest.importorskip("ml_dtypes").bfloat16
    call = drawn(right=0, dtype=dtype)
    if name == "jax" and call.dtype == "f64":
        with pytest.raises(Unsupported, match="x64"):
            adapter(call)
        return
    o = adapter(call)
    assert o.dtype == call.q.dtype and close(o, formula(call)[0], call.dtype)


@pytest.mark.parametrize("name", ["pytorch", "jax", "onnx", "openvino"])
def test_what_a_library_does_not_return_is_unsupported(name: str) -> None:
    adapter = made(name)
    for want in ({"want_weights": True}, *([] if adapter.gives_lse else [{"want_lse": True}])):
        with pytest.raises(Unsupported):
            adapter(drawn(**want))


def test_names_are_known_without_their_libraries() -> None:
    code = ("import sys; from attest_attention import adapters; adapters.names(); adapters.for_callable(print); "
            "assert not {'torch', 'jax', 'onnx', 'onnxruntime', 'openvino'} & set(sys.modules), sorted(sys.modules)")
    subprocess.run([sys.executable, "-c", code], check=True)


def test_unknown_names_and_options_are_refused() -> None:
    with pytest.raises(ValueError, match="name: there is no adapter 'pytorch-fast', did you mean 'pytorch-flash'"):
        adapters.named("pytorch-fast")
    with pytest.raises(AttributeError):
        adapters.nothing
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match="backend"):
        adapters.torch_sdpa(backend="fast")
    with pytest.raises(ValueError, match="device: the adapter jax has no such option"):
        made("jax", device="cuda")


def test_functions_of_libraries_are_found_by_identity() -> None:
    torch = pytest.importorskip("torch")
    assert ready(torch.nn.functional.scaled_dot_product_attention).name == "pytorch"
    flex = pytest.importorskip("torch.nn.attention.flex_attention")
    assert ready(flex.flex_attention).name == "pytorch-flex"
    assert ready(torch.nn.MultiheadAttention).name == "pytorch-mha"
    assert adapters.for_callable(torch.matmul) is None
    assert adapters.for_callable(lambda q, k, v: v) is None
    adapter = adapters.torch_sdpa()
    assert adapters.for_callable(adapter) is adapter


def test_what_torch_compile_made_is_called_itself() -> None:
    torch = pytest.importorskip("torch")
    compiled = torch.compile(torch.nn.functional.scaled_dot_product_attention, backend="eager")
    adapter = ready(compiled)
    assert adapter.name == "pytorch" and close(adapter(CALLS["plain"]), formula(CALLS["plain"])[0], "f32")


def test_jax_functions_are_found() -> None:
    jax = pytest.importorskip("jax")
    assert ready(jax.nn.dot_product_attention).name == "jax"
    assert ready(jax.jit(jax.nn.dot_product_attention)).name == "jax-jit"


def test_eager_attention_of_a_model_is_found_and_gives_weights() -> None:
    pytest.importorskip("transformers")
    pytest.importorskip("torch")
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    adapter = ready(llama.eager_attention_forward)
    assert adapter.name == "transformers-eager" and adapter.gives_weights
    for asked in ("plain", "grouped", "bias beside a mask", "causal, bottom right"):
        call = dataclasses.replace(CALLS[asked], want_weights=True)
        o, _, weights = adapter(call)
        assert close(o, formula(call)[0], "f32") and close(weights, formula(call)[2], "f32")


def test_calls_that_flash_attn_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    asked = []

    def flash_attn_func(q: Any, k: Any, v: Any, **arguments: Any) -> Any:
        asked.append(arguments)
        o = v.mean(1, keepdim=True).repeat_interleave(q.shape[2] // v.shape[2], 2).expand(-1, q.shape[1], -1, -1)
        lse = torch.zeros(q.shape[0], q.shape[2], q.shape[1])
        return (o, lse, None) if arguments["return_attn_probs"] else o

    monkeypatch.setitem(sys.modules, "flash_attn", types.SimpleNamespace(flash_attn_func=flash_attn_func))
    adapter = ready(flash_attn_func, device="cpu")
    assert adapter.name == "flash-attn"
    o, lse = adapter(drawn(dtype=np.float16, hk=2, right=0, diagonal=2, softcap=3.0, want_lse=True))
    assert o.shape == (2, 4, 5, 8) and lse.shape == (2, 4, 5)
    assert asked[-1] == {"softmax_scale": None, "causal": True, "window_size": (-1, -1), "softcap": 3.0,
                         "return_attn_probs": True}
    adapter(drawn(dtype=np.float16, left=1, right=0, diagonal=2, scale=0.5))
    assert asked[-1]["window_size"] == (1, 0) and not asked[-1]["causal"] and asked[-1]["softmax_scale"] == 0.5
    for refused in ("mask of all", "bias", "wide values", "causal, top left"):
        call = CALLS[refused]
        half = dataclasses.replace(call, q=call.q.astype(np.float16), k=call.k.astype(np.float16),
                                   v=call.v.astype(np.float16))
        with pytest.raises(Unsupported):
            adapter(half)
    with pytest.raises(Unsupported, match="types"):
        adapter(CALLS["plain"])


def test_calls_that_xformers_gets() -> None:
    torch = pytest.importorskip("torch")
    shapes = []

    def attention(q: Any, k: Any, v: Any, bias: Any, scale: Any = None, op: Any = None) -> Any:
        """What xformers.ops.memory_efficient_attention computes, on [b, n, h, d] or [b, n, g, h, d]."""
        shapes.append((tuple(q.shape), tuple(k.shape), None if bias is None else tuple(bias.shape)))
        q, k, v = (x.movedim(1, -2) for x in (q, k, v))
        scores = q @ k.mT * (q.shape[-1] ** -0.5 if scale is None else scale)
        return (torch.softmax(scores if bias is None else scores + bias, -1) @ v).movedim(-2, 1)

    ops = types.SimpleNamespace(memory_efficient_attention=attention)
    adapter: Any = adapters.named("xformers", device="cpu", ops=ops)
    for asked in ("plain", "scale", "grouped", "mask of all", "mask of keys", "bias", "bias beside a mask", "window"):
        assert close(adapter(CALLS[asked]), formula(CALLS[asked])[0], "f32"), asked
    assert shapes[0] == ((2, 5, 4, 8), (2, 7, 4, 8), None) and shapes[2] == ((2, 5, 2, 2, 8), (2, 7, 2, 2, 8), None)
    assert all(shape[2] == (2, 4, 5, 7) for shape in shapes[3:])
    with pytest.raises(Unsupported, match="softcap"):
        adapter(CALLS["softcap"])
    with pytest.raises(ValueError, match="operator"):
        adapters.xformers_attention(operator="fast", ops=ops)


def test_sessions_are_asked_what_their_models_compute() -> None:
    onnx, onnxruntime = pytest.importorskip("onnx"), pytest.importorskip("onnxruntime")
    from attest_attention.adapters.onnx import model_of
    inputs = tuple((name, "float32", 4) for name in ("Query", "K", "values")) + (("attn_mask", "bool", 4),)
    outputs = (("result", "float32", 4),)
    session = onnxruntime.InferenceSession(model_of("Attention", "", 23, inputs, (("scale", 0.5),), outputs))
    with pytest.raises(ValueError, match="which input of the model is q"):
        adapters.onnxruntime_session(session, inputs={"k": "K", "v": "values", "mask": "attn_mask"})
    with pytest.raises(ValueError, match="input 'attn_mask'"):
        adapters.onnxruntime_session(session, inputs={"q": "Query", "k": "K", "v": "values"})
    roles = {"q": "Query", "k": "K", "v": "values", "mask": "attn_mask"}
    adapter = adapters.onnxruntime_session(session, inputs=roles, scale=0.5)
    for call in (drawn(scale=0.5), drawn(scale=0.5, mask="b1nm"), drawn(scale=0.5, right=0)):
        assert close(adapter(call), formula(call)[0], "f32")
    for call, why in ((drawn(), "scale"), (drawn(scale=0.5, softcap=1.0), "softcap"),
                      (drawn(scale=0.5, bias="1hnm"), "bias")):
        with pytest.raises(Unsupported, match=why):
            adapter(call)
    assert ready(session, device=None).name == "onnxruntime-session"


def test_openvino_models_are_asked_what_they_compute() -> None:
    openvino = pytest.importorskip("openvino")
    ops = pytest.importorskip("openvino.opset13")
    q, k, v = (ops.parameter([-1, 4, -1, 8], np.float32) for _ in range(3))
    for parameter, name in ((q, "q"), (k, "k"), (v, "v")):
        parameter.output(0).set_names({name})
    model = openvino.Model([ops.result(ops.scaled_dot_product_attention(q, k, v, causal=True))], [q, k, v], "attention")
    compiled = openvino.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    adapter: Any = adapters.openvino_model(compiled, causal="top-left")
    call = drawn(right=0)
    assert close(adapter(call), formula(call)[0], "f32")
    with pytest.raises(Unsupported, match="band"):
        adapter(drawn())
