"""Which exceptions may be how a kernel says that it does not take a call."""
from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from attest_attention import Call, _serve
from attest_attention._refusal import may_be_refusal
from test_serve import Judge


class CompilationError(Exception):
    """Of a compiler."""


class OutOfResources(Exception):
    """Of a compiler, too."""


class OutOfMemoryError(RuntimeError):
    """Of a device."""


def raised(why: BaseException) -> bool:
    """Whether it may be a refusal where the kernel itself raises it."""
    try:
        raise why
    except BaseException as caught:  # noqa: BLE001
        return may_be_refusal(caught, str(caught))


@pytest.mark.parametrize("why", [
    AssertionError(), AssertionError("d"), ValueError("d = 13"), TypeError("unsupported operand"),
    NotImplementedError(),
    RuntimeError("FlashAttention only supports head dimensions up to 256"),
    RuntimeError("No available kernel. Aborting execution."),
    RuntimeError("Number of heads in key must divide that in query"),
    CompilationError("arange's range must be a power of 2"),
    OutOfResources("out of resource: shared memory, Required: 278528"),
    RuntimeError("seqlen_k should be greater than or equal to seqlen_q")])
def test_what_states_a_domain_may_be_a_refusal(why: Exception) -> None:
    assert raised(why)


@pytest.mark.parametrize("why", [
    MemoryError(), RecursionError(), SystemError("x must be"), ImportError("only on GPUs"), SystemExit(1),
    KeyboardInterrupt(),
    ZeroDivisionError("division by zero"), IndexError("list index out of range"), KeyError(96), RuntimeError("x"),
    OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
    RuntimeError("CUDA error: an illegal memory access was encountered"),
    RuntimeError("Triton Error [CUDA]: invalid argument"), RuntimeError("CUDA error: device-side assert triggered"),
    RuntimeError("shape '[2, 3]' is invalid for input of size 7"),
    ValueError("cannot reshape array of size 7 into shape (2,3)"),
    RuntimeError("CUDA error: no kernel image is available for execution on the device")])
def test_a_fault_is_no_refusal(why: BaseException) -> None:
    assert not raised(why)


@pytest.mark.parametrize(("why", "is_one"), [
    (ZeroDivisionError("division by zero"), True), (IndexError("x"), True),
    (ValueError("cannot reshape array of size 0 into shape (0,2)"), True),
    (MemoryError(), False), (SystemExit(1), False), (RuntimeError("CUDA error: an illegal memory access"), False)])
def test_any_exception_of_the_callable_may_refuse_an_empty_call(why: BaseException, is_one: bool) -> None:
    assert may_be_refusal(why, str(why), empty=True) == is_one


def test_an_assertion_of_a_library_is_no_refusal_unless_it_says_so() -> None:
    def of(call: Any) -> bool:
        try:
            call()
        except AssertionError as why:
            return may_be_refusal(why, str(why))
        raise RuntimeError

    assert not of(lambda: np.testing.assert_equal(1, 2))
    assert of(lambda: np.testing.assert_(False, "d must be 64"))
    namespace: dict[str, Any] = {"__name__": "tri.kernels"}
    exec(compile("def attention(d):\n    assert d == 64", "tri.py", "exec"), namespace)  # noqa: S102
    assert of(lambda: namespace["attention"](13))


def test_the_judge_is_told_and_the_report_quotes_the_exception_alone() -> None:
    judge, marked = Judge(), []

    def answer(call: Call) -> Any:
        assert call.d == 64, "d is 64"

    kernel = _serve.Kernel(answer, say=judge.said.append)
    kernel._say_refusal = marked.append
    assert judge.ask(answer, kernel) == _serve.FAILED
    assert judge.said == [] and re.fullmatch(r"AssertionError: d is 64 \(test_refusal\.py:\d+\)", marked[0])
    assert "in answer" in kernel.tracebacks[marked[0]]
