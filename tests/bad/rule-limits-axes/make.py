"""MeanVarianceNormalization over an axis that its input does not have."""

import onnx

onnx.save(onnx.parser.parse_model("""
<ir_version: 8, opset_import: ["" : 13]>
g (float[1,3,4] x) => (float[1,3,4] y)
{ [norm] y = MeanVarianceNormalization<axes=[0,3]>(x) }
"""), "model.onnx")
