"""attest.compare: kernels side by side, on the same inputs."""
from __future__ import annotations

import dataclasses
import os
import random
import tempfile
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import _ask, _merge, _program, _tensor_file
from ._arrays import as_numpy
from ._audit import audit, resolved
from ._judging import run_judging
from ._cases import Answers, answers_of, merge_answers_of
from ._report import Report, _escaped
from ._spellings import Options
from ._tensor_file import Array, Tensor
from ._words import Contract, contract_words, layout_word, option_words

Kernel = Callable[..., Any] | str


@dataclasses.dataclass(frozen=True)
class Difference:
    """Where answers to one case differ most, in units of the bound, and who is right in the whole case.

    `exact` is the correctly rounded value of the element, `errors` are |value − exact| / bound.
    """

    case: str
    index: tuple[int, ...]
    exact: float
    bound: float
    values: dict[str, float]
    errors: dict[str, float]
    right: list[str]
    wrong: list[str]

    def __str__(self) -> str:
        said = ", ".join(f"{name} {self.values[name]:.9g} ({self.errors[name]:.3g} bounds off)" for name in self.values)
        who = f"right: {', '.join(self.right) or 'none'}; wrong: {', '.join(self.wrong) or 'none'}"
        return f"{self.case} o{list(self.index)}: exact {self.exact:.9g}; {said}. {who}"


class Comparison:
    """What compare found. `reports` holds the report of each kernel, `differences` where they differ, the largest
    first.

    It is true where all kernels are certified.
    """

    def __init__(self, reports: dict[str, Report], differences: list[Difference], compared: int, seed: int) -> None:
        self.reports, self.differences, self.compared, self.seed = reports, differences, compared, seed

    def __bool__(self) -> bool:
        return all(self.reports.values())

    @property
    def refuted(self) -> list[str]:
        """The names of the refuted kernels."""
        return [name for name, report in self.reports.items() if report.verdict == "refuted"]

    @property
    def text(self) -> str:
        """A table of the verdicts, then the differences."""
        width = max([6, *map(len, self.reports)])
        lines = [f"{'kernel':<{width}}  {'verdict':<9}  {'failed':>6}  {'cases':>6}  {'error/bound':>11}  first "
                 "finding"]
        for name, report in self.reports.items():
            summary = report.json["summary"]
            failed = sum(int(check["failed"]) for check in report.checks)
            worst = float.fromhex(summary["max_error_in_bounds"]) if summary["max_error_in_bounds"] else 0.0
            first = report.findings[0] if report.findings else None
            said = f"{first['class']} in {first['check']}/{first['case']}" if first else ""
            line = f"{name:<{width}}  {report.verdict:<9}  {failed:>6}  {summary['cases']:>6}  {worst:>11.4g}  {said}"
            lines.append(line.rstrip())
        lines.append("")
        lines.append(f"{self.compared} calls were answered by several kernels (seed {self.seed}); "
                     f"in {len(self.differences)} of them two answers differ by more than the bound")
        lines += [f"  {one}" for one in self.differences[:20]]
        if len(self.differences) > 20:
            lines.append(f"  and {len(self.differences) - 20} more (differences)")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return f"<pre>{_escaped(self.text)}</pre>"


