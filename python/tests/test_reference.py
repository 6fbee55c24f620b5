from __future__ import annotations

import decimal
import inspect
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from test_verify import inputs


def test_the_reference_is_the_exact_result_rounded() -> None:
    q, k, v = inputs(n=3, m=5)
    exact = attest.reference(q, k, v, causal="bottom-right")
    (o, bound), lse, lse_bound = exact, exact.lse, exact.lse_bound
    close, close_lse = kernels.right(*(one.astype(np.float64) for one in (q, k, v)), right=0, diagonal=2,
                                     return_lse=True)
    assert o.dtype == np.float32 and bound.dtype == np.float64 and bound.shape == o.shape
    assert np.abs(o - close).max() <= 2.0**-23 and np.abs(lse - close_lse).max() <= 2.0**-21
    assert (bound > 0).all() and (bound < 1e-5).all() and (lse_bound > 0).all() and lse_bound.shape == (2, 2, 3)


def test_a_wider_contract_has_wider_bounds() -> None:
    q, k, v = inputs()
    ordered, wide = (attest.reference(q, k, v, contract=one).bound for one in ("f32-ordered", "f32-any"))
    assert (ordered < wide).all()


def test_the_layouts_have_the_same_values() -> None:
    q, k, v = inputs(n=3, m=5)
    o, bound = attest.reference(q, k, v)
    other = attest.reference(*(one.swapaxes(1, 2) for one in (q, k, v)), layout="bnhd")
    assert np.array_equal(other.o, o.swapaxes(1, 2)) and np.array_equal(other.bound, bound.swapaxes(1, 2))
    packed = [one.swapaxes(1, 2).reshape(-1, 2, one.shape[-1]) for one in (q, k, v)]
    third = attest.reference(*packed, layout="thd", cu_seqlens=([0, 3, 6], [0, 5, 10]))
    assert np.array_equal(third.o, packed_like(o)) and np.array_equal(third.bound, packed_like(bound))


def packed_like(o: Any) -> Any:
    return o.swapaxes(1, 2).reshape(-1, 2, o.shape[-1])


def test_equal_heads_and_queries_are_no_riddle_for_the_layout() -> None:
    q, k, v = inputs(n=2, m=2)
    o, _ = attest.reference(q, k, v)
    other, _ = attest.reference(*(one.swapaxes(1, 2) for one in (q, k, v)), layout="bnhd")
    assert np.array_equal(other, o.swapaxes(1, 2))


def test_the_caller_gets_arrays_of_its_own_kind() -> None:
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(one).to(torch.bfloat16) for one in inputs())
    o, bound = attest.reference(q, k, v)
    assert o.dtype == torch.bfloat16 and bound.dtype == torch.float64 and o.shape == bound.shape == (2, 2, 5, 6)


def test_an_answer_just_beyond_its_bound_is_asserted() -> None:
    q, k, v = inputs()
    o, bound = attest.reference(q, k, v)
    assert attest.assert_attention(o, q, k, v).verdict == "certified"
    inside, beyond = o.astype(np.float64), o.astype(np.float64)
    inside[1, 1, 4, 3] += 0.5 * bound[1, 1, 4, 3]
    beyond[1, 1, 4, 3] += 3 * bound[1, 1, 4, 3]
    attest.assert_attention(inside.astype(np.float32), q, k, v)
    with pytest.raises(AssertionError) as raised:
        attest.assert_attention(beyond.astype(np.float32), q, k, v)
    said = str(raised.value)
    assert "o[1, 1, 4, 3] is " in said and "the exact value lies in [" in said and "bounds of" in said
    assert raised.value.report.verdict == "refuted"  # type: ignore[attr-defined]


def test_an_assertion_begins_with_the_verdict_and_names_the_worst_element() -> None:
    q, k, v = inputs()
    with pytest.raises(AssertionError, match=r"^REFUTED: (.*\n)+  o\["):
        attest.assert_attention(np.zeros((2, 2, 5, 6), np.float32), q, k, v)


