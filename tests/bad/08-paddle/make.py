"""Writes the start of a PaddlePaddle program in place of an ONNX model."""

from lib.proto import num, save, sized

save(sized(1, num(1, 0) + num(2, (1 << 64) - 1)) + sized(4, b""))