def compare(kernels: Mapping[str, Kernel] | None = None, *, merges: Mapping[str, Kernel] | None = None,
            contract: Contract | None = None, dtype: str | None = None, device: str = "cpu",
            quick: bool = False, seed: int | None = None, draws: int | None = None,
            budget: float | None = None, only: str | list[str] | None = None, layout: str = "bhnd",
            arrays: str | None = None, size: str = "50 MB", progress: bool | None = None) -> Comparison:
    """Audits several kernels with one seed, and says where their answers differ and who is right.

    The kernels are what `audit` takes, by the names that the table has for them; the other arguments are as for
    `audit`. In their place `merges` are functions f(o, lse) -> (o, lse), or their names, that merge partial results.
    Then the cases that `attest gen` writes with this seed, at most `size`, are asked of every callable: a difference is
    a case whose answers differ in some element by more than the element's bound under the contract. Who is right there
    says `attest verify`.

    >>> both = compare({"one": "builtin", "other": "builtin:scalar"}, quick=True, only="worked-examples", draws=0,
    ...                seed=1)
    >>> bool(both), both.refuted
    (True, [])
    """
    if (kernels is None) == (merges is None):
        raise ValueError("kernels: give kernels or merges, one of the two")
    argument, given = ("kernels", kernels) if merges is None else ("merges", merges)
    if not isinstance(given, Mapping):
        raise TypeError(f"{argument}: is a {type(given).__name__}, expected a dict of {argument} by their names")
    if not given:
        raise ValueError(f"{argument}: there is none")
    if seed is None:
        seed = random.SystemRandom().getrandbits(32)
    known: dict[str, Kernel] = {}
    if merges is not None:
        only = only or "merge"
        for name, merge in merges.items():
            known[name] = _ask.imported(merge, argument=f"merges: {name}") if isinstance(merge, str) else merge
    else:
        known = {name: resolved(kernel, device) if isinstance(kernel, str) else kernel
                 for name, kernel in given.items()}
    asked: dict[str, Callable[[Path], Answers]] = {}
    for name, kernel in known.items():
        if not isinstance(kernel, str):
            options = Options(arrays or _ask.guessed_arrays(kernel, device), device, layout_word(layout))
            asked[name] = _asks(kernel, options, merges is not None)
    reports = {}
    for name, kernel in known.items():
        own: dict[str, Any] = {"layout": layout, "arrays": arrays} if name in asked else {}
        own["kernel" if merges is None else "merge"] = kernel
        reports[name] = audit(contract=contract, dtype=dtype, device=device, quick=quick, seed=seed, draws=draws,
                              budget=budget, only=only, progress=progress, **own)
    if len(asked) < 2:
        return Comparison(reports, [], 0, seed)
    words, _ = contract_words(contract, dtype)
    with tempfile.TemporaryDirectory(prefix="attest-") as folder:
        inputs, truth = Path(folder) / "inputs.safetensors", Path(folder) / "truth.safetensors"
        _program.run(["gen", "--abi", "2", "--out", inputs, "--size", size, *words,
                      *option_words({"seed": seed, "quick": quick, "only": only,
                                     "draws": 0 if draws is None else draws})])
        _program.run(["reference", inputs, "--out", truth, "--quick", *words], expect=(0, 3))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # as in an audit
            answers = {name: answers_to(inputs) for name, answers_to in asked.items()}
        failing = {name: _failing(inputs, one, Path(folder), words) for name, one in answers.items()}
        differences, compared = _differences(answers, failing, inputs, truth)
    return Comparison(reports, differences, compared, seed)


def _asks(function: Callable[..., Any], options: Options, is_merge: bool) -> Callable[[Path], Answers]:
    """What asks this function every case of a file."""
    if is_merge:
        matched = _merge.MatchedMerge(function, options)
        return lambda inputs: merge_answers_of(matched, inputs)
    kernel = _ask.asked_of(function, options)
    return lambda inputs: answers_of(kernel, inputs)


def _failing(inputs: Path, answers: Answers, folder: Path, words: list[str]) -> set[str]:
    """The numbers of the calls of failing cases, as `attest verify` judges them."""
    outputs = folder / "outputs.safetensors"
    answers.write(outputs)
    report = run_judging("verify", [inputs, outputs, "--findings", "", *words], progress=False)
    return {name for one in report.json["failing"] for name in (str(one["case"]), f"{one['check']}/{one['case']}")}


def _numbers(part: Tensor) -> Array:
    return as_numpy(part).astype(np.float64)


def _differences(answers: Mapping[str, Answers], failing: Mapping[str, set[str]], inputs: Path,
                 truth: Path) -> tuple[list[Difference], int]:
    exact, _ = _tensor_file.read(truth)
    _, metadata = _tensor_file.read(inputs)
    found: list[tuple[float, Difference]] = []
    compared = 0
    for prefix in sorted({prefix for one in answers.values() for prefix in one.parts}):
        values = {name: _numbers(one.parts[prefix][0]) for name, one in answers.items() if prefix in one.parts}
        if len(values) < 2 or f"{prefix}.o" not in exact:
            continue
        compared += 1
        right, bound = _numbers(exact[f"{prefix}.o"]), _numbers(exact[f"{prefix}.o.bound"])
        apart = _spread(list(values.values()), bound)
        if apart.size == 0 or not apart.max() > 1:
            continue
        index = tuple(int(one) for one in np.unravel_index(int(apart.argmax()), apart.shape))
        group = metadata.get(f"{prefix}.attest.group", prefix)
        fails = {name for name in values if group in failing[name] or group.partition("/")[2] in failing[name]}
        with np.errstate(all="ignore"):
            errors = {name: float(abs(value[index] - right[index]) / bound[index]) for name, value in values.items()}
        there = {name: float(value[index]) for name, value in values.items()}
        found.append((float(apart.max()), Difference(
            prefix, index, float(right[index]), float(bound[index]), there, errors,
            [name for name in values if name not in fails], [name for name in values if name in fails])))
    found.sort(key=lambda one: -one[0])
    return [one for _, one in found], compared


def _spread(values: list[Array], bound: Array) -> Array:
    """(largest − smallest) / bound of each element; +inf where some are finite and others not, 0 where no bound is
    there."""
    with np.errstate(all="ignore"):
        stack = np.stack(values)
        apart = (stack.max(axis=0) - stack.min(axis=0)) / bound
        finite = np.isfinite(stack)
        mixed = finite.any(axis=0) & ~finite.all(axis=0)
        judged = np.isfinite(bound)
        return np.where(~judged | ~finite.any(axis=0), 0.0, np.where(mixed, np.inf, np.nan_to_num(apart, nan=0.0)))
