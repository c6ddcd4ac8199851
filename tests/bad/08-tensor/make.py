"""Writes a single ONNX tensor in place of an ONNX model."""

from lib.proto import save, tensor

save(tensor("x", dims=(1, 3, 224)))
