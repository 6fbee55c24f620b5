"""The operator Attention of ONNX: models of one node, and onnx's own evaluator."""
import functools

import numpy as np
import onnx
import onnx.reference
from onnx import TensorProto, helper


TYPES = {"float32": TensorProto.FLOAT, "float64": TensorProto.DOUBLE, "float16": TensorProto.FLOAT16,
         "bfloat16": TensorProto.BFLOAT16, "bool": TensorProto.BOOL, "int32": TensorProto.INT32, "int64": TensorProto.INT64}


def model_of(operator, domain, opset, inputs, outputs, attributes):
    """A model of one node. inputs: (name, element type, rank) or None for one left out; outputs: (name, element type, rank)."""
    def info(name, type_name, rank):
        return helper.make_tensor_value_info(name, TYPES[type_name], [None] * rank)

    node = helper.make_node(operator, [entry[0] if entry else "" for entry in inputs], [entry[0] for entry in outputs],
                            domain=domain, **attributes)
    graph = helper.make_graph([node], operator, [info(*entry) for entry in inputs if entry], [info(*entry) for entry in outputs])
    imports = [helper.make_opsetid("", opset)] + ([helper.make_opsetid(domain, 1)] if domain else [])
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


def attention_call(asked, opset):
    """(attributes, feeds) of Attention: feeds are (name, tensor), with None for an input that is left out.

    Causal is is_causal: top left without past keys, and aligned to the last key where the first m - n keys are past keys.
    """
    past = 0
    causal = asked.causal()
    if not causal and asked.causal_after_past():
        causal, past = True, asked.keys - asked.queries
    lengths = asked.lengths() if opset >= 24 and asked.bias is None and not asked.banded else None
    window = asked.window() if opset >= 25 and not causal else None
    visible = None if lengths is not None else asked.mask if causal or window else asked.visible()
    mask = visible if asked.bias is None else asked.additive(visible)
    attributes = {"is_causal": int(causal)}
    if asked.scale is not None:
        attributes["scale"] = asked.scale
    if asked.softcap:
        attributes["softcap"] = asked.softcap
    if window:
        attributes |= {"left_window_size": window[0], "right_window_size": window[1]}
    split = [("past_key", asked.k[:, :, :past]), ("past_value", asked.v[:, :, :past])] if past else [None, None]
    feeds = [("q", asked.q), ("k", asked.k[:, :, past:]), ("v", asked.v[:, :, past:]), None if mask is None else ("mask", mask),
             *split, None if lengths is None else ("lengths", lengths.astype(np.int64))]
    while feeds[-1] is None:
        feeds.pop()
    return attributes, feeds


def attention_model(opset, attributes, feeds):
    """The bytes of the model for such a call. It is for every shape."""
    inputs = [(feed[0], feed[1].dtype.name, feed[1].ndim) if feed else None for feed in feeds]
    return cached_model("Attention", "", opset, tuple(inputs), tuple(sorted(attributes.items())),
                        3 if any(feed and feed[0] == "past_key" for feed in feeds) else 1)


@functools.cache
def cached_model(operator, domain, opset, inputs, attributes, outputs):
    names = ["o", "present_key", "present_value"][:outputs]
    made = model_of(operator, domain, opset, inputs, [(name, inputs[0][1], 3 if name == "o" and domain else 4) for name in names],
                    dict(attributes))
    return made.SerializeToString()


@functools.cache
def evaluator_of(model):
    return onnx.reference.ReferenceEvaluator(onnx.load_from_string(model))


def evaluator(asked):
    """onnx.reference.ReferenceEvaluator, opset 25, which has windows."""
    attributes, feeds = attention_call(asked, 25)
    with np.errstate(all="ignore"):
        return evaluator_of(attention_model(25, attributes, feeds)).run(["o"], dict(feed for feed in feeds if feed))[0]
