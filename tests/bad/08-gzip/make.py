"""Writes a gzip file in place of an ONNX model."""

import gzip

from lib.proto import model

with gzip.open("model.onnx", "wb") as file:
    file.write(b"x")
