"""Writes the start of a Caffe model in place of an ONNX model."""

from lib.proto import save, sized

save(sized(1, "LeNet") + sized(100, sized(1, "data")))
