"""What the call of a watched function is: a problem, or nothing that a file can hold."""
from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any

from ._parameters import Parameters


Outputs = Callable[[Any], dict[str, Any]]


class NotRecorded(Exception):
    """The call computes something that a file of problems cannot say."""


@dataclasses.dataclass(frozen=True, eq=False)
class Problem(Parameters):
    """Tensors by role, as files name them, numbers, and where its outputs are in what the function returns."""

    inputs: dict[str, Any]
    outputs: Outputs


@dataclasses.dataclass(frozen=True)
class Hook:
    """A function that is watched. `get` and `set` say where it is and put something else there."""

    name: str
    function: Any
    describe: Callable[..., list[Problem]]
    places: tuple[tuple[Any, str], ...] = ()  # (dict or object, name) beside the globals of modules


def refuse(condition: bool, what: str) -> None:
    """Raises NotRecorded(what) where the condition holds."""
    if condition:
        raise NotRecorded(what)


def four(x: Any) -> Any:
    """[…, n, d] as [b, h, n, d]: leading axes of 1 where there are fewer, the first ones joined where there are
    more."""
    if x.ndim < 4:
        return x.reshape((1,) * (4 - x.ndim) + tuple(x.shape))
    return x if x.ndim == 4 else x.reshape((-1, *x.shape[-3:]))


def with_mask(inputs: dict[str, Any], mask: Any, boolean: bool) -> None:
    """Adds a mask or a bias of PyTorch's that broadcasts to [b, hq, n, m], its last axis m."""
    if mask is None:
        return
    refuse(mask.ndim > 4, "a mask of more than 4 axes")
    mask = four(mask)
    inputs["mask" if boolean else "bias"] = mask.expand(*mask.shape[:3], inputs["k"].shape[2])


def check(problem: Problem) -> None:
    """Raises NotRecorded if a file cannot have the shapes or types of a problem."""
    q, k, v = (problem.inputs[role] for role in "qkv")
    refuse(not len(q.shape) == len(k.shape) == len(v.shape) == 4, "tensors that have not 4 axes")
    if "q_offsets" in problem.inputs or "block_table" in problem.inputs:
        return  # the program checks them
    (b, hq, n, d), (bk, hk, m, dk) = q.shape, k.shape
    refuse(bk != b or v.shape[0] != b, "q, k and v of different batches")
    refuse(v.shape[1] != hk or v.shape[2] != m or dk != d, "k and v of different shapes")
    refuse(hk != hq and (hk == 0 or hq % hk != 0), "heads that cannot be grouped")
    refuse(not q.dtype == k.dtype == v.dtype, "q, k and v of different types")
    for role in ("mask", "bias"):
        shape = tuple(problem.inputs[role].shape) if role in problem.inputs else (1, 1, 1, m)
        refuse(any(size not in (1, full) for size, full in zip(shape, (b, hq, n, m))) or shape[3] != m,
               f"a {role} of another shape")
    for role in ("bias", "sink"):
        x = problem.inputs.get(role)
        refuse(x is not None and x.dtype != q.dtype and not str(x.dtype).endswith("float32"),
               f"a {role} of another type")
    if (sink := problem.inputs.get("sink")) is not None:
        refuse(tuple(sink.shape) not in ((hq,), (1, hq), (b, hq)), "a sink of another shape")


def refuse_cast(*tensors: Any) -> None:
    """Refuses tensors that torch.autocast casts within the function: floating ones but float64."""
    torch, device = sys.modules.get("torch"), getattr(tensors[0], "device", None)
    if torch is None or not isinstance(device, torch.device) or not hasattr(torch, "get_autocast_dtype"):  # from 2.4 on
        return
    if not torch.is_autocast_enabled(device.type):
        return
    kept = (torch.float64, torch.get_autocast_dtype(device.type))
    refuse(any(x is not None and x.is_floating_point() and x.dtype not in kept for x in tensors),
           "tensors that torch.autocast casts")


# --- PyTorch ----------------------------------------------------------------------------------------------------------
