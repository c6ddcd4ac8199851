"""Writes a JSON file in place of an ONNX model."""

from lib.proto import model

with open("model.onnx", "w", encoding="ascii") as file:
    file.write('{"error": "Repository not found"}')
