"""Writes the start of a TensorFlow Lite model in place of an ONNX model."""

from lib.proto import save

save(b"\x1c\0\0\0TFL3\x14\0\x20\0\x1c\0\x18\0\x14\0\x10\0\x0c\0")
