"""A Clip whose minimum is a row."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[2,4] y) <float[4] least = {0, 1, 2, 3}>
{ [clip] y = Clip(x, least) }
"""), "model.onnx")
