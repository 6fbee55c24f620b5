"""How to ask a callable: its parameters are matched by name against the spellings in use.

The name is the question: what a callable has no parameter for is not asked of it. Such a call is unsupported, which is
no finding. Nothing is configured; `adapter=` of `audit` is for what the table does not fit.
"""
from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ._arrays import of_kind, swapped
from ._call import Array, Call, require
from ._named import name_of, with_parameters
from ._parameters import LATER
from ._spellings import ADDITIVE_MASKS, ALIGNED, ROLES, Options
from ._tensor_file import tensor

class Matched:
    """A callable and the parameters that it has: called with a Call, it returns what the callable returned.

    `parameters` says which parameter is used for what: {"scale": "softmax_scale", …}.
    """

    roles = ROLES  # by the names of parameters

    def __init__(self, function: Callable[..., Any], options: Options = Options()) -> None:
        self.function, self.options = function, options
        try:
            signature = inspect.signature(with_parameters(function))
        except (ValueError, TypeError):
            raise ValueError(f"kernel: {name_of(function)} has no signature that Python knows; "
                             "give adapter=, a function of one call") from None
        named = [one for one in signature.parameters.values()
                 if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        self.parameters = {self.roles[one.name]: one.name for one in reversed(named) if one.name in self.roles}
        self._defaults = {one.name: one.default for one in named}
        self._positional_only = [one.name for one in named if one.kind is one.POSITIONAL_ONLY]
        self._name_inputs([one.name for one in named if one.kind is not one.KEYWORD_ONLY], signature)
        self._check_required()
        self._packed = options.layout == "thd"
        self._requires_later = any(self._required(role) for role in (*LATER, "block_q", "block_k", "max_seqlen_q",
                                                                     "max_seqlen_k"))
        self._returned: tuple[str, ...] | None = tuple((options.returns or "").split(",")) if options.returns else None

    def _name_inputs(self, positional: list[str], signature: inspect.Signature) -> None:
        """q, k and v by name, or else the first three parameters that are not for something else."""
        if all(role in self.parameters for role in "qkv"):
            return
        free = [name for name in positional if self.roles.get(name, "q") in ("q", "k", "v")]
        if len(free) < 3:
            has_any = any(one.kind is one.VAR_POSITIONAL for one in signature.parameters.values())
            raise ValueError(f"kernel: {name_of(self.function)}{signature} has no parameters for q, k and v"
                             + ("; *args says nothing about them" if has_any else "") + ". Give adapter=")
        for role, name in zip("qkv", free):
            self.parameters[role] = name

    def _check_required(self) -> None:
        known = set(self.parameters.values())
        for name, default in self._defaults.items():
            if default is inspect.Parameter.empty and name not in known:
                raise ValueError(f"kernel: {name_of(self.function)} needs the argument {name!r}, which no call has a "
                                 "value "
                                 "for. Give it a default, or give adapter=")
        for role in ("q_offsets", "k_offsets"):
            if self.options.layout != "thd" and self._required(role):
                raise ValueError(f"layout: {name_of(self.function)} needs {self.parameters[role]!r}; say layout='thd'")

    def _required(self, role: str) -> bool:
        name = self.parameters.get(role)
        return name is not None and self._defaults[name] is inspect.Parameter.empty

    def _default(self, role: str) -> Any:
        return self._defaults[self.parameters[role]]

    # --- from a call to arguments -------------------------------------------------------------------------------------

    def __call__(self, call: Call) -> Any:
        return self.called(self.arguments(call))

    def arguments(self, call: Call) -> dict[str, Any]:
        """What the callable gets for a call, by role. What it has no parameter for is Unsupported."""
        arguments = self._inputs(call)
        band = self._band(call)
        visible = _both(call.mask, band.pop("hidden", None))
        arguments.update(band)
        self._masks(call, visible, arguments)
        self._numbers(call, arguments)
        self._outputs(call, arguments)
        return arguments

    def visible(self, call: Call) -> Array | None:
        """What a mask of the callable must say: the mask, and the band where no parameter says it."""
        return _both(call.mask, self._band(call).get("hidden"))

    def called(self, arguments: dict[str, Any]) -> Any:
        """What the callable returns for these arguments, by role."""
        by_name = {self.parameters[role]: value for role, value in arguments.items()}
        args = []
        if self._positional_only:
            last = max(at for at, name in enumerate(self._positional_only) if name in by_name)
            args = [by_name.pop(name, self._defaults[name]) for name in self._positional_only[:last + 1]]
        result = self.function(*args, **by_name)
        if result is None and "out" in arguments:
            result = arguments["out"]
        if self._returned is None:  # what it returned unasked, it returns always
            asked = [role for role in ("lse", "weights") if role in arguments]
            self._returned = () if asked else ("o", "?") if isinstance(result, (tuple, list)) else ("o",)
        return result

    def given(self, array: Array) -> Any:
        """The array in the callable's library, on its device."""
        kind = self.options.arrays
        return array if kind == "numpy" else of_kind(kind, tensor(array), self.options.device, share=True)

    def _inputs(self, call: Call) -> dict[str, Any]:
        q, k, v = call.q, call.k, call.v
        arguments: dict[str, Any] = {}
        if call.grouped:
            if "gqa" in self.parameters:
                arguments["gqa"] = True
            else:
                require("gqa" in self.options.supports, "grouped heads")
        if self.options.layout != "bhnd":
            packed_k = call.block_table is None if self._packed else call.k_offsets is not None
            q = self.rows(q, call)
            k, v = (_rows(one) if packed_k else one for one in (np.ascontiguousarray(swapped(x)) for x in (k, v)))
        self._entries(call, arguments)
        if self._required("out"):
            arguments["out"] = self.given(np.full((*q.shape[:-1], v.shape[-1]), np.nan, q.dtype))
        return {"q": self.given(q), "k": self.given(k), "v": self.given(v), **arguments}

    def rows(self, array: Array, call: Call) -> Array:
        """[b, h, n, d] of the queries in the layout of the callable."""
        if self.options.layout == "bhnd":
            return array
        there = np.ascontiguousarray(swapped(array))
        return _rows(there) if self._packed or call.q_offsets is not None else there

    def _entries(self, call: Call, arguments: dict[str, Any]) -> None:
        """Offsets, lengths, the table, and what else a call has beyond version 1. What has no parameter is
        Unsupported."""
        has = self.parameters
        if not self._packed and not self._requires_later and not call.needs:
            return
        for of, length, offsets in (("q", call.n, call.q_offsets), ("k", call.m, call.k_offsets)):
            role, paged = f"{of}_offsets", of == "k" and call.block_table is not None
            if offsets is not None:
                require(role in has, role)
                arguments[role] = self.given(offsets)
            elif paged:
                if role in has and (self._required(role) or "k_lengths" not in has):  # they say the lengths
                    arguments[role] = self.given(np.concatenate([[0], np.cumsum(call.keys_of())]).astype(np.int32))
            elif self._packed and role in has:
                arguments[role] = self.given(np.arange(call.b + 1, dtype=np.int32) * np.int32(length))
            elif self._packed:
                require(call.b == 1, "several sequences (no cu_seqlens)")
            if f"max_seqlen_{of}" in has and (self._packed or offsets is not None
                                              or self._required(f"max_seqlen_{of}")):
                arguments[f"max_seqlen_{of}"] = length
        for role, used, room in (("q_lengths", call.queries_of(), call.n), ("k_lengths", call.keys_of(), call.m)):
            lengths, offsets = getattr(call, role), getattr(call, f"{role[0]}_offsets")
            paged = role == "k_lengths" and call.block_table is not None
            if role in has and (lengths is not None or self._required(role)):
                arguments[role] = self.given(used.astype(np.int32))
            elif lengths is not None and not (paged and "k_offsets" in arguments):
                all_of_it = np.all(used == (room if offsets is None else np.diff(offsets)))
                # Rows behind an entry's queries belong to no query: a kernel that computes them, too, answers the call.
                needless = role == "q_lengths" and not (call.banded and call.align)
                require((bool(all_of_it) and not paged) or needless, role)
        for role in ("block_table", "block_mask", "keep"):
            array = getattr(call, role)
            require(array is None or role in has, role.replace("_", " "))
            require(array is not None or not self._required(role), f"a call without {role.replace('_', ' ')}")
            if array is not None:
                arguments[role] = self.given(array)
        for role in ("block_q", "block_k"):
            require(call.block_mask is None or role in has, role)
            if call.block_mask is not None or self._required(role):
                arguments[role] = getattr(call, role)
        self._sink(call, arguments)

    def _sink(self, call: Call, arguments: dict[str, Any]) -> None:
        sink = call.sink
        require(sink is not None or not self._required("sink"), "a call without sinks")
        if sink is None:
            return
        require("sink" in self.parameters, "sinks")
        if sink.ndim == 2 and sink.shape[0] == 1:
            sink = sink[0]
        require(sink.ndim == 1 or "sink-by-entry" in self.options.supports, "sinks by entry")
        arguments["sink"] = self.given(sink)

    def _lies(self, call: Call, role: str) -> bool:
        """Whether the callable's own band lies along the diagonal of the call, in each entry. Where its name leaves
        open which corner that is, entries must be square."""
        aligned = self.options.causal or ALIGNED.get(self.parameters.get(role, ""))
        knows = call if "q_lengths" in self.parameters else dataclasses.replace(call, q_lengths=None)
        beside = call.keys_of() - knows.queries_of()  # as the callable sees it
        if "align" in self.parameters:
            aligned = "bottom-right" if call.align or bool(np.any(call.diagonals())) else "top-left"
        if aligned is None and bool(np.any(beside)):
            return False
        return bool(np.all(call.diagonals() == (beside if aligned == "bottom-right" else 0)))

    def _band(self, call: Call) -> dict[str, Any]:
        """The arguments for the band; "hidden" is the band as a mask, where only that can say it."""
        has = self.parameters
        unasked: dict[str, Any] = {"causal": False} if self._required("causal") else {}
        if self._required("align") or ("align" in has and call.banded):
            unasked["align"] = call.align
        if not call.banded:
            return unasked
        diagonal: int | None = call.diagonal  # of all entries
        if call.align and "align" not in has:
            each = call.diagonals()
            diagonal = int(each[0]) if len(each) and bool(np.all(each == each[0])) else None
        if "left" in has and "right" in has and diagonal is not None and ("diagonal" in has or diagonal == 0):
            band = {"left": call.left, "right": call.right}
            return {**unasked, **band, "diagonal": diagonal} if "diagonal" in has else {**unasked, **band}
        causal = call.right == 0
        for role in ("causal", "window", "sliding_window"):
            if role not in has or not self._lies(call, role):
                continue
            if "align" in has:
                unasked["align"] = int(bool(call.align or np.any(call.diagonals())))
            also = {**unasked, "causal": True} if causal and "causal" in has else unasked
            if role == "causal" and causal and call.left < 0:
                return also
            if role == "window":
                return {**also, "window": call.window(call.diagonal)}
            if role == "sliding_window" and causal and call.left >= 0:
                return {**also, "sliding_window": min(call.left, call.n + call.m) + 1}
        packed = self._packed or call.q_offsets is not None or call.k_offsets is not None
        require("mask" in has and not packed, "a causal band" if causal and call.left < 0 else "a window")
        return {**unasked, "align": 0,
                "hidden": call.band_mask()} if "align" in unasked else {"hidden": call.band_mask(), **unasked}

    def _masks(self, call: Call, visible: Array | None, arguments: dict[str, Any]) -> None:
        has = self.parameters
        bias = call.bias
        if visible is not None:
            require("mask" in has and not self._packed, "a mask")
        if bias is not None:
            additive = has.get("mask") in ADDITIVE_MASKS or "bias-in-mask" in self.options.supports
            require(("bias" in has or additive) and not self._packed, "a bias")
            if "bias" not in has:
                arguments["mask"] = self.given(np.ascontiguousarray(call.additive(visible)))
                return
            arguments["bias"] = self.given(bias)
        if visible is not None:
            arguments["mask"] = self.given(np.ascontiguousarray(visible))
        for role in ("mask", "bias"):
            if self._required(role):
                arguments.setdefault(role, None)

    def _numbers(self, call: Call, arguments: dict[str, Any]) -> None:
        given = call.given_scale
        if "scale" in self.parameters:
            if given is not None or self._default("scale") is not None:
                require(math.isfinite(call.actual_scale), "no scale for d = 0")
                arguments["scale"] = call.actual_scale
        else:
            require(given is None or (call.d > 0 and given == 1 / math.sqrt(call.d)), "a scale")
        if "softcap" in self.parameters:
            if call.softcap != 0 or self._required("softcap"):
                arguments["softcap"] = call.softcap
        else:
            require(call.softcap == 0, "a softcap")
        require(call.dropout == 0 or "dropout" in self.parameters, "dropout")
        if call.keep is not None and "dropout" in self.parameters or self._required("dropout"):
            arguments["dropout"] = call.dropout
        if "threads" in self.parameters and (call.threads > 0 or self._required("threads")):
            arguments["threads"] = call.threads

    def _outputs(self, call: Call, arguments: dict[str, Any]) -> None:
        for role, wanted, what in (("lse", call.want_lse, "LSE"), ("weights", call.want_weights, "weights")):
            if role in self.parameters:
                if wanted or self._required(role):
                    arguments[role] = wanted
            elif wanted and self._returned and "?" not in self._returned:
                require(role in self._returned, what)


def _both(mask: Array | None, band: Array | None) -> Array | None:
    """A mask and a band in one, [b|1, hq|1, n|1, m]."""
    if band is None:
        return mask
    band = band if band.ndim == 4 else band[None, None]
    return band if mask is None else mask & band


def _rows(array: Array) -> Array:
    """[b, n, h, d] as [b·n, h, d]."""
    return array.reshape(array.shape[0] * array.shape[1], *array.shape[2:])
