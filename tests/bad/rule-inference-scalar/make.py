"""A BatchNormalization whose mean is a single value."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 15]>
g (float[1,2,3] x) => (float[1,2,3] y)
<float[2] s = {1, 1}, float[2] o = {0, 0}, float m = {0}, float[2] v = {1, 1}>
{ [norm] y = BatchNormalization(x, s, o, m, v) }
"""), "model.onnx")
