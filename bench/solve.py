"""Rounding reconstruction: ours beside AdaRound of AMD Quark, in time, memory and accuracy.

    solve.py [--models NAME,...] [--presets NAME,...] [--samples 32] [--judge 96] [--rounds 1] [--no-peers]
             [--peer-threads 0] [--keep FOLDER] [--peer-answers FOLDER] [--write]

The models of bench/zoo, calibrated and reconstructed on the same `calib` samples, judged on held-out `eval`
samples. Seconds and peak memory are those of the whole process, from its start to the written file; of
several rounds the median and the greatest. Both use their default number of threads (--peer-threads
gives the peer another number). SQNR of the outputs against the float model in dB, as in accuracy.py.
Nearest: ours with the preset without reconstruction, with its equalization and bias correction.
int4: A8W8 with weights of 4 bits by channel, for which the peer has no preset. MATMUL_NBITS: models with matrices,
weights alone, for which nearest rounding and the peer use no samples.
"""

import datetime
import json
import os
import pathlib
import statistics
import sys
import tempfile

from accuracy import judged, level, text, to_judge
from measure import machine, run
from options import add_peers, find_peer, kept, parse, parser_for

HERE = pathlib.Path(__file__).parent
INT4 = ["--preset", "A8W8", "--weight", "int4", "--weight-granularity", "channel"]
NBITS = ["--preset", "MATMUL_NBITS"]
WITH_MATRICES = {"minilm_l6", "magika", "ppocrv4_rec"}
# name | ours | ours with nearest rounding | the peer's preset
PRESETS = {
    "XINT8_ADAROUND": (["--preset", "XINT8_ADAROUND"], ["--preset", "XINT8"], "XINT8_ADAROUND"),
    "XINT8_ADAQUANT": (["--preset", "XINT8_ADAQUANT"], ["--preset", "XINT8"], "XINT8_ADAQUANT"),
    "A8W8_ADAROUND": (["--preset", "A8W8_ADAROUND"], ["--preset", "A8W8"], "A8W8_ADAROUND"),
    "int4": ([*INT4, "--rounding", "descent"], INT4, None),
    "MATMUL_NBITS": ([*NBITS, "--rounding", "descent"], NBITS, "MATMUL_NBITS"),
}


def quantized(args, model, options, out, rounds):
    data = [] if options == NBITS else ["--data", f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples)]
    command = [args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", out, "--force", "--quiet",
               *options, *args.options, *data]
    done = [run(command, args.timeout) for _ in range(rounds)]
    failures = [one for one in done if "failed" in one]
    if failures:
        return failures[0]
    return {"seconds": statistics.median(one["wall"] for one in done),
            "cpu": statistics.median(one["cpu"] for one in done), "peak": max(one["peak"] for one in done)}


def ours(args, model, options, out, rounds):
    found = quantized(args, model, options, out, rounds)
    return found if "failed" in found else {**found, **judged(args, model, out)}


def recorded(args, model, preset):
    """The peer's answer of an earlier run, judged as ours is; None: there is none."""
    path = pathlib.Path(args.peer_answers, f"{model}.{preset}.json")
    if not path.exists():
        return None
    answer = json.loads(path.read_text())
    if "failed" in answer:
        return answer
    written = path.with_suffix(".onnx")
    found = judged(args, model, str(written)) if written.exists() else {"outputs": answer["outputs"]}
    times = {"seconds": answer["wall"]} if "wall" in answer else {}  # None where other work ran beside it
    return {**times, "cpu": answer["cpu"], "peak": answer["rss_mb"], **found}


def peer_runs(args, model, preset, folder):
    """Quark leaves a table in the folder that it is started in."""
    if args.peer_threads:
        os.environ["OMP_NUM_THREADS"] = str(args.peer_threads)
    command = [os.path.abspath(args.peers), str(HERE.resolve() / "peer_quantize.py"),
               os.path.abspath(f"{args.zoo}/models/{model}.onnx"), os.path.abspath(f"{args.zoo}/data/{model}"), preset,
               f"{folder}/peer.onnx", "--limit", str(args.samples), "--judge", "0"]
    answer = run(command, args.timeout, folder)
    if "failed" in answer:
        return answer
    return {"seconds": answer["wall"], "cpu": answer["cpu"], "peak": answer["peak"],
            **judged(args, model, f"{folder}/peer.onnx")}


