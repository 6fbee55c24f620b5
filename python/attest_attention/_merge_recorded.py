"""attest.verify_merge and attest.reference_merge: one merge of partial results, judged, and its exact result."""
from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._arrays import FLOATING, like
from ._problem import Problem, floating
from ._reference import Reference, answer_of
from ._report import Report
from ._tensor_file import Tensor
from ._verify import verify_problem
from ._words import Contract, contract_words, layout_word


def verify_merge(o_parts: Any, lse_parts: Any, o: Any, lse: Any = None, *,
                 contract: Contract | None = None, layout: str = "bhnd", **options: Any) -> Report:
    """Judges the merge of partial results, each element under its derived bound.

    Shapes  o_parts [S, b, hq, n, dv] and lse_parts [S, b, hq, n], or S arrays each without the first axis; o [b, hq, n,
            dv], lse [b, hq, n]. Fewer axes are read as the last ones. layout "bnhd" has O as [b, n, hq, dv]. Arrays of
            NumPy, PyTorch, JAX, or with __dlpack__, on any device.
    Types   the LSE is float32 (float64 with O of float64); o has the type of the parts, or one of both is float32 and
            the other has 16 bits.
    contract  "merge-f32" (weights by the largest LSE, one division), "merge-f32-split", "merge-f32-ring" and so for
              other types,
            or one about attention, which says how its splits are merged; without it the first of them

    A part whose LSE is -inf in a row saw no key there, and its O is not read. The further keywords are as for verify.

    >>> import numpy as np
    >>> o_parts, lse_parts = np.float32([[[1.0]], [[2.0]]]), np.float32([[0.0], [0.0]])
    >>> verify_merge(o_parts, lse_parts, np.float32([[1.5]])).verdict
    'certified'
    """
    return verify_problem(_problem(o_parts, lse_parts, layout, {"o": o, "lse": lse}), contract=contract, **options)


def reference_merge(o_parts: Any, lse_parts: Any, *, contract: Contract | None = None,
                    layout: str = "bhnd") -> Reference:
    """(o, bound) of a merge of partial results: O, correctly rounded to the type of the parts, and the largest error
    that `contract` allows each element; also lse and lse_bound. The arguments are as for verify_merge.

    >>> import numpy as np
    >>> o, bound = reference_merge(np.float32([[[1.0]], [[2.0]]]), np.float32([[0.0], [np.log(3)]]))
    >>> o.tolist(), bool(bound < 1e-5)
    ([[1.75]], True)
    """
    asked = _problem(o_parts, lse_parts, layout, {})
    template = o_parts if _is_one_array(o_parts) else o_parts[0]
    words = [] if contract is None else contract_words(contract, asked.dtype, "o_parts")[0]
    answer = answer_of("reference", asked, words)

    def part(role: str) -> Any:
        tensor = answer[role]
        swaps = layout_word(layout) == "bnhd" and role.startswith("o") and tensor.data.ndim == 4
        data = np.ascontiguousarray(tensor.data.swapaxes(1, 2)) if swaps else tensor.data
        return like(Tensor(data, tensor.dtype), template, upward=role.endswith("bound"))

    found = Reference(part("o"), part("o.bound"))
    found.lse, found.lse_bound = part("lse"), part("lse.bound")
    return found


def _is_one_array(parts: Any) -> bool:
    return not isinstance(parts, (list, tuple))


def _stacked(parts: Any, name: str) -> Tensor:
    """[S, …] of one array, or of S arrays of one shape and type."""
    if _is_one_array(parts):
        return floating(parts, name)
    if not parts:
        raise ValueError(f"{name}: there are no parts")
    there = [floating(part, f"{name}[{number}]") for number, part in enumerate(parts)]
    for number, one in enumerate(there):
        if (one.shape, one.dtype) != (there[0].shape, there[0].dtype):
            raise ValueError(f"{name}[{number}]: is {one.dtype} {one.shape}, but the first part is {there[0].dtype} "
                             f"{there[0].shape}")
    return Tensor(np.stack([one.data for one in there]), there[0].dtype)


def _problem(o_parts: Any, lse_parts: Any, layout: str, outputs: Mapping[str, Any]) -> Problem:
    """The merge as a file has it: `o_parts` [S, b, hq, n, dv] and `lse_parts`, its answers in the same order of
    axes."""
    layout = layout_word(layout)
    if layout not in ("bhnd", "bnhd"):
        raise ValueError(f"layout: is {layout!r}, expected 'bhnd' or 'bnhd'")
    tensors = {"o_parts": _stacked(o_parts, "o_parts"), "lse_parts": _stacked(lse_parts, "lse_parts")}
    dtype = FLOATING[tensors["o_parts"].dtype]
    tensors |= {name: floating(array, name) for name, array in outputs.items() if array is not None or name == "o"}
    if layout == "bnhd":
        for name, rank in (("o_parts", 5), ("o", 4)):
            if name in tensors and tensors[name].data.ndim == rank:
                tensors[name] = Tensor(tensors[name].data.swapaxes(-3, -2), tensors[name].dtype)
    return Problem(tensors, {}, dtype)
