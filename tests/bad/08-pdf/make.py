"""Writes the start of a PDF document in place of an ONNX model."""

from lib.proto import save

save(b"%PDF-1.7\n")
