"""Checks reports of `quantize` beside the samples and each other."""

import base64
import json
import shlex
import struct
import zlib

import numpy as np

from lib import report_schema

names = ("one", "three", "unjudged", "floats")
reports = {name: json.load(open(f"{name}.json")) for name in names}
for name, report in reports.items():
    print(name, report["outcome"]["text"], *report_schema.complaints(report))
one = reports["one"]
print("the same for any threads:", report_schema.same(one, reports["three"]))
print("repeated by:", shlex.split(one["repeat"])[:4], shlex.split(one["repeat"])[-3:])

samples = np.load("x.npy")
tensors = {tensor["name"]: tensor for tensor in one["tensors"]}
image, weight = tensors["image"], tensors["one.weight"]
seen = samples[:10].astype(np.float64).ravel()
print("extremes:", np.isclose(image["min"], seen.min()), np.isclose(image["max"], seen.max()), np.isclose(image["rms"], np.sqrt((seen**2).mean())))
bins = image["histogram"]
direct = np.histogram(seen, 64, (bins["low"], bins["high"]))[0]
told = np.array(bins["counts"]) * bins["most"] / 9999
print("bins are off by at most", np.ceil(np.abs(told - direct).max()), "of", len(seen))
levels = np.rint(seen / image["scale"]) + image["zero_point"]
clipped = ((levels < image["levels"][0]) | (levels > image["levels"][1])).mean()
print("clipped:", abs(clipped - image["clipped"]) < 0.002)

chain = [(layer["name"], layer["op_type"], [one["tensors"][at]["name"] for at in layer["inputs"]],
          [one["tensors"][at]["name"] for at in layer["outputs"]], "whole_db" in layer) for layer in one["layers"]]
print(*chain, sep="\n")
print("costs:", *(layer["cost"] for layer in one["layers"]))

shown = one["examples"]
print([(example["index"], example.get("rank")) for example in shown])
print("worst first:", sorted(example["quality_db"] for example in shown) == [example["quality_db"] for example in shown])
result = shown[0]["results"]
print([output["name"] for output in result[0]["outputs"]], [len(output["classes"]) for output in result[0]["outputs"]])


def pixels(png):
    data, at, packed = base64.b64decode(png), 8, b""
    width, height = struct.unpack(">II", data[16:24])
    while at < len(data):
        size = struct.unpack(">I", data[at : at + 4])[0]
        packed += data[at + 8 : at + 8 + size] if data[at + 4 : at + 8] == b"IDAT" else b""
        at += 12 + size
    rows = np.frombuffer(zlib.decompress(packed), np.uint8).reshape(height, 1 + 3 * width)
    out = np.zeros((height, 3 * width), np.uint8)
    for y, row in enumerate(rows):
        above = out[y - 1] if y else np.zeros(3 * width, np.uint8)
        for x in range(3 * width):
            left = int(out[y, x - 3]) if x > 2 else 0
            corner, up = int(above[x - 3]) if x > 2 else 0, int(above[x])
            paeth = min((left, up, corner), key=lambda one: abs(left + up - corner - one))
            out[y, x] = (int(row[x + 1]) + (0, left, up, (left + up) // 2, paeth)[row[0]]) & 255
    return out.reshape(height, width, 3)


picture = shown[0]["inputs"][0]["picture"]
sample = samples[shown[0]["index"]].transpose(1, 2, 0)
print("the picture is the sample:", np.array_equal(pixels(picture["png"]), np.rint(sample * 255).astype(np.uint8)))
unjudged = reports["unjudged"]
print("unjudged:", unjudged["measured"], "examples" in unjudged, any("whole_db" in layer for layer in unjudged["layers"]))
print("floats:", {tensor["type"] for tensor in reports["floats"]["tensors"]}, any("levels" in tensor for tensor in reports["floats"]["tensors"]))
