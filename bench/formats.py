"""Formats of floats and blocks: what they leave of a model, and how long quantizing takes, beside AMD Quark.

    formats.py [--models NAME,...] [--presets NAME,...] [--judge 32] [--rounds 3] [--no-times] [--no-peers]
               [--folder build/bench/ops] [--keep FOLDER] [--write]

The real models of bench/zoo (`make zoo`), judged on `eval` samples. SQNR of the outputs against the float model
in dB: mean over the outputs, each clipped to 0 to 100. Quark equalizes channels always, ours where samples say
that it helps: "equalized on samples" is with --cle auto and samples of `calib`, "solved on samples" with --rounding
descent and the same samples. All models run with
libbaryon_ops.so, whose operators have the bits of Quark's own (results/ops.md). MODEL.PRESET.onnx that are in the
folder are taken as Quark's, others are made by it. Times: the whole process of `baryon quantize`, from its start to
the written file; of Quark the call that quantizes, and the whole process with what it imports; in turns, median of
the rounds.
"""

import datetime
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from accuracy import difference, judged, level, text
from measure import machine, run
from ops import written_by_quark
from options import MODELS, add_peers, find_peer, has_kept, kept, parse, parser_for
from quantize import measure_quark

HERE = pathlib.Path(__file__).parent
PRESETS = ["BF16", "BFP16", "MX4", "MX6", "MX9", "MXFP8E5M2", "MXFP8E4M3", "MXFP6E3M2", "MXFP6E2M3", "MXFP4E2M1", "MXINT8",
           "FP16", "BF16_BFP16", "BF16_MXINT8", "MX9_INT8"]


def command(args, model, preset, out):
    return [args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", out, "--force", "--quiet",
            "--preset", preset, *args.options]


def ours(args, model, preset, folder, *further):
    out = f"{folder}/ours.onnx"
    done = subprocess.run([*command(args, model, preset, out), *further], capture_output=True, text=True)
    return judged(args, model, out, args.library) if not done.returncode else {"failed": done.stderr.strip()[:200]}


def theirs(args, model, preset):
    if not written_by_quark(args, model, preset):
        return {"failed": "Quark does not write it" if args.quark else "not there"}
    return judged(args, model, f"{args.folder}/{model}.{preset}.onnx", args.library)


def times(args, model, preset, folder):
    """Seconds, of each round: ours, and what Quark took (quantize.py)."""
    path, data = f"{args.zoo}/models/{model}.onnx", f"{args.zoo}/data/{model}"
    found = {"ours": [], "quark": []}
    run(command(args, model, preset, f"{folder}/ours.onnx"))  # the first one warms up
    for _ in range(args.rounds):
        found["ours"].append(run(command(args, model, preset, f"{folder}/ours.onnx"))["wall"])
        if args.peers:
            found["quark"].append(measure_quark(args, path, data, preset, 1, folder))
    return found


def time_cells(found):
    """ours | Quark, call / process | Quark / ours, call / process"""
    if not found:
        return ["", "", ""]
    wall, quark = statistics.median(found["ours"]), found["quark"]
    failed = [one["failed"] for one in quark if "failed" in one]
    if failed or not quark:
        return [f"{wall:.2f}", failed[0] if failed else "-", "-"]
    call, whole = (statistics.median([one[key] for one in quark]) for key in ("call", "whole"))
    return [f"{wall:.2f}", f"{call:.1f} / {whole:.1f}", f"{call / wall:.0f} / {whole / wall:.0f}"]


def rows(args):
    with tempfile.TemporaryDirectory() as folder:
        for model in args.models:
            for preset in args.presets:
                name = f"{model}.{preset}"
                mine = kept(args, name, lambda: ours(args, model, preset, folder))
                data = ["--data", f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples)]
                equalized = kept(args, f"{name}.cle", lambda: ours(args, model, preset, folder, "--cle", "auto", *data))
                solved = kept(args, f"{name}.solved", lambda: ours(args, model, preset, folder, "--rounding", "descent", *data))
                absent = not args.quark and not os.path.exists(f"{args.folder}/{name}.onnx")
                other = theirs(args, model, preset) if absent else kept(args, f"{name}.peer", lambda: theirs(args, model, preset))
                seconds = None
                if not args.no_times or has_kept(args, f"{name}.times"):
                    seconds = kept(args, f"{name}.times", lambda: times(args, model, preset, folder))
                a, b, c, d = level(mine), level(other), level(equalized), level(solved)
                remark = "; ".join(f"{who}: {answer['failed']}" for who, answer in (("ours", mine), ("Quark", other))
                                   if "failed" in answer)
                line = " | ".join([preset, model, text(a), text(c), text(d), text(b), difference(a, b), difference(c, b),
                                   difference(d, b), *time_cells(seconds), remark])
                print(f"| {line} |", flush=True)
                yield preset, (a, c, d, b), f"| {line} |"


def compared(who, pairs):
    both = [(a, b) for a, b in pairs if a is not None and b is not None]
    return (f"Of {len(both)} pairs {who} is higher by more than 0.1 dB in {sum(a > b + 0.1 for a, b in both)}, within 0.1 dB "
            f"in {sum(abs(a - b) <= 0.1 for a, b in both)}, lower in {sum(a < b - 0.1 for a, b in both)}.")


OURS = ["ours", "ours equalized on samples", "ours solved on samples"]


def summary(results):
    return " ".join(compared(who, [(levels[i], levels[-1]) for _, levels, _ in results]) for i, who in enumerate(OURS))


def means(args, results):
    """A table of presets: the mean over the models that all columns have."""
    yield "| preset | models | ours dB | equalized on samples | solved on samples | Quark dB |"
    yield "|---|---|---|---|---|---|"
    for preset in args.presets:
        all_levels = [levels for name, levels, _ in results if name == preset and None not in levels]
        if all_levels:
            columns = [f"{statistics.mean(column):.1f}" for column in zip(*all_levels)]
            yield f"| {preset} | {len(all_levels)} | {' | '.join(columns)} |"


def options():
    parser = parser_for(__doc__, "formats.md", PRESETS, 32, 1800, "for ours")
    add_peers(parser)
    parser.set_defaults(judge=32)
    parser.add_argument("--folder", default="build/bench/ops", help="of models that Quark has written")
    parser.add_argument("--library", default="build/libbaryon_ops.so")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-times", action="store_true", help="those that were kept are shown")
    return parse(parser)


def absent(args):
    left = [name for name in MODELS if name not in args.models]
    return f" Not run: {', '.join(left)}." if left else ""


def main():
    args = options()
    args.quark = find_peer(args)
    head = ["# Formats", "",
            f"{datetime.date.today()}, {machine()}; judged on {args.judge} samples. Peer: amd-quark {args.quark or 'absent'}."
            + (" Times are of another run, one round, where there are any." if args.no_times else "")
            + absent(args), "",
            *__doc__.split("\n\n")[2].splitlines(), "",
            "| preset | model | ours dB | equalized on samples | solved on samples | Quark dB | difference | equalized | solved "
            "| ours s | Quark s, call / process | Quark / ours, call / process | |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    results = list(rows(args))
    end = [summary(results), "", *means(args, results), ""]
    print("\n".join(end))
    if args.write:
        lines = [*head, *(row for *_, row in results), "", *end]
        (HERE / "results" / "formats.md").write_text("\n".join(lines))


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
