"""Value infos: a right one, one of another shape than is computed and a second one for that, one of an output."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17]>
g (float[2,4] x) => (float[4,2] y)
<float[2,4] a, float[4] b, float[2,4] b, float[] y, float[4,4] w = {1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4}>
{ [layer] a = MatMul(x, w)
  [layer2] b = MatMul(a, w)
  [turn] y = Transpose(b) }
"""), "model.onnx")
