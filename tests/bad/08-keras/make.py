"""Writes the start of an HDF5 file, as Keras makes it, in place of an ONNX model."""

from lib.proto import save

save(b"\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0")
