"""Calibration: ours beside bare inference, AMD Quark and onnxruntime.quantization.

    calibrate.py [--models NAME,...] [--samples 32,128] [--methods NAME,...] [--keep FILE] [--write]

Everything runs on the same samples, in separate processes. Ours is the whole program
`baryon calibrate`: start of the process, opening the model, reading the samples, running them,
writing the statistics that serve every method. It alternates with bare inference, which is
`baryon run`: the time inside the runtime, and the whole program. For the peers the call that
calibrates is given, and the whole process with its imports, for each method by itself, since
each needs its own run. "not done" means: not within --timeout seconds.

Ranges are compared on the tensors that both sides have, with 0 in them: MinMax equal within 1e-4 of
the extent (the peers run the model without optimizations); positions of powers of two equal, and where
they differ whose squared error on the raw activations is larger; thresholds of percentiles
within a bin (1/2048 of the extent), of entropy within 2 %.

ResNet-50 has random weights (models.py); the others come from --zoo (`make zoo`), samples
repeated where there are fewer. With --keep, what was measured is kept in a file, by model,
number of samples and method, and not measured again.
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

from measure import in_turns, lay_out, machine, run, spread, version

HERE = pathlib.Path(__file__).parent
MODELS = ["resnet50", "mobilenet_v2", "minilm_l6", "yolov8n_320", "ppocrv4_det", "centerface"]
METHODS = ["quark:MinMSE", "quark:Percentile", "quark:MinMax", "quark:Entropy", "ort:MinMax", "ort:Percentile", "ort:Entropy"]


class Kept:
    """Results by name, in a file where one is given."""

    def __init__(self, path, machine_name):
        self.path, self.all = path, {}
        if path and path.exists():
            self.all = json.loads(path.read_text())
            if self.all.get("machine") not in (None, machine_name):
                sys.exit(f"{path} was measured on another machine ({self.all['machine']}): give another file")
        self.all["machine"] = machine_name

    def get(self, name, measure):
        if name not in self.all:
            self.all[name] = measure()
            if self.path:
                fresh = self.path.with_suffix(".new")
                fresh.write_text(json.dumps(self.all, indent=1))
                fresh.replace(self.path)
        return self.all[name]


def sources(args, model):
    """The model's file and its samples."""
    if model == "resnet50":
        folder = pathlib.Path(args.folder)
        return folder / f"{model}.onnx", sorted((folder / model).glob("*.npz"))
    zoo = pathlib.Path(args.zoo)
    return zoo / "models" / f"{model}.onnx", sorted((zoo / "data" / model / "calib").glob("*.npz"))


def measure_ours(args, path, data, stats):
    ours = [args.program, "calibrate", str(path), "--data", data, "--quiet", "--json", "--force", "--out", stats]
    bare = [args.program, "run", str(path), "--data", data, "--quiet", "--json"]
    for command in (ours, bare):
        command += ["--threads", str(args.threads)] if args.threads else []
    turns = in_turns({"bare": bare, "ours": ours}, args.rounds)
    return {"bare": [{"seconds": r["model_seconds"], "whole": r["wall"], "peak": r["peak"]} for r in turns["bare"]],
            "ours": [{"whole": r["wall"], "peak": r["peak"]} for r in turns["ours"]]}


def measure_peer(args, name, path, data, count):
    with tempfile.TemporaryDirectory() as folder:
        ranges = os.path.join(folder, "ranges.json")
        command = [os.path.abspath(args.peers), str(HERE.resolve() / "peer_calibrate.py"), *name.split(":"),
                   os.path.abspath(path), os.path.abspath(data), str(count), ranges]
        results = [run(command, args.timeout, folder) for _ in range(args.peer_rounds)]  # it writes where it stands
        failed = next((r["failed"] for r in results if "failed" in r), None)
        if failed:
            return {"failed": failed}
        return {"seconds": [r["seconds"] for r in results], "whole": [r["wall"] for r in results],
                "peak": [r["peak"] for r in results], "ranges": json.loads(pathlib.Path(ranges).read_text())}


