from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from attest_attention import _arrays
from attest_attention._tensor_file import Tensor


class Exported:
    """An array of a library that has __dlpack__ and nothing else."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __dlpack__(self, **given: Any) -> Any:
        return self._array.__dlpack__(**given)

    def __dlpack_device__(self) -> tuple[int, int]:
        device: tuple[int, int] = self._array.__dlpack_device__()
        return device


class OnDevice:
    """As CuPy's: its memory is a device's, and get() copies it."""

    __dlpack__ = None

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def get(self) -> Any:
        return np.array([1.0, 2.0], np.float32)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.uint8])
@pytest.mark.parametrize("view", [np.s_[:], np.s_[::2], np.s_[:, 1:2], np.s_[0:0], np.s_[::-1], np.s_[::2, ::-3]])
def test_dlpack_with_any_strides(dtype: Any, view: Any) -> None:
    array = np.arange(24).reshape(4, 6).astype(dtype)[view]
    there = _arrays.host(Exported(array), "q")
    assert there.shape == array.shape and there.data.dtype == array.dtype and there.data.tolist() == array.tolist()


@pytest.mark.parametrize("error", [BufferError, ValueError, RuntimeError])
def test_an_array_that_does_not_give_its_memory_is_named(error: type[Exception]) -> None:
    class Refusing(Exported):
        def __dlpack__(self, **given: Any) -> Any:
            raise error("it is not to be had")

    with pytest.raises(ValueError, match="^k: it is not to be had"):
        _arrays.host(Refusing(np.zeros(1, np.float32)), "k")


def test_memory_of_a_device_is_copied_to_the_host() -> None:
    assert _arrays.host(OnDevice(), "q").data.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("what", [[1.0], 3, "text", None])
def test_what_is_no_array_is_named(what: Any) -> None:
    with pytest.raises(TypeError, match="^lse: is a .*, expected an array"):
        _arrays.host(what, "lse")


def test_a_type_that_attest_does_not_know_is_named() -> None:
    with pytest.raises(TypeError, match="^k: has the type complex64"):
        _arrays.host(np.zeros(1, np.complex64), "k")


def test_new_arrays_share_no_memory() -> None:
    part = _arrays.host(np.zeros(3, np.float32), "q")
    assert not np.shares_memory(_arrays.of_kind("numpy", part), part.data)
    assert np.shares_memory(_arrays.of_kind("numpy", part, share=True), part.data)


def test_bfloat16_needs_ml_dtypes_only_where_numpy_is_to_hold_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    with pytest.raises(ValueError, match="^dtype: bf16 needs the package ml_dtypes"):
        _arrays.dtype_of("bf16")


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16"])
def test_torch_there_and_back(name: str) -> None:
    torch = pytest.importorskip("torch")
    given = torch.arange(6, dtype=getattr(torch, name)).reshape(2, 3).T
    there = _arrays.host(given, "q")
    assert there.shape == (3, 2)
    back = _arrays.like(there, given)
    assert back.dtype == given.dtype and back.device == given.device and torch.equal(back, given)


def test_torch_that_requires_a_gradient() -> None:
    torch = pytest.importorskip("torch")
    assert _arrays.host(torch.ones(2, requires_grad=True), "q").data.tolist() == [1.0, 1.0]


def test_torch_integers_are_refused_as_floating_tensors() -> None:
    torch = pytest.importorskip("torch")
    with pytest.raises(TypeError, match="^q: has the type"):
        _arrays.host(torch.zeros(1, dtype=torch.float8_e5m2), "q")


def test_jax_there_and_back() -> None:
    jax = pytest.importorskip("jax")
    given = jax.numpy.arange(6, dtype="bfloat16").reshape(2, 3)
    there = _arrays.host(given, "q")
    assert there.dtype == "BF16"
    back = _arrays.like(there, given)
    assert back.dtype == given.dtype and bool((back == given).all())


def test_jax_without_float64_gets_the_bound_rounded_up() -> None:
    jax = pytest.importorskip("jax")
    bound = np.array([1e-7, 1.0, np.inf, 1e300])
    got = np.asarray(_arrays.like(Tensor(bound, "F64"), jax.numpy.zeros(1), upward=True)).astype(np.float64)
    assert (got >= bound).all() and got[1] == 1
