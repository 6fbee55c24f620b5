"""One backward pass, and the two ways in which a callable is asked for it: differentiated by its library, or as a
backward kernel itself.

The gradients of sum(dO·O) with respect to q, k, v, the bias and the sinks; docs/semantics.md states every rule.
"""
from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from ._arrays import of_kind
from ._call import Array, Call, Unsupported, require
from ._parameters import GRADIENTS
from ._returned import gradient_of, parts_of
from ._signature import ROLES, Matched, Options, name_of
from ._tensor_file import Tensor, tensor

DIFFERENTIATING = ("torch", "jax")
# What a backward kernel names its further inputs. `out` is an output of a forward pass, and an input here.
SPELLINGS = {"do": ("do", "dO", "dout", "d_out", "grad", "grad_out", "grad_output"),
             "o": ("o", "O", "out", "output"), "lse": ("lse", "LSE", "softmax_lse", "logsumexp")}

Leaves = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, eq=False)
class Backward(Call):
    """A call with dO [b, hq, n, dv], the O and the LSE of its forward pass where they are handed over, and which
    gradients are asked for."""

    do: Array = None  # type: ignore[assignment]  # behind fields that have a default
    o: Array | None = None
    lse: Array | None = None
    wanted: tuple[str, ...] = ()


class Traced:
    """A forward function of torch or jax as a function of a Backward, through the library's own differentiation."""

    def __init__(self, function: Callable[..., Any], options: Options, adapter: Any = None) -> None:
        """`adapter`: a ready one. Raises ValueError for a function that no library differentiates."""
        kind = options.arrays if adapter is None else adapter.arrays
        if kind not in DIFFERENTIATING:
            of = name_of(function) if adapter is None else f"the adapter {adapter.name}"
            raise ValueError(f"arrays: nothing differentiates {of} over arrays of {kind}; say arrays='torch' or 'jax', "
                             "or give backward=")
        self.kind, self.adapter = kind, adapter
        self.layout = options.layout if adapter is None else "bhnd"
        self.matched = Matched(function, options) if adapter is None else None
        self.device = options.device if adapter is None else adapter.device or options.device

    def __call__(self, call: Backward) -> dict[str, Tensor]:
        leaves, attended = self._of_adapter(call) if self.matched is None else self._of_matched(call, self.matched)
        if any(str(leaves[role].dtype).rpartition(".")[2] != getattr(call, role).dtype.name for role in leaves):
            raise Unsupported(f"{call.dtype} (jax_enable_x64 is off)")
        roots = [GRADIENTS[name] for name in call.wanted]
        do = self._given(call.do if self.matched is None else self.matched.rows(call.do, call))
        found = (by_torch if self.kind == "torch" else by_jax)(
            leaves, roots, lambda of: self._o_of(attended(of), call), do)
        return {name: gradient_of(of, name, call, self.layout) for name, of in zip(call.wanted, found)}

    def _given(self, array: Array) -> Any:
        return of_kind(self.kind, tensor(array), self.device, share=True)

    def _o_of(self, returned: Any, call: Call) -> Any:
        o = returned[0] if isinstance(returned, (tuple, list)) else returned
        if self.kind == "torch":  # a tracer of jax has no numbers: jax says itself what does not fit dO
            parts_of(o, call, self.layout)
        return o

    def _of_adapter(self, call: Backward) -> tuple[Leaves, Callable[[Leaves], Any]]:
        self.adapter.refuse_beyond(call)
        leaves = {role: self._given(array) for role in GRADIENTS.values()
                  if (array := getattr(call, role)) is not None}
        return leaves, lambda of: self.adapter.attended(call, of)

    def _of_matched(self, call: Backward, matched: Matched) -> tuple[Leaves, Callable[[Leaves], Any]]:
        arguments = matched.arguments(call)
        leaves = {role: arguments[role] for role in GRADIENTS.values() if arguments.get(role) is not None}
        if call.bias is None or "bias" in leaves:
            return leaves, lambda of: matched.called({**arguments, **of})
        # The mask is the bias where a key is visible: the sum over what the bias is broadcast over is the library's.
        leaves["bias"] = matched.given(call.bias)
        visible = None if (there := matched.visible(call)) is None else matched.given(there)

        def attended(of: Leaves) -> Any:
            rest = {role: x for role, x in of.items() if role != "bias"}
            return matched.called({**arguments, **rest, "mask": additive(self.kind, visible, of["bias"])})

        return leaves, attended


