"""ONNX Runtime's operators for attention on CPUs. A session serves every shape; one is made for each set of attributes."""
import functools
import re

import numpy as np
import onnxruntime
from onnxruntime.capi.onnxruntime_pybind11_state import Fail, InvalidArgument, NotImplemented

from ask_onnx import attention_call, attention_model, cached_model
from question import refusing, require


@functools.cache
def session_of(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def complaint(why):
    """The library's words without the place in its sources."""
    return re.sub(r"^.*(Status Message|Exception during initialization): (/\S+ .*\) )?", "", str(why).splitlines()[0])[:200]


def run(asked, model, feeds):
    with refusing(InvalidArgument, NotImplemented, Fail, message=complaint):
        session = session_of(model, asked.threads)
        return session.run(["o"], {name: np.ascontiguousarray(x) for name, x in filter(None, feeds)})[0]


def attention(asked, opset):
    attributes, feeds = attention_call(asked, opset)
    if feeds[3:] and feeds[3]:
        feeds[3] = "mask", asked.for_every_query(feeds[3][1])
    return run(asked, attention_model(opset, attributes, feeds), feeds)


def attention_23(asked):
    return attention(asked, 23)


def attention_24(asked):
    """As opset 23, and a mask that only shortens batch entries is nonpad_kv_seqlen."""
    return attention(asked, 24)


def flat(x):
    """[b, h, n, d] to [b, n, h·d]."""
    b, h, n, d = x.shape
    return x.transpose(0, 2, 1, 3).reshape(b, n, h * d)


def contributed(asked, operator, attributes, feeds):
    while feeds[-1] is None:
        feeds.pop()
    inputs = tuple((feed[0], feed[1].dtype.name, feed[1].ndim) if feed else None for feed in feeds)
    if asked.scale is not None:
        require(asked.scale != 0, "scale = 0 (it stands for 1/sqrt(d))")
        attributes["scale"] = asked.scale
    outputs = 3 if operator == "GroupQueryAttention" or "past_key" in [feed[0] for feed in feeds if feed] else 1
    model = cached_model(operator, "com.microsoft", 23, inputs, tuple(sorted(attributes.items())), outputs)
    o = run(asked, model, feeds)
    b, hq, n, _ = asked.q.shape
    return o.reshape(b, n, hq, asked.v.shape[3]).transpose(0, 2, 1, 3)


def multi_head_attention(asked):
    """A mask that is the same for all heads is key_padding_mask [b, n, m] or [b, m], any other -inf in attention_bias."""
    require(asked.softcap == 0, "softcap")
    require(not asked.grouped, "grouped heads")
    past, causal = 0, asked.causal()  # unidirectional is aligned at the top left, after past keys
    if not causal and asked.causal_after_past() and asked.square:  # past_value must have the shape of past_key
        past, causal = asked.keys - asked.queries, True
    visible = asked.mask if causal else asked.visible()
    padding, bias = None, asked.bias
    if visible is not None and visible.shape[1] == 1 and bias is None:
        padding = np.broadcast_to(visible, (asked.q.shape[0], 1, visible.shape[2], asked.keys))[:, 0].astype(np.int32)
        padding = padding[:, 0] if padding.shape[1] == 1 else padding
    elif visible is not None:
        bias = asked.additive(visible)
    bias = asked.for_every_query(bias)
    feeds = [("q", flat(asked.q)), ("k", flat(asked.k[:, :, past:])), ("v", flat(asked.v[:, :, past:])), None,
             None if padding is None else ("padding", padding), None if bias is None else ("bias", bias),
             ("past_key", asked.k[:, :, :past]) if past else None, ("past_value", asked.v[:, :, :past]) if past else None]
    return contributed(asked, "MultiHeadAttention", {"num_heads": asked.q.shape[1], "unidirectional": int(causal)}, feeds)


def group_query_attention(asked):
    """The first m - n keys are the cache, the last n are new; causal is aligned to the last key. Masks are -inf in the bias."""
    require(asked.square, "dv != d")
    require(asked.keys >= asked.queries, "fewer keys than queries")
    past = asked.keys - asked.queries
    causal = asked.causal_after_past()
    window = asked.right == 0 and asked.diagonal == past and asked.left >= 0
    visible = asked.mask if causal or window else asked.visible()
    bias = asked.additive(visible)
    bias = asked.for_every_query(bias)
    b, hq, n, _ = asked.q.shape
    attributes = {"num_heads": hq, "kv_num_heads": asked.k.shape[1], "causal": int(causal or window), "softcap": asked.softcap}
    if window:
        attributes["local_window_size"] = asked.left + 1  # it counts the query's own key
    feeds = [("q", flat(asked.q)), ("k", flat(asked.k[:, :, past:])), ("v", flat(asked.v[:, :, past:])),
             ("past_key", asked.k[:, :, :past]), ("past_value", asked.v[:, :, :past]),
             ("last", np.full(b, asked.keys - 1, np.int32)), ("total", np.array(asked.keys, np.int32)),
             None, None, None, None if bias is None else ("bias", bias)]
    return contributed(asked, "GroupQueryAttention", attributes, feeds)