def theirs(args, model, preset, folder):
    if not preset:
        return {"failed": "has no such preset"}
    if args.peer_answers:
        return recorded(args, model, preset) or {"failed": "not run"}
    if not args.peers:
        return {"failed": "absent"}
    return kept(args, f"{model}.{preset}.peer", lambda: peer_runs(args, model, preset, folder))


def number(answer, key):
    return "-" if key not in answer else f"{answer[key]:.1f}" if key != "peak" else f"{answer[key]:.0f}"


def ratio(one, other, key, form):
    return form(one[key] / other[key]) if key in one and key in other else ""


def times(value):
    return f"{value:.0f}"


def difference(one, other):
    return "" if one is None or other is None else f"{one - other:+.1f}"


def row_of(args, model, preset, folder):
    with_solving, without, peer = PRESETS[preset]
    mine = kept(args, f"{model}.{preset}", lambda: ours(args, model, with_solving, f"{folder}/ours.onnx", args.rounds))
    plain = kept(args, f"{model}.{preset}.nearest", lambda: ours(args, model, without, f"{folder}/plain.onnx", 1))
    other = theirs(args, model, peer, folder)
    remarks = [f"{who}: {answer['failed']}" for who, answer in (("ours", mine), ("nearest", plain), ("peer", other))
               if "failed" in answer]
    a, b, c = level(mine), level(plain), level(other)
    cells = [preset, model, number(mine, "seconds"), number(other, "seconds"), ratio(other, mine, "seconds", times),
             number(mine, "cpu"), number(other, "cpu"), ratio(other, mine, "cpu", times), number(mine, "peak"),
             number(other, "peak"),
             ratio(mine, other, "peak", lambda value: f"{value * 100:.0f} %"), text(b), text(a), difference(a, b),
             text(c), difference(a, c), "; ".join(remarks).replace("|", "/")]
    return {"preset": preset, "solved": a, "nearest": b, "peer": c, "line": f"| {' | '.join(cells)} |"}


def rows(args):
    with tempfile.TemporaryDirectory() as folder:
        for preset in args.presets:
            for model in args.models if preset != "MATMUL_NBITS" else sorted(WITH_MATRICES.intersection(args.models)):
                row = row_of(args, model, preset, folder)
                print(row["line"], flush=True)
                yield row


def mean(values):
    return sum(values) / len(values) if values else 0.0


def summary(preset, results):
    mine = [row for row in results if row["preset"] == preset]
    gains = [row["solved"] - row["nearest"] for row in mine if row["solved"] is not None and row["nearest"] is not None]
    beside = [row["solved"] - row["peer"] for row in mine if row["solved"] is not None and row["peer"] is not None]
    return (f"{preset}: {mean(gains):+.2f} dB beside nearest rounding (mean of {len(gains)} models, "
            f"{sum(gain < -0.1 for gain in gains)} lower); "
            + (f"{mean(beside):+.2f} dB beside the peer (mean of {len(beside)}, {sum(gain < -0.1 for gain in beside)} lower)."
               if beside else "nothing of the peer to compare with."))  # fmt: skip


def main():
    parser = parser_for(__doc__, "solve.md", list(PRESETS), 32, 1800, "for ours, nearest too")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--peer-threads", type=int, default=0)
    add_peers(parser)
    args = parse(parser)
    quark = find_peer(args)
    peer = "Answers of amd-quark 0.13 to the same samples were recorded before" if args.peer_answers else \
        f"Peer: amd-quark {quark or 'absent'}"
    head = ["# Rounding reconstruction", "",
            f"{datetime.date.today()}, {machine()}; {args.samples} samples to solve on, {to_judge(args, '')} others to "
            f"judge (of the four large models 32 at most). {peer}.", "", *__doc__.split("\n\n")[2].splitlines(), "",
            "| preset | model | ours s | peer s | peer / ours | ours, of processors | peer, of processors | peer / ours | "
            "ours MiB | peer MiB | ours / peer | nearest dB | solved dB | gain | peer dB | ours - peer | |",
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    results = list(rows(args))
    ends = [summary(preset, results) for preset in args.presets]
    print("", *ends, sep="\n")
    if args.write:
        (HERE / "results" / "solve.md").write_text("\n".join([*head, *(row["line"] for row in results), "", *ends, ""]))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
