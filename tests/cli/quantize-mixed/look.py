"""Prints what --json says of the search, without figures that depend on the processor."""

import json
import sys

found = json.load(open(sys.argv[1]))["mixed"]
assert found["met"] == (found["sqnr_db"] >= found["goal_db"]), found
print(found["type"], "goal", found["goal_db"], "met" if found["met"] else "missed", found["samples"], "samples")
assert all(0 < len(row) and row["type"] in ("int16", "bf16") for row in found["wide"]), found
assert (found["wide_macs_share"] > 0) >= any("layer" in row for row in found["wide"]), found
