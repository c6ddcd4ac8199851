"""A Constant with two values, and one with none."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
g (float[2] x) => (float[2] y)
{ [two] a = Constant<value_float=1.0, value_ints=[0]>()
  [none] b = Constant()
  [add] c = Add(x, a)
  [more] y = Add(c, b) }
"""), "model.onnx")
