"""Writes a TensorFlow SavedModel in place of an ONNX model."""

from lib.proto import num, save, sized

meta = sized(1, sized(4, "serve")) + sized(2, b"")
save(num(1, 1) + sized(2, meta))
