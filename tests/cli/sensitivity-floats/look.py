"""Checks the sensitivity report of float formats."""

import json
import sys

found = json.load(open("found.json"))
layers = found["layers"]
print(f"{sys.argv[1]}: calibrated on {found['samples']}, measured on {found['samples_measured']}")
print(" weights cost", found["weights_db"] < 120, "activations cost", found["activations_db"] < 120,
      "both no less", found["both_db"] < min(found["weights_db"], found["activations_db"]) + 3)
print(" every layer's weights", all(one["weights_db"] < 120 for one in layers) and len(layers),
      "inputs", sum(one["input_db"] < 120 for one in layers), "tensors", len(found["tensors"]))
