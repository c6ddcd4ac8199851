"""Prints what is in a report of `compare`."""

import json

found = json.load(open("report.json"))
print(found["command"], found["outcome"]["text"].split(";")[0], found["outcome"]["goal"], found["outcome"]["low_bits_share"])
print([(row["name"], row["why"], row["activation"]) for row in found["layers"]])
print(found["tensors"][0]["name"], found["tensors"][0]["type"], found["tensors"][0]["why"])
print("the same inside:", found["comparison"]["differences"] == json.load(open("run.json"))["differences"])
page = open("report.html").read()
print(page.count("<html"), "conv.weight" in page, "in A int8 x int8" in page)
