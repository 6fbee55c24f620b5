from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import attest_attention as attest
import kernels
import numpy as np
import pytest
from attest_attention import _words
from attest_attention._problem import band_of


def inputs(n: int = 5, m: int = 5, hq: int = 2, hk: int = 2, dtype: Any = np.float32) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(2)
    q, k, v = (rng.normal(size=shape).astype(dtype) for shape in ((2, hq, n, 8), (2, hk, m, 8), (2, hk, m, 6)))
    return q, k, v


def test_right_outputs_are_certified_and_a_wrong_element_is_named() -> None:
    q, k, v = inputs()
    o, lse, weights = kernels.right(q, k, v, return_lse=True, return_weights=True)
    assert attest.verify(q, k, v, o, lse=lse, weights=weights).verdict == "certified"
    o[1, 0, 3, 2] += 1e-3
    report = attest.verify(q, k, v, o, lse=lse, weights=weights)
    assert report.verdict == "refuted"
    assert [finding["index"] for finding in report.findings] == [[1, 0, 3, 2]]
    lse[0, 1, 2] = 9
    assert {finding["output"] for finding in attest.verify(q, k, v, kernels.right(q, k, v),
                                                           lse=lse).findings} == {"lse"}


@pytest.mark.parametrize("rank", [2, 3])
def test_fewer_axes(rank: int) -> None:
    q, k, v = (one[(0,) * (4 - rank)] for one in inputs())
    o, lse = kernels.right(*(one[(None,) * (4 - rank)] for one in (q, k, v)), return_lse=True)
    assert attest.verify(q, k, v, o[(0,) * (4 - rank)], lse=lse[(0,) * (4 - rank)]).verdict == "certified"


def test_parameters_mean_what_they_say() -> None:
    q, k, v = inputs(n=3, m=5, hq=4)
    rng = np.random.default_rng(3)
    mask, bias = rng.random((2, 1, 3, 5)) < 0.7, rng.normal(size=(1, 4, 1, 5)).astype(np.float32)
    cases: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"causal": "top-left"}, {"right": 0}), ({"causal": "bottom-right"}, {"right": 0, "diagonal": 2}),
        ({"window": (1, 2), "diagonal": 1}, {"left": 1, "right": 2, "diagonal": 1}),
        ({"window": (2, -1), "causal": "bottom-right"}, {"left": 2, "right": 0, "diagonal": 2}),
        ({"mask": mask}, {"mask": mask}), ({"mask": mask.astype(np.uint8)}, {"mask": mask}),
        ({"bias": bias}, {"bias": bias}), ({"scale": -0.3}, {"scale": -0.3}), ({"softcap": 1.5}, {"softcap": 1.5}),
        ({"scale": 0.25, "softcap": 0.0}, {"scale": 0.25})]
    for said, meant in cases:
        o = kernels.right(q, k, v, enable_gqa=True, **meant)
        assert attest.verify(q, k, v, o, **said).verdict == "certified", said
        assert attest.verify(q, k, v, kernels.right(q, k, v, enable_gqa=True), **said).verdict == "refuted", said


def test_causal_without_an_alignment_needs_a_square() -> None:
    q, k, v = inputs()
    assert attest.verify(q, k, v, kernels.right(q, k, v, right=0), causal=True).verdict == "certified"
    q, k, v = inputs(n=3)
    with pytest.raises(ValueError, match="^causal: n is 3 and m is 5; say 'top-left'"):
        attest.verify(q, k, v, q, causal=True)


@pytest.mark.parametrize(("given", "says"), [
    (("left", None, None, 2, 2), "^causal: is 'left'"), ((None, (1,), None, 2, 2), "^window: is"),
    ((None, (-2, 0), None, 2, 2), "^window: is"), ((None, (0.5, 1), None, 2, 2), "^window: is"),
    ((None, (1, 1), None, 2, 3), "^window: n is 2 and m is 3"), (("top-left", None, 1, 2, 3), "^diagonal: ")])
