"""The exact result: attest.reference, attest.assert_attention, attest.solve."""
from __future__ import annotations

import decimal
import math
import os
import re
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _program, _tensor_file
from ._arrays import FLOATING, like, swapped
from ._keywords import outputs_of
from ._problem import Problem, problem
from ._report import Report
from ._tensor_file import Array, Tensor
from ._verify import verify_problem
from ._words import Contract, among, contract_words

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import Judged, Keywords


class _Pair(NamedTuple):
    o: Any
    bound: Any


class Reference(_Pair):
    """(o, bound): the exact O, correctly rounded to the type of q, and the largest error that the contract allows each
    element.

    `lse` and `lse_bound` are the same of the LSE.
    """

    lse: Any
    lse_bound: Any


def answer_of(command: str, of: Problem, words: Sequence[str]) -> dict[str, Tensor]:
    """The tensors that a command of the program writes for a problem. Status 3 (undecided elements, NaN there) is an
    answer."""
    with tempfile.TemporaryDirectory(prefix="attest-") as folder:
        path, out = Path(folder) / "problem.safetensors", Path(folder) / "answer.safetensors"
        _tensor_file.write(path, of.tensors, of.parameters)
        _program.run([command, path, "--out", out, *words], expect=(0, 3))
        tensors, _ = _tensor_file.read(out)
        # The file is removed: what is kept is in memory.
        return {name: Tensor(np.array(part.data), part.dtype) for name, part in tensors.items()}


def _joined(of: Problem, answer: Mapping[str, Tensor], role: str) -> Tensor:
    """One output in the layout of the problem: of packed sequences, their rows one after the other."""
    if of.packed is None:
        part = answer[role]
        swaps = of.parameters.get("attest.layout") == "bnhd" and role in ("o", "o.bound")
        shape = answer["o"].shape
        in_file = swaps and len(shape) == 4 and shape[1:3] != (of.tensors["q"].shape[1], of.tensors["q"].shape[2])
        return Tensor(np.ascontiguousarray(swapped(part.data)), part.dtype) if in_file else part
    parts = [answer[f"{prefix}.{role}"] for prefix, _, _ in of.packed]
    rows = [part.data[0] if role.startswith("lse") else swapped(part.data)[0] for part in parts]
    return Tensor(np.concatenate(rows, axis=1 if role.startswith("lse") else 0), parts[0].dtype)


def reference(q: Any, k: Any, v: Any, *, contract: Contract | None = None,
              **keywords: Unpack[Keywords]) -> Reference:
    """(o, bound): O = softmax(scale·Q·Kᵀ + bias, masked)·V, correctly rounded; the error that `contract` allows each
    element.

    The arguments are as for verify. o has the type of q; bound is float64, +inf where the contract promises nothing
    about the element. Both are arrays of the library and the device of q (JAX without float64 gets the bound rounded up
    to float32). The answer also has the attributes lse and lse_bound. Errors are bounded from the exact value, not from
    the rounded one: to judge an answer, use assert_attention or verify.

    >>> import numpy as np
    >>> q = k = v = np.eye(2, dtype=np.float32)
    >>> o, bound = reference(q, k, v)
    >>> o[0].tolist(), bool((bound < 1e-5).all())
    ([0.6697615385055542, 0.3302384614944458], True)
    """
    asked = problem(q, k, v, **keywords)
    words, _ = contract_words(contract, asked.dtype, "q")
    answer = answer_of("reference", asked, words)
    o, bound, lse, lse_bound = (like(_joined(asked, answer, role), q, upward=role.endswith("bound"))
                                for role in ("o", "o.bound", "lse", "lse.bound"))
    found = Reference(o, bound)
    found.lse, found.lse_bound = lse, lse_bound
    return found


class AttentionError(AssertionError):
    """An answer is not within the bound of its contract. `report` says all that is known."""

    def __init__(self, message: str, report: Report) -> None:
        super().__init__(message)
        self.report = report


def assert_attention(o: Any, q: Any, k: Any, v: Any, *, lse: Any = None, weights: Any = None,
                     contract: Contract | None = None, most: int = 5,
                     **keywords: Unpack[Judged]) -> Report:
    """Asserts that every element of o, and of gradients beside it, is within its bound; returns the report.

    The arguments say what was computed and under which contract, as for verify; findings, waive, jobs, json, html and
    options are not among them. With do and gradients o may be None. Raises AttentionError, an AssertionError that names
    up to `most` elements, each with the value found, the exact value, and how many bounds it is off. So does an
    undecided verdict, with its reason.

    >>> import numpy as np
    >>> q = k = v = np.eye(2, dtype=np.float32)
    >>> o, _ = reference(q, k, v)
    >>> assert_attention(o, q, k, v).verdict
    'certified'
    """
    __tracebackhide__ = True  # pytest shows the test
    given: dict[str, Any] = {**keywords}
    outputs = outputs_of(given, o=o, lse=lse, weights=weights)
    recorded = problem(q, k, v, outputs=outputs, **given)
    report = verify_problem(recorded, contract=contract)
    if report:
        return report
    raise AttentionError(failure(report, most), report)


