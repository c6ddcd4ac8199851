"""Writes a pickle, as old PyTorch files are, in place of an ONNX model."""

import pickle

from lib.proto import model

with open("model.onnx", "wb") as file:
    pickle.dump(0x1950A86A20F9469CFC6C, file, protocol=2)