def test_a_band_that_is_not_clear_is_refused(given: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        band_of(*given)


def test_bnhd() -> None:
    q, k, v = inputs(n=3)
    o, lse = kernels.right(q, k, v, return_lse=True)
    q, k, v, o = (one.swapaxes(1, 2) for one in (q, k, v, o))
    assert attest.verify(q, k, v, o, lse=lse, layout="bnhd").verdict == "certified"
    assert attest.verify(q, k, v, o[::-1], layout="bnhd").verdict == "refuted"


def test_thd_has_a_problem_for_each_sequence() -> None:
    lengths_q, lengths_k = [3, 0, 5, 1], [4, 2, 5, 1]
    rng = np.random.default_rng(4)
    q, k, v = (rng.normal(size=(sum(of), 2, 8)).astype(np.float32) for of in (lengths_q, lengths_k, lengths_k))
    offsets = tuple(np.cumsum([0, *of]).astype(np.int32) for of in (lengths_q, lengths_k))
    parts = []
    for (a, b), (c, d) in zip(*(zip(of, of[1:]) for of in offsets)):
        of = kernels.right(*(one.swapaxes(0, 1)[None] for one in (q[a:b], k[c:d], v[c:d])), right=0,
                           diagonal=(d - c) - (b - a), return_lse=True)
        parts.append(of)
    o = np.concatenate([one[0].swapaxes(0, 1) for one, _ in parts])
    lse = np.concatenate([one[0] for _, one in parts], axis=1)
    given: dict[str, Any] = {"layout": "thd", "cu_seqlens": offsets, "causal": "bottom-right"}
    assert attest.verify(q, k, v, o, lse=lse, **given).verdict == "certified"
    assert attest.verify(q, k, v, o[::-1], **given).verdict == "refuted"
    for wrong, says in (((offsets[0][:-1], offsets[1]), "cu_seqlens"), (None, "^cu_seqlens: the layout thd needs")):
        with pytest.raises(ValueError, match=says):
            attest.verify(q, k, v, o, layout="thd", cu_seqlens=wrong)


def more(array: Any, axis: int = 0) -> Any:
    """The array and its last row once more."""
    return np.concatenate([array, array.take([-1], axis)], axis)


@pytest.mark.parametrize("lengths", [[3, 2], [5, 0], [5]])
def test_rows_of_an_output_that_belong_to_no_packed_query_are_a_finding(lengths: list[int]) -> None:
    q, k, v = (one[0].swapaxes(0, 1) for one in inputs())
    given: dict[str, Any] = {"layout": "thd", "cu_seqlens": (np.cumsum([0, *lengths]),) * 2}
    right = attest.reference(q, k, v, **given)
    o, lse = np.array(right.o), np.array(right.lse)
    assert attest.verify(q, k, v, o, lse=lse, **given).verdict == "certified"
    for answer in ({"o": more(o)}, {"o": o[:-1]}, {"o": o, "lse": more(lse, 1)}, {"o": o, "lse": lse[:, :-1]},
                   {"o": np.concatenate([o, o])}):
        report = attest.verify(q, k, v, **answer, **given)
        assert report.verdict == "refuted" and report.findings[0]["class"] == "memory", answer


def test_keys_and_values_of_different_numbers_of_packed_rows_are_refused() -> None:
    q, k, v = (one[0].swapaxes(0, 1) for one in inputs())
    for values in (more(v), v[:-1]):
        with pytest.raises(ValueError, match=f"^v: has {len(values)} rows, k has 5"):
            attest.verify(q, k, values, v, layout="thd", cu_seqlens=([0, 3, 5], [0, 3, 5]))
    with pytest.raises(ValueError, match="^cu_seqlens: there are no sequences"):
        attest.verify(q[:0], k[:0], v[:0], v, layout="thd", cu_seqlens=([0], [0]))


def test_packed_rows_have_no_weights() -> None:
    q, k, v = (one[0] for one in inputs())
    o, weights = (one[0] for one in kernels.right(q[None], k[None], v[None], return_weights=True))
    q, k, v, o = (one.swapaxes(0, 1) for one in (q, k, v, o))
    with pytest.raises(ValueError, match="^weights: the layout thd has none"):
        attest.verify(q, k, v, o, weights=weights, layout="thd", cu_seqlens=([0, 5], [0, 5]))


def test_what_is_wrong_with_an_argument_is_said_with_its_name() -> None:
    q, k, v = inputs()
    o = kernels.right(q, k, v)
    for given, error, says in (
            ((q.astype(np.int32), k, v, o), TypeError, "^q: has the type I32"),
            ((q, k[0], v, o), ValueError, "^k: has 3 axes"), ((q, k, v, [1.0]), TypeError, "^o: is a list"),
            ((q, k, v, None), TypeError, "^o: is a NoneType"),
            ((q.astype(">f4"), k, v, o), TypeError, "^q: has the type >f4"),
            ((q, k.astype(np.float64), v, o), ValueError, "k")):
        with pytest.raises(error, match=says):
            attest.verify(*given)
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"mask": o}, TypeError, "^mask: .*pass it as bias"), ({"layout": "nhd"}, ValueError, "^layout: "),
        ({"scale": "wide"}, TypeError, "^scale: "), ({"cu_seqlens": ([0], [0])}, ValueError, "^cu_seqlens"),
        ({"window": 3}, ValueError, "^window: is 3, expected"),
        ({"diagonal": 1.5, "causal": True}, TypeError, "^diagonal: is 1.5"),
        ({"causal": np.array([True, False])}, ValueError, "^causal: is array"),
        ({"layout": np.array(["bhnd", "thd"])}, ValueError, "^layout: is array"),
        ({"align": np.array([1, 2])}, ValueError, "^align: is array"),
        ({"softcap": np.ones(2)}, TypeError, "^softcap: is array"), ({"contract": 5}, TypeError, "^contract: is 5"),
        ({"findings": 5}, TypeError, "^findings: is 5"), ({"json": 5}, TypeError, "^json: is 5"),
        ({"html": 5}, TypeError, "^html: is 5"), ({"options": 5}, TypeError, "^options: is 5"),
        ({"options": [5]}, TypeError, r"^options: is \[5\]"),
        ({"contrct": "f32"}, TypeError, "^contrct: there is no such argument"),
        ({"contract": "f64"}, ValueError, "^q: is f32, but the inputs of the contract f64")]
    for more, kind, says in cases:
        with pytest.raises(kind, match=says):
            attest.verify(q, k, v, o, **more)


