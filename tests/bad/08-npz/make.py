"""Writes an .npz archive in place of an ONNX model."""

import zipfile

from lib.proto import model

with zipfile.ZipFile("model.onnx", "w") as archive:
    archive.writestr("x.npy", b"x")
