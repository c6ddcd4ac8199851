"""Writes nothing but zero bytes in place of an ONNX model."""

from lib.proto import save

save(bytes(4096))
