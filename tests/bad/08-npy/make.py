"""Writes an .npy array in place of an ONNX model."""

from lib.proto import save

save(b"\x93NUMPY\x01\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n")
