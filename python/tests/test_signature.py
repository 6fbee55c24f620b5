from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attest_attention import Call, Unsupported
from attest_attention._returned import parts_of
from attest_attention._signature import Matched
from attest_attention._spellings import SPELLINGS, Options


def call_of(n: int = 3, m: int = 3, hq: int = 2, hk: int = 2, **given: Any) -> Call:
    rng = np.random.default_rng(1)
    q, k, v = (rng.normal(size=shape).astype(np.float32) for shape in ((1, hq, n, 4), (1, hk, m, 4), (1, hk, m, 4)))
    return Call(q, k, v, **given)


class Seen:
    """Asks a function whose parameters are `parameters`, and holds what it was called with."""

    def __init__(self, parameters: str, **options: Any) -> None:
        self.given: dict[str, Any] = {}
        scope: dict[str, Any] = {"seen": self}
        exec(f"def function({parameters}):\n    seen.given = dict(locals())", scope)
        self.matched = Matched(scope["function"], Options(**options))

    def __call__(self, call: Call) -> dict[str, Any]:
        self.matched(call)
        return {name: value for name, value in self.given.items() if name != "seen"}


@pytest.mark.parametrize("parameters", ["q, k, v", "query, key, value", "a, b, c", "q, k, v, /", "*, q, k, v",
                                        "v, q, k", "queries, keys, values, **rest"])
def test_inputs_are_found_by_name_and_else_by_place(parameters: str) -> None:
    call = call_of()
    given = Seen(parameters)(call)
    names = [name.strip() for name in parameters.split(",") if name.strip() not in ("/", "*", "**rest")]
    by_letter = sorted(names) if names == ["v", "q", "k"] else None
    q, k, v = ("q", "k", "v") if by_letter else names[:3]
    assert given[q] is call.q and given[k] is call.k and given[v] is call.v


@pytest.mark.parametrize(("role", "name"), [(role, name) for role in ("scale", "softcap") for name in SPELLINGS[role]])
def test_numbers_have_their_spellings(role: str, name: str) -> None:
    seen = Seen(f"q, k, v, {name}=None")
    given: dict[str, Any] = {role: 0.25}
    assert seen(call_of(**given))[name] == 0.25
    assert seen(call_of())[name] is None


@pytest.mark.parametrize("given", [{"scale": 0.3}, {"softcap": 2.0}, {"left": -1, "right": 0}, {"left": 1, "right": 1},
                                   {"mask": np.ones((1, 1, 3, 3), bool)}, {"bias": np.zeros((1, 1, 3, 3), np.float32)}])
def test_what_a_function_has_no_parameter_for_is_not_asked(given: dict[str, Any]) -> None:
    with pytest.raises(Unsupported):
        Seen("q, k, v")(call_of(**given))


def test_a_scale_that_is_the_default_needs_no_parameter() -> None:
    assert set(Seen("q, k, v")(call_of(scale=0.5))) == {"q", "k", "v"}  # d is 4


def test_a_default_that_is_a_number_is_no_default_of_the_problem() -> None:
    assert Seen("q, k, v, scale=1.0")(call_of())["scale"] == 0.5


def test_grouped_heads_need_a_word() -> None:
    grouped = call_of(hq=4)
    assert Seen("q, k, v, enable_gqa=False")(grouped)["enable_gqa"] is True
    assert Seen("q, k, v, enable_gqa=False")(call_of())["enable_gqa"] is False
    assert set(Seen("q, k, v", supports=("gqa",))(grouped)) == {"q", "k", "v"}
    with pytest.raises(Unsupported, match="grouped heads"):
        Seen("q, k, v")(grouped)


def test_causal_says_its_diagonal_by_name_or_not_at_all() -> None:
    top_left, bottom_right = {"left": -1, "right": 0}, {"left": -1, "right": 0, "diagonal": 2}
    assert Seen("q, k, v, causal=False")(call_of(**top_left))["causal"] is True
    for parameters, options, takes in (("is_causal", {}, top_left), ("causal", {"causal": "top-left"}, top_left),
                                       ("causal", {"causal": "bottom-right"}, bottom_right)):
        seen = Seen(f"q, k, v, {parameters}=False", **options)
        assert seen(call_of(m=5, **takes))[parameters] is True
        with pytest.raises(Unsupported):
            seen(call_of(m=5, **(bottom_right if takes is top_left else top_left)))
    with pytest.raises(Unsupported, match="a causal band"):
        Seen("q, k, v, causal=False")(call_of(m=5, **bottom_right))


