"""The judge's side of a call is made here with ctypes; tests/test_audit.py has the judge itself."""
from __future__ import annotations

import ctypes
from typing import Any

import kernels
import numpy as np
import pytest
from attest_attention import Call, Unsupported, _serve
from attest_attention._arrays import DLDataType, DLDevice, DLTensor
from attest_attention._signature import Matched
from attest_attention._spellings import Options


class Judge:
    """Tensors of a call as the judge has them, and what a kernel says of them."""

    def __init__(self, n: int = 3, m: int = 4, dtype: Any = np.float32, *, gap: int = 0, **given: Any) -> None:
        rng = np.random.default_rng(1)
        self.given, self._keep = given, []  # type: ignore[var-annotated]
        self.arrays: dict[str, Any] = {
            name: self._with_gaps(rng.normal(size=shape).astype(dtype), gap)
            for name, shape in (("q", (2, 2, n, 8)), ("k", (2, 2, m, 8)), ("v", (2, 2, m, 5)))}
        self.arrays |= {name: array for name, array in given.items() if isinstance(array, np.ndarray)}
        self.arrays["out"] = self._with_gaps(np.full((2, 2, n, 5), np.nan, dtype), gap)
        if given.get("lse"):
            self.arrays["lse"] = np.full((2, 2, n), np.nan, np.float32)
        if given.get("weights"):
            self.arrays["weights"] = np.full((2, 2, n, m), np.nan, dtype)
        self.said: list[str] = []

    @staticmethod
    def _with_gaps(array: Any, gap: int) -> Any:
        wide = np.full((*array.shape[:-1], array.shape[-1] + gap), 7, array.dtype)
        wide[..., : array.shape[-1]] = array
        return wide[..., : array.shape[-1]]

    def _described(self, name: str) -> Any:
        if name not in self.arrays:
            return None
        array = self.arrays[name]
        code = {"f": 2, "u": 1, "b": 1, "V": 4}[array.dtype.kind if array.dtype.name != "bfloat16" else "V"]
        shape = (ctypes.c_int64 * array.ndim)(*array.shape)
        strides = (ctypes.c_int64 * array.ndim)(*(step // array.itemsize for step in array.strides))
        tensor = DLTensor(array.ctypes.data - 8, DLDevice(1, 0), array.ndim, DLDataType(code, 8 * array.itemsize, 1),
                          shape, strides, 8)
        self._keep += [shape, strides, tensor]
        return ctypes.pointer(tensor)

    def ask(self, answer: Any, kernel: _serve.Kernel | None = None, layout: str = "bhnd",
            version: int = 1) -> int:
        kernel = kernel or _serve.Kernel(answer, say=self.said.append, layout=layout)
        numbers = [self.given.get(name, default) for name, default in
                   (("scale", float("nan")), ("softcap", 0.0), ("diagonal", 0), ("left", -1), ("right", -1))]
        call = _serve.AttestCall(version, 0, *(self._described(name) for name in ("q", "k", "v", "mask", "bias")),
                                 *numbers, *(self._described(name) for name in ("out", "lse", "weights")))
        return int(_serve.KERNEL(kernel)(ctypes.byref(call)))


@pytest.mark.parametrize("gap", [0, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_answers_are_written_and_nothing_else(gap: int, dtype: Any) -> None:
    judge = Judge(gap=gap, dtype=dtype)
    before = {name: judge.arrays[name].copy() for name in "qkv"}
    assert judge.ask(Matched(kernels.right)) == _serve.OK and judge.said == []
    expected = kernels.right(*before.values())
    assert judge.arrays["out"].tobytes() == expected.tobytes()
    for name, array in before.items():
        assert judge.arrays[name].tobytes() == array.tobytes()
    if gap:
        assert (judge.arrays["out"].base[..., -gap:] == 7).all()


@pytest.mark.parametrize("layout", ["bnhd", "thd"])
def test_other_layouts(layout: str) -> None:
    def function(q: Any, k: Any, v: Any, cu_seqlens_q: Any = None, cu_seqlens_k: Any = None) -> Any:
        assert all(one.flags.c_contiguous and one.flags.writeable for one in (q, k, v))
        b = 1 if cu_seqlens_q is None else len(cu_seqlens_q) - 1
        q, k, v = (one.reshape(b, -1, *one.shape[-2:]).swapaxes(1, 2) if layout == "thd" else one.swapaxes(1, 2)
                   for one in (q, k, v))
        o = kernels.right(q, k, v).swapaxes(1, 2)
        return o.reshape(-1, *o.shape[-2:]) if layout == "thd" else o

    judge = Judge()
    expected = kernels.right(*(judge.arrays[name] for name in "qkv"))
    assert judge.ask(Matched(function, Options(layout=layout)), layout=layout) == _serve.OK, judge.said
    assert judge.arrays["out"].tobytes() == expected.tobytes()


def test_bfloat16() -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    judge = Judge(dtype=ml_dtypes.bfloat16)
    assert judge.ask(Matched(kernels.right)) == _serve.OK, judge.said
    assert np.isfinite(judge.arrays["out"].astype(np.float32)).all()


def test_everything_that_a_call_says_arrives() -> None:
    seen: list[Call] = []
    mask, bias = np.ones((1, 2, 1, 4), np.uint8), np.ones((2, 1, 3, 4), np.float32)
    mask[..., 1] = 0
    judge = Judge(mask=mask, bias=bias, scale=0.5, softcap=3.0, diagonal=-2, left=7, right=8, lse=True, weights=True)

    def answer(call: Call) -> Any:
        seen.append(call)
        return kernels.right(call.q, call.k, call.v, return_lse=True, return_weights=True)

    assert judge.ask(answer) == _serve.OK, judge.said
    call = seen[0]
    assert call.mask is not None and call.mask.dtype == np.bool_ and np.array_equal(call.mask, mask != 0)
    assert np.array_equal(call.bias, bias)  # type: ignore[arg-type]
    assert (call.scale, call.softcap, call.diagonal, call.left, call.right) == (0.5, 3.0, -2, 7, 8)
    assert call.want_lse and call.want_weights
    assert np.isfinite(judge.arrays["lse"]).all() and np.allclose(judge.arrays["weights"].sum(-1), 1)


def test_outputs_that_are_not_returned_are_unsupported() -> None:
    judge = Judge(lse=True)
    assert judge.ask(Matched(kernels.plain)) == _serve.UNSUPPORTED
    assert judge.said == ["LSE"] and np.isnan(judge.arrays["out"]).all()


@pytest.mark.parametrize("version", [0, 3])
def test_a_version_that_is_not_known_is_unsupported(version: int) -> None:
    judge = Judge()
    assert judge.ask(Matched(kernels.right), version=version) == _serve.UNSUPPORTED
    assert judge.said == [f"a call of version {version}"] and np.isnan(judge.arrays["out"]).all()


@pytest.mark.parametrize("why", [Unsupported("no such call"), NotImplementedError("no such call")])
def test_a_refusal_is_no_failure(why: Exception) -> None:
    def answer(call: Call) -> Any:
        raise why

    judge = Judge()
    assert judge.ask(answer) == _serve.UNSUPPORTED and judge.said == ["no such call"]


@pytest.mark.parametrize("why", [KeyError("x"), SystemExit(3), ZeroDivisionError("\0 €" * 400), RecursionError()])
def test_whatever_is_raised_is_a_failure_with_its_traceback(why: BaseException) -> None:
    def answer(call: Call) -> Any:
        raise why

    judge = Judge()
    kernel = _serve.Kernel(answer, say=judge.said.append)
    assert judge.ask(answer, kernel) == _serve.FAILED
    (said,) = judge.said
    assert said.startswith(f"{type(why).__name__}: ") and len(said.encode()) <= _serve.MOST_SAID and "\0" not in said
    assert "in answer" in kernel.tracebacks[said] and "/_serve.py" not in kernel.tracebacks[said]


@pytest.mark.parametrize(("of", "status"), [(Exception, _serve.FAILED), (NotImplementedError, _serve.UNSUPPORTED)])
def test_an_exception_that_cannot_be_printed_is_an_answer_too(of: type[Exception], status: int) -> None:
    class Unprintable(of):  # type: ignore[misc, valid-type]
        def __str__(self) -> str:
            raise ValueError("no words")

    def answer(call: Call) -> Any:
        raise Unprintable

    judge = Judge()
    assert judge.ask(answer) == status
    assert "Unprintable" in judge.said[0]


def test_ctrl_c_in_a_callable_ends_the_audit_and_is_no_finding() -> None:
    def answer(call: Call) -> Any:
        raise KeyboardInterrupt

    judge = Judge()
    kernel = _serve.Kernel(answer, say=judge.said.append)
    assert judge.ask(answer, kernel) == _serve.UNSUPPORTED and kernel.interrupted


def test_where_nobody_interrupts_an_interrupt_is_a_failure() -> None:
    def answer(call: Call) -> Any:
        raise KeyboardInterrupt

    judge = Judge()
    kernel = _serve.Kernel(answer, say=judge.said.append, interruptible=False)
    assert judge.ask(answer, kernel) == _serve.FAILED and not kernel.interrupted
    assert judge.said[0].startswith("KeyboardInterrupt")


@pytest.mark.parametrize("returned", [None, np.zeros(3, np.float32), "text"])
def test_what_is_no_answer_is_said(returned: Any) -> None:
    judge = Judge()
    assert judge.ask(lambda call: returned) == _serve.FAILED
    assert judge.said[0].startswith("returned o")
    assert np.isnan(judge.arrays["out"]).all()


@pytest.mark.parametrize("name", ["q", "k", "v", "mask", "bias"])
@pytest.mark.parametrize("layout", ["bhnd", "bnhd"])
def test_an_input_that_is_changed_is_named(name: str, layout: str) -> None:
    def answer(call: Call) -> Any:
        o = kernels.right(call.q, call.k, call.v)
        getattr(call, name).flat[0] = 0 if name != "mask" else False
        return o if layout == "bhnd" else o.swapaxes(1, 2)

    judge = Judge(mask=np.ones((1, 1, 3, 4), np.uint8), bias=np.ones((1, 1, 3, 4), np.float32))
    assert judge.ask(answer, layout=layout) == _serve.FAILED and judge.said == [f"changes its input {name}"]


def test_the_sign_of_a_zero_is_a_change() -> None:
    def answer(call: Call) -> Any:
        o = kernels.right(call.q, call.k, call.v)
        call.q[...] = -call.q
        return o

    judge = Judge()
    judge.arrays["q"][...] = 0
    assert judge.ask(answer) == _serve.FAILED


def test_an_answer_that_a_later_call_overwrites_is_said() -> None:
    judge = Judge()
    kernel = _serve.Kernel(Matched(kernels.one_buffer), say=judge.said.append)
    assert judge.ask(None, kernel) == _serve.OK
    assert judge.ask(None, kernel) == _serve.OK  # the same bits
    judge.arrays["v"][...] *= 2
    assert judge.ask(None, kernel) == _serve.FAILED
    assert judge.said == ["changes the answer o of an earlier call (1 call before)"]


def test_an_input_that_a_later_call_overwrites_is_said() -> None:
    kept: list[Any] = []

    def answer(call: Call) -> Any:
        if kept:
            kept[0][...] = 1
        kept.append(call.k)
        return kernels.right(call.q, call.k, call.v)

    judge = Judge()
    kernel = _serve.Kernel(answer, say=judge.said.append)
    assert judge.ask(None, kernel) == _serve.OK
    assert judge.ask(None, kernel) == _serve.FAILED
    assert judge.said == ["changes the input k of an earlier call (1 call before)"]


def test_empty_tensors() -> None:
    judge = Judge(n=0)
    assert judge.ask(Matched(kernels.right)) == _serve.OK, judge.said
    judge = Judge(m=0)
    assert judge.ask(Matched(kernels.right)) == _serve.OK, judge.said
    assert (judge.arrays["out"] == 0).all()
