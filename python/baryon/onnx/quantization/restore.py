"""SaveAndRestore: the ranges of activations in a JSON file. The first run writes it, later ones take the
ranges from it and need no samples."""

import json
import os
import re

from ..._notices import notice


def _exactly(name):
    """A tensor's name as a pattern that picks no other."""
    if not re.search(r"[][*?]", name) and not name.startswith(("re:", "^")):
        return name
    return "re:^" + re.sub(r"([][.*+?(){}^$|\\])", r"\\\1", name) + "$"


def begin(path, options, has_samples):
    """Options of a quantization, with the ranges of the file where it is there."""
    if path is None or not os.path.exists(path):
        return options
    with open(path, encoding="utf-8") as file:
        try:
            ranges = json.load(file)["tensors_range"]
            rules = {_exactly(name): _rule(low, high) for name, (low, high) in ranges.items()}
        except (ValueError, KeyError, TypeError, AttributeError) as failure:
            raise ValueError(f"{path}: no file of ranges, {{\"tensors_range\": {{NAME: [LOW, HIGH]}}}}") from failure
    notice("ranges of %d tensors are taken from %s", len(rules), path)
    options = {**options, "tensors": {**rules, **options.get("tensors", {})}}
    if has_samples:
        return options
    # Nothing is left to calibrate; what is judged besides needs something to run on.
    return {**options, "extra_options": {**options.get("extra_options", {}), "UseRandomData": True}}


def _rule(low, high):
    return {"range": [float(low), float(high)]}


def finish(path, result):
    if path is None or os.path.exists(path):
        return
    import baryon

    ranges = {row.name: [row.low, row.high] for row in result.plan.tensors
              if row.role == "activation" and not row.shares and row.low < row.high}  # fmt: skip
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"tensors_range": ranges, "version": baryon.version()}, file, indent=2)
