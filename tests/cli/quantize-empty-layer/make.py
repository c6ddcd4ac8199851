"""A layer whose input has no elements: nothing to learn from, and no failure."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
g (float[3,2] x) => (float[0,2] y)
<float[2,2] w = {1, 2, -3, 4}, int64[1] none = {0}>
{ [cut] a = Slice(x, none, none)
  [layer] y = MatMul(a, w) }
"""), "model.onnx")
