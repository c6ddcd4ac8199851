"""Writes a web page in place of an ONNX model."""

from lib.proto import model

with open("model.onnx", "w", encoding="ascii") as file:
    file.write("<!DOCTYPE html>\n<html lang=en><title>Sign in</title>\n")
