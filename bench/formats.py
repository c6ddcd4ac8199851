"""Formats of floats and blocks: what they leave of a model, and how long quantizing takes, beside AMD Quark.

    formats.py [--models NAME,...] [--presets NAME,...] [--judge 32] [--rounds 3] [--no-times] [--no-peers]
               [--folder build/bench/ops] [--keep FOLDER] [--write]

The real models of bench/zoo (`make zoo`), judged on `eval` samples. SQNR of the outputs against the float model
in dB: mean over the outputs, each clipped to 0 to 100. Quark always equalizes channels, Baryon where samples show a
gain: "equalized on samples" is with --cle auto and samples of `calib`, "solved on samples" with --rounding
descent and the same samples. All models run with libbaryon_ops.so, whose operators give the bits of Quark's own
(results/ops.md). MODEL.PRESET.onnx in the folder are taken as Quark's, others are made by it. Times: the whole
process of `baryon quantize`, from its start to the written file; for Quark the call that quantizes, and the whole
process with its imports; alternating, median of the rounds.

Solved beside Quark: ours with --rounding descent and Quark's presets PRESET_ADAQUANT, on the same samples of
`calib`, where Quark is done in --timeout seconds.
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
SOLVED = ["FP16", "BF16", "BFP16", "MX6", "MX9", "MXINT8"]  # that Quark solves, too
SOLVED_MODELS = ["mtcnn_onet", "crepe_tiny", "ppocr_cls", "silero_vad"]  # others take it an hour and more


def command(args, model, preset, out):
    return [args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", out, "--force", "--quiet",
            "--preset", preset, *args.options]


def ours(args, model, preset, folder, *further):
    out = f"{folder}/ours.onnx"
    done = subprocess.run([*command(args, model, preset, out), *further], capture_output=True, text=True)
    return judged(args, model, out, args.library) if not done.returncode else {"failed": done.stderr.strip()[:200]}


def theirs(args, model, preset, samples=2, timeout=None):
    if not written_by_quark(args, model, preset, samples, timeout):
        return {"failed": "does not write it" + (f" in {timeout} s" if timeout else "") if args.quark else "not there"}
    found = judged(args, model, f"{args.folder}/{model}.{preset}.onnx", args.library)
    return {"failed": "its model does not load"} if "Load model" in found.get("failed", "") else found


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


def from_data(args, model):
    return ["--data", f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples)]


def our_answers(args, model, preset, folder):
    """Plain, equalized, solved."""
    name, data = f"{model}.{preset}", from_data(args, model)
    yield kept(args, name, lambda: ours(args, model, preset, folder))
    yield kept(args, f"{name}.cle", lambda: ours(args, model, preset, folder, "--cle", "auto", *data))
    yield kept(args, f"{name}.solved", lambda: ours(args, model, preset, folder, "--rounding", "descent", *data))


def their_answer(args, model, preset, *limits):
    name = f"{model}.{preset}"
    if not args.quark and not os.path.exists(f"{args.folder}/{name}.onnx") and not has_kept(args, f"{name}.peer"):
        return {"failed": "not there"}
    return kept(args, f"{name}.peer", lambda: theirs(args, model, preset, *limits))


def remarks(**answers):
    return "; ".join(f"{who}: {answer['failed']}" for who, answer in answers.items() if "failed" in answer)


def row_of(args, model, preset, folder):
    mine, equalized, solved = our_answers(args, model, preset, folder)
    other, name, seconds = their_answer(args, model, preset), f"{model}.{preset}.times", None
    if not args.no_times or has_kept(args, name):
        seconds = kept(args, name, lambda: times(args, model, preset, folder))
    a, b, c, d = level(mine), level(other), level(equalized), level(solved)
    cells = [preset, model, text(a), text(c), text(d), text(b), difference(a, b), difference(c, b), difference(d, b),
             *time_cells(seconds), remarks(ours=mine, equalized=equalized, solved=solved, Quark=other)]
    return preset, (a, c, d, b), f"| {' | '.join(cells)} |"


def rows(args, folder):
    for model in args.models:
        for preset in args.presets:
            row = row_of(args, model, preset, folder)
            print(row[-1], flush=True)
            yield row


def solved_rows(args, folder):
    for model in filter(args.models.__contains__, SOLVED_MODELS):
        for preset in filter(args.presets.__contains__, SOLVED):
            plain, _, solved = our_answers(args, model, preset, folder)
            others = their_answer(args, model, preset), their_answer(args, model, f"{preset}_ADAQUANT", args.samples, args.timeout)
            a, b, c, d = level(plain), level(solved), *map(level, others)
            cells = [preset, model, text(a), text(c), text(b), text(d), difference(b, d), remarks(ours=solved, Quark=others[1])]
            print(f"| {' | '.join(cells)} |", flush=True)
            yield (b, d), f"| {' | '.join(cells)} |"


def solved_table(args, folder):
    yield "## Solved beside Quark"
    yield ""
    yield "| preset | model | ours dB | Quark dB | ours solved | Quark, ADAQUANT | difference | |"
    yield "|---|---|---|---|---|---|---|---|"
    results = list(solved_rows(args, folder))
    yield from (line for _, line in results)
    yield ""
    yield compared("ours", [pair for pair, _ in results])


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
            *"\n\n".join(__doc__.split("\n\n")[2:]).splitlines(), "",
            "| preset | model | ours dB | equalized on samples | solved on samples | Quark dB | difference | equalized | solved "
            "| ours s | Quark s, call / process | Quark / ours, call / process | |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    with tempfile.TemporaryDirectory() as folder:
        results = list(rows(args, folder))
        end = [summary(results), "", *means(args, results), "", *solved_table(args, folder), ""]
    print("\n".join(end))
    if args.write:
        lines = [*head, *(row for *_, row in results), "", *end]
        (HERE / "results" / "formats.md").write_text("\n".join(lines))


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