def test_one_option_is_a_word() -> None:
    q, k, v = inputs()
    with pytest.raises(ValueError, match="'--nonsense'"):
        attest.verify(q, k, v, kernels.right(q, k, v), options="--nonsense")


@pytest.mark.parametrize("cu_seqlens", [5, ([0, 5],), ([0, 5], [0, 5], [0, 5]), ([0, 2.5, 5], [0, 2, 5]),
                                        ([[0, 5]], [0, 5]), ([[0], [2, 5]], [0, 5])])
@pytest.mark.parametrize("more", [{}, {"sink": np.zeros(2, np.float32)}], ids=["dense", "sink"])
def test_offsets_are_two_lists_of_whole_numbers(cu_seqlens: Any, more: dict[str, Any]) -> None:
    q, k, v = (one[0].swapaxes(0, 1) for one in inputs())
    with pytest.raises((ValueError, TypeError), match="^(cu_seqlens|q_offsets): "):
        attest.verify(q, k, v, v, layout="thd", cu_seqlens=cu_seqlens, **more)


@pytest.mark.parametrize("name", ["q", "k", "v", "o", "lse"])
def test_another_number_of_axes_than_thd_has_is_named(name: str) -> None:
    q, k, v = (one[0].swapaxes(0, 1) for one in inputs())
    given: dict[str, Any] = {"q": q, "k": k, "v": v, "o": v, "lse": np.zeros((2, 5), np.float32)}
    with pytest.raises(ValueError, match=f"^{name}: has . axes, the layout thd has"):
        attest.verify(**{**given, name: given[name][0] if name == "lse" else given[name][None]}, layout="thd",
                      cu_seqlens=([0, 5], [0, 5]))


