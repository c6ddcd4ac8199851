"""Checks the stored types and levels of weights of 2 and 3 bits."""

import json

import numpy as np
import onnx

for row in json.load(open("plan.json"))["tensors"]:
    print(row["name"], row["type"], row["scale"])
report = json.load(open("report.json"))
print([row["type"] for row in report["tensors"]])
for path, low, high in (("int3-17", -3, 3), ("int3-25", -3, 3), ("uint2-21", 0, 3), ("one", -3, 3)):
    model = onnx.load(f"{path}.onnx")
    onnx.checker.check_model(model, full_check=True)
    integers = [onnx.numpy_helper.to_array(one) for one in model.graph.initializer if one.name.endswith("_quantized")]
    print(path, len(integers), {str(one.dtype) for one in integers},
          all(low <= one.astype(int).min() and one.astype(int).max() <= high for one in integers))
