"""The operators of libbaryon_ops.so beside those of AMD Quark: the same bits, and how long they take.

    ops.py [--models NAME,...] [--presets NAME,...] [--folder build/bench/ops] [--threads 1] [--tries 15] [--write]

Operators run on tensors of the sizes that real networks have; then models of bench/zoo as Quark writes them in
the presets, with either library. MODEL.PRESET.onnx that are in the folder are taken, others are made by Quark.
Without the peer (`make peers`) ours runs alone. --write: into results/ops.md.
"""

import argparse
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile

from measure import machine, run, version

HERE = pathlib.Path(__file__).parent
MODELS = ["ppocr_cls", "mtcnn_onet", "mobilenet_v2", "minilm_l6", "centerface"]
PRESETS = ["BF16", "BFP16", "MX6", "MX9", "MXFP4E2M1", "MXINT8", "A16W8"]


def words(text):
    return text.split(",")


def written_by_quark(args, model, preset, samples=2, timeout=None):
    """The model in the preset, and its samples; None where it is not there and nobody can make it in that time."""
    path = pathlib.Path(args.folder, f"{model}.{preset}.onnx")
    data = f"{args.zoo}/data/{model}"
    if not path.exists() and args.quark and os.path.isdir(data):
        print(f"{path.name}: Quark makes it", file=sys.stderr)
        path.parent.mkdir(parents=True, exist_ok=True)
        places = [args.peers, HERE / "peer_quantize.py", f"{args.zoo}/models/{model}.onnx", data]
        command = [*map(os.path.abspath, places), preset, path.absolute(), "--limit", str(samples), "--judge", "1"]
        with tempfile.TemporaryDirectory() as scratch:  # Quark writes a table into it
            try:
                subprocess.run(command, cwd=scratch, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=timeout, check=True)
            except subprocess.SubprocessError:
                print(f"{path.name}: Quark fails, or takes longer than {timeout} s", file=sys.stderr)
    return f"{path}={data}/eval" if path.exists() else None


def measure(args):
    models = [written_by_quark(args, model, preset) for preset in args.presets for model in args.models]
    python = args.peers if args.quark else args.python
    return run([python, HERE / "ops_run.py", args.library, *(["--quark"] if args.quark else []),
                "--threads", str(args.threads), "--tries", str(args.tries), "--models", *filter(None, models)])


def cells(row):
    ours, quark = row["ms"]["ours"], row["ms"].get("quark")
    if quark is None:
        return f"{ours:.2f} | | | "
    return f"{ours:.2f} | {quark:.2f} | {quark / ours:.1f} | {'yes' if row['equal'] else 'no'}"


def table(args, answer):
    yield "# Operators of Quark"
    yield ""
    yield (f"{datetime.date.today()}, {machine()}, {args.threads} thread{'s' * (args.threads > 1)}; best of {args.tries} runs, "
           f"in turns. " + (f"Peer: amd-quark {args.quark}." if args.quark else "The peer is not there: ours alone."))
    yield ""
    yield "| operator | format | tensor | ours, ms | Quark, ms | times faster | equal bits |"
    yield "|---|---|---|---|---|---|---|"
    for row in answer["operators"]:
        shape = " x ".join(map(str, row["shape"]))
        yield f"| {row['operator']} | {row['what']} | {shape} | {cells(row)} |"
    yield ""
    yield ("Models written by Quark, with everything that ONNX Runtime computes in them; bits are those of all outputs for "
           "four samples. A16W8 has none of these operators.")
    yield ""
    yield "| model | preset | ours, ms | Quark, ms | times faster | equal bits |"
    yield "|---|---|---|---|---|---|"
    rows = {row["model"]: row for row in answer["models"]}
    for preset in args.presets:
        for model in args.models:
            row = rows.get(f"{model}.{preset}")
            yield f"| {model} | {preset} | {cells(row) if row else 'Quark does not write it | | |'} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=words, default=MODELS)
    parser.add_argument("--presets", type=words, default=PRESETS)
    parser.add_argument("--folder", default="build/bench/ops", help="of models that Quark has written")
    parser.add_argument("--zoo", default="build/zoo-all")
    parser.add_argument("--library", default="build/libbaryon_ops.so")
    parser.add_argument("--peers", default="build/peers/bin/python", help="has amd-quark, onnx and onnxruntime")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--python", default="build/venv/bin/python", help="has onnx and onnxruntime")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tries", type=int, default=15)
    parser.add_argument("--write", action="store_true", help="write bench/results/ops.md")
    args = parser.parse_args()
    args.quark = None if args.no_peers else version(args.peers, "amd-quark")
    if not args.quark:
        print("no peer in build/peers: ours alone (`make peers` installs it, 3 GB)", file=sys.stderr)
    lines = list(table(args, measure(args)))
    print("\n".join(lines))
    if args.write:
        (HERE / "results/ops.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
