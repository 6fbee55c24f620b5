"""The backward pass of a recorded call of PyTorch: what flows into its output, and out of its inputs."""
from __future__ import annotations

import contextlib
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

from . import _hooked, _hooks
from ._parameters import GRADIENTS
from ._recorded import copied
from ._tensor_file import Tensor

Done = Callable[[list[dict[str, Tensor]]], None]


def watch(hook: _hooked.Hook, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Watch | None:
    """The watch of a call, which must get the watched arguments. Returns None if no gradient can flow."""
    torch = sys.modules.get("torch")
    if torch is None or not torch.is_grad_enabled():
        return None
    if any(isinstance(x, torch.Tensor) and x.requires_grad for x in (*args, *kwargs.values())):
        with contextlib.suppress(RuntimeError):  # a tensor without views
            return Watch(hook, args, kwargs, torch)
    return None


class Watch:
    """The arguments of a call, with an alias in the place of each tensor that requires a gradient.

    The gradient of a tensor is the sum over all of its uses. The gradient of an alias comes from this call alone. They
    are made last argument first, so that the engine adds the gradients of one tensor in the order of the arguments, as
    without them.
    """

    def __init__(self, hook: _hooked.Hook, args: tuple[Any, ...], kwargs: dict[str, Any], torch: Any) -> None:
        self._hook = hook
        self._given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        self._aliases: dict[Any, Any] = {}
        for place, x in reversed(list(self._given.items())):
            if isinstance(x, torch.Tensor) and x.requires_grad:
                self._aliases[place] = x.view_as(x)
        self._lock = threading.Lock()
        self._found: dict[Any, Any] = {}  # by place; of the output, by "out"
        self._is_open = True

    def arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What is to be passed on."""
        return self._with(self._aliases)

    def _with(self, instead: dict[Any, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given = {**self._given, **instead}
        args = tuple(value for place, value in given.items() if isinstance(place, int))
        return args, {place: value for place, value in given.items() if isinstance(place, str)}

    def begin(self, problems: list[_hooked.Problem], returned: Any, done: Done, refused: Callable[[str], None]) -> None:
        """Waits for the backward pass: `done` gets the tensors of each problem once, `refused` why there are none.

        The hooks keep no tensor that leads to them: such a circle would never be freed.
        """
        outputs = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        aliases, self._aliases = self._aliases, {}
        if not getattr(outputs[0], "requires_grad", False):
            return
        self._given.update(dict.fromkeys(aliases))
        befores = [_Before(one) for one in problems]
        rest = [one.detach() if hasattr(one, "detach") else one for one in outputs[1:]]
        is_tuple, places = isinstance(returned, (tuple, list)), frozenset(aliases)

        def take(place: Any, gradient: Any) -> None:
            try:
                with self._lock:
                    if place == "out":
                        self._found.clear()  # a backward pass begins
                    self._found[place] = gradient.detach().clone()
                    if not self._is_open or not {"out", *places} <= self._found.keys():
                        return
                    self._is_open, found = False, dict(self._found)
                do = found.pop("out")
                done(self._tensors(befores, (do, *rest) if is_tuple else do, found))
            except _hooked.NotRecorded as why:
                refused(str(why))
            except Exception as why:  # whatever it is, the program that is watched shall not see it
                refused(f"gradients: {type(why).__name__}: {why}")

        def spoiled(gradient: Any) -> None:
            if self._is_open and gradient is not None:
                self._is_open = False
                refused("a gradient that flows into the LSE or the weights")

        for other in outputs[1:]:
            if getattr(other, "requires_grad", False):
                other.register_hook(spoiled)
        outputs[0].register_hook(functools.partial(take, "out"))
        for place, alias in aliases.items():
            alias.register_hook(functools.partial(take, place))

    def _tensors(self, befores: list[_Before], back: Any, found: dict[Any, Any]) -> list[dict[str, Tensor]]:
        """do, dq, … of each problem: the call is described once more, with gradients in the place of the arguments."""
        args, kwargs = self._with(found)
        return [self._of(before, after, back)
                for before, after in zip(befores, self._hook.describe(*args, **kwargs))]

    def _of(self, before: _Before, after: _hooked.Problem, back: Any) -> dict[str, Tensor]:
        _hooked.refuse("block_table" in after.inputs, "gradients of a pool of pages")
        given = {name: after.inputs[role] for name, role in GRADIENTS.items()
                 if role in before.require and not after.inputs[role].requires_grad}
        if self._hook.describe is not _hooks.torch_sdpa or not before.has_bias_as_given:
            given.pop("dbias", None)  # no argument of the function is this bias
        _hooked.refuse("dq" not in given, "gradients without that of q")
        given["do"] = before.outputs(back)["o"]
        return {name: copied(x, name) for name, x in given.items()}


class _Before:
    """What a problem was before its backward pass: which roles require a gradient, and where its outputs are."""

    def __init__(self, problem: _hooked.Problem) -> None:
        self.require = {role for role, x in problem.inputs.items() if getattr(x, "requires_grad", False)}
        bias = problem.inputs.get("bias")
        self.has_bias_as_given = bias is not None and bias.stride(-1) != 0
        self.outputs = problem.outputs
