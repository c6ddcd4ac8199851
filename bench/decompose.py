"""What weights and activations cost: `baryon sensitivity --decompose` on the models of bench/zoo.

    decompose.py [--models NAME,...] [--presets NAME,...] [--samples 96] [--zoo FOLDER] [--keep FOLDER] [--write]

SQNR in dB of the outputs against the float model, on the last quarter of the samples (24 at most), which are
held out: passes that simulate hardware alone, weights alone as integers, activations
alone, and both. Worst layer: the loss by its weights alone; worst tensor: the loss by rounding it alone. Twin: the
run of both models with every layer and tensor compared, beside bare inference of the float model on as many
samples (`baryon run`), both in seconds of that process alone. Below the table, for each model under 20 dB, the
cause that the program prints.
"""

import datetime
import hashlib
import json
import os
import pathlib
import sys

import options
from measure import machine, run

HERE = pathlib.Path(__file__).parent
PRESETS = ["XINT8", "A8W8", "XINT8_ADAROUND"]
EXACT = 149.9  # dB: no difference


def kept(args, key, ask):
    """Answers stay beside what they were asked with."""
    mark = hashlib.sha256(json.dumps([args.samples, args.options]).encode()).hexdigest()[:8]
    return options.kept(args, f"{key}.{mark}", ask)


def data_of(args, model):
    return [f"{args.zoo}/models/{model}.onnx", "--data", f"{args.zoo}/data/{model}/calib", "--quiet", "--json"]


def decomposed(args, model, preset):
    command = [args.program, "sensitivity", *data_of(args, model), "--limit", str(args.samples), "--preset", preset,
               "--decompose", *args.options]
    found = run(command, args.timeout)
    return {key: value for key, value in found.items() if key != "options"}


def bare(args, model, samples):
    return run([args.program, "run", *data_of(args, model), "--limit", str(samples)], args.timeout)


def level(value):
    return "-" if value is None else "same" if value >= EXACT else f"{value:.1f}"


def worst(rows, key):
    if not rows:
        return "-"
    row = min(rows, key=lambda one: one[key])
    return f"{level(row[key])} {row['name']}"


def cells(args, model, preset, found):
    if "failed" in found:
        return [preset, model, *["-"] * 9, found["failed"]]
    samples = found["samples_measured"]
    float_run = kept(args, f"{model}.{samples}.run", lambda: bare(args, model, samples))
    twin, inference = found["twin_seconds"], float_run.get("model_seconds")
    return [preset, model, *(level(found[f"{key}_db"]) for key in ("passes", "weights", "activations", "both")),
            worst(found["layers"], "weights_db"), worst(found["tensors"], "alone_db"), f"{twin:.2f}",
            f"{inference:.2f}" if inference else "-", f"{twin / inference:.1f}" if inference else "-", ""]


def rows(args):
    for preset in args.presets:
        for model in args.models:
            found = kept(args, f"{model}.{preset}", lambda: decomposed(args, model, preset))
            line = f"| {' | '.join(text.replace('|', '/') for text in cells(args, model, preset, found))} |"
            print(line, flush=True)
            yield {"preset": preset, "model": model, "line": line, "found": found}


def causes(results):
    low = [row for row in results if row["found"].get("cause")]
    return [f"- {row['preset']}, {row['model']}, {row['found']['both_db']:.1f} dB: {row['found']['cause']}"
            for row in low] or ["None."]


def main():
    args = options.parse(options.parser_for(__doc__, "decomposition.md", PRESETS, 96, 3600, "of `sensitivity`"))
    head = ["# What weights and activations cost", "",
            f"{datetime.date.today()}, {machine()}; {args.samples} samples, the last quarter to measure on, 24 at most.",
            "", *__doc__.split("\n\n")[2].splitlines(), "",
            "| preset | model | passes dB | weights dB | activations dB | both dB | worst layer by itself | "
            "worst tensor by itself | twin s | bare s | twin / bare | |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    results = list(rows(args))
    ends = ["", "## Under 20 dB", "", *causes(results)]
    print("\n".join(ends))
    if args.write:
        text = "\n".join([*head, *(row["line"] for row in results), *ends, ""])
        (HERE / "results" / "decomposition.md").write_text(text)
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
