"""A BitCast, which needs the 32 bits of its type, behind an operator that does not."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 12, opset_import: ["" : 26]>
g (float[2,4] x) => (int32[2,4] y)
{ [relu] a = Relu(x)
  [bits] y = BitCast<to=6>(a) }
"""), "model.onnx")
