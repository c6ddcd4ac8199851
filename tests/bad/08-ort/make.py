"""Writes the start of a model in ONNX Runtime's own format in place of an ONNX model."""

from lib.proto import save

save(b"\x18\0\0\0ORTM\0\0\x0e\0\x18\0\x14\0\x10\0\x0c\0\x08\0\x04\0")
