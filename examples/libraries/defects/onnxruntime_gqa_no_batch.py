"""ONNX Runtime, GroupQueryAttention: no batch entries: the process dies of SIGFPE. Wanted: (0, 4, 8)."""
import numpy as np
import onnxruntime
from onnx.parser import parse_model

model = parse_model("""<ir_version: 10, opset_import: ["": 24, "com.microsoft": 1]>
    g (float[0, 4, 8] q, float[0, 4, 8] k, int32[0] last, int32 total)
    => (float[0, 4, 8] o, float[0, 1, 4, 8] x, float[0, 1, 4, 8] y)
    { o, x, y = com.microsoft.GroupQueryAttention <num_heads = 1, kv_num_heads = 1> (q, k, k, "", "", last, total) }""")
session, q = onnxruntime.InferenceSession(model.SerializeToString()), np.zeros((0, 4, 8), np.float32)
print(session.run(["o"], {"q": q, "k": q, "last": np.zeros(0, np.int32), "total": np.array(4, np.int32)})[0].shape)
