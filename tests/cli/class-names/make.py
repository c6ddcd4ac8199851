"""A classifier that names some of its classes, as Ultralytics does."""

import numpy as np
import onnx

import cli_models

np.save("x.npy", cli_models.smooth_net()[:4])
model = onnx.load("model.onnx")
for path, names in (("named.onnx", "{0: 'cat', 1: \"dog's\", 2: 'a \\'b\\'', 40: 'none'}"), ("odd.onnx", "{0: 'cat', 1}"),
                    ("list.onnx", "['cat']")):
    onnx.helper.set_model_props(model, {"names": names})
    onnx.save(model, path)
for path, lines in (("lines.onnx", "0\n90\n180\n270\n5"), ("fewer.onnx", "0\n90")):
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, {"character": lines})
    onnx.save(model, path)
with open("names.txt", "wb") as file:
    file.write("tench\n\n<b>\r\nfourth\nfünf".encode())
with open("bytes.txt", "wb") as file:
    file.write(b"a\0b\n")