def test_a_band_is_given_as_a_mask_where_nothing_else_says_it() -> None:
    given = Seen("q, k, v, causal=False, mask=None")(call_of(m=5, left=-1, right=0, diagonal=2))
    assert given["causal"] is False
    assert given["mask"].shape == (1, 1, 3, 5) and given["mask"].dtype == np.bool_
    assert np.array_equal(given["mask"][0, 0], np.tri(3, 5, 2, dtype=bool))


def test_a_band_beside_a_mask_is_part_of_it() -> None:
    mask = np.zeros((1, 2, 3, 3), bool)
    mask[..., 0] = mask[..., 2] = True
    given = Seen("q, k, v, mask=None")(call_of(mask=mask, left=-1, right=0))
    assert np.array_equal(given["mask"], mask & np.tri(3, dtype=bool))


def test_windows() -> None:
    window = call_of(left=1, right=0)
    assert Seen("q, k, v, causal=False, window_size=(-1, -1)")(window)["window_size"] == (1, 0)
    given = Seen("q, k, v, causal=False, sliding_window=None")(window)
    assert given["sliding_window"] == 2 and given["causal"] is True
    given = Seen("q, k, v, *, diagonal=0, left=-1, right=-1")(call_of(m=9, left=3, right=2, diagonal=-4))
    assert (given["left"], given["right"], given["diagonal"]) == (3, 2, -4)


def test_an_attn_mask_takes_what_is_added() -> None:
    bias, mask = np.full((1, 1, 3, 3), 2, np.float32), np.tri(3, dtype=bool)[None, None]
    given = Seen("q, k, v, attn_mask=None")(call_of(bias=bias, mask=mask))["attn_mask"]
    assert given.dtype == np.float32 and np.array_equal(given, np.where(mask, bias, -np.inf))
    assert Seen("q, k, v, attn_mask=None")(call_of(mask=mask))["attn_mask"].dtype == np.bool_
    given = Seen("q, k, v, mask=None, bias=None")(call_of(bias=bias, mask=mask))
    assert given["bias"] is bias and np.array_equal(given["mask"], mask)
    with pytest.raises(Unsupported, match="a bias"):
        Seen("q, k, v, mask=None")(call_of(bias=bias))


def test_required_parameters_get_the_value_that_asks_for_nothing() -> None:
    given = Seen("q, k, v, mask, bias, is_causal, softcap, scale, dropout_p, threads, out")(call_of())
    assert given["mask"] is None and given["bias"] is None and given["is_causal"] is False and given["softcap"] == 0
    assert given["scale"] == 0.5 and given["dropout_p"] == 0 and given["threads"] == 0
    assert given["out"].shape == (1, 2, 3, 4) and np.isnan(given["out"]).all()


def test_an_argument_that_no_call_has_is_named() -> None:
    with pytest.raises(ValueError, match="needs the argument 'alpha'"):
        Seen("q, k, v, alpha")
    with pytest.raises(Unsupported, match="a call without sinks"):
        Seen("q, k, v, sinks")(call_of())
    with pytest.raises(ValueError, match="no parameters for q, k and v"):
        Seen("q, scale")
    with pytest.raises(ValueError, match=r"\*args says nothing"):
        Seen("*args")
    with pytest.raises(ValueError, match="has no signature"):
        Matched(max)
    with pytest.raises(ValueError, match="say layout='thd'"):
        Seen("q, k, v, cu_seqlens_q, cu_seqlens_k")


def test_other_layouts() -> None:
    call = call_of(n=3, m=5)
    given = Seen("q, k, v", layout="bnhd")(call)
    assert given["q"].shape == (1, 3, 2, 4) and np.array_equal(given["k"], call.k.transpose(0, 2, 1, 3))
    q, k, v = (np.concatenate([one, one]) for one in (call.q, call.k, call.v))
    two = Call(q, k, v)
    given = Seen("q, k, v, cu_seqlens_q, cu_seqlens_k, max_seqlen_q, max_seqlen_k", layout="thd")(two)
    assert given["q"].shape == (6, 2, 4) and given["cu_seqlens_q"].tolist() == [0, 3, 6]
    assert given["cu_seqlens_k"].tolist() == [0, 5, 10] and given["max_seqlen_k"] == 5
    with pytest.raises(Unsupported, match="several sequences"):
        Seen("q, k, v", layout="thd")(two)


