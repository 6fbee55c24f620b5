"""capture with NumPy alone: a module whose function is the formula stands for a library's module."""
from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attention_formula import drawn, formula

import attest_attention as attest
from attest_attention import _hooked, _hooks, _tensor_file
from attest_attention._call import Call
from capture_library import flash_attn_func, flash_attn_varlen_func, library, tensors


def test_a_call_is_recorded_and_its_result_is_the_function_s(library: Any) -> None:
    q, k, v = tensors()
    wanted = flash_attn_func(q, k, v, 0.0, 0.5, True, softcap=3.0)
    with attest.capture() as seen:
        got = library.flash_attn_func(q, k, v, 0.0, 0.5, True, softcap=3.0)
    assert np.array_equal(got, wanted)
    (one,) = seen.calls
    assert one.function == "flash_attn.flash_attn_func" and one.dtype == "f32" and one.number == 0
    for role, array in (("q", q), ("k", k), ("v", v), ("o", wanted)):
        assert np.array_equal(getattr(one, role), array.swapaxes(1, 2))
    assert (one.scale, one.softcap, one.diagonal, one.left, one.right) == (0.5, 3.0, 2, -1, 0)
    assert one.lse is None and one.mask is None


def test_names_in_other_modules_are_watched_and_put_back(library: Any) -> None:
    user, (original,) = sys.modules["user_of_flash_attn"], [library.flash_attn_func]
    with attest.capture() as seen:
        assert user.attention is library.flash_attn_func is flash_attn_func is not original  # this module's name too
        user.attention(*tensors())
        late: Any = types.ModuleType("imported_meanwhile")
        late.attention = library.flash_attn_func
        sys.modules["imported_meanwhile"] = late
    try:
        assert user.attention is library.flash_attn_func is late.attention is flash_attn_func is original
        library.flash_attn_func(*tensors())
    finally:
        del sys.modules["imported_meanwhile"]
    assert seen.seen_calls == 1


def test_they_are_put_back_after_an_exception(library: Any) -> None:
    with pytest.raises(KeyError), attest.capture():
        raise KeyError
    assert library.flash_attn_func is flash_attn_func


def test_inputs_are_those_before_the_call_though_they_change_later(library: Any) -> None:
    q, k, v = tensors()
    before = q.copy()
    with attest.capture() as seen:
        o = library.flash_attn_func(q, k, v)
        kept = o.copy()
        q[:], o[:] = 0, 0
    call: Any = seen.calls[0]
    assert np.array_equal(call.q, before.swapaxes(1, 2)) and np.array_equal(call.o, kept.swapaxes(1, 2))


def test_a_call_that_raises_is_not_recorded(library: Any) -> None:
    with attest.capture() as seen, pytest.raises(RuntimeError, match="thirteen"):
        library.flash_attn_func(*tensors(n=13))
    assert seen.seen_calls == 1 and not seen.calls


