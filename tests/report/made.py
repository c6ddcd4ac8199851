"""Makes reports as JSON for the tests of the page: of a small network, of 5,000 layers, of hostile names.

    made.py small|large|hostile|llm|llm-auto >report.json
"""

import base64
import json
import math
import random
import struct
import sys
import zlib

HOSTILE = [
    "</script><script>document.title = 'owned'</script>", '"><img src=x onerror="document.title=1">',
    "</noscript></table><h1>", "\u202edesrever\u202c \u2066iso", "'; alert(1); //", "&lt;b&gt; &amp; &#39;", "]]>-->",
    "\u2028line\u2029end", "x" * 10000, "\u0644\u0627\u064a\u0647/\u05e9\u05db\u05d1\u05d4", "{{data}}{{script}}", "a\tb\nc\u0007d",
    "\U0001f9ea" * 300, "__proto__", "constructor", " ", "<!--", "javascript:alert(1)",
]  # fmt: skip


def png(width, height, pixel):
    """A picture as base64; pixel(x, y) gives red, green, blue."""
    rows = b"".join(b"\0" + bytes(value for x in range(width) for value in pixel(x, y)) for y in range(height))

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return base64.b64encode(data).decode()


def scene(x, y):
    """A street at dusk, roughly."""
    if 40 < x < 110 and 70 < y < 150:
        return (180, 60 + y // 4, 50)
    if 170 < x < 220 and 50 < y < 170:
        return (70, 90, 150 - y // 3)
    return (120 + y // 3, 130 + y // 4, 160) if y < 100 else (80 + y // 5, 80 + y // 6, 78)


def histogram(rng, low, high, tail):
    middle, width = (low + high) / 2 if low < 0 else low, (high - low) / tail
    values = [math.exp(-abs((low + (i + 0.5) * (high - low) / 96) - middle) / width) * rng.uniform(0.8, 1.2) for i in range(96)]
    most = max(values)
    counts = [max(round(9999 * value / most), 1) if value > most * 1e-7 else 0 for value in values]
    return {"low": low, "high": high, "most": rng.randrange(10**4, 10**7), "counts": counts}


def tensor(rng, name, role, width, alone, whole):
    low = 0.0 if role == "activation" and rng.random() < 0.5 else -rng.uniform(0.2, 6)
    high = rng.uniform(0.5, 8)
    unsigned = low == 0
    levels = [0, 2**width - 1] if unsigned else [-(2 ** (width - 1)), 2 ** (width - 1) - 1]
    scale = (high - low) / (levels[1] - levels[0]) * rng.choice([1, 1, 0.7])
    zero = 0 if unsigned else round(-low / scale) + levels[0]
    several = role == "weight"
    return {
        "name": name, "role": role, "why": f"{'weight' if several else 'output'} of Conv '{name}'",
        "type": f"{'u' if unsigned else ''}int{width}, {'symmetric, per channel' if several else 'asymmetric, per tensor'}",
        "scales": 32 if several else 1, "scale": scale, **({"last_scale": scale * 1.7} if several else {}), "zero_point": zero,
        "low": (levels[0] - zero) * scale, "high": (levels[1] - zero) * scale, "levels": levels,
        "min": low, "max": high, "rms": (high - low) / 9, "zeros": rng.uniform(0, 0.6) if unsigned else 0,
        "clipped": rng.choice([0, 0, 1e-4, 0.003]), "alone_db": alone, **({} if several else {"whole_db": whole}), "readers": 1,
        "histogram": histogram(rng, low, high, rng.uniform(5, 14)),
    }  # fmt: skip


def network(rng, blocks, name):
    """Layers and tensors of a chain of convolutions that ends in a wide one."""
    layers, tensors = [], [tensor(rng, "input", "activation", 8, 42.1, 42.1)]
    whole = 42.0
    for i in range(blocks):
        kind = ("Conv", "Clip", "Conv", "Add")[i % 4]
        width = 16 if i > blocks * 0.92 and kind == "Conv" else 8
        whole = max(whole - rng.uniform(-1.2, 3.0) * 30 / blocks + (5 if width == 16 else 0), 12)
        inputs = [len(tensors) - 1]
        layer = {"name": name(i, kind), "op_type": kind, "state": "quantized", "why": ""}
        work = rng.lognormvariate(0, 1) if kind == "Conv" else 0
        layer |= {"multiply_adds": round(work * 1e7), "activation": f"uint{width}"}
        if kind == "Conv":
            weight = tensor(rng, name(i, kind) + ".weight", "weight", 8, rng.uniform(30, 44), None)
            tensors.append(weight)
            inputs.append(len(tensors) - 1)
            layer |= {"weight": "int8 by channel", "weights_db": weight["alone_db"], "input_db": rng.uniform(18, 46), "shift": rng.uniform(-0.02, 0.02)}
        if i % 97 == 50:
            layer |= {"state": "float", "activation": "float", "why": "excluded by the user"}
        tensors.append(tensor(rng, name(i, kind) + "_output", "activation", width, rng.uniform(26, 50), whole))
        layers.append(layer | {"inputs": inputs, "outputs": [len(tensors) - 1], "whole_db": whole})
    total = sum(layer["multiply_adds"] for layer in layers)
    for layer in layers:
        layer["cost"] = layer["multiply_adds"] / total
    return layers, tensors


def steps():
    rows = [
        ("XINT8", "power-of-two scales, a scale for each tensor", "best", 8.2, 0.86, {"int8": 1}),
        ("XINT8, equalization", "scales of channels moved between layers", "best", 9.9, 0.86, {"int8": 1}),
        ("A8W8", "float scales", "best", 14.4, 1.0, {"int8": 1}),
        ("A8W8, biases", "biases without the mean error", "dropped", 14.1, 1.0, {"int8": 1}),
        ("A8W8, per channel", "a scale for each output channel", "best", 17.3, 1.0, {"int8": 1}),
        ("A8W8, solved rounding", "weights rounded for the outputs of each layer", "best", 18.6, 1.0, {"int8": 1}),
        ("4 tensors in int16", "wider: what hurts most at the output", "dropped", 19.7, 1.05, {"int8": 0.96, "int16": 0.04}),
        ("9 tensors in int16", "wider: the next five", "best", 22.8, 1.13, {"int8": 0.88, "int16": 0.12}),
        ("7 tensors in int16", "two are 8 bits again", "final", 21.9, 1.08, {"int8": 0.93, "int16": 0.07}),
        ("A16W8", "all activations in int16", "dropped", 31.2, 1.6, {"int16": 1}),
    ]  # fmt: skip
    for name, text, state, quality, cost, widths in rows:
        row = {"name": name, "text": text, "state": state, "choose": {"sqnr": quality}, "cost": cost, "widths": widths, "bytes": round(3.5e6 * cost ** 0.3), "seconds": 0.9}
        if state == "final":
            row |= {"last": {"sqnr": 21.3}, "config": "preset: A8W8\nweight-granularity: channel\nrounding: descent\n"}
        yield row


def examples(rng, labels):
    picture = {"width": 256, "height": 192, "shrunk": 2, "png": png(256, 192, scene)}
    true = [[0.16, 0.37, 0.43, 0.78, 2, 0.91], [0.67, 0.27, 0.86, 0.88, 0, 0.84]]
    for rank, quality, shift in (("worst", 14.2, 0.05), ("median", 21.8, 0.012), ("best", 27.3, 0.003)):
        def of(amount):
            moved = [[*(value + amount * (1 if i % 2 else 0.6) for i, value in enumerate(box[:4])), box[4], box[5] - 2 * amount] for box in true]
            classes = [[285, 0.81 - 4 * amount], [281, 0.1 + 4 * amount], [287, 0.05], [728, 0.01], [478, 0.005]]
            values = [[place, 1.5 + 3 * amount * (1 if place % 2 else -1)] for place in (3, 77, 102)]
            return {"outputs": [{"name": "probabilities", "shape": [1, 1000], "classes": classes}, {"name": "features", "shape": [1, 128], "values": values}],
                    "boxes": {"outputs": ["boxes"], "rule": "one output, rows of a box, a score and a class", "list": moved}}  # fmt: skip
        results = [{"model": "float", **of(0)}, {"model": "XINT8", **of(3 * shift)}, {"model": "quantized", **of(shift)}]
        for output in results[-1]["outputs"]:
            output["quality_db"] = quality
        yield {"sample": f"street_{rng.randrange(9999):04}.jpg", "index": rng.randrange(64), "rank": rank, "quality_db": quality,
               "inputs": [{"name": "input", "shape": [1, 3, 384, 512], "type": "float", "picture": picture}], "results": results}  # fmt: skip


def report(blocks=64, name=None):
    """A report of a search with everything in it, always the same."""
    rng = random.Random(blocks)
    name = name or (lambda i, kind: f"/features/features.{i // 8}/conv/conv.{i % 8}/{kind}")
    layers, tensors = network(rng, blocks, name)
    labels = {"285": "Egyptian cat", "281": "tabby", "287": "lynx", "728": "plastic bag", "478": "carton", "2": "car", "0": "person"}
    tried = list(steps())
    return {
        "report": 1, "command": "auto", "version": "1.0.0", "model": "models/street_detector.onnx", "file": "street_int8.onnx", "data": "photos",
        "options": {"weight-granularity": "channel", "rounding": "descent", "limit": 48},
        "repeat": "baryon auto models/street_detector.onnx -o street_int8.onnx --data photos --goal 'sqnr>=20' --report report.html",
        "outcome": {"text": "The model keeps 21.3 dB on samples that the search did not see, the goal of 20 dB is met, and 93 % of multiply-adds run in 8 bits.", "goal": "met", "quality_db": 21.3, "low_bits_share": 0.93},
        "bytes_before": 13_960_000, "bytes": 3_620_000, "samples": 48,
        "goals": [{"metric": "sqnr", "of": "mean", "least": 20, "value": 21.3, "met": True}, {"metric": "top1", "of": "mean", "output": "probabilities", "least": 0.9, "value": 0.94, "met": True}],
        "steps": tried, "frontier": [{"step": i, "cost": tried[i]["cost"], "quality": tried[i]["choose"]["sqnr"]} for i in (0, 1, 5, 6, 8, 7, 9) if i != 0],
        "quality": {"samples": 16, "first_sample": 48, "which": "unseen", "random": False, "worst_db": 21.3, "outputs": [
            {"name": "boxes", "sqnr_db": 21.3, "error_db": 0.4, "nonfinite": 0, "reshaped": 0}, {"name": "probabilities", "sqnr_db": 24.0, "error_db": 0.6, "rows": 16, "same_class": 15, "nonfinite": 0, "reshaped": 0}],
            "cause": "Activations are the cause: the tensor '/features/features.7/conv/conv.3/Add_output' has 26.4 dB by itself.", "next": "a wider type for it, --tensor '/features/features.7/conv/conv.3/Add_output=type:int16'"},
        "measured": {"samples": 8, "held_out": True, "states": [{"output": "boxes", "passes_db": 140, "weights_db": 30.2, "activations_db": 22.0, "both_db": 21.2}, {"output": "probabilities", "passes_db": 200, "weights_db": 34.0, "activations_db": 24.7, "both_db": 24.1}]},
        "coverage": {"quantized": len(layers), "float": 0, "multiply_adds": 3e8, "quantized_multiply_adds": 3e8},
        "operators": [{"op_type": kind, "nodes": sum(layer["op_type"] == kind for layer in layers), "quantized": sum(layer["op_type"] == kind for layer in layers),
                       "multiply_adds": sum(layer["multiply_adds"] for layer in layers if layer["op_type"] == kind), "activation": "uint8", "weight": "int8 by channel" if kind == "Conv" else ""} for kind in ("Conv", "Clip", "Add")],
        "choices": [{"choice": "wide", "text": "16 bits for 7 tensors", "gain_db": 3.7, "samples": 8, "tensors": 7, "macs_share": 0.07}],
        "labels": labels, "layers": layers, "tensors": tensors, "examples": list(examples(rng, labels)),
        "seconds": {"passes": 0.03, "equalize": 0.84, "calibrate": 1.31, "round": 4.42, "search": 6.1, "save": 0.05, "measure": 0.71, "report": 0.38},
        "memory": {"peak_bytes": 412_000_000}, "notices": [{"level": "warning", "text": "2 samples were skipped: their shape is not that of the input"}],
    }  # fmt: skip


def hostile():
    """The same with every text replaced by one that a page must not trust."""
    rng = random.Random(1)

    def spoil(value, key=""):
        if isinstance(value, dict):
            words = {"labels", "seconds", "choose", "last", "widths", "options"}
            return {(HOSTILE[i % len(HOSTILE)] if key in words and key != "choose" and key != "last" else name): spoil(one, name) for i, (name, one) in enumerate(value.items())}
        if isinstance(value, list):
            return [spoil(one, key) for one in value]
        if isinstance(value, str) and key not in ("goal", "png", "metric"):
            return rng.choice(HOSTILE)
        return value

    made = spoil(report(24))
    made["labels"] = {str(i): HOSTILE[i % len(HOSTILE)] for i in range(1000)}
    return made


LINEARS = ("self_attn.q_proj", "self_attn.k_proj", "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj")


def weights(layers=30):
    """What `llm quantize --text` reports: layers of a decoder, an embedding, hostile names behind them."""
    rng, rows = random.Random(5), []
    rows.append({"name": "model.embed_tokens.weight", "shape": [256, 64], "scheme": None, "reason": "no linear layer"})
    for layer in range(layers):
        for linear in LINEARS:
            wide, error = "mlp" in linear, rng.uniform(0.001, 0.05)
            rows.append({
                "name": f"model.layers.{layer}.{linear}.weight", "shape": [192 if wide else 64, 64],
                "scheme": "fp8" if linear.endswith("down_proj") else "int4_wo_64", "group_size": 64,
                "bits": 8.0 if linear.endswith("down_proj") else 4.25, "resumed": False, "method": "descent",
                "tokens": 4096, "output_error": error, "nearest_output_error": 2 * error, "seconds": 0.1,
            })  # fmt: skip
    rows += [{"name": name, "shape": [2, 2], "scheme": name, "bits": 4, "reason": name} for name in HOSTILE]
    return {
        "report": 1, "command": "llm quantize", "version": "0.1.0", "model": "m", "folder": "q", "file": "q",
        "repeat": "baryon llm quantize m -o q --text t", "layout": "quark", "scheme": "int4_wo_64", "weights": rows,
        "bits_per_weight": 5.25, "outcome": {"text": "180 weights have 5.25 bits in the mean."},
    }  # fmt: skip


def bits_search(layers=30):
    """What `llm auto` reports."""
    rng = random.Random(6)
    linears = [
        {"layer": f"model.layers.{layer}.{linear}", "type": rng.choice(("int4_wo_64", "fp8")), "bits_per_weight": 4.25,
         "predicted_kl": rng.uniform(1e-5, 1e-2), "kl_by_choice": [0.1, None]} for layer in range(layers) for linear in LINEARS
    ]  # fmt: skip
    measured = {"bits_per_weight": 4.25, "kl": 0.0123, "kl_error": 0.0004, "perplexity": 25.1, "same_top": 0.91}
    return {
        "report": 1, "command": "llm auto", "version": "0.1.0", "model": "m", "file": "q", "linear_weights": 9,
        "outcome": {"text": "It has 4.25 bits.", "goal": "met"}, "reference_perplexity": 24.2, "bits_per_weight": 4.25,
        "chosen": measured, "uniform": {**measured, "type": "int4_wo_64", "kl": 0.0321}, "linears": linears,
        "layers_kl": [rng.uniform(1e-5, 1e-2) for _ in range(layers)], "candidates": ["int4_wo_64", "fp8"],
    }  # fmt: skip


def evaluation(windows=12):
    """What `llm eval --against` reports."""
    rng = random.Random(7)
    by_window = [{"perplexity": rng.uniform(20, 30), "reference_perplexity": 24.0, "kl": rng.uniform(0.01, 0.2),
                  "same_top": rng.uniform(0.7, 0.9)} for _ in range(windows)]  # fmt: skip
    return {
        "report": 1, "command": "llm eval", "version": "0.1.0", "model": "q", "against": "m", "windows": windows, "length": 512,
        "outcome": {"text": "Perplexity 25.1 on 12 windows."}, "perplexity": 25.1, "perplexity_error": 1.2, "kl": 0.0812,
        "kl_error": 0.0021, "reference_perplexity": 24.2, "same_top": 0.81, "same_top_error": 0.004, "by_window": by_window,
        "repeat": "baryon llm eval q --against m --text t",
    }  # fmt: skip


MADE = {"small": report, "llm": weights, "llm-auto": bits_search, "llm-eval": evaluation, "large": lambda: report(5000), "hostile": hostile}

if __name__ == "__main__":
    json.dump(MADE[sys.argv[1]](), sys.stdout, ensure_ascii=sys.argv[1] != "hostile")
