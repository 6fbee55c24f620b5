"""ONNX Runtime, MultiHeadAttention: a hidden key's score of -10,000 wins against lower live scores. Wanted: 1.0."""
import numpy as np
import onnxruntime
from onnx.parser import parse_model

model = parse_model("""<ir_version: 10, opset_import: ["": 24, "com.microsoft": 1]>
    g (float[1, 1, 1] q, float[1, 2, 1] k, float[1, 2, 1] v, int32[1, 2] padding) => (float[1, 1, 1] o)
    { o = com.microsoft.MultiHeadAttention <num_heads = 1> (q, k, v, "", padding) }""")
q, k, v = np.ones((1, 1, 1), np.float32), np.float32([[[-11000], [0]]]), np.float32([[[1], [-1]]])
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(["o"], {"q": q, "k": k, "v": v, "padding": np.int32([[1, 0]])})[0].item())
