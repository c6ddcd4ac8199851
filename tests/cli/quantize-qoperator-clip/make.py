"""A Clip inside the range of its input, in an opset without Clip on integers."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 11]>
g (float[1,2,4,4] x) => (float[1,2,4,4] y, float[1,2,4,4] z)
<float[2,2,1,1] w = {1, 2, -3, 4}, float low = {0}, float high = {6}>
{ [conv] c = Conv(x, w)
  [clip] y = Clip(c, low, high)
  [other] z = Conv(y, w) }
"""), "model.onnx")
