"""Writes a tar archive in place of an ONNX model."""

import tarfile

from lib.proto import add, model

with open("a.txt", "w", encoding="ascii") as file:
    file.write("a")
with tarfile.open("model.onnx", "w") as archive:
    archive.add("a.txt")