def failure(report: Report, most: int = 5) -> str:
    """What is wrong, its extent, its cause, and element by element: the text of an AssertionError."""
    lines = [report.sentence, *_extent(report)]
    if cause := report.json["cause"]:
        lines.append("  cause: " + "; ".join(filter(None, (cause["sentence"], cause["condition"]))))
    for finding in report.findings[:most]:
        place = "" if finding["case"] == "(no prefix)" else f"{finding['case']}: "
        lines.append(f"  {place}{finding['sentence']}")
    if len(report.findings) > most:
        lines.append(f"  and {len(report.findings) - most} more findings (report.findings)")
    if calls := [finding["shrunk"] for finding in report.findings if finding["shrunk"]]:
        smallest = min(calls, key=lambda sizes: math.prod(sizes.values()))
        lines.append("  smallest call: " + " ".join(f"{axis}={size}" for axis, size in smallest.items()))
    return "\n".join(lines)


def _extent(report: Report) -> list[str]:
    """The share of wrong elements and the largest difference, if elements are wrong."""
    judged, summary = report.json["evidence"]["judged"], report.json["summary"]
    if not 0 < judged["faults"] <= judged["elements"]:
        return []
    largest, ulp = (float.fromhex(summary[name]) for name in ("max_error", "max_ulp"))
    share = 100 * judged["faults"] / judged["elements"]
    return [f"  {share:.3g} % of the judged elements are wrong; the largest difference is {largest:.3g}, {ulp:.3g} ulp"]


class Solved(NamedTuple):
    """The outputs of `solve`, in the form that was asked; NaN where an element stayed undecided, or belongs to no
    entry.

    Packed rows have no weights: they are None where a file would hold them."""

    o: Any
    lse: Any
    weights: Any


class Enclosure(NamedTuple):
    """Bounds of the exact values, float64, rounded outward."""

    lower: Any
    upper: Any


def solve(q: Any, k: Any, v: Any, *, digits: int | None = None, round: str | None = None,
          **keywords: Unpack[Keywords]) -> Solved:
    """The calculator: certified results of attention, to any precision, as Solved(o, lse, weights).

    digits=50     NumPy arrays of decimal.Decimal, each with 50 certified significant digits (at most 1200)
    round="f32"   arrays of the library of q, correctly rounded to f32, f64, f16 or bf16
    neither       an Enclosure each: lower and upper, float64 bounds of the exact values, rounded outward

    The other arguments are as for verify; o is [b, hq, n, dv], with as many axes as q.

    >>> import numpy as np
    >>> q = k = v = np.eye(2, dtype=np.float32)
    >>> print(solve(q, k, v, digits=30).o[0, 0])
    0.669761549326656925616794945834
    """
    asked = None if among(keywords.get("layout"), ("thd",)) else problem(q, k, v, **keywords)
    if asked is None or asked.parameters.get("attest.layout") == "thd":
        raise ValueError("layout: solve takes 'bhnd' or 'bnhd'")
    if digits is not None and round is not None:
        raise ValueError("digits, round: give one of them")
    if round is not None and round not in FLOATING.values():
        raise ValueError(f"round: is {round!r}, expected f32, f64, f16 or bf16")
    if digits is None:
        answer = answer_of("solve", asked, ["--round", round] if round else [])
        if round:
            return Solved(*(like(answer[role], q) if role in answer else None for role in Solved._fields))
        return Solved(*(Enclosure(*(like(answer[f"{role}.{side}"], q) for side in Enclosure._fields))
                        if f"{role}.lower" in answer else None for role in Solved._fields))
    with tempfile.TemporaryDirectory(prefix="attest-") as folder:
        path = Path(folder) / "problem.safetensors"
        _tensor_file.write(path, asked.tensors, asked.parameters)
        text = _program.run(["solve", path, "--digits", str(digits)], expect=(0, 3)).stdout
    return _digits_of(text, asked)


_ELEMENT = re.compile(r"(o|lse|weights)\[([0-9, ]*)\] (\S+)")
_NOT_NUMBERS = {"undecided": "NaN", "-": "NaN", "nan": "NaN", "inf": "Infinity", "+inf": "Infinity",
                "-inf": "-Infinity"}


def _digits_of(text: str, of: Problem) -> Solved:
    """Reads lines such as `o[0, 0, 1, 2] 1.0859861747239341856`; indices have as many axes as the answer."""
    found: dict[str, dict[tuple[int, ...], decimal.Decimal]] = {"o": {}, "lse": {}, "weights": {}}
    for line in text.splitlines():
        element = _ELEMENT.fullmatch(line.strip())
        if element:
            index = tuple(int(one) for one in element[2].split(","))
            number = element[3].strip("[]")
            found[element[1]][index] = decimal.Decimal(_NOT_NUMBERS.get(number.lower(), number))
    q, k, v = (of.tensors[role].shape for role in "qkv")
    rows = q[:-1] if of.parameters.get("attest.layout") != "bnhd" else (q[0], q[2], q[1])
    keys = k[-2] if of.parameters.get("attest.layout") != "bnhd" else k[1]
    if table := of.tensors.get("block_table"):
        keys = table.shape[1] * (k[1] if of.parameters["attest.kv_layout"] == "nhd" else k[2])
    empty = {"o": (*rows, v[-1]), "lse": rows, "weights": (*rows, keys)}
    return Solved(*(_object_array(found[role], empty[role]) for role in ("o", "lse", "weights")))


def _object_array(elements: Mapping[tuple[int, ...], decimal.Decimal], expected: tuple[int, ...]) -> Array:
    if not elements:
        return np.empty(expected, object)
    rank = len(expected)
    shape = tuple(max(axis) + 1 for axis in zip(*elements))
    if len(shape) == rank:  # rows behind an entry's length are not said
        shape = tuple(map(max, shape, expected))
    full = np.full(shape, decimal.Decimal("NaN"), object)
    for index, number in elements.items():
        full[index] = number
    return full.reshape(shape[len(shape) - rank:])
