"""The cases of a file that `attest gen` wrote, as Calls, and a callable's answers to them as a file for `attest
verify`."""
from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterator
from typing import Any

from . import _tensor_file
from ._arrays import as_numpy, swapped
from ._ask import Asked
from ._call import Call
from ._merge import MatchedMerge, Merge
from ._parameters import LATER, numbers_in
from ._returned import Parts, parts_of
from ._tensor_file import Tensor


@dataclasses.dataclass(frozen=True)
class Case:
    """One call of a file: `prefix` begins with its number, `group` is the case that it belongs to, CHECK/CASE."""

    prefix: str
    group: str
    call: Call


@dataclasses.dataclass
class Answers:
    """What a callable answered: outputs by prefix, and in words what it answered instead."""

    parts: dict[str, Parts]
    status: dict[str, str]

    def write(self, path: str | os.PathLike[str]) -> None:
        """The outputs and statuses as the file OUTPUTS of `attest verify INPUTS OUTPUTS`."""
        tensors = {f"{prefix}.{role}": part for prefix, parts in self.parts.items()
                   for role, part in zip(("o", "lse", "weights"), parts) if part is not None}
        _tensor_file.write(path, tensors, {f"{prefix}.attest.status": said for prefix, said in self.status.items()})


def cases_of(path: str | os.PathLike[str]) -> Iterator[Case]:
    """The calls of a file, by their names: they must be asked in this order."""
    tensors, metadata = _tensor_file.read(path)
    for prefix in sorted(name[:-2] for name in tensors if name.endswith(".q")):
        def array(role: str, prefix: str = prefix) -> Any:
            part = tensors.get(f"{prefix}.{role}")
            return None if part is None else as_numpy(Tensor(part.data.copy(), part.dtype))

        expected = metadata.get(f"{prefix}.attest.expect", "").split()
        threads = int(expected[expected.index("threads") + 1]) if "threads" in expected else 0
        yield Case(prefix, metadata.get(f"{prefix}.attest.group", prefix), Call(
            **{name: array(name) for name in ("q", "k", "v", "mask", "bias", *LATER)}, **numbers_in(metadata, prefix),
            threads=threads))


def merges_of(path: str | os.PathLike[str]) -> Iterator[tuple[str, Merge]]:
    """The merges of a file by their prefixes, in the order of their names."""
    tensors, _ = _tensor_file.read(path)
    for name in sorted(name for name in tensors if name.endswith(".o_parts")):
        prefix = name.removesuffix(".o_parts")
        o, lse = (as_numpy(Tensor(part.data.copy(), part.dtype)) for part in (tensors[name],
                                                                              tensors[f"{prefix}.lse_parts"]))
        yield prefix, Merge(o, lse)


def answers_of(asked: Asked, path: str | os.PathLike[str]) -> Answers:
    """Asks every case of attention in a file, in order. Exceptions are answers too: "unsupported: …" and "error: …"."""
    answers = Answers({}, {})
    for case in cases_of(path):
        call = case.call
        if asked.layout != "bhnd":  # the arrays are compact in the callable's own order
            q, k, v = (swapped(swapped(one).copy()) for one in (call.q, call.k, call.v))
            call = dataclasses.replace(call, q=q, k=k, v=v)
        # called at once
        _take(answers, case.prefix, lambda: parts_of(asked.answer(call), call, asked.layout))  # noqa: B023
    return answers


def merge_answers_of(asked: MatchedMerge, path: str | os.PathLike[str]) -> Answers:
    """The same of every merge in a file."""
    answers = Answers({}, {})
    for prefix, merge in merges_of(path):
        _take(answers, prefix, lambda: (*asked(merge), None))  # noqa: B023  called at once
    return answers


def _take(answers: Answers, prefix: str, answer: Callable[[], Parts]) -> None:
    try:
        o, lse, weights = answer()
        answers.parts[prefix] = (_copy(o), lse and _copy(lse), weights and _copy(weights))
    except NotImplementedError as why:
        answers.status[prefix] = f"unsupported: {why}"
    except Exception as why:  # noqa: BLE001  whatever a callable raises is its answer
        answers.status[prefix] = f"error: {type(why).__name__}: {why}"[:400]


def _copy(part: Tensor) -> Tensor:
    return Tensor(part.data.copy(order="C"), part.dtype)
