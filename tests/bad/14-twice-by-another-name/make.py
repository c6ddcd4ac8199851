"""Makes a model that imports ONNX's domain under both of its names."""

from lib.proto import opset, relu, save

save(relu(opsets=[opset(21), opset(22, "ai.onnx")]))
