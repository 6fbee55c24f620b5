"""ONNX Runtime, GroupQueryAttention: of causal rows that are NaN, all but the last answer 0. Wanted: 40 rows of nan."""
import numpy as np
import onnxruntime
from onnx.parser import parse_model

model = parse_model("""<ir_version: 10, opset_import: ["": 24, "com.microsoft": 1]>
    g (float[1, 40, 8] q, float[1, 40, 8] k, int32[1] last, int32 total)
    => (float[1, 40, 8] o, float[1, 1, 40, 8] x, float[1, 1, 40, 8] y)
    { o, x, y = com.microsoft.GroupQueryAttention <num_heads = 1, kv_num_heads = 1> (q, k, k, "", "", last, total) }""")
session = onnxruntime.InferenceSession(model.SerializeToString())
feeds = {"q": np.full((1, 40, 8), np.nan, np.float32), "k": np.ones((1, 40, 8), np.float32)}
o = session.run(["o"], feeds | {"last": np.array([39], np.int32), "total": np.array(40, np.int32)})[0]
print(np.isnan(o[0, :, 0]).sum(), "rows of nan, the others", *np.unique(o[~np.isnan(o)]))
