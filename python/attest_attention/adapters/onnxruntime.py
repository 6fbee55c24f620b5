"""ONNX Runtime's operators for attention. A session serves every shape; one is made for each set of attributes."""
from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from .._call import Array, Call, refusing, require
from ._adapter import Adapter, Answer
from .onnx import Attributes, Feeds, attention_call, attention_model, node_model

onnxruntime: Any = importlib.import_module("onnxruntime")
states: Any = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")


@functools.cache
def session_of(model: bytes, threads: int, provider: str) -> Any:
    """The session of a model."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=[provider])


def complaint(why: object) -> str:
    """The library's words without the place in its sources."""
    return re.sub(r"^.*(Status Message|Exception during initialization): (/\S+ .*\) )?", "",
                  str(why).splitlines()[0])[:200]


def run(call: Call, model: bytes, feeds: Feeds, provider: str) -> Array:
    """The output o. What the library refuses is unsupported."""
    given = {name: np.ascontiguousarray(x) for name, x in filter(None, feeds)}
    with refusing(states.InvalidArgument, states.NotImplemented, states.Fail, message=complaint):
        session = session_of(model, call.threads, provider)
        o: Array = session.run(["o"], given)[0]
        return o


def flat(x: Array) -> Array:
    """[b, h, n, d] to [b, n, h·d]."""
    b, h, n, d = x.shape
    made: Array = x.swapaxes(1, 2).reshape(b, n, h * d)
    return made


def contributed(call: Call, operator: str, attributes: Attributes, feeds: Feeds, provider: str) -> Array:
    """The answer of an operator of com.microsoft, whose o is [b, n, hq·dv]."""
    while feeds[-1] is None:
        feeds.pop()
    if call.given_scale is not None:
        require(call.scale != 0, "scale = 0 (it stands for 1/sqrt(d))")
        attributes["scale"] = call.scale
    outputs = 3 if operator == "GroupQueryAttention" or "past_key" in [feed[0] for feed in feeds if feed] else 1
    o = run(call, node_model(operator, "com.microsoft", 23, attributes, feeds, outputs, 3), feeds, provider)
    return np.asarray(o.reshape(call.b, call.n, call.hq, call.dv).swapaxes(1, 2))


def attention(call: Call, opset: int, provider: str) -> Answer:
    """Attention of ONNX. In opset 24 a mask that only shortens batch entries is nonpad_kv_seqlen."""
    attributes, feeds = attention_call(call, opset)
    if len(feeds) > 3 and (mask := feeds[3]):
        feeds[3] = "mask", np.broadcast_to(mask[1], (*mask[1].shape[:2], call.n, call.m))
    return run(call, attention_model(opset, attributes, feeds), feeds, provider)


def multi_head_attention(call: Call, provider: str) -> Answer:
    """A mask that is the same for all heads is key_padding_mask [b, n, m] or [b, m], any other -inf in
    attention_bias."""
    require(call.softcap == 0, "softcap")
    require(not call.grouped, "grouped heads")
    past, causal = 0, call.top_left  # unidirectional is aligned at the top left, after past keys
    if not causal and call.bottom_right and call.square:  # past_value must have the shape of past_key
        past, causal = call.m - call.n, True
    visible = call.mask if causal else call.visible()
    padding, bias = None, call.bias
    if visible is not None and visible.shape[1] == 1 and bias is None:
        padding = np.broadcast_to(visible, (call.b, 1, visible.shape[2], call.m))[:, 0].astype(np.int32)
        padding = padding[:, 0] if padding.shape[1] == 1 else padding
    elif visible is not None:
        bias = call.additive(visible)
    bias = call.for_every_query(bias)
    feeds: Feeds = [("q", flat(call.q)), ("k", flat(call.k[:, :, past:])), ("v", flat(call.v[:, :, past:])), None,
                    None if padding is None else ("padding", padding), None if bias is None else ("bias", bias),
                    ("past_key", call.k[:, :, :past]) if past else None,
                    ("past_value", call.v[:, :, :past]) if past else None]
    return contributed(call, "MultiHeadAttention", {"num_heads": call.hq, "unidirectional": int(causal)}, feeds,
                       provider)


def group_query_attention(call: Call, provider: str) -> Answer:
    """The first m - n keys are the cache, the last n are new; causal is aligned to the last key. Masks are -inf in the
    bias."""
    require(call.square, "dv != d")
    require(call.m >= call.n, "fewer keys than queries")
    past = call.m - call.n
    causal = call.bottom_right
    window = call.right == 0 and call.diagonal == past and call.left >= 0
    visible = call.mask if causal or window else call.visible()
    bias = call.for_every_query(call.additive(visible))
    attributes: Attributes = {"num_heads": call.hq, "kv_num_heads": call.hk, "causal": int(causal or window),
                              "softcap": call.softcap}
    if window:
        attributes["local_window_size"] = call.left + 1  # it counts the query's own key
    feeds: Feeds = [("q", flat(call.q)), ("k", flat(call.k[:, :, past:])), ("v", flat(call.v[:, :, past:])),
                    ("past_key", call.k[:, :, :past]), ("past_value", call.v[:, :, :past]),
                    ("last", np.full(call.b, call.m - 1, np.int32)), ("total", np.array(call.m, np.int32)),
                    None, None, None, None if bias is None else ("bias", bias)]
    return contributed(call, "GroupQueryAttention", attributes, feeds, provider)


OPERATORS: dict[str, Callable[[Call, str], Answer]] = {
    "attention-23": lambda call, provider: attention(call, 23, provider),
    "attention-24": lambda call, provider: attention(call, 24, provider),
    "mha": multi_head_attention,
    "gqa": group_query_attention,
}


def onnxruntime_operator(operator: str, provider: str = "CPUExecutionProvider") -> Adapter:
    """attention-23, attention-24 (ONNX's Attention of that opset), mha or gqa (com.microsoft's), on an execution
    provider."""
    if operator not in OPERATORS:
        raise ValueError(f"operator: there is no {operator!r}; there are {', '.join(OPERATORS)}")
    return Adapter(f"onnxruntime-{operator}", lambda call: OPERATORS[operator](call, provider))
