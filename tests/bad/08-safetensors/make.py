"""Writes the start of a safetensors file in place of an ONNX model."""

from lib.proto import save

save(b"\x20\0\0\0\0\0\0\0" + b'{"__metadata__":{"format":"pt"}}')
