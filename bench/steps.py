"""What each step of quantizing gives: all of them off, then one after another, in their order.

    steps.py [--models NAME,...] [--presets NAME,...] [--samples 32] [--judge 48] [--keep FOLDER] [--write]

Calibrated on the `calib` samples of bench/zoo, judged on its `eval` samples, which share no source with them: SQNR of
the outputs against the float model in dB, mean over the outputs, as the model is written, and the share of
multiply-adds in 8 bits. The last step is what the preset does by default. "Float" is the model with the step's edits
and without a single pair, beside the model as it came: what folding factors and splitting rows changes.
"""

import datetime
import pathlib
import subprocess
import sys
import tempfile

import onnx
from activations import BY_CHANNEL, judged, level
from measure import machine
from options import add_peers, kept, parse, parser_for

HERE = pathlib.Path(__file__).parent
SAME = 200  # dB: no difference
# step | what switches it off
STEPS = {
    "pairs that no layer reads left out": ["--auto-exclude", "off"],
    "smoothing": ["--smooth", "off"],
    "outliers split off": ["--split-outliers", "off"],
    "rows of weights split off": ["--weight-rows-auto=false"],
    "equalization": ["--cle", "off"],
    "method of weights": ["--weight-method-auto=false"],
    "wide activations": ["--wide-auto=false"],
    "method of activations": ["--activation-method-auto=false"],
    "headroom": ["--activation-headroom-auto=false"],
    "biases corrected": ["--bias-correction", "false"],
}
PRESETS = {"U8S8": ["U8S8_AAWS", *BY_CHANNEL], "INT8_TRANSFORMER_DEFAULT": ["INT8_TRANSFORMER_DEFAULT"], "A8W8": ["A8W8"],
           "A16W8": ["A16W8"], "XINT8": ["XINT8"]}


def quantize(args, model, preset, off, out):
    command = [args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", out, "--force", "--quiet",
               "--keep-float-weights", "--data", f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples), "--preset",
               *PRESETS[preset], *args.options, *(word for step in off for word in STEPS[step])]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.stderr.strip()[:200] if done.returncode else None


def without_pairs(path, out):
    """The float model that a quantized one with float weights was made of. False: it has integers alone somewhere."""
    model = onnx.load(path)
    makers = {name: node for node in model.graph.node for name in node.output}
    floats = {}
    for node in model.graph.node:
        if node.op_type.endswith("DequantizeLinear"):
            rounding = makers.get(node.input[0])
            if rounding is None or not rounding.op_type.endswith("QuantizeLinear"):
                return False
            floats[node.output[0]] = rounding.input[0]
    nodes = [node for node in model.graph.node if not node.op_type.endswith("QuantizeLinear")]
    outputs = {value.name for value in model.graph.output}
    for node in nodes:
        if node.op_type.endswith("DequantizeLinear"):
            continue
        for place, name in enumerate(node.input):
            while name in floats:
                name = floats[name]
            node.input[place] = name
    kept_nodes = [node for node in nodes if not node.op_type.endswith("DequantizeLinear")]
    for name in outputs & set(floats):
        kept_nodes.append(onnx.helper.make_node("Identity", [floats[name]], [name]))
    del model.graph.node[:]
    model.graph.node.extend(kept_nodes)
    onnx.save(model, out)
    return True


def measure(args, model, preset, off, folder):
    written, plain = f"{folder}/step.onnx", f"{folder}/float.onnx"
    failed = quantize(args, model, preset, off, written)
    if failed:
        return {"failed": failed}
    answer = judged(args, model, written)
    if "failed" not in answer and without_pairs(written, plain):
        answer["float"] = judged(args, model, plain)
    return answer


def cells(answer, preset):
    if "failed" in answer:
        return ["fails", "", answer["failed"]]
    wide = answer["macs16" if preset == "A16W8" else "macs8"] / max(answer["macs"], 1)
    plain = [row["written_db"] for row in answer.get("float", {}).get("outputs", {}).values()]
    changed = "" if not plain else "same" if min(plain) > SAME else f"{min(plain):.0f}"
    return [f"{level(answer):.1f}", f"{100 * wide:.0f} %", changed]


def rows(args, model, preset, folder):
    """One for all steps off, and one for each step that changes the figure."""
    off, before = list(STEPS), None
    for step in [None, *STEPS]:
        if step:
            off.remove(step)
        answer = kept(args, f"{model}.{preset}.{len(off)}", lambda: measure(args, model, preset, off, folder))
        found = cells(answer, preset)
        if found != before:
            yield f"| {preset} | {model} | {step or 'none'} | {' | '.join(found)} |"
        before = found


def main():
    parser = parser_for(__doc__, "steps.md", list(PRESETS), 32, 1800, "for ours")
    add_peers(parser)
    parser.set_defaults(models=["minilm_l6"], judge=48)
    args = parse(parser)
    library = pathlib.Path(args.program).parent / "libbaryon_ops.so"
    args.library = [str(library)] if library.exists() else []
    head = ["# What each step gives", "", f"{datetime.date.today()}, {machine()}; {args.samples} samples to calibrate, "
            f"{args.judge} others to judge.", "", *__doc__.split("\n\n")[2].splitlines(), "",
            "Steps that change neither figure are omitted.", "",
            "| preset | model | with this step too | dB | in 8 bits | float dB |", "|---|---|---|---|---|---|"]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        for preset in args.presets:
            for model in args.models:
                for line in rows(args, model, preset, folder):
                    print(line, flush=True)
                    lines.append(line)
    if args.write:
        (HERE / "results" / "steps.md").write_text("\n".join([*head, *lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
