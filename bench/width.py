"""Rounding reconstruction: time and memory against the width of a layer, and against samples.

    width.py [--widths K,...] [--square K,...] [--samples N,...] [--rows 2048] [--starts descent,gptq]
             [--model MODEL.onnx --data FOLDER] [--write]

Width: one MatMul of K columns and 256 outputs (and K outputs, as far as given), weights of 4 bits in blocks of
128 as in MATMUL_NBITS, on 32 samples of 64 rows with correlated columns. Round: seconds of that stage
alone; nearest: the same preset without samples. Gram: memory of the matrix of the columns, K * K floats. Peaks
are those of the whole process.

Samples: a real model with XINT8_ADAROUND, from 16 to 1,024 samples, repeated where there are fewer.
Flat: nothing that grows with samples stays in memory.
"""

import argparse
import datetime
import glob
import json
import multiprocessing
import os
import pathlib
import sys
import tempfile

import numpy as np
import onnx
from measure import lay_out, machine, run
from onnx import TensorProto, helper, numpy_helper
from plot import svg

HERE = pathlib.Path(__file__).parent
WIDTHS = [64, 128, 256, 512, 1024, 2048, 4096, 8192, 14336]
SQUARE = [1024, 2048, 4096]
SAMPLES = [16, 32, 64, 128, 256, 512, 1024]
COUNT, MOST = 32, 512  # samples of a layer; directions in which its inputs vary


# ---- Layers


