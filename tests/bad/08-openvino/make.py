"""Writes an OpenVINO model in place of an ONNX model."""

from lib.proto import model

with open("model.onnx", "w", encoding="ascii") as file:
    file.write('<?xml version="1.0"?>\n<net name="resnet" version="11">\n</net>\n')