def measure_agreement(args, name, path, data, stats, ranges):
    """What ranges.py says; it needs onnxruntime and numpy, to look at raw activations."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "ranges.json")
        pathlib.Path(file).write_text(json.dumps(ranges))
        command = [args.python, str(HERE / "ranges.py"), name.split(":")[1], str(path), data, stats, file, args.program]
        done = subprocess.run(command, capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.strip()[-200:]}


def agreement_text(found):
    if "failed" in found:
        return f"ranges not compared: {found['failed']}"
    text = f"{found['agree']} of {found['tensors']} {found['what']}"
    if found.get("larger") is not None:
        text += f"; of {found['differ']} others our error is larger in {found['larger']}"
    return text


def rows_of(model, count, own, peers):
    bare, ours = own["bare"], own["ours"]
    inside = [o["whole"] / b["seconds"] for o, b in zip(ours, bare)]
    whole = [o["whole"] / b["whole"] for o, b in zip(ours, bare)]
    more = [o["peak"] - b["peak"] for o, b in zip(ours, bare)]
    yield (f"| {model}, {count} | bare inference | {spread([r['seconds'] for r in bare])} | "
           f"{spread([r['whole'] for r in bare])} | {spread([r['peak'] for r in bare], 0)} | | |")
    yield (f"| | `baryon calibrate`, all methods | | {spread([r['whole'] for r in ours])} | "
           f"{spread([r['peak'] for r in ours], 0)} | {spread(inside)} times bare inside the runtime, "
           f"{spread(whole)} times bare as a whole; {spread(more, 0)} MiB more | |")
    middle = statistics.median(o["whole"] for o in ours)
    for name, (result, agreement) in peers.items():
        title = f"| | {name.replace(':', ' ')} |"
        if "failed" in result:
            yield f"{title} {result['failed']} | | | | |"
        else:
            times = [f"{statistics.median(result[key]) / middle:.1f}" for key in ("seconds", "whole")]
            yield (f"{title} {spread(result['seconds'])} | {spread(result['whole'])} | {spread(result['peak'], 0)} | "
                   f"{times[0]} times ours, {times[1]} as a whole | {agreement_text(agreement)} |")


def measure(args, kept):
    for model in args.models:
        path, samples = sources(args, model)
        if not path.exists() or not samples:
            yield f"| {model} | not there: {path} | | | | | |"
            continue
        for count in args.samples:
            with tempfile.TemporaryDirectory(dir=args.folder) as folder:
                data = lay_out(samples, count, os.path.join(folder, "data"))
                stats = os.path.join(folder, "ours.stats")
                name = f"{model} {count}"
                own = kept.get(name, lambda: measure_ours(args, path, data, stats))
                peers = {method: both(args, kept, name, method, path, data, count, stats) for method in args.methods}
                yield from rows_of(model, count, own, peers)


def both(args, kept, name, method, path, data, count, stats):
    result = kept.get(f"{name} {method}", lambda: measure_peer(args, method, path, data, count))
    if "failed" in result:
        return result, None
    if not os.path.exists(stats):
        run([args.program, "calibrate", str(path), "--data", data, "--quiet", "--json", "--out", stats])
    return result, kept.get(f"{name} {method} agreement",
                            lambda: measure_agreement(args, method, path, data, stats, result["ranges"]))


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer-rounds", type=int, default=1)
    parser.add_argument("--samples", type=lambda text: [int(n) for n in text.split(",")], default=[32, 128])
    parser.add_argument("--models", type=lambda text: text.split(","), default=MODELS)
    parser.add_argument("--methods", type=lambda text: text.split(",") if text else [], default=METHODS)
    parser.add_argument("--threads", type=int, default=0, help="of ours and of bare inference; 0: all")
    parser.add_argument("--timeout", type=int, default=3600, help="seconds that a peer may take")
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--folder", default="build/bench")
    parser.add_argument("--zoo", default="build/zoo-all", help="has models/ and data/")
    parser.add_argument("--pictures", default="build/zoo", help="has pictures/, for the samples of ResNet-50")
    parser.add_argument("--peers", default="build/peers/bin/python", help="has amd-quark and onnxruntime")
    parser.add_argument("--python", default="build/venv/bin/python", help="has onnx, onnxruntime, numpy and Pillow")
    parser.add_argument("--keep", type=pathlib.Path, help="file of what was measured before")
    parser.add_argument("--write", action="store_true", help="write bench/results/calibrate.md")
    return parser.parse_args()


def main():
    args = options()
    if "resnet50" in args.models:
        subprocess.run([args.python, str(HERE / "models.py"), args.folder, args.pictures, "resnet50"], check=True)
    os.makedirs(args.folder, exist_ok=True)
    quark = version(args.peers, "amd-quark")
    if not quark:
        args.methods = []
        print(f"no peers at {args.peers}: ours and bare inference alone (`make peers` installs them, 3 GB)")
    head = ["# Calibration", "",
            f"{datetime.date.today()}, {machine()}; {args.rounds} rounds in turns (peers {args.peer_rounds}); median "
            f"(least to most). Peers: amd-quark {quark or 'absent'}, onnxruntime {version(args.peers, 'onnxruntime') or 'absent'}.",
            "", "| model, samples | what | seconds of the call | of the whole process | peak MiB | | ranges |",
            "|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    rows = []
    for row in measure(args, Kept(args.keep, machine())):
        print(row, flush=True)
        rows.append(row)
    if args.write:
        (HERE / "results" / "calibrate.md").write_text("\n".join([*head, *rows, "", *__doc__.split("\n\n")[2:4], ""]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
