"""Calibration: ours beside bare inference, AMD Quark and onnxruntime.quantization.

    calibrate.py [--rounds N] [--samples 32,128] [--models NAME,...] [--no-peers] [--write]

Everything runs in the same minutes, in turns, in processes of its own, on the same samples.
Ours is the whole program `baryon calibrate`: process start, opening the model, reading the
samples, running them, writing the statistics that serve every method. Bare inference is
`baryon run`, of which only the time inside the runtime counts. Of the peers only the call
that calibrates is timed, for each method by itself, since each needs a run of its own.
"""

import argparse
import datetime
import pathlib
import subprocess
import sys
import tempfile

from measure import in_turns, machine, ratios, spread, version

HERE = pathlib.Path(__file__).parent
METHODS = ["quark:MinMSE", "quark:Percentile", "quark:MinMax", "quark:Entropy",
           "ort:MinMax", "ort:Percentile", "ort:Entropy"]


def jobs(args, model, count, folder):
    data = f"{args.folder}/{model}"
    ours = [args.program, "calibrate", f"{data}.onnx", "--data", data, "--limit", str(count),
            "--quiet", "--json", "--force", "--out", f"{folder}/{model}.stats"]
    bare = [args.program, "run", f"{data}.onnx", "--data", data, "--limit", str(count), "--quiet", "--json"]
    return {"bare": bare, "ours": ours}


def peer_jobs(args, model, count):
    data = f"{args.folder}/{model}"
    return {name: [args.peers, str(HERE / "peer_calibrate.py"), *name.split(":"), f"{data}.onnx", data, str(count)]
            for name in args.methods}


def rows_of(model, count, results):
    bare, ours = results["bare"], results["ours"]
    yield (f"| {model}, {count} | bare inference | {spread([r['model_seconds'] for r in bare])} | "
           f"{spread([r['peak'] for r in bare], 0)} | |")
    whole = [o["wall"] / b["model_seconds"] for o, b in zip(ours, bare)]
    yield (f"| | `baryon calibrate`, all methods | {spread([r['wall'] for r in ours])} | "
           f"{spread([r['peak'] for r in ours], 0)} | {spread(whole)} times bare inference; "
           f"{spread([o['peak'] - b['peak'] for o, b in zip(ours, bare)], 0)} MiB more |")
    for name in (name for name in results if ":" in name):
        times = [p["seconds"] / o["wall"] for p, o in zip(results[name], ours)]
        yield (f"| | {name.replace(':', ' ')} | {spread([r['seconds'] for r in results[name]])} | "
               f"{spread([r['peak'] for r in results[name]], 0)} | {spread(times, 1)} times ours |")


def measure(args):
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            for count in args.samples:
                results = in_turns(jobs(args, model, count, folder), args.rounds)
                if args.methods:
                    turn = jobs(args, model, count, folder) | peer_jobs(args, model, count)
                    peers = in_turns(turn, args.peer_rounds, warm=False)
                    for name in ("ours", *args.methods):
                        results[name] = peers[name] if name != "ours" else results[name]
                rows = list(rows_of(model, count, results))
                print("\n".join(rows), flush=True)
                yield from rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer-rounds", type=int, default=2)
    parser.add_argument("--samples", type=lambda text: [int(n) for n in text.split(",")], default=[32, 128])
    parser.add_argument("--models", type=lambda text: text.split(","), default=["resnet50", "ppocrv4_det", "ppocrv4_rec"])
    parser.add_argument("--methods", type=lambda text: text.split(","), default=METHODS)
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--folder", default="build/bench")
    parser.add_argument("--peers", default="build/peers/bin/python", help="has amd-quark and onnxruntime")
    parser.add_argument("--python", default="build/venv/bin/python", help="has onnx, numpy and Pillow")
    parser.add_argument("--write", action="store_true", help="write bench/results/calibrate.md")
    args = parser.parse_args()
    subprocess.run([args.python, str(HERE / "models.py"), args.folder, "build/zoo"], check=True)
    quark = version(args.peers, "amd-quark")
    if not quark:
        args.methods = []
        print("no peers in build/peers: ours and bare inference alone (`make peers` installs them, 3 GB)")
    head = [
        "# Calibration", "",
        f"{datetime.date.today()}, {machine()}; {args.rounds} rounds in turns (peers {args.peer_rounds}); median "
        f"(least to most). Peers: amd-quark {quark or 'absent'}, onnxruntime {version(args.peers, 'onnxruntime') or 'absent'}.",
        "", "| model, samples | what | seconds | peak MiB | |", "|---|---|---|---|---|"]
    print("\n".join(head))
    lines = [*head, *measure(args), "", __doc__.split("\n\n")[2], ""]
    if args.write:
        (HERE / "results" / "calibrate.md").write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
