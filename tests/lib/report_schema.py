"""What a report has to look like: docs/design/report.md as a table, for tests of what writes one."""

import base64
import json
import struct

NUMBER, TEXT, BOOL, LIST, OBJECT = (int, float), str, bool, list, dict
HEAD = {"report": int, "command": TEXT, "version": TEXT, "model": TEXT, "outcome": OBJECT}
MEMBERS = {
    **HEAD, "file": TEXT, "preset": TEXT, "stats": TEXT, "data": TEXT, "random": BOOL, "options": OBJECT, "repeat": TEXT,
    "bytes_before": NUMBER, "bytes": NUMBER, "samples": NUMBER, "skipped": NUMBER, "compat": BOOL, "target": TEXT,
    "goals": LIST, "splits": OBJECT, "steps": LIST, "frontier": LIST, "quality": OBJECT, "measured": OBJECT, "scores": LIST, "missed": LIST,
    "coverage": OBJECT, "operators": LIST, "choices": LIST, "rounding": OBJECT, "auto_exclude": OBJECT, "labels": OBJECT,
    "layers": LIST, "tensors": LIST, "examples": LIST, "seconds": OBJECT, "memory": OBJECT, "notices": LIST,
}  # fmt: skip
LAYER = {
    "name": TEXT, "op_type": TEXT, "state": TEXT, "why": TEXT, "multiply_adds": NUMBER, "cost": NUMBER,
    "activation": TEXT, "weight": TEXT, "bits": int, "inputs": LIST, "outputs": LIST, "weights_db": NUMBER,
    "input_db": NUMBER, "whole_db": NUMBER, "shift": NUMBER, "nested": BOOL,
}  # fmt: skip
TENSOR = {
    "name": TEXT, "role": TEXT, "type": TEXT, "why": TEXT, "remarks": TEXT, "shares": TEXT, "granularity": TEXT,
    "scales": int, "scale": NUMBER, "last_scale": NUMBER, "zero_point": int, "low": NUMBER, "high": NUMBER,
    "levels": LIST, "min": NUMBER, "max": NUMBER, "rms": NUMBER, "zeros": NUMBER, "clipped": NUMBER,
    "alone_db": NUMBER, "whole_db": NUMBER, "readers": int, "histogram": OBJECT,
}  # fmt: skip
EXAMPLE = {"sample": TEXT, "index": int, "rank": TEXT, "quality_db": NUMBER, "inputs": LIST, "results": LIST}
INPUT = {"name": TEXT, "shape": LIST, "type": TEXT, "picture": OBJECT, "values": LIST, "min": NUMBER, "max": NUMBER, "mean": NUMBER}
OUTPUT = {"name": TEXT, "shape": LIST, "quality_db": NUMBER, "row": int, "classes": LIST, "picture": OBJECT, "values": LIST}
MAY_BE_NULL = {"multiply_adds", "values"}


class Complaints(list):
    def unless(self, condition, *words):
        if not condition:
            self.append(" ".join(map(str, words)))

    def members(self, what, table, found, *needed):
        for key in needed:
            self.unless(key in found, what, "lacks", key)
        for key, value in found.items():
            self.unless(key in table, what, "has", key)
            fits = value is None and key in MAY_BE_NULL or isinstance(value, table.get(key, object))
            self.unless(fits and not (table.get(key) in (NUMBER, int) and isinstance(value, bool)), what, key, "is", repr(value)[:80])


def png_size(text):
    """(width, height) of a PNG in base64."""
    data = base64.b64decode(text, validate=True)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", data[16:24])


def check_tensor(say, name, tensor):
    say.members(name, TENSOR, tensor, "name", "role", "type", "why", "granularity", "scales", "readers")
    for share in ("zeros", "clipped"):
        say.unless(0 <= tensor.get(share, 0) <= 1, name, share, "is no share")
    if "levels" in tensor:
        say.unless(tensor["levels"][0] < tensor["levels"][1], name, "has no levels")
    if "histogram" in tensor:
        bins = tensor["histogram"]
        say.unless(sorted(bins) == ["counts", "high", "low", "most"], name, "has other bins:", *bins)
        say.unless(bins["low"] < bins["high"] and max(bins["counts"]) == 9999 and min(bins["counts"]) >= 0, name, "bins")
        say.unless(0 < len(bins["counts"]) <= 128, name, "has", len(bins["counts"]), "bins")


def check_example(say, name, example):
    say.members(name, EXAMPLE, example, "sample", "index", "inputs", "results")
    for one in example["inputs"]:
        say.members(name, INPUT, one, "name", "shape", "type")
        if "picture" in one:
            picture = one["picture"]
            say.unless(png_size(picture["png"]) == (picture["width"], picture["height"]), name, "has another size")
    models = [result["model"] for result in example["results"]]
    say.unless(models[:1] == ["float"] and len(set(models)) == len(models), name, "has models", *models)
    for result in example["results"]:
        for output in result["outputs"]:
            say.members(name, OUTPUT, output, "name", "shape")
            say.unless(sum(key in output for key in ("classes", "picture", "values")) <= 1, name, "shows an output twice")
        for box in result.get("boxes", {}).get("list", []):
            say.unless(len(box) == 6 and isinstance(box[4], int) and 0 <= box[5] <= 1.01, name, "has a box", *box)


def complaints(report):
    """What is wrong with a report, a line each."""
    say = Complaints()
    say.members("the report", MEMBERS, report, *HEAD)
    say.unless(report.get("report") == 1, "another version")
    say.unless(report["outcome"]["goal"] in ("met", "missed", "none") and report["outcome"]["text"].endswith("."), "outcome")
    tensors, layers = report.get("tensors", []), report.get("layers", [])
    for place, tensor in enumerate(tensors):
        check_tensor(say, f"tensor {place}", tensor)
    for place, layer in enumerate(layers):
        say.members(f"layer {place}", LAYER, layer, "name", "op_type", "state", "multiply_adds", "inputs", "outputs")
        say.unless(all(0 <= at < len(tensors) for at in layer["inputs"] + layer["outputs"]), f"layer {place}", "has no such tensor")
    if layers:
        shares = sum(layer.get("cost", 0) for layer in layers)
        shares = 1 if shares < 1 and any(layer["multiply_adds"] is None for layer in layers) else shares
        say.unless(not shares or abs(shares - 1) < 1e-3, "costs add up to", shares)
    for place, example in enumerate(report.get("examples", [])):
        check_example(say, f"example {place}", example)
    say.unless(len(report.get("examples", [])) <= 6, "too many examples")
    return say


def same(one, other):
    """Whether two reports are the same but for time, memory and command."""
    def rest(report):
        report = {**report, "steps": [{**step, "seconds": 0} for step in report.get("steps", [])]}
        return json.dumps({key: value for key, value in report.items() if key not in ("seconds", "memory", "repeat", "file")})

    return rest(one) == rest(other)
