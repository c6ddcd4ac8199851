"""The cost of trials: `quantize` beside bare inference of the same samples, and beside AMD Quark.

    trials.py [--minutes N] [--models NAME,...] [--presets NAME,...] [--samples 32,128] [--rounds N] [--no-peers] [--keep FILE]
              [--write]

Whole processes, in turns. A row is within its limits if `quantize`, judging included, takes no longer than three times
the bare inference or a second, whichever is more, no longer than Quark's call, and no more than 96 MiB above bare
inference. Networks that the zoo lacks, and a peer that is absent, are told and left out. --minutes: no row begins after
that; those of few samples come first. `dense` is made here, a network of densely connected convolutions with random
weights: its time is of interest, not its accuracy.
"""

import argparse
import datetime
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from measure import machine, spread, version
from quantize import Kept, lay_out, measure_ours, measure_quark

HERE = pathlib.Path(__file__).parent
RESULT = HERE / "results" / "trials.md"
# The first of each row that the zoo has.
KINDS = {
    "mobile CNN": ["mobilenet_v2"],
    "detector": ["yolov8n_320"],
    "text recogniser": ["ppocrv4_rec"],
    "text detector": ["ppocrv4_det"],
    "sentence encoder": ["minilm_l6"],
    "long sounds": ["aecmos", "plcmos", "basic_pitch"],
    "recogniser with LSTM": ["ddddocr_rec", "voice_encoder"],
    "densely connected": ["dense"],
}
PRESETS = ["XINT8", "A8W8", "U8S8_AAWS"]
TIMES, SECONDS, MEBIBYTES = 3, 1, 96  # limits


# --- The network that is made ---


def conv(rng, nodes, weights, source, channels, out, size):
    name = f"c{len(nodes)}"
    values = rng.normal(0, np.sqrt(2 / (channels * size * size)), (out, channels, size, size))
    weights.append(numpy_helper.from_array(values.astype(np.float32), f"{name}_w"))
    pad = size // 2
    nodes.append(helper.make_node("Conv", [source, f"{name}_w"], [f"{name}_y"], name, kernel_shape=[size, size],
                                  pads=[pad] * 4))
    nodes.append(helper.make_node("Relu", [f"{name}_y"], [f"{name}_r"], f"{name}_relu"))
    return f"{name}_r"


def make_dense(path, blocks=3, layers=6, growth=24):
    """Each layer reads what all layers of its block before it gave; pooling halves the picture between blocks."""
    rng, nodes, weights = np.random.default_rng(7), [], []
    value, channels = conv(rng, nodes, weights, "input", 3, 2 * growth, 3), 2 * growth
    for block in range(blocks):
        nodes.append(helper.make_node("MaxPool", [value], [f"p{block}"], f"pool{block}", kernel_shape=[2, 2], strides=[2, 2]))
        value = f"p{block}"
        for layer in range(layers):
            narrow = conv(rng, nodes, weights, value, channels, 2 * growth, 1)
            more = conv(rng, nodes, weights, narrow, 2 * growth, growth, 3)
            nodes.append(helper.make_node("Concat", [value, more], [f"d{block}_{layer}"], f"join{block}_{layer}", axis=1))
            value, channels = f"d{block}_{layer}", channels + growth
    nodes.append(helper.make_node("GlobalAveragePool", [value], ["mean"], "mean"))
    nodes.append(helper.make_node("Flatten", ["mean"], ["output"], "flatten"))
    tensor = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "dense", [tensor("input", TensorProto.FLOAT, ["N", 3, 224, 224])],
                              [tensor("output", TensorProto.FLOAT, ["N", channels])], weights)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


# --- Models and samples ---


def link(args, name, model, samples):
    """Both under the names that quantize.py looks for."""
    for place, source in ((f"{name}.onnx", model), (name, samples)):
        place = pathlib.Path(args.folder, place)
        if not place.exists():
            place.symlink_to(pathlib.Path(source).resolve(strict=True))


def gather(args):
    """Names of the networks that there are; says which kinds are absent."""
    zoo, found = pathlib.Path(args.zoo), []
    os.makedirs(args.folder, exist_ok=True)
    for kind, names in KINDS.items():
        if args.models and not set(args.models) & set(names):
            continue
        if names == ["dense"]:
            pictures = zoo / "data/mobilenet_v2/calib"
            name = "dense" if pictures.exists() else None
            if name:
                make_dense(f"{args.folder}/dense.made.onnx")
                link(args, name, f"{args.folder}/dense.made.onnx", pictures)
        else:
            wanted = [n for n in names if not args.models or n in args.models]
            name = next((n for n in wanted if (zoo / f"models/{n}.onnx").exists()), None)
            if name:
                link(args, name, zoo / f"models/{name}.onnx", zoo / f"data/{name}/calib")
        if name:
            found.append((kind, name))
        else:
            print(f"no {kind}: {args.zoo} has none of {', '.join(names)}")
    return found


