"""OpenVINO: with keys from the model's state, a scale of 0 is read as "none given". Wanted: 0.5, the mean of v."""
import numpy as np
import openvino
from openvino import opset13 as ops

q, k, v, mask = (ops.parameter([1, 1, -1, -1 if name == "mask" else 1], np.float32) for name in ("q", "k", "v", "mask"))
order = ops.parameter([-1], np.int32)
before = [ops.read_value(ops.constant(np.zeros((1, 1, 0, 1), np.float32)), name, np.float32,
                         openvino.PartialShape([1, 1, -1, 1]))
          for name in "kv"]
keys, values = (ops.concat([ops.gather(old, order, 0), new], 2) for old, new in zip(before, (k, v)))
result = ops.result(ops.scaled_dot_product_attention(q, keys, values, mask, ops.constant(np.float32(0))))
model = openvino.Model([result], [ops.assign(keys, "k"), ops.assign(values, "v")], [q, k, v, mask, order])
compiled = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32", "KV_CACHE_PRECISION": "f32"})
numbers = np.float32([[[[0], [1]]]])
print(compiled([numbers * 9, numbers, numbers, np.zeros((1, 1, 2, 2), np.float32), np.zeros(1, np.int32)])[0].max())
