"""Writes a TensorFlow graph in place of an ONNX model."""

from lib.proto import num, save, sized

placeholder = sized(1, "input") + sized(2, "Placeholder") + sized(5, b"")
save(sized(1, placeholder) + sized(4, num(1, 1087)))
