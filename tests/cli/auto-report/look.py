"""Checks the reports of `auto` against the schema, each other and the search."""

import json
import shlex

from lib import report_schema

one, three = (json.load(open(f"{name}.json", encoding="utf-8")) for name in ("one", "three"))
for report in (one, three):
    print(report["command"], report["outcome"]["goal"], *report_schema.complaints(report))
print("the same for any threads:", report_schema.same(one, three))
print("repeated by:", shlex.split(one["repeat"])[:4], shlex.split(one["repeat"])[-2:])
final = [step for step in one["steps"] if step["state"] == "final"]
print("one step is written:", len(final) == 1, one["frontier"][-1]["step"] < len(one["steps"]))
quality = one["quality"]
print("measured on the last samples:", quality["samples"], "from", quality["first_sample"], quality["which"], one["splits"]["last"])
print("the same figure:", abs(quality["worst_db"] - final[0]["last"]["sqnr"]) < 0.01)
print("layers:", [layer["name"] for layer in one["layers"] if "whole_db" in layer])
print("wide:", sorted(tensor["name"] for tensor in one["tensors"] if tensor["type"].startswith(("int16", "uint16"))))
print("examples:", sorted(example["index"] for example in one["examples"]))
print("seconds:", list(one["seconds"]), "memory:", list(one["memory"]))
