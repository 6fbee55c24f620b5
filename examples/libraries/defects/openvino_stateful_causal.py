"""OpenVINO: causal=True is aligned at the top left, and at the last key where keys come from the model's state.

The one new query sees the first key, says the operator's definition (tril of ones [1, 4]). Wanted: [0, 0].
"""
import numpy as np
import openvino
from openvino import opset13 as ops

q, k, v = (ops.parameter([1, 1, -1, 1], np.float32) for _ in "qkv")
order = ops.parameter([-1], np.int32)
before = [ops.read_value(ops.constant(np.zeros((1, 1, 0, 1), np.float32)), name, np.float32,
                         openvino.PartialShape([1, 1, -1, 1]))
          for name in "kv"]
keys, values = (ops.concat([ops.gather(old, order, 0), new], 2) for old, new in zip(before, (k, v)))
result = ops.result(ops.scaled_dot_product_attention(q, keys, values, causal=True))
model = openvino.Model([result], [ops.assign(keys, "k"), ops.assign(values, "v")], [q, k, v, order])
compiled = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"})
request, zero = compiled.create_infer_request(), np.zeros(1, np.int32)
for first, count in ((0, 3), (3, 1)):  # three keys, then a fourth; v_j = j
    numbers = np.arange(first, first + count, dtype=np.float32).reshape(1, 1, count, 1)
    answer = request.infer([0 * numbers, 0 * numbers, numbers, zero])[0]
print(answer.ravel()[-1], "wanted: 0.0")
