"""How far our plans agree with AMD Quark's, tensor by tensor, where ours are asked to be the same.

    agreement.py PEERS [--models NAME,...] [--presets NAME,...] [--samples 8] [--verbose] [--write]

PEERS holds MODEL.PRESET.onnx as Quark 0.13 wrote them (peer_quantize.py --no-equalization, so that
weights are those of the float model). Ours: `--compat quark-0.13 --cle off`, the same samples.
Activations are compared by the tensor's name, constants by the node that reads them.
"""

import argparse
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

from measure import machine

HERE = pathlib.Path(__file__).parent
MODELS = ["mtcnn_onet", "crepe_tiny", "ppocr_cls", "mobilenet_v2", "magika", "silero_vad", "centerface"]
PRESETS = ["XINT8", "A8W8", "VINT8", "U8S8_AAWS"]
EPSILON = 1e-5  # of a scale: what orders of summing and float32 leave


class Quantized:
    """Parameters of activations by tensor, of constants by (what the reading node gives, input)."""

    def __init__(self, path):
        model = onnx.load(path)
        self.arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        self.producer = {name: node for node in model.graph.node for name in node.output}
        self.activations, self.constants = {}, {}
        for node in model.graph.node:
            if node.op_type == "Constant":
                self.arrays[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        for node in model.graph.node:
            if node.op_type == "QuantizeLinear" and node.input[0] not in self.arrays:
                self.activations[plain(node.input[0])] = self.params(node)
            elif node.op_type not in ("QuantizeLinear", "DequantizeLinear"):
                self.look(node)

    def params(self, node):
        scale = np.atleast_1d(self.arrays[node.input[1]]).astype("f8")
        zero = self.arrays[node.input[2]] if len(node.input) > 2 else 0
        return scale, np.atleast_1d(zero).astype("i8")

    def look(self, node):
        for slot, name in enumerate(node.input):
            dq = self.producer.get(name)
            if dq is not None and dq.op_type == "DequantizeLinear" and dq.input[0] in self.arrays:
                key = plain(node.output[0]), slot
                self.constants[key] = (*self.params(dq), self.arrays[dq.input[0]])


def plain(name):
    for end in ("_QuantizeLinear_Input", "_DequantizeLinear_Output"):
        name = name.removesuffix(end)
    return name


def same(a, b):
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= EPSILON * np.abs(b)))


def near(a, b):
    return a.shape == b.shape and bool(np.all(np.abs(a - b) <= 0.01 * np.abs(b)))


def shift(zero, array):
    """uint8 with zero point 128 and int8 with 0 mean the same."""
    return array.astype("i8") - (zero[0] if zero.size == 1 else 0)


class Counts:
    def __init__(self, mine, theirs):
        both = mine.activations.keys() & theirs.activations.keys()
        self.only = sorted(mine.activations.keys() ^ theirs.activations.keys())
        self.tensors, self.mine, self.theirs = len(both), len(mine.activations), len(theirs.activations)
        pairs = {name: (mine.activations[name], theirs.activations[name]) for name in both}
        self.other_zero = [n for n, (a, b) in pairs.items() if not np.array_equal(a[1], b[1])]
        self.other_scale = [n for n, (a, b) in pairs.items() if not same(a[0], b[0])]
        self.far_scale = [n for n, (a, b) in pairs.items() if not near(a[0], b[0])]
        self.scales = pairs
        self.count_constants(mine.constants, theirs.constants)

    def count_constants(self, mine, theirs):
        both = [key for key in mine if key in theirs and mine[key][2].size == theirs[key][2].size]
        self.constants, self.only_constants = len(both), sorted(mine.keys() ^ theirs.keys())
        self.other_constant = [key for key in both if not same(mine[key][0], theirs[key][0])]
        self.elements = self.equal = 0
        self.differ = []
        for key in both:
            if key[1] > 1:
                continue  # biases follow from the scales of others
            a, b = (shift(one[key][1], one[key][2]) for one in (mine, theirs))
            a, b = (a.T if a.shape != b.shape and a.T.shape == b.shape else a).ravel(), b.ravel()  # Gemm, either way round
            self.elements += a.size
            self.equal += int((a == b).sum())
            if not np.array_equal(a, b):
                self.differ.append((key, int((a != b).sum()), a.size))


def share(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "-"


def row(preset, model, c):
    return (f"| {preset} | {model} | {c.tensors} of {c.mine} / {c.theirs} | {share(c.tensors - len(c.other_zero), c.tensors)} "
            f"| {share(c.tensors - len(c.other_scale), c.tensors)} | {share(c.tensors - len(c.far_scale), c.tensors)} "
            f"| {c.constants} | {share(c.constants - len(c.other_constant), c.constants)} | {share(c.equal, c.elements)} |")


def tell(c):
    print("  in one alone:", c.only, c.only_constants)
    for name in c.other_scale[:20]:
        (a, za), (b, zb) = c.scales[name]
        print(f"  {name}: scale {a[:3]} {za[:3]}, Quark {b[:3]} {zb[:3]}")
    print("  zero points:", c.other_zero[:10])
    print("  constants with other scales:", c.other_constant[:20])
    print("  integers differ:", c.differ[:20])


def compare(args, model, preset):
    theirs = pathlib.Path(args.peers, f"{model}.{preset}.onnx")
    if not theirs.exists():
        return None
    with tempfile.TemporaryDirectory() as folder:
        mine = os.path.join(folder, "ours.onnx")
        subprocess.run([args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", mine, "--preset", preset,
                        "--quiet", "--compat", "quark-0.13", "--cle", "off", "--data",
                        f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples), *args.options], check=True)
        return Counts(Quantized(mine), Quantized(theirs))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers")
    parser.add_argument("--models", type=lambda t: t.split(","), default=MODELS)
    parser.add_argument("--presets", type=lambda t: t.split(","), default=PRESETS)
    parser.add_argument("--samples", type=int, default=8)
    parser.add_argument("--zoo", default="build/zoo-all")
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--options", type=lambda t: t.split(), default=[], help="further ones for ours")
    parser.add_argument("--verbose", action="store_true", help="tell what differs")
    parser.add_argument("--write", action="store_true", help="write bench/results/agreement.md")
    args = parser.parse_args()
    head = ["# Agreement with AMD Quark", "",
            f"{datetime.date.today()}, {machine()}; {args.samples} samples. Peer: amd-quark 0.13 without equalization; "
            "ours: `--compat quark-0.13 --cle off`.", "",
            f"Scales count as equal within {EPSILON:g} of their value. Integers are those of weights and other constants.", "",
            "| preset | model | tensors in both, of ours / Quark's | equal zero points | equal scales | scales within 1 % "
            "| constants | equal scales | equal integers |", "|---|---|---|---|---|---|---|---|---|"]
    lines = []
    for preset in args.presets:
        for model in args.models:
            counts = compare(args, model, preset)
            if counts:
                lines.append(row(preset, model, counts))
                print(lines[-1], flush=True)
                if args.verbose:
                    tell(counts)
    if args.write:
        (HERE / "results" / "agreement.md").write_text("\n".join([*head, *lines, ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