def additive(kind: str, visible: Any, bias: Any) -> Any:
    """The bias, and -inf where `visible` (None: nowhere) is false: differentiable with respect to the bias."""
    if visible is None:
        return bias
    library = importlib.import_module("torch" if kind == "torch" else "jax.numpy")
    return library.where(visible, bias, library.asarray(-float("inf"), dtype=bias.dtype))


def by_torch(leaves: Leaves, roots: list[str], o_of: Callable[[Leaves], Any], do: Any) -> Any:
    """torch.autograd.grad; the gradient of what O does not depend on is 0."""
    torch = importlib.import_module("torch")
    of = {role: x.detach().requires_grad_(role in roots) for role, x in leaves.items()}
    with torch.enable_grad():
        o = o_of(of)
    if not o.requires_grad:
        raise ValueError("returned o depends on nothing that autograd knows")
    return torch.autograd.grad(o, [of[role] for role in roots], do.to(o.device), materialize_grads=True)


def by_jax(leaves: Leaves, roots: list[str], o_of: Callable[[Leaves], Any], do: Any) -> Any:
    """jax.vjp."""
    jax = importlib.import_module("jax")
    _, pull = jax.vjp(lambda *of: o_of({**leaves, **dict(zip(roots, of))}), *(leaves[role] for role in roots))
    return pull(do)


class MatchedBackward(Matched):
    """A callable g(q, k, v, do, o, lse, …) -> (dq, dk, dv[, dbias][, dsink]) as a function of a Backward.

    One without `o` and `lse` runs a forward pass of its own: `is_alone`.
    """

    roles = {**ROLES, **{name: role for role, names in SPELLINGS.items() for name in names}}

    def __init__(self, function: Callable[..., Any], options: Options) -> None:
        if not callable(function):
            raise TypeError(f"backward: is a {type(function).__name__}, expected a callable or a name")
        try:
            super().__init__(function, options)
        except ValueError as why:
            raise ValueError(str(why).replace("kernel:", "backward:", 1).replace("; give adapter=, a function of one "
                                                                                "call", "").replace(
                ", or give adapter=", "").replace(". Give adapter=", "")) from None
        if "do" not in self.parameters:
            raise ValueError(f"backward: {name_of(function)} has no parameter do")
        if "o" in self.parameters and "lse" not in self.parameters:
            raise ValueError(f"backward: {name_of(function)} names {self.parameters['o']} and no lse; name both, or "
                             "neither where it runs a forward pass of its own")
        self.is_alone = "lse" not in self.parameters

    def arguments(self, call: Call) -> dict[str, Any]:
        assert isinstance(call, Backward)
        found = super().arguments(call)
        if call.bias is not None and "bias" not in found:
            require(self.visible(call) is None, "a bias beside a mask")  # whose gradient would have another shape
        found["do"] = self.given(self.rows(call.do, call))
        if not self.is_alone:
            if call.lse is None or call.o is None:
                raise Unsupported("a call without o and lse")
            found["lse"] = self.given(call.lse)
            if "o" in self.parameters:
                found["o"] = self.given(self.rows(call.o, call))
        return found

    def __call__(self, call: Call) -> dict[str, Tensor]:
        assert isinstance(call, Backward)
        returned = super().__call__(call)
        if not isinstance(returned, (tuple, list)) or not 3 <= len(returned) <= 5:
            raise ValueError(f"returned {_many(returned)}, expected (dq, dk, dv), with dbias where there is a bias, "
                             "and dsink where there is a sink")
        names = ["dq", "dk", "dv", *(["dbias"] if call.bias is not None else []), "dsink"]
        given = {name: array for name, array in zip(names, returned) if array is not None}
        for name in call.wanted:
            require(name in given, name)
        return {name: gradient_of(given[name], name, call, self.options.layout) for name in call.wanted}


def _many(returned: Any) -> str:
    return f"{len(returned)} arrays" if isinstance(returned, (tuple, list)) else f"a {type(returned).__name__}"