# --- Rows ---


def limits(ours, bare, quark):
    """What a row misses; "" where nothing."""
    wall, whole = (statistics.median(r["whole"] for r in rows) for rows in (ours, bare))
    peak, least = (max(r["peak"] for r in rows) for rows in (ours, bare))
    missed = []
    if wall > max(TIMES * whole, SECONDS):
        missed.append(f"time {wall / max(TIMES * whole, SECONDS):.1f} times the limit")
    if quark and "call" in quark and wall > quark["call"]:
        missed.append("slower than Quark's call")
    if peak > least + MEBIBYTES:
        missed.append(f"{peak - least - MEBIBYTES:.0f} MiB too much")
    return ", ".join(missed)


def cells(row):
    ours = row["ours"]
    quark = row.get("quark")
    told = "absent" if quark is None else quark.get("failed") or f"{quark['call']:.1f} / {quark['whole']:.1f}"
    if "failed" in ours:
        return ["-", "-", "-", told, "-", "-", ours["failed"]]
    wall, whole = ([r["whole"] for r in ours[name]] for name in ("ours", "bare"))
    peaks = [max(r["peak"] for r in ours[name]) for name in ("ours", "bare")]
    ratio = f"{statistics.median(wall) / quark['call']:.2f}" if quark and "call" in quark else "-"
    return [spread(wall), f"{statistics.median(whole):.2f}", spread([o / b for o, b in zip(wall, whole)], 1), told, ratio,
            f"{peaks[0]:.0f} / {peaks[1]:.0f}", limits(ours["ours"], ours["bare"], quark) or "within limits"]


def measure_row(args, kept, model, preset, count, folder):
    row = kept.of(f"{model} {preset} {count}")
    data = os.path.join(folder, f"{model}.{count}", "calib")
    if not os.path.exists(data):
        lay_out(sorted(pathlib.Path(args.folder, model).glob("*.npz")), count, data)
    if "ours" not in row:
        row["ours"] = measure_ours(args, model, preset, data, f"{folder}/ours.onnx")
        kept.save()
    if args.peers and "quark" not in row:
        row["quark"] = measure_quark(args, f"{args.folder}/{model}.onnx", os.path.dirname(data), preset, count, folder)
        kept.save()
    return row


def rows(args, kept, models):
    """Lines, until the time is over."""
    begin, late = time.monotonic(), 0
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for count in args.samples:
            for kind, model in models:
                for preset in args.presets:
                    if args.minutes and time.monotonic() - begin > 60 * args.minutes:
                        late += 1
                        continue
                    row = measure_row(args, kept, model, preset, count, os.path.abspath(folder))
                    line = f"| {' | '.join([f'{model} ({kind})', preset, str(count), *cells(row)])} |"
                    print(line, flush=True)
                    yield line
    if late:
        line = f"\n{late} further rows were left out after {args.minutes:g} minutes."
        print(line)
        yield line


def parse():
    def names(text):
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, help="no row begins after that")
    parser.add_argument("--models", type=names, default=[])
    parser.add_argument("--presets", type=names, default=PRESETS)
    parser.add_argument("--samples", type=lambda text: [int(n) for n in text.split(",")], default=[32, 128])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--options", type=lambda text: text.split(), default=[], help="further ones for ours")
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--folder", default="build/bench-trials")
    parser.add_argument("--zoo", default="build/zoo-all", help="has models/ and data/")
    parser.add_argument("--peers", default="build/peers/bin/python", help="has amd-quark and onnxruntime")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds that a run of the peer may take")
    parser.add_argument("--keep", help="file of rows that were measured")
    parser.add_argument("--write", action="store_true", help="write bench/results/trials.md")
    return parser.parse_args()


def main():
    args = parse()
    quark = None if args.no_peers else version(args.peers, "amd-quark")
    if not quark:
        args.peers = None
        print("no peers: ours and bare inference alone (`make peers` installs them, 3 GB)")
    models = gather(args)
    head = ["# Trials", "",
            f"{datetime.date.today()}, {machine()}; whole processes, {args.rounds} rounds in turns, Quark once; median (least to "
            f"most). Peer: amd-quark {quark or 'absent'}.", "",
            "| model | preset | samples | ours s | bare inference s | ours / bare | Quark s, call / process | ours / Quark's call | "
            "peak MiB, ours / bare | limits |",
            "|---|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    lines = [*head, *rows(args, Kept(args.keep), models), "", __doc__.split("\n\n")[2]]
    if args.write:
        RESULT.write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
