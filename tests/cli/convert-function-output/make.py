"""An output whose type only its declaration says: a function gives it, by an operator of another domain."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 17, "local" : 1, "com.amd.quark" : 1]>
g (float[2,4] x) => (float[2,4] y)
{ [neg] a = Neg(x)
  [call] y = local.Blocks(a) }
<domain: "local", opset_import: ["com.amd.quark" : 1]>
Blocks (a) => (b) { b = com.amd.quark.BFPQuantizeDequantize(a) }
"""), "model.onnx")
