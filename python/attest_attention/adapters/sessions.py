"""Models that somebody has made: sessions of ONNX Runtime, compiled models of OpenVINO, whose inputs are the tensors of
a call.

What a model does beside its tensors (scale, causal, softcap) is in the model and cannot be read off it. Whoever makes
the adapter says it, and the model is asked the calls that say the same: others are unsupported.
"""
from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._call import Array, Call, require
from ._adapter import Adapter, Answer

# The names that inputs of models have, in lower case, by what they are.
SPELLINGS = {
    "q": {"q", "query", "queries"},
    "k": {"k", "key", "keys"},
    "v": {"v", "value", "values"},
    "mask": {"mask", "attn_mask", "attention_mask"},
    "bias": {"bias", "attn_bias", "attention_bias"},
}
CAUSAL = (None, "top-left", "bottom-right")


def roles_of(given: list[str], inputs: Mapping[str, str] | None) -> dict[str, str]:
    """The inputs' names by role (q, k, v, mask, bias): as `inputs` says, else by the usual spellings.

    Raises ValueError where q, k or v has no input, or an input no role.
    """
    if inputs is None:
        roles = {role: name for role, spellings in SPELLINGS.items() for name in given if name.lower() in spellings}
    else:
        roles = dict(inputs)
        if unknown := sorted(set(roles) - set(SPELLINGS)):
            raise ValueError(f"inputs: there is no role {unknown[0]!r}; there are {', '.join(SPELLINGS)}")
    for role in ("q", "k", "v"):
        if roles.get(role) not in given:
            raise ValueError(f"inputs: which input of the model is {role}? It has {', '.join(map(repr, given))}")
    if left := [name for name in given if name not in roles.values()]:
        raise ValueError(f"inputs: what is the model's input {left[0]!r}?")
    return roles


def model(name: str, run: Callable[[dict[str, Array]], Array], ranks: dict[str, int], inputs: Mapping[str, str] | None,
          scale: float | None, causal: str | None, softcap: float) -> Adapter:
    """The adapter of a model that `run` runs. ranks: of its inputs, by name; q, k and v of rank 3 are [b, n, h·d]."""
    if causal not in CAUSAL:
        raise ValueError(f"causal: {causal!r} is none of 'top-left', 'bottom-right' and None")
    roles = roles_of(list(ranks), inputs)
    flat = ranks[roles["q"]] == 3

    def shaped(x: Array) -> Array:
        return x.swapaxes(1, 2).reshape(x.shape[0], x.shape[2], -1) if flat else x

    def answer(call: Call) -> Answer:
        require(call.given_scale == scale, "this scale, which the model does not have")
        require(call.softcap == softcap, "this softcap, which the model does not have")
        aligned = {"top-left": call.top_left, "bottom-right": call.bottom_right}
        require(causal is None or aligned[causal], "a band that the model does not have")
        visible = call.mask if causal else call.visible()
        bias = call.bias
        require(visible is None or "mask" in roles or "bias" in roles, "mask or band")
        require(bias is None or "bias" in roles, "bias")
        if visible is not None and ("mask" not in roles):
            visible, bias = None, call.additive(visible)
        shape = (call.n, call.m)
        tensors = {roles["q"]: shaped(call.q), roles["k"]: shaped(call.k), roles["v"]: shaped(call.v)}
        if "mask" in roles:
            mask = np.ones((1, 1, *shape), np.bool_) if visible is None else visible
            tensors[roles["mask"]] = np.broadcast_to(mask, (*mask.shape[:2], *shape))
        if "bias" in roles:
            added = np.zeros((1, 1, *shape), call.q.dtype) if bias is None else bias
            tensors[roles["bias"]] = np.broadcast_to(added, (*added.shape[:2], *shape))
        o = run({name: np.ascontiguousarray(x) for name, x in tensors.items()})
        return o.reshape(call.b, call.n, call.hq, call.dv).swapaxes(1, 2) if flat else o

    return Adapter(name, answer)


def onnxruntime_session(session: Any, *, inputs: Mapping[str, str] | None = None, scale: float | None = None,
                        causal: str | None = None, softcap: float = 0.0) -> Adapter:
    """An onnxruntime.InferenceSession whose first output is o.

    inputs: its inputs' names by role (q, k, v, mask, bias); None: the usual spellings. scale (None: 1/sqrt(d)), causal
    ("top-left", "bottom-right" or None) and softcap: what the model computes. Raises ValueError where an input has no
    role.
    """
    ranks = {given.name: len(given.shape) for given in session.get_inputs()}
    output = session.get_outputs()[0].name
    return model("onnxruntime-session",
                 lambda tensors: np.asarray(session.run([output], tensors)[0]), ranks, inputs, scale, causal, softcap)


def openvino_model(compiled: Any, *, inputs: Mapping[str, str] | None = None, scale: float | None = None,
                   causal: str | None = None, softcap: float = 0.0) -> Adapter:
    """An openvino.CompiledModel whose first output is o; the other arguments are as for onnxruntime_session."""
    request = compiled.create_infer_request()
    ranks = {given.get_any_name(): given.get_partial_shape().rank.get_length() for given in compiled.inputs}
    return model("openvino-model",
                 lambda tensors: np.array(request.infer(tensors)[0]), ranks, inputs, scale, causal, softcap)
