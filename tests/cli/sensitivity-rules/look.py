"""Checks the rules of `sensitivity --write-rules`: the goal is met, by no more than it takes."""

import json

rules = json.load(open("one.json"))["rules"]
assert rules["met"] and rules["sqnr"] >= 50 > rules["sqnr_before"], rules
assert rules["wider_tensors"] + rules["wider_weights"] + rules["float_layers"] > 0
text = open("one.yaml").read()
assert text.startswith("# Rules for SQNR >= 50 dB:") and "int16" in text
print("rules meet the goal")
