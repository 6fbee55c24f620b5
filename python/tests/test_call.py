"""A call's forms: what libraries are told is what the call says."""
from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from attention_formula import CALLS, drawn

from attest_attention._call import Call, Unsupported, refusing, require


@pytest.mark.parametrize(("diagonal", "left", "right"),
                         [(0, -1, 0), (2, -1, 0), (0, 2, 1), (-3, 0, -1), (2**62, 1, 1), (-2**62, 1, 1)])
def test_band_mask_is_the_inequality(diagonal: int, left: int, right: int) -> None:
    call = drawn(left=left, right=right, diagonal=diagonal)
    wanted = [[(left < 0 or j - (i + diagonal) >= -left) and (right < 0 or j - (i + diagonal) <= right)
               for j in range(call.m)]
              for i in range(call.n)]
    band = call.band_mask()
    assert band is not None and np.array_equal(band, wanted)


def test_an_unbounded_band_hides_nothing() -> None:
    assert drawn().band_mask() is None
    assert drawn().visible() is None
    assert drawn().causal is None


def test_causal_names_the_corner() -> None:
    assert drawn(right=0).causal == "top-left"
    assert drawn(right=0, diagonal=2).causal == "bottom-right"
    assert drawn(right=0, diagonal=2).bottom_right
    assert drawn(right=0, diagonal=1).causal is None
    assert drawn(right=0, left=5).causal is None
    square = drawn(n=6, m=6, right=0)
    assert square.causal == "top-left" and square.bottom_right and square.top_left
    longer = drawn(n=9, m=4, right=0, diagonal=-5)
    assert longer.causal == "bottom-right" and not longer.bottom_right  # there is no cache of -5 keys


def test_visible_is_mask_and_band() -> None:
    call = CALLS["mask beside a band"]
    visible, band = call.visible(), call.band_mask()
    assert visible is not None and call.mask is not None and band is not None
    assert np.array_equal(visible, call.mask & band)


def test_additive_hides_by_minus_infinity_and_keeps_the_bias() -> None:
    call = CALLS["bias beside a mask"]
    added = call.additive(call.visible())
    assert added is not None and call.bias is not None and call.mask is not None and added.dtype == call.bias.dtype
    seen = np.broadcast_to(call.mask, added.shape)
    assert np.all(np.isneginf(added[~seen]))
    assert np.array_equal(added[seen], np.broadcast_to(call.bias, added.shape)[seen])
    assert CALLS["bias"].additive(None) is CALLS["bias"].bias


def test_lengths_are_those_of_padding_masks_alone() -> None:
    lengths = CALLS["lengths"].lengths()
    assert lengths is not None and lengths.tolist() == [3, 7]
    holes = dataclasses.replace(CALLS["lengths"], mask=np.array([[[[True, False, True, True, True, True, True]]]]))
    assert holes.lengths() is None
    assert CALLS["mask of all"].lengths() is None
    assert drawn().lengths() is None


def test_masks_become_boolean() -> None:
    bytes_ = np.array([0, 1, 255, 2, 0, 1, 1], np.uint8).reshape(1, 1, 1, 7)
    assert drawn().mask is None
    call = dataclasses.replace(drawn(), mask=bytes_)
    assert call.mask is not None and call.mask.dtype == np.bool_
    assert call.mask.ravel().tolist() == [False, True, True, True, False, True, True]


def test_scale_is_one_over_root_d_where_none_is_given() -> None:
    assert drawn(d=16).given_scale is None and drawn(d=16).actual_scale == 0.25
    assert drawn(scale=0.0).given_scale == 0.0 and drawn(scale=0.0).actual_scale == 0.0


def test_types_have_attests_names() -> None:
    for dtype, name in ((np.float32, "f32"), (np.float64, "f64"), (np.float16, "f16")):
        assert drawn(dtype=dtype).dtype == name
    assert drawn(dtype=pytest.importorskip("ml_dtypes").bfloat16).dtype == "bf16"


def test_sizes() -> None:
    call = drawn(b=2, hq=6, hk=3, n=4, m=9, d=5, dv=8)
    assert (call.b, call.hq, call.hk, call.n, call.m, call.d, call.dv) == (2, 6, 3, 4, 9, 5, 8)
    assert call.grouped and not call.square and not call.empty
    assert drawn(m=0).empty


def test_unsupported_is_raised_and_translated() -> None:
    require(True, "softcap")
    with pytest.raises(Unsupported, match="softcap"):
        require(False, "softcap")
    with pytest.raises(Unsupported, match="no such shape"), refusing(KeyError, message=lambda why: "no such shape"):
        raise KeyError
    with pytest.raises(ValueError, match="other"), refusing(KeyError):
        raise ValueError("other")
    assert issubclass(Unsupported, NotImplementedError)


def test_a_call_does_not_change() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        drawn().scale = 1.0  # type: ignore[misc]
    assert isinstance(drawn(), Call)
