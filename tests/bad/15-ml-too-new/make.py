"""Makes a model whose opset of ai.onnx.ml is too new."""

from lib.proto import opset, relu, save

save(relu(opsets=[opset(21), opset(6, "ai.onnx.ml")]))
