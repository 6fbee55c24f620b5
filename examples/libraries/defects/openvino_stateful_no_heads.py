"""OpenVINO: no heads, with keys from the model's state: the process dies of SIGFPE. Wanted: (1, 0, 2, 4)."""
import numpy as np
import openvino
from openvino import opset13 as ops

q, k, v = (ops.parameter([1, 0, -1, 4], np.float32) for _ in "qkv")
order = ops.parameter([-1], np.int32)
before = [ops.read_value(ops.constant(np.zeros((1, 0, 0, 4), np.float32)), name, np.float32,
                         openvino.PartialShape([1, 0, -1, 4]))
          for name in "kv"]
keys, values = (ops.concat([ops.gather(old, order, 0), new], 2) for old, new in zip(before, (k, v)))
result = ops.result(ops.scaled_dot_product_attention(q, keys, values))
model = openvino.Model([result], [ops.assign(keys, "k"), ops.assign(values, "v")], [q, k, v, order])
x = np.zeros((1, 0, 2, 4), np.float32)
print(openvino.compile_model(model, "CPU")([x, x, x, np.zeros(1, np.int32)])[0].shape)
