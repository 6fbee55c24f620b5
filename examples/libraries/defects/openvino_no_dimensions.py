"""OpenVINO: where d = 0 all scores are 0, but answers are what the memory held. Wanted: twice 1.0, the mean of v."""
import numpy as np
import openvino
from openvino import opset13 as ops

inputs = [ops.parameter([-1, 1, -1, size], np.float32) for size in (0, 0, 8)]
model = openvino.Model([ops.scaled_dot_product_attention(*inputs, ops.constant(np.float32(0)),
                                                         ops.constant(np.float32(1)))], inputs)
attention = openvino.compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
for queries in (2, 64):
    answer = attention([np.ones((1, 1, n, size), np.float32) for n, size in ((queries, 0), (16, 0), (16, 8))])[0]
    print(answer.min(), answer.max())
