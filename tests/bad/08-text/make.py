"""Writes a plain text in place of an ONNX model."""

from lib.proto import model

with open("model.onnx", "w", encoding="ascii") as file:
    file.write("404: Not Found")