@pytest.mark.parametrize("causal", [True, np.True_, 1])
def test_an_alignment_is_not_guessed_whatever_is_true(causal: Any) -> None:
    q, k, v = inputs(n=2, m=4)
    with pytest.raises(ValueError, match="^causal: n is 2 and m is 4; say"):
        attest.verify(q, k, v, kernels.right(q, k, v, right=0), causal=causal)


def test_tensors_that_hold_no_array_are_said_with_their_name() -> None:
    torch = pytest.importorskip("torch")
    q = torch.ones(1, 1, 3, 2)
    for other, says in ((q.to_sparse(), "^k: is torch.sparse_coo"), (q.to("meta"), "^k: ")):
        with pytest.raises(TypeError, match=says):
            attest.verify(q, other, q, q)


def test_tensors_in_the_order_of_the_other_function_are_recognised() -> None:
    q, k, v = np.random.default_rng(5).normal(size=(3, 2, 2, 5, 8)).astype(np.float32)
    o = kernels.right(q, k, v, right=0)
    says = "with o given first, as attest.assert_attention takes it, every element is right: attest.verify takes q, k"
    for layout in ("bhnd", "bnhd"):
        report = attest.verify(*(one if layout == "bhnd" else one.swapaxes(1, 2) for one in (o, q, k, v)),
                               causal=True, layout=layout)
        assert report.verdict == "refuted" and says in report.findings[0]["sentence"], report
        assert "o is given first, and attest.verify takes q, k, v, o" in report.json["cause"]["sentence"]
    with pytest.raises(AssertionError, match="with o given last, as attest.verify takes it, every element is right: "
                                             "attest.assert_attention takes o, q, k, v"):
        attest.assert_attention(q, k, v, o, causal=True)
    assert "every element" not in attest.verify(o, q, k, v).findings[0]["sentence"]  # a fault in any order
    assert "every element" not in attest.verify(q, k, v, v).findings[0]["sentence"]


def test_another_shape_of_o_is_a_finding() -> None:
    q, k, v = inputs(n=3)
    report = attest.verify(q, k, v, kernels.right(q, k, v).swapaxes(1, 2))
    assert report.verdict == "refuted" and report.findings[0]["class"] == "memory"


def test_findings_are_saved_only_where_they_are_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    q, k, v = inputs()
    assert attest.verify(q, k, v, v).verdict == "refuted" and list(tmp_path.iterdir()) == []
    report = attest.verify(q, k, v, v, findings="saved")
    (saved,) = (path.name for path in (tmp_path / "saved").iterdir() if path.suffix == ".safetensors")
    assert saved in report.findings[0]["reproducer"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_report_that_could_not_be_written_is_not_lost() -> None:
    q, k, v = inputs()
    with pytest.raises(OSError, match="^html: /dev/full: ") as raised:
        attest.verify(q, k, v, v, html="/dev/full")
    report = raised.value.report  # type: ignore[attr-defined]
    assert report.verdict == "refuted" and report.replay.file.is_file()


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float16"])
def test_tensors_of_torch(name: str) -> None:
    torch = pytest.importorskip("torch")
    q, k, v = (torch.from_numpy(one).to(getattr(torch, name)) for one in inputs())
    o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert attest.verify(q, k, v, o, causal="top-left").verdict == "certified"
    assert attest.verify(q, k, v, o).verdict == "refuted"


def test_layouts_have_the_names_that_the_program_knows() -> None:
    q, k, v = inputs()
    o = kernels.right(q, k, v)
    swapped = [one.swapaxes(1, 2) for one in (q, k, v, o)]
    for layout in ("bnhd", "bshd", "BSHD", "bthd"):
        assert attest.verify(*swapped, layout=layout).verdict == "certified", layout
    assert attest.verify(q, k, v, o, layout="bhsd").verdict == "certified"
    with pytest.raises(ValueError, match="layout: is 'bsh'"):
        attest.verify(q, k, v, o, layout="bsh")
    source = Path(__file__).resolve().parents[2] / "audit/files/axis_orders.cpp"
    table = dict(re.findall(r'\{"(\w+)", "(\w+)"\}', source.read_text(encoding="utf-8").partition("aliases[]")[2]))
    assert {word: means for word, means in table.items() if means != "nbhd"} == _words._LAYOUTS
