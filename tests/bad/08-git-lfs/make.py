"""Writes a Git LFS pointer in place of an ONNX model."""

from lib.proto import model

with open("model.onnx", "w", encoding="ascii") as file:
    file.write("version https://git-lfs.github.com/spec/v1\n")
    file.write("oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n")
    file.write("size 102442450\n")
