"""A Softmax over an axis that its input, whose shape is not declared, does not have."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[2,4] y)
{ [relu] a = Relu(x)
  [soft] y = Softmax<axis=2>(a) }
"""), "model.onnx")
