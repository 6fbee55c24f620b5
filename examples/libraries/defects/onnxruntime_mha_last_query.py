"""ONNX Runtime, MultiHeadAttention: unidirectional hides nothing from the last query, n < m. Wanted: 1 2 3 4 keys."""
import numpy as np
import onnxruntime
from onnx.parser import parse_model

model = parse_model("""<ir_version: 10, opset_import: ["": 24, "com.microsoft": 1]>
    g (float[1, 4, 1] q, float[1, 9, 1] k, float[1, 9, 9] v) => (float[1, 4, 9] o)
    { o = com.microsoft.MultiHeadAttention <num_heads = 1, unidirectional = 1> (q, k, v) }""")
session = onnxruntime.InferenceSession(model.SerializeToString())
q, k, v = np.zeros((1, 4, 1), np.float32), np.zeros((1, 9, 1), np.float32), np.eye(9, dtype=np.float32)[None]
print(*(session.run(["o"], {"q": q, "k": k, "v": v})[0][0] > 0).sum(axis=1))
