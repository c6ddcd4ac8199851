"""Quantizing: the whole command beside bare inference and AMD Quark.

    quantize.py [--models NAME,...] [--presets NAME,...] [--samples 32,128] [--rounds N] [--no-peers]
                [--keep FILE] [--again] [--write]

Ours is `baryon quantize` from the start of the process to the written file: opening, equalization,
calibration, weights, saving. Bare inference is `baryon run` on the same samples: the time inside the
runtime, and that of the whole program. Both alternate, round by round; ratios are those of rounds. For
Quark the call that quantizes is given, and the whole process with its imports. Presets without
samples are compared with the inference of the first number of samples. Where a model has fewer samples,
they are repeated from the first one on.

--keep FILE has every row that was measured, so that a run that was interrupted goes on where it was; --again
measures ours anew and takes Quark's rows from it.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from accuracy import NO_DATA
from measure import lay_out, machine, run, spread, version

HERE = pathlib.Path(__file__).parent
MODELS = ["resnet50", "ppocrv4_det", "ppocrv4_rec", "centerface"]  # of models.py
PRESETS = ["XINT8", "A8W8", "U8S8_AAWS", "UINT8_DYNAMIC_QUANT", "MATMUL_NBITS"]


def one(command):
    """What a run of ours took; why it failed."""
    try:
        return run(command)
    except SystemExit as failure:
        return {"failed": str(failure).strip().splitlines()[-1].split("baryon: ")[-1]}


def commands(args, model, preset, data, out):
    path = f"{args.folder}/{model}.onnx"
    return {"bare": [args.program, "run", path, "--data", data, "--quiet", "--json"],
            "ours": [args.program, "quantize", path, "--out", out, "--preset", preset, "--force", "--quiet",
                     *args.options, *([] if preset in NO_DATA else ["--data", data])]}


def measure_ours(args, model, preset, data, out):
    turn = commands(args, model, preset, data, out)
    found = {name: [] for name in turn}
    for number in range(args.rounds + 1):  # the first one warms up
        for name, command in turn.items():
            result = one(command)
            if "failed" in result:
                return result
            if number:
                found[name].append({"peak": result["peak"], "inside": result.get("model_seconds"), "whole": result["wall"]})
    return found


def measure_quark(args, path, data, preset, count, folder):
    """path: of the model; data: folder of calib/. Quark leaves a table in the folder that it is started in."""
    command = [os.path.abspath(args.peers), str(HERE.resolve() / "peer_quantize.py"), os.path.abspath(path),
               os.path.abspath(data), preset, f"{folder}/quark.onnx",
               "--limit", str(count), "--judge", "0"]
    answer = run(command, args.timeout, folder)
    return answer if "failed" in answer else {"call": answer["seconds"], "whole": answer["wall"], "peak": answer["peak"]}


class Kept:
    """Rows of earlier runs, by what they are of."""

    def __init__(self, path):
        self.path = path and pathlib.Path(path)
        self.rows = json.loads(self.path.read_text()) if self.path and self.path.exists() else {}

    def of(self, key):
        return self.rows.setdefault(key, {})

    def save(self):
        if self.path:
            text = json.dumps(self.rows, indent=1)
            self.path.with_suffix(".new").write_text(text)
            self.path.with_suffix(".new").replace(self.path)


def both(inside, whole, digits=1):
    return f"{inside:.{digits}f} / {whole:.{digits}f}"


def quark_cells(quark, wall, most):
    """Quark | Quark / ours | its peak | remark"""
    if "failed" in quark:
        return ["-", "-", "-", f"Quark: {quark['failed']}"]
    remark = f"{most / quark['peak'] * 100:.0f} % of its memory" if wall else ""
    times = both(quark["call"] / wall, quark["whole"] / wall) if wall else "-"
    return [both(quark["call"], quark["whole"]), times, f"{quark['peak']:.0f}", remark]


def cells(row):
    """ours | bare | ours / bare | Quark | Quark / ours | peaks | remark"""
    ours, quark = row["ours"], row.get("quark", {"failed": "absent"})
    if "failed" in ours:
        seconds, times, peak, _ = quark_cells(quark, None, None)
        return ["-", "-", "-", seconds, times, f"- / {peak}", ours["failed"]]
    wall = [r["whole"] for r in ours["ours"]]
    most = max(r["peak"] for r in ours["ours"])
    bare = {part: [r[part] for r in ours["bare"]] for part in ("inside", "whole")}
    ratio = [spread([o / b for o, b in zip(wall, bare[part])], 1) for part in bare]
    seconds, times, peak, remark = quark_cells(quark, statistics.median(wall), most)
    return [spread(wall), both(*(statistics.median(bare[part]) for part in bare), 2), " / ".join(ratio), seconds, times,
            f"{most:.0f} / {peak}", remark]


def row_of(args, kept, model, preset, count, folder):
    row = kept.of(f"{model} {preset} {count}")
    data = os.path.join(folder, f"{model}.{count}", "calib")
    if not os.path.exists(data):
        lay_out(sorted(pathlib.Path(args.folder, model).glob("*.npz")), count, data)
    if "ours" not in row or args.again:
        row["ours"] = measure_ours(args, model, preset, data, f"{folder}/ours.onnx")
        kept.save()
    if args.peers and "call" not in row.get("quark", {}):
        row["quark"] = measure_quark(args, f"{args.folder}/{model}.onnx", os.path.dirname(data), preset, count, folder)
        kept.save()
    return f"| {' | '.join([model, preset, 'none' if preset in NO_DATA else str(count), *cells(row)])} |"


def rows(args, kept):
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        for model in args.models:
            for preset in args.presets:
                for count in args.samples[:1] if preset in NO_DATA else args.samples:
                    line = row_of(args, kept, model, preset, count, os.path.abspath(folder))
                    print(line, flush=True)
                    yield line


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=lambda text: text.split(","), default=MODELS)
    parser.add_argument("--presets", type=lambda text: text.split(","), default=PRESETS)
    parser.add_argument("--samples", type=lambda text: [int(n) for n in text.split(",")], default=[32, 128])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--options", type=lambda text: text.split(), default=[], help="further ones for ours")
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--folder", default="build/bench")
    parser.add_argument("--zoo", default="build/zoo-all", help="has models/ and data/, for models besides those of models.py")
    parser.add_argument("--peers", default="build/peers/bin/python", help="has amd-quark and onnxruntime")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--python", default="build/venv/bin/python", help="has onnx, numpy and Pillow")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds that a run of the peer may take")
    parser.add_argument("--keep", help="file of rows that were measured")
    parser.add_argument("--again", action="store_true", help="measure ours anew")
    parser.add_argument("--write", action="store_true", help="write bench/results/quantize.md")
    return parser.parse_args()


def gather(args):
    """Models and samples in one folder: those of models.py, others out of the zoo."""
    made = [model for model in args.models if model in MODELS]
    if made:
        subprocess.run([args.python, str(HERE / "models.py"), args.folder, "build/zoo", *made], check=True)
    os.makedirs(args.folder, exist_ok=True)
    for model in set(args.models) - set(made):
        for at, source in ((f"{model}.onnx", f"models/{model}.onnx"), (model, f"data/{model}/calib")):
            at = pathlib.Path(args.folder, at)
            if not at.exists():
                at.symlink_to(pathlib.Path(args.zoo, source).resolve(strict=True))


def main():
    args = parse()
    gather(args)
    quark = None if args.no_peers else version(args.peers, "amd-quark")
    if not quark:
        args.peers = None
        print("no peers: ours and bare inference alone (`make peers` installs them, 3 GB)")
    head = ["# Quantizing", "",
            f"{datetime.date.today()}, {machine()}; {args.rounds} rounds in turns, Quark once; median (least to most). "
            f"Peer: amd-quark {quark or 'absent'}.", "",
            "| model | preset | samples | ours s | bare inference s, inside / whole | ours / bare, inside / whole | "
            "Quark s, call / process | Quark / ours, call / process | peak MiB, ours / Quark | |",
            "|---|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    lines = [*head, *rows(args, Kept(args.keep)), "", __doc__.split("\n\n")[2], ""]
    if args.write:
        (HERE / "results" / "quantize.md").write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