def test_an_assertion_names_the_extent_the_cause_and_the_call() -> None:
    q, k, v = inputs(n=4, m=4)
    with pytest.raises(AssertionError) as raised:
        attest.assert_attention(attest.reference(q, k, v, causal=True).o, q, k, v)
    report = raised.value.report  # type: ignore[attr-defined]
    _, extent, cause, element, call = str(raised.value).splitlines()
    judged = report.json["evidence"]["judged"]
    largest, ulp = (float.fromhex(report.json["summary"][name]) for name in ("max_error", "max_ulp"))
    assert extent.startswith(f"  {100 * judged['faults'] / judged['elements']:.3g} % of the judged elements are wrong")
    assert extent.endswith(f"; the largest difference is {largest:.3g}, {ulp:.3g} ulp")
    assert cause == f"  cause: {report.json['cause']['sentence']}" and "a causal mask" in cause
    assert element == f"  {report.findings[0]['sentence']}"
    assert call == "  smallest call: b=2 hq=2 hk=2 n=4 m=4 d=8 dv=6"


def test_an_undecided_verdict_is_no_success() -> None:
    q, k, v = inputs()
    q[...] = 1e25  # scores that the contract does not promise anything about
    with pytest.raises(AssertionError, match="UNDECIDED"):
        attest.assert_attention(kernels.right(q, k, v), q, k, v)


def test_an_assertion_takes_what_verify_takes_to_judge() -> None:
    judged, asserted = (set(inspect.signature(one).parameters) for one in (attest.verify, attest.assert_attention))
    kept = {"findings", "waive", "jobs", "json", "html", "options"}
    assert judged - kept == asserted - {"most"}
    assert all(name in (attest.assert_attention.__doc__ or "").partition("are not among them")[0] for name in kept)
    q, k, v = inputs()
    for name in kept:
        with pytest.raises(TypeError, match=f"^{name}: there is no such argument"):
            attest.assert_attention(v, q, k, v, **{name: "x"})  # type: ignore[arg-type]


def test_digits_are_decimals_in_the_shape_of_the_outputs() -> None:
    q, k, v = inputs(n=3, m=5)
    solved = attest.solve(q, k, v, digits=60)
    assert solved.o.shape == (2, 2, 3, 6) and solved.lse.shape == (2, 2, 3) and solved.weights.shape == (2, 2, 3, 5)
    rows = solved.weights.reshape(-1, 5)
    with decimal.localcontext() as context:
        context.prec = 70
        assert all(abs(sum(row) - 1) < decimal.Decimal(10) ** -58 for row in rows)
    assert np.array_equal(solved.o.astype(np.float64).astype(np.float32), attest.reference(q, k, v).o)
    two = attest.solve(q[0, 0], k[0, 0], v[0, 0], digits=5)
    assert two.o.shape == (3, 6) and two.lse.shape == (3,) and two.weights.shape == (3, 5)


def test_no_query_has_digits_in_the_shape_of_the_outputs() -> None:
    q, k, v = inputs(n=0)
    found = attest.solve(q, k, v, digits=9)
    assert (found.o.shape, found.lse.shape, found.weights.shape) == ((2, 2, 0, 6), (2, 2, 0), (2, 2, 0, 5))
    found = attest.solve(q[0, 0], k[0, 0], v[0, 0], digits=9)
    assert (found.o.shape, found.lse.shape, found.weights.shape) == ((0, 6), (0,), (0, 5))


def test_rounded_and_enclosed() -> None:
    q, k, v = inputs()
    rounded, enclosed = attest.solve(q, k, v, round="f32"), attest.solve(q, k, v)
    assert rounded.o.dtype == np.float32 and rounded.weights.shape == (2, 2, 5, 5)
    for exact, near in zip(enclosed, rounded):
        assert (exact.lower <= exact.upper).all() and exact.lower.dtype == np.float64
        assert np.abs(near - exact.lower).max() < 2.0**-21


def test_rows_without_a_key() -> None:
    q, k, v = inputs()
    mask = np.zeros((1, 1, 1, 5), bool)
    solved = attest.solve(q, k, v, digits=3, mask=mask)
    assert set(solved.lse.flat) == {decimal.Decimal("-Infinity")} and all(one == 0 for one in solved.o.flat)
    o, bound = attest.reference(q, k, v, mask=mask)
    assert (o == 0).all() and (bound == 0).all()


@pytest.mark.parametrize(("given", "says"), [({"digits": 5, "round": "f32"}, "^digits, round"),
                                             ({"round": "f8"}, "^round: is"), ({"digits": 0}, "^digits: "),
                                             ({"layout": "thd"}, "^layout: ")])
def test_what_solve_does_not_take_is_said(given: dict[str, Any], says: str) -> None:
    q, k, v = inputs()
    with pytest.raises(ValueError, match=says):
        attest.solve(q, k, v, **given)
