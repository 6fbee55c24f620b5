"""ONNX Runtime, MultiHeadAttention: V without columns: the process dies of SIGFPE. Wanted: (1, 2, 0)."""
import numpy as np
import onnxruntime
from onnx.parser import parse_model

model = parse_model("""<ir_version: 10, opset_import: ["": 24, "com.microsoft": 1]>
    g (float[1, 2, 8] q, float[1, 3, 8] k, float[1, 3, 0] v) => (float[1, 2, 0] o)
    { o = com.microsoft.MultiHeadAttention <num_heads = 1> (q, k, v) }""")
session = onnxruntime.InferenceSession(model.SerializeToString())
print(session.run(["o"], {name: np.ones((1, n, d), np.float32) for name, n, d in (("q", 2, 8), ("k", 3, 8),
                                                                                  ("v", 3, 0))})[0].shape)
