"""OpenVINO's operator ScaledDotProductAttention on CPUs, in float32: its own defaults are narrower where the processor
has such units. A compiled model serves every batch size and number of queries and keys."""
from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from .._call import Array, Call, require
from ._adapter import Adapter, Answer

openvino: Any = importlib.import_module("openvino")
ops: Any = importlib.import_module("openvino.opset13")

CORE: Any = openvino.Core()

# How many keys a call puts into the state before the judged call.
PAST_KEYS = 1024


def named(parameter: Any, name: str) -> Any:
    """The parameter under this name."""
    parameter.output(0).set_names({name})
    return parameter


@functools.cache
def request_of(hq: int, hk: int, d: int, dv: int, mask_type: str, mask_heads: int, scale: float | None, causal: bool,
               threads: int, with_state: bool) -> Any:
    """A request of the compiled model with these constants."""
    q, k, v = (named(ops.parameter([-1, h, -1, size], np.float32), name)
               for name, h, size in (("q", hq, d), ("k", hk, d), ("v", hk, dv)))
    parameters, sinks, keys, values = [q, k, v], [], k, v
    if with_state:
        order = named(ops.parameter([-1], np.int32), "order")
        parameters.append(order)

        def grown(new: Any, name: str, size: int) -> Any:
            batch = ops.gather(ops.shape_of(new), ops.constant(np.array([0])), ops.constant(0))
            shape = ops.concat([batch, ops.constant(np.array([hk, 0, size]))], 0)
            old = ops.read_value(ops.broadcast(ops.constant(np.float32(0)), shape), name, np.float32,
                                 openvino.PartialShape([-1, hk, -1, size]))
            whole = ops.concat([ops.gather(old, order, ops.constant(0)), new], 2)
            sinks.append(ops.assign(whole, name))
            return whole
        keys, values = grown(k, "keys", d), grown(v, "values", dv)
    arguments = [q, keys, values]
    if mask_type:
        parameters.append(named(ops.parameter([-1, mask_heads, -1, -1], np.dtype(mask_type)), "mask"))
        arguments.append(parameters[-1])
    elif scale is not None:
        arguments.append(ops.constant(np.float32(0)))  # no mask: a scalar 0
    if scale is not None:
        arguments.append(ops.constant(np.float32(scale)))
    result = ops.result(ops.scaled_dot_product_attention(*arguments, causal=causal))
    model = openvino.Model([result], sinks, parameters, "attention")
    settings: dict[str, Any] = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
    if threads:
        settings["INFERENCE_NUM_THREADS"] = threads
    return CORE.compile_model(model, "CPU", settings).create_infer_request()


def attention(call: Call, with_state: bool) -> Answer:
    """With a state, the first m - n keys come in calls before, of PAST_KEYS each, and stay in the model's state."""
    require(call.dtype == "f32", "this type")
    require(call.softcap == 0, "softcap")
    require(not call.grouped, "grouped heads")
    causal = call.top_left and call.mask is None and call.bias is None  # causal=True ignores the mask, as documented
    visible = None if causal else call.visible()
    mask = visible if call.bias is None else call.additive(visible)
    if mask is not None:
        mask = np.ascontiguousarray(np.broadcast_to(mask, (*mask.shape[:2], call.n, call.m)))
    elif with_state and call.given_scale is not None:  # a scale goes beside a mask alone, and no scalar
        mask = np.zeros((1, 1, call.n, call.m), np.float32)
    request = request_of(call.hq, call.hk, call.d, call.dv, mask.dtype.name if mask is not None else "",
                         mask.shape[1] if mask is not None else 0, call.given_scale, causal, call.threads, with_state)
    past = call.m - call.n if with_state else 0
    require(past >= 0, "fewer keys than queries")
    require(past <= 16384, "more than 16,384 keys in the state: each must come with a query of its own")

    def infer(q: Array, k: Array, v: Array, mask: Array | None) -> Array:
        tensors = {"q": q, "k": k, "v": v}
        if mask is not None:
            tensors["mask"] = mask
        if with_state:
            tensors["order"] = np.arange(call.b, dtype=np.int32)
        return np.asarray(request.infer({name: np.ascontiguousarray(x) for name, x in tensors.items()})[0])

    if with_state:
        request.reset_state()
        for start in range(0, past, PAST_KEYS):  # with as many queries as new keys: their answers are not asked
            end = min(start + PAST_KEYS, past)
            before = None if mask is None else np.ones((*mask.shape[:2], end - start, end), mask.dtype)
            queries = np.zeros((call.b, call.hq, end - start, call.d), np.float32)
            infer(queries, call.k[:, :, start:end], call.v[:, :, start:end], before)
    return infer(call.q, call.k[:, :, past:], call.v[:, :, past:], mask)


def openvino_sdpa(stateful: bool = False) -> Adapter:
    """The operator as a function of its inputs, or with keys and values in the model's state."""
    return Adapter("openvino" + ("-stateful" if stateful else ""), lambda call: attention(call, stateful))
