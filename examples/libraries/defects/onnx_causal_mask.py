"""onnx's evaluator, beside is_causal: a mask for all queries shows them what query 0 sees. Wanted: 0.0 0.5 1.0."""
import numpy as np
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

model = parse_model("""<ir_version: 10, opset_import: ["": 24]>
    g (float[1, 1, 3, 1] q, float[1, 1, 3, 1] k, float[1, 1, 3, 1] v, bool[1, 1, 1, 3] mask) => (float[1, 1, 3, 1] o)
    { o = Attention <is_causal = 1> (q, k, v, mask) }""")
q, v = np.zeros((1, 1, 3, 1), np.float32), np.float32([[[[0], [1], [2]]]])
print(*ReferenceEvaluator(model).run(["o"], {"q": q, "k": q, "v": v, "mask": np.ones((1, 1, 1, 3), bool)})[0].ravel())
