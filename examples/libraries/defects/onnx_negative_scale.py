"""onnx's evaluator: a negative scale gives NaN, since q and k are each multiplied by its root. Wanted: 1.0."""
import numpy as np
from onnx.parser import parse_model
from onnx.reference import ReferenceEvaluator

model = parse_model("""<ir_version: 10, opset_import: ["": 24]>
    g (float[1, 1, 3, 8] q, float[1, 1, 3, 8] k, float[1, 1, 3, 8] v) => (float[1, 1, 3, 8] o)
    { o = Attention <scale = -0.5> (q, k, v) }""")
print(ReferenceEvaluator(model).run(["o"], {name: np.ones((1, 1, 3, 8), np.float32) for name in "qkv"})[0].max())
