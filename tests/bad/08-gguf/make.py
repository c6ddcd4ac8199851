"""Writes the start of a GGUF file in place of an ONNX model."""

from lib.proto import save

save(b"GGUF\x03\0\0\0" + bytes(16))
