"""The operator Attention of ONNX: models of one node, and onnx's own evaluator."""
from __future__ import annotations

import functools
import importlib
from typing import Any, TypeAlias

import numpy as np

from .._call import Array, Call
from ._adapter import Adapter, Answer

onnx: Any = importlib.import_module("onnx")

# Inputs in the operator's order, (name, tensor), with None for an input that is left out.
Feeds: TypeAlias = list[tuple[str, Array] | None]
Attributes: TypeAlias = dict[str, Any]

TYPES = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "FLOAT16", "bfloat16": "BFLOAT16", "bool": "BOOL",
         "int32": "INT32", "int64": "INT64"}


@functools.cache
def model_of(operator: str, domain: str, opset: int, inputs: tuple[tuple[str, str, int] | None, ...],
             attributes: tuple[tuple[str, Any], ...], outputs: tuple[tuple[str, str, int], ...]) -> bytes:
    """The bytes of a model of one node, for every shape. inputs, outputs: (name, type, rank), None for an input left
    out."""
    helper = onnx.helper

    def info(name: str, type_name: str, rank: int) -> Any:
        return helper.make_tensor_value_info(name, getattr(onnx.TensorProto, TYPES[type_name]), [None] * rank)

    node = helper.make_node(operator, [entry[0] if entry else "" for entry in inputs], [entry[0] for entry in outputs],
                            domain=domain, **dict(attributes))
    graph = helper.make_graph([node], operator, [info(*entry) for entry in inputs if entry],
                              [info(*entry) for entry in outputs])
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return bytes(helper.make_model(graph, opset_imports=imports, ir_version=10).SerializeToString())


def node_model(operator: str, domain: str, opset: int, attributes: Attributes, feeds: Feeds, outputs: int,
               rank: int) -> bytes:
    """The model that such feeds are for: its outputs are o, of this rank, then present_key and present_value."""
    inputs = tuple((feed[0], feed[1].dtype.name, feed[1].ndim) if feed else None for feed in feeds)
    type_name = str(inputs[0][1]) if inputs[0] else ""
    made = (("o", type_name, rank), ("present_key", type_name, 4), ("present_value", type_name, 4))[:outputs]
    return model_of(operator, domain, opset, inputs, tuple(sorted(attributes.items())), made)


def attention_call(call: Call, opset: int) -> tuple[Attributes, Feeds]:
    """(attributes, feeds) of Attention.

    Causal is is_causal: top left without past keys, and aligned to the last key where the first m - n keys are past
    keys.
    """
    past = 0
    causal = call.top_left
    if not causal and call.bottom_right:
        causal, past = True, call.m - call.n
    lengths = call.lengths() if opset >= 24 and call.bias is None and not call.banded else None
    window = call.window() if opset >= 25 and not causal else None
    visible = None if lengths is not None else call.mask if causal or window else call.visible()
    mask = visible if call.bias is None else call.additive(visible)
    attributes: Attributes = {"is_causal": int(causal)}
    if call.given_scale is not None:
        attributes["scale"] = call.scale
    if call.softcap:
        attributes["softcap"] = call.softcap
    if window:
        attributes |= {"left_window_size": window[0], "right_window_size": window[1]}
    split: Feeds = [("past_key", call.k[:, :, :past]), ("past_value", call.v[:, :, :past])] if past else [None, None]
    feeds: Feeds = [("q", call.q), ("k", call.k[:, :, past:]), ("v", call.v[:, :, past:]),
                    None if mask is None else ("mask", mask), *split,
                    None if lengths is None else ("lengths", lengths.astype(np.int64))]
    while feeds[-1] is None:
        feeds.pop()
    return attributes, feeds


def attention_model(opset: int, attributes: Attributes, feeds: Feeds) -> bytes:
    """The bytes of the model for such a call of Attention."""
    outputs = 3 if any(feed and feed[0] == "past_key" for feed in feeds) else 1
    return node_model("Attention", "", opset, attributes, feeds, outputs, 4)


@functools.cache
def evaluator_of(model: bytes) -> Any:
    """onnx's evaluator of a model."""
    return importlib.import_module("onnx.reference").ReferenceEvaluator(onnx.load_from_string(model))


def onnx_evaluator(opset: int = 25) -> Adapter:
    """onnx.reference.ReferenceEvaluator on Attention of this opset; 25 is the first that has windows."""

    def answer(call: Call) -> Answer:
        attributes, feeds = attention_call(call, opset)
        given = dict(feed for feed in feeds if feed)
        with np.errstate(all="ignore"):
            return np.asarray(evaluator_of(attention_model(opset, attributes, feeds)).run(["o"], given)[0])

    return Adapter("onnx", answer)