def make_layer(folder, columns, outs, rows):
    random = np.random.default_rng(columns + outs)
    weight = (random.standard_normal((columns, outs)) / columns**0.5).astype("f4")
    ports = [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", columns]),
             helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", outs])]
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"], "layer")], "layer", ports[:1], ports[1:],
                              [numpy_helper.from_array(weight, "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{folder}/m.onnx")
    os.makedirs(f"{folder}/data")
    mixing = random.standard_normal((min(MOST, columns), columns)).astype("f4") / min(MOST, columns) ** 0.5
    for number in range(COUNT):
        size = max(1, rows // COUNT), len(mixing)
        own = random.standard_normal((size[0], columns)).astype("f4")
        np.save(f"{folder}/data/{number:02}.npy", random.standard_normal(size).astype("f4") @ mixing + 0.3 * own)


def apart(function, *arguments):
    """In a process of its own: what this one has held counts as the peak of programs that it starts."""
    one = multiprocessing.Process(target=function, args=arguments)
    one.start()
    one.join()
    if one.exitcode:
        sys.exit(f"{function.__name__}{arguments}: status {one.exitcode}")


def quantized(args, folder, *options):
    report = f"{folder}/report.json"
    command = [args.program, "quantize", *options, "--out", f"{folder}/q.onnx", "--force", "--quiet", "--report",
               report, *args.options]
    found = run(command, args.timeout)
    if "failed" in found:
        return found
    told = json.loads(pathlib.Path(report).read_text())
    return {**found, "round": told["seconds"].get("round", 0.0), "told": told.get("rounding", {})}


def level(told, key):
    return f"{told[key]:.1f}" if key in told else "-"


def figures(found):
    return [f"{found['wall']:.2f}", f"{found['round']:.2f}", f"{found['peak']:.0f}"]


def layer_rows(args, shapes):
    for columns, outs in shapes:
        with tempfile.TemporaryDirectory() as folder:
            apart(make_layer, folder, columns, outs, args.rows)
            preset = [f"{folder}/m.onnx", "--preset", "MATMUL_NBITS"]
            plain = quantized(args, folder, *preset)
            for start in args.starts:
                found = quantized(args, folder, *preset, "--rounding", start, "--data", f"{folder}/data")
                gram = f"{columns * columns * 4 / 2**20:.1f}"
                cells = [start, f"{columns}", f"{outs}", gram]
                if "failed" in found or "failed" in plain:
                    cells += ["-"] * 6 + [found.get("failed") or plain["failed"]]
                else:
                    cells += [*figures(found), f"{plain['peak']:.0f}", level(found["told"], "nearest_db"),
                              level(found["told"], "solved_db"), ""]
                print(f"| {' | '.join(cells)} |", flush=True)
                yield {"name": f"{start}, {'K' if outs == columns and columns in args.square else outs} outputs", "x": columns, **found,
                       "line": f"| {' | '.join(cells)} |"}


# ---- Samples


def sample_rows(args):
    sources = sorted(glob.glob(f"{args.data}/*.np[yz]"))
    if not os.path.exists(args.model) or not sources:
        print("no model or no samples: `make zoo` makes them (600 MB of downloads)")
        return
    for count in args.samples:
        with tempfile.TemporaryDirectory(dir=args.scratch) as folder:
            data = lay_out(sources, count, f"{folder}/data")
            found = quantized(args, folder, args.model, "--preset", "XINT8_ADAROUND", "--data", data,
                              "--rounding-samples", str(count))
            solved = found.get("told", {}).get("samples", 0) + found.get("told", {}).get("samples_aside", 0)
            cells = [f"{count}", f"{solved}", *(["-"] * 3 + [found["failed"]] if "failed" in found else
                                                [*figures(found), ""])]
            line = f"| {' | '.join(cells)} |"
            print(line, flush=True)
            yield {"name": "XINT8_ADAROUND", "x": count, **found, "line": line}


# ---- What is written


def curves(rows, key):
    names = dict.fromkeys(row["name"] for row in rows)
    return {name: [(row["x"], row[key]) for row in rows if row["name"] == name and key in row] for name in names}


def pictures(layers, samples):
    """Names of files, and what they show."""
    made = {"width-time": svg("Seconds of solving", "columns", "s", curves(layers, "round")),
            "width-memory": svg("Peak memory", "columns", "MiB", curves(layers, "peak")),
            "samples-time": svg("Seconds of solving", "samples", "s", curves(samples, "round")),
            "samples-memory": svg("Peak memory", "samples", "MiB", curves(samples, "peak"))}
    return {name: drawn for name, drawn in made.items() if drawn}


def numbers(words):
    return [int(word) for word in words.split(",") if word]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--widths", type=numbers, default=WIDTHS)
    parser.add_argument("--square", type=numbers, default=SQUARE, help="widths with as many outputs")
    parser.add_argument("--outs", type=int, default=256)
    parser.add_argument("--rows", type=int, default=2048)
    parser.add_argument("--starts", type=lambda t: t.split(","), default=["descent"])
    parser.add_argument("--samples", type=numbers, default=SAMPLES)
    parser.add_argument("--model", default="build/zoo-all/models/mobilenet_v2.onnx")
    parser.add_argument("--data", default="build/zoo-all/data/mobilenet_v2/calib")
    parser.add_argument("--scratch", help="folder for samples: links need the same file system")
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--options", type=lambda t: t.split(), default=[], help="further ones of `quantize`")
    parser.add_argument("--timeout", type=int, default=3600)
    parser.add_argument("--write", action="store_true", help="write bench/results/width.md and its pictures")
    return parser.parse_args()


def main():
    args = parse()
    words = __doc__.split("\n\n")
    head = ["# Rounding reconstruction against width and samples", "",
            f"{datetime.date.today()}, {machine()}; {args.rows} rows.", "", *words[2].splitlines(), ""]
    wide = ["| start | columns | outputs | Gram MiB | s | round s | peak MiB | nearest: peak MiB | nearest dB | "
            "solved dB | |", "|---|---|---|---|---|---|---|---|---|---|---|"]
    many = ["", *words[3].splitlines(), "", "| samples | solved and judged on | s | round s | peak MiB | |",
            "|---|---|---|---|---|---|"]
    print("\n".join([*head, *wide]))
    layers = list(layer_rows(args, [*((k, args.outs) for k in args.widths), *((k, k) for k in args.square)]))
    print("\n".join(many))
    samples = list(sample_rows(args))
    if args.write:
        drawn = pictures(layers, samples)
        for name, picture in drawn.items():
            (HERE / "results" / f"{name}.svg").write_text(picture)
        links = ["", *(f"![{name}]({name}.svg)" for name in drawn), ""]
        (HERE / "results" / "width.md").write_text(
            "\n".join([*head, *wide, *(row["line"] for row in layers), *many, *(row["line"] for row in samples), *links]))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