def test_what_a_file_cannot_say_is_counted(library: Any) -> None:
    q, k, v = tensors()
    with attest.capture() as seen:
        library.flash_attn_func(q, k, v, 0.1)
        library.flash_attn_func(q, k, v, alibi_slopes=np.ones(2))
        library.flash_attn_func(q, k, v)
    assert seen.not_recorded == {"dropout": 1, "alibi_slopes": 1} and len(seen.calls) == 1
    assert "not recorded: 1, dropout" in repr(seen)


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint32, np.int32, np.int64])
def test_lengths_of_any_whole_type_are_recorded(library: Any, monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    def described(q: Any, k: Any, v: Any, lengths: Any) -> list[_hooked.Problem]:
        return [_hooked.Problem({"q": q, "k": k, "v": v, "k_lengths": lengths}, lambda o: {"o": o})]

    library.flash_attn_func = lambda q, k, v, lengths: np.asarray(attest.reference(q, k, v, k_lengths=lengths).o)
    monkeypatch.setattr(_hooks, "NAMED", [("flash_attn.flash_attn_func", described)])
    with attest.capture() as seen:
        library.flash_attn_func(*(x.swapaxes(1, 2) for x in tensors()), np.array([4], kind))
    assert not seen.not_recorded and seen.verify(findings="").verdict == "certified"


@pytest.mark.parametrize(("sink", "why"), [(np.zeros(2), "a sink of another type"),
                                           (np.zeros((1, 2, 1, 1), np.float32), "a sink of another shape")])
def test_a_sink_that_a_file_cannot_say_is_counted(sink: Any, why: str) -> None:
    q, k, v = (x.swapaxes(1, 2) for x in tensors())
    module = types.SimpleNamespace(training=False, sinks=sink)
    with pytest.raises(_hooked.NotRecorded, match=why):
        _hooked.check(_hooks.transformers_attention(module, q, k, v)[0])


@pytest.mark.parametrize("kind", [np.int32, np.float64, np.float16])
def test_a_bias_of_a_type_that_no_file_has_beside_q_is_counted(library: Any, monkeypatch: pytest.MonkeyPatch,
                                                               kind: Any) -> None:
    def described(q: Any, k: Any, v: Any, bias: Any) -> list[_hooked.Problem]:
        return [_hooked.Problem({"q": q, "k": k, "v": v, "bias": bias}, lambda o: {"o": o})]

    library.flash_attn_func = lambda q, k, v, bias: np.asarray(attest.reference(q, k, v, bias=np.float32(bias)).o)
    monkeypatch.setattr(_hooks, "NAMED", [("flash_attn.flash_attn_func", described)])
    bias = np.random.default_rng(1).integers(-2, 3, (1, 1, 5, 7))
    with attest.capture() as seen:
        for there in (bias.astype(kind), bias.astype(np.float32)):
            library.flash_attn_func(*(x.swapaxes(1, 2) for x in tensors()), there)
    assert seen.not_recorded == {"a bias of another type": 1}
    assert len(seen.calls) == 1 and seen.verify(findings="").verdict == "certified"


@pytest.mark.parametrize(("kind", "bias"), [(np.float16, np.float16), (np.float16, np.float32),
                                            (np.float64, np.float32)])
def test_a_bias_of_the_type_of_q_or_float32_is_recorded(kind: Any, bias: Any) -> None:
    q, k, v = (x.swapaxes(1, 2) for x in tensors(dtype=kind))
    _hooked.check(_hooked.Problem({"q": q, "k": k, "v": v, "bias": np.zeros((1, 1, 1, 7), bias)}, lambda o: {"o": o}))


def test_a_window_that_no_mask_says_is_counted() -> None:
    q, k, v = (x.swapaxes(1, 2) for x in tensors())
    module = types.SimpleNamespace(training=False)
    with pytest.raises(_hooked.NotRecorded, match="sliding_window"):
        _hooks.transformers_attention(module, q, k, v, sliding_window=6)
    for given in ({"sliding_window": None}, {"sliding_window": 7}):
        assert _hooks.transformers_attention(module, q, k, v, **given)


@pytest.mark.parametrize(("causal", "said", "queries", "right"), [
    (True, {}, 7, 0), (None, {}, 7, 0), (False, {}, 7, -1),
    (True, {"is_causal": False}, 7, -1), (False, {"is_causal": True}, 7, 0), (True, {}, 1, -1),
    (True, {"attention_mask": np.ones((1, 1, 7, 7), bool)}, 7, -1)])
def test_a_registered_function_without_a_mask_is_as_causal_as_its_layer(causal: Any, said: Any, queries: int,
                                                                        right: int) -> None:
    q, k, v = (x.swapaxes(1, 2) for x in tensors(n=queries))
    module = types.SimpleNamespace(training=False, **({} if causal is None else {"is_causal": causal}))
    if "attention_mask" in said:
        said = {"attention_mask": Expanding(said["attention_mask"])}
    (one,) = _hooks.registered_attention(module, q, k, v, **said)
    assert one.right == right
    if not said:  # the eager functions of models get a mask wherever there is one
        assert _hooks.transformers_attention(module, q, k, v)[0].right == -1


class Expanding(np.ndarray[Any, Any]):
    """An array with what is asked of a mask of PyTorch's."""

    def __new__(cls, array: Any) -> Any:
        return array.view(cls)

    def expand(self, *shape: int) -> Any:
        return np.broadcast_to(self, shape)


def test_a_causal_layer_of_fewer_queries_than_keys_is_not_guessed() -> None:
    q, k, v = (x.swapaxes(1, 2) for x in tensors())
    with pytest.raises(_hooked.NotRecorded, match="causal without a mask"):
        _hooks.registered_attention(types.SimpleNamespace(training=False, is_causal=True), q, k, v)


def test_mistakes_of_the_recorder_do_not_reach_the_program(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_hooks, "NAMED", [("flash_attn.flash_attn_func", lambda *_, **__: 1 / 0)])
    q, k, v = tensors()
    with attest.capture() as seen:
        assert np.array_equal(library.flash_attn_func(q, k, v), flash_attn_func(q, k, v))
    assert list(seen.not_recorded) == ["ZeroDivisionError: division by zero"] and not seen.calls


def test_sequences_of_a_packed_batch_are_problems_of_their_own(library: Any) -> None:
    (q, k, v), ends_q, ends_k = tensors(n=9, m=12), np.array([0, 4, 9]), np.array([0, 7, 12])
    with attest.capture() as seen:
        library.flash_attn_varlen_func(q[0], k[0], v[0], ends_q, ends_k, 5, 7, causal=True)
    calls: list[Any] = seen.calls
    first, second = calls
    assert first.q.shape == (1, 2, 4, 8) and first.k.shape == (1, 2, 7, 8) and first.diagonal == 3
    assert second.o.shape == (1, 2, 5, 8) and second.diagonal == 0
    assert seen.verify(findings="").verdict == "certified"


def test_verify_certifies_what_is_right_and_refutes_what_is_not(library: Any, tmp_path: Path) -> None:
    with attest.capture() as seen:
        for seed in range(3):
            library.flash_attn_func(*tensors(seed), causal=True, return_attn_probs=True)
    report = seen.verify(findings="")
    assert report.verdict == "certified" and report.json["summary"]["elements"] == 3 * (5 * 2 * 8 + 5 * 2)

    library.flash_attn_func = lambda q, k, v: 2 * flash_attn_func(q, k, v)
    with attest.capture() as seen:
        library.flash_attn_func(*tensors())
    seen.save(tmp_path / "calls.safetensors")
    assert seen.verify(findings="").verdict == "refuted"


def test_a_saved_file_has_the_tensors_and_parameters(library: Any, tmp_path: Path) -> None:
    with attest.capture() as seen:
        library.flash_attn_func(*tensors(), softmax_scale=0.25, window_size=(2, 1))
    seen.save(tmp_path / "calls.safetensors")
    found, metadata = _tensor_file.read(tmp_path / "calls.safetensors")
    prefix = "00000/flash_attn/flash_attn_func"
    assert sorted(found) == [f"{prefix}.{role}" for role in "koqv"]
    said = {key.removeprefix(prefix + "."): value for key, value in metadata.items()}
    assert (said["diagonal"], said["left"], said["right"]) == ("2", "2", "1") and float.fromhex(said["scale"]) == 0.25


def test_types_are_judged_apart(library: Any) -> None:
    with attest.capture() as seen:
        library.flash_attn_func(*tensors())
        library.flash_attn_func(*tensors(dtype=np.float16))
    with pytest.raises(ValueError, match="dtype: calls of the types f16, f32"):
        seen.verify()
    with pytest.raises(ValueError, match="dtype: no call of the type f64"):
        seen.verify(dtype="f64")
    assert seen.verify(dtype="f16", findings="").verdict == seen.verify("f32", dtype="f32",
                                                                        findings="").verdict == "certified"


def test_nothing_recorded_is_said(library: Any) -> None:
    with attest.capture() as seen:
        pass
    with pytest.raises(ValueError, match="calls: none was recorded; no call of a watched function was seen"):
        seen.verify()
    with attest.capture() as seen:
        library.flash_attn_func(*tensors(), dropout_p=0.5)
    with pytest.raises(ValueError, match="1 with dropout"):
        seen.save("nowhere")


def test_arguments_are_checked() -> None:
    with pytest.raises(TypeError, match="model: is a int"):
        attest.capture(3)
    with pytest.raises(ValueError, match="calls: is -1"):
        attest.capture(calls=-1)
    with pytest.raises(TypeError, match="bytes: is 1.5"):
        attest.capture(bytes=1.5)  # type: ignore[arg-type]
    with attest.capture() as seen, pytest.raises(ValueError, match="running already"):
        seen.__enter__()


# --- the choice -------------------------------------------------------------------------------------------------------


def test_the_cases_of_this_file_are_what_they_say() -> None:
    q, k, v = tensors()
    assert np.allclose(flash_attn_func(q, k, v),
                       formula(Call(q=q.swapaxes(1, 2), k=k.swapaxes(1, 2), v=v.swapaxes(1, 2)))[0]
                       .swapaxes(1, 2), atol=1e-6)
    assert drawn().q.shape == (2, 4, 5, 8)