def test_outputs_are_asked_by_name_and_known_by_what_came() -> None:
    seen = Seen("q, k, v, return_lse=False")
    assert seen(call_of(want_lse=True))["return_lse"] is True
    assert seen(call_of())["return_lse"] is False
    only_o = Seen("q, k, v")
    only_o(call_of(want_lse=True))  # unknown before the first call
    with pytest.raises(Unsupported, match="LSE"):
        only_o(call_of(want_lse=True))
    with pytest.raises(Unsupported, match="weights"):
        Seen("q, k, v", returns="o,lse")(call_of(want_weights=True))


@pytest.mark.parametrize("options", [{"layout": "hnd"}, {"arrays": "cupy"}, {"causal": "left"}, {"returns": "lse"},
                                     {"supports": ("sinks",)}, {"device": "cuda"}])
def test_options_are_named_where_they_are_wrong(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"^{next(iter(options))}: "):
        Options(**options)


def answer(call: Call, *others: Any) -> Any:
    o = np.zeros((call.b, call.hq, call.n, call.dv), np.float32)
    return (o, *others) if others else o


def test_parts_are_known_by_their_axes() -> None:
    call = call_of(n=3, m=5)
    lse, weights = np.zeros((1, 2, 3), np.float32), np.zeros((1, 2, 3, 5), np.float32)
    for others, has in (((), (False, False)), ((lse,), (True, False)), ((weights,), (False, True)),
                        ((lse, weights), (True, True)), ((None, weights), (False, True))):
        parts = parts_of(answer(call, *others), call)
        assert (parts[1] is not None, parts[2] is not None) == has


@pytest.mark.parametrize(("returned", "says"), [
    (np.zeros((1, 2, 3, 5), np.float32), r"returned o of shape \(1, 2, 3, 5\), expected \(1, 2, 3, 4\)"),
    (np.zeros((1, 2, 3, 4), np.float64), "returned o of type F64, expected F32"),
    ((np.zeros((1, 2, 3, 4), np.float32), np.zeros((1, 2, 4), np.float32)), r"returned LSE of shape \(1, 2, 4\)"),
    ((), "an empty tuple"),
])
def test_another_shape_or_type_is_said(returned: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        parts_of(returned, call_of())


def test_no_array_is_said() -> None:
    with pytest.raises(TypeError, match="returned o: is a NoneType"):
        parts_of(None, call_of())


def test_answers_come_back_from_other_layouts() -> None:
    call = call_of(n=3, m=5)
    values = np.arange(24, dtype=np.float32).reshape(1, 3, 2, 4)
    assert np.array_equal(parts_of(values, call, "bnhd")[0].data, values.transpose(0, 2, 1, 3))
    o, lse, _ = parts_of((values[0], np.arange(6, dtype=np.float32).reshape(2, 3)), call, "thd")
    assert np.array_equal(o.data, values.transpose(0, 2, 1, 3))
    assert lse is not None and lse.data.shape == (1, 2, 3)


def test_the_default_scale_is_not_a_number() -> None:
    assert math.isnan(call_of().scale)


def test_a_module_of_torch_has_the_parameters_of_its_forward() -> None:
    torch = pytest.importorskip("torch")

    class Attention(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        def forward(self, query: Any, key: Any, value: Any, scale: float | None = None) -> Any:
            return torch.nn.functional.scaled_dot_product_attention(query, key, value, scale=scale)

    matched = Matched(Attention(), Options(arrays="torch"))
    assert matched.parameters == {"q": "query", "k": "key", "v": "value", "scale": "scale"}
    assert parts_of(matched(call_of(scale=0.25)), call_of())[0].shape == (1, 2, 3, 4)


def test_the_page_has_every_spelling() -> None:
    page = Path(__file__).parents[2] / "docs" / "python.md"
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]*)`", page.read_text(encoding="utf-8")))))
    roles = set(SPELLINGS) - {"q", "k", "v"}  # whose words are shown by example
    assert {name for role in roles for name in SPELLINGS[role]} <= words
