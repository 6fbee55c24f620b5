"""OpenVINO's operator ScaledDotProductAttention on CPUs, in float32: its own defaults are narrower where the processor has such
units. A compiled model serves every batch size and number of queries and keys."""
import functools

import numpy as np
import openvino
from openvino import opset13 as ops

from question import require

CORE = openvino.Core()


def named(parameter, name):
    parameter.output(0).set_names({name})
    return parameter


@functools.cache
def request_of(hq, hk, d, dv, mask_type, mask_heads, scale, causal, threads, with_state):
    q, k, v = (named(ops.parameter([-1, h, -1, size], np.float32), name)
               for name, h, size in (("q", hq, d), ("k", hk, d), ("v", hk, dv)))
    parameters, sinks, keys, values = [q, k, v], [], k, v
    if with_state:
        order = named(ops.parameter([-1], np.int32), "order")
        parameters.append(order)

        def grown(new, name, size):
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
    settings = {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"}
    if threads:
        settings["INFERENCE_NUM_THREADS"] = threads
    return CORE.compile_model(model, "CPU", settings).create_infer_request()


def call(asked, with_state):
    require(asked.q.dtype == np.float32, "this type")
    require(asked.softcap == 0, "softcap")
    require(not asked.grouped, "grouped heads")
    causal = asked.causal() and asked.mask is None and asked.bias is None  # causal=True ignores the mask, as documented
    visible = None if causal else asked.visible()
    mask = visible if asked.bias is None else asked.additive(visible)
    if mask is not None:
        mask = np.ascontiguousarray(np.broadcast_to(mask, (*mask.shape[:2], asked.queries, asked.keys)))
    elif with_state and asked.scale is not None:  # the operator takes a scale beside a mask alone, and the fused one no scalar
        mask = np.zeros((1, 1, asked.queries, asked.keys), np.float32)
    (b, hq, _, d), (_, hk, _, dv) = asked.q.shape, asked.v.shape
    request = request_of(hq, hk, d, dv, mask.dtype.name if mask is not None else "", mask.shape[1] if mask is not None else 0,
                         asked.scale, causal, asked.threads, with_state)
    past = asked.keys - asked.queries if with_state else 0
    require(past >= 0, "fewer keys than queries")
    require(past <= 16384, "more than 16,384 keys in the state: each must come with a query of its own")

    def infer(q, k, v, mask):
        tensors = {"q": q, "k": k, "v": v}
        if mask is not None:
            tensors["mask"] = mask
        if with_state:
            tensors["order"] = np.arange(b, dtype=np.int32)
        return request.infer({name: np.ascontiguousarray(x) for name, x in tensors.items()})[0]

    if with_state:
        request.reset_state()
        for start in range(0, past, 1024):  # with as many queries as new keys: their answers are not asked
            end = min(start + 1024, past)
            before = None if mask is None else np.ones((*mask.shape[:2], end - start, end), mask.dtype)
            infer(np.zeros((b, hq, end - start, d), np.float32), asked.k[:, :, start:end], asked.v[:, :, start:end], before)
    return infer(asked.q, asked.k[:, :, past:], asked.v[:, :, past:], mask)


def stateless(asked):
    return call(asked, False)


def stateful(asked):
    """The first m - n keys come in calls before, of 1024 each, and stay in the model's state."""
    return call(asked, True)
