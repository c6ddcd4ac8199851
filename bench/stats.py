"""Solving from statistics alone, beside solving on samples: time and accuracy.

    stats.py [--models NAME,...] [--presets NAME,...] [--samples 32] [--judge 96] [--others FOLDER] [--keep FOLDER]
             [--write]

`baryon calibrate --moments` runs each model once; every preset is then solved from that file without running the
model. Beside it the same presets on the same samples (`--data`), which run both models, equalize where samples
say so, and solve each layer on its inputs in the quantized model. Seconds are processor time of the
whole process. SQNR of the outputs against the float model in dB, on held-out `eval` samples, as in accuracy.py.
--others: a folder like that of bench/zoo (models, data) with networks that are not in it.
"""

import datetime
import os
import pathlib
import sys
import tempfile

from accuracy import judged, level, text, to_judge
from measure import machine, run
from options import add_peers, kept, parse, parser_for

HERE = pathlib.Path(__file__).parent
MODELS = ["ppocr_cls", "ppocrv4_rec", "centerface", "silero_vad", "magika", "mtcnn_onet", "mobilenet_v2", "crepe_tiny",
          "minilm_l6"]  # fmt: skip
# name | without solving | with
PRESETS = {
    "XINT8_ADAROUND": (["--preset", "XINT8"], ["--preset", "XINT8_ADAROUND"]),
    "INT8_CNN_ACCURATE": (["--preset", "INT8_CNN_ACCURATE", "--rounding", "nearest"],
                          ["--preset", "INT8_CNN_ACCURATE"]),
    "MATMUL_NBITS": (["--preset", "MATMUL_NBITS"], ["--preset", "MATMUL_NBITS", "--rounding", "descent"]),
}
WITH_MATRICES = {"ppocrv4_rec", "magika", "minilm_l6"}
NO_PICTURES = {"minilm_l6"}  # which presets of CNNs are not for


def quantized(args, model, options, out):
    command = [args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", out, "--force", "--quiet",
               *options, *args.options]
    found = run(command, args.timeout)
    return found if "failed" in found else {"cpu": found["cpu"], "peak": found["peak"], **judged(args, model, out)}


def calibrated(args, model, stats):
    """Statistics with Gram matrices; how long that takes beside the plain ones, and both sizes."""
    common = [args.program, "calibrate", f"{args.zoo}/models/{model}.onnx", "--data", f"{args.zoo}/data/{model}/calib",
              "--limit", str(args.samples), "--tensors", "all", "--force", "--json", "--out"]
    plain, full = run([*common, f"{stats}.plain"], args.timeout), run([*common, stats, "--moments"], args.timeout)
    if "failed" in full:
        return full
    return {"cpu": full["cpu"], "peak": full["peak"], "bytes": os.path.getsize(stats), "plain_cpu": plain["cpu"],
            "plain_bytes": os.path.getsize(f"{stats}.plain")}


def number(answer, key):
    return "-" if key not in answer else f"{answer[key]:.1f}"


def row_of(args, model, preset, folder):
    """Nearest and solved, from statistics and on samples."""
    plain, solved = PRESETS[preset]
    stats = f"{folder}/{model}.stats"
    data = ["--data", f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples)]
    if not os.path.exists(stats):
        calibrated(args, model, stats)
    answers = {}
    for name, options in (("nearest.stats", [*plain, "--stats", stats]), ("solved.stats", [*solved, "--stats", stats]),
                          ("nearest.data", [*plain, *data]), ("solved.data", [*solved, *data])):
        answers[name] = kept(args, f"{model}.{preset}.{name}",
                             lambda options=options: quantized(args, model, options, f"{folder}/out.onnx"))
    levels = {name: level(answer) for name, answer in answers.items()}
    cells = [preset, model, *(number(answers[f"solved.{way}"], "cpu") for way in ("stats", "data")),
             text(levels["nearest.stats"]), text(levels["solved.stats"]), text(levels["nearest.data"]),
             text(levels["solved.data"]),
             "; ".join(f"{name}: {answer['failed']}" for name, answer in answers.items() if "failed" in answer)]
    return {"preset": preset, "levels": levels, "cpu": {name: answer.get("cpu") for name, answer in answers.items()},
            "line": f"| {' | '.join(cells).replace(chr(10), ' ')} |"}


def file_line(args, model, folder):
    found = kept(args, f"{model}.calibrate", lambda: calibrated(args, model, f"{folder}/{model}.stats"))
    if "failed" in found:
        return f"| {model} | {found['failed']} | | | |"
    return (f"| {model} | {found['plain_cpu']:.1f} | {found['cpu']:.1f} | {found['plain_bytes'] / 1e6:.1f} | "
            f"{found['bytes'] / 1e6:.1f} |")


def mean(values):
    return sum(values) / len(values) if values else 0.0


def summary(preset, results):
    rows = [row for row in results if row["preset"] == preset and None not in row["levels"].values()]
    gains = [[row["levels"][f"solved.{way}"] - row["levels"][f"nearest.{way}"] for row in rows]
             for way in ("stats", "data")]
    both = [row["levels"]["solved.stats"] - row["levels"]["solved.data"] for row in rows]
    seconds = [sum(row["cpu"][f"solved.{way}"] for row in rows) for way in ("stats", "data")]
    return (f"{preset}, {len(rows)} models: solved from statistics {mean(gains[0]):+.2f} dB beside nearest rounding from "
            f"statistics, on samples {mean(gains[1]):+.2f} dB beside nearest rounding with samples; from statistics "
            f"{mean(both):+.2f} dB beside on samples, in {seconds[0]:.1f} s instead of {seconds[1]:.1f} s.")


def zoos(args):
    """Each model with the folder that has it."""
    for model in args.models:
        yield args.zoo, model
    if args.others:
        for path in sorted(pathlib.Path(args.others, "models").glob("*.onnx")):
            yield args.others, path.stem


def suits(model, preset):
    return model in WITH_MATRICES if preset == "MATMUL_NBITS" else not ("CNN" in preset and model in NO_PICTURES)


def main():
    parser = parser_for(__doc__, "stats.md", list(PRESETS), 32, 1800, "for all")
    parser.add_argument("--others")
    add_peers(parser)
    parser.set_defaults(models=MODELS, no_peers=True, peers=None)
    args = parse(parser)
    all_models = list(zoos(args))
    head = ["# Solving from statistics alone", "",
            f"{datetime.date.today()}, {machine()}; {args.samples} samples, {to_judge(args, '')} others to judge. "
            "Made by `bench/stats.py`.", "", *__doc__.split("\n\n")[2].splitlines(), ""]
    files = ["## Calibration", "", "Processor seconds and file sizes, without and with `--moments`.", "",
             "| model | s | s, moments | MB | MB, moments |", "|---|---|---|---|---|"]
    table = ["", "## Quantization", "",
             "| preset | model | s, statistics | s, samples | statistics: nearest dB | solved dB | samples: nearest dB | "
             "solved dB | |", "|---|---|---|---|---|---|---|---|---|"]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for args.zoo, model in all_models:
            files.append(file_line(args, model, folder))
            print(files[-1], flush=True)
        for preset in args.presets:
            for args.zoo, model in all_models:
                if suits(model, preset):
                    results.append(row_of(args, model, preset, folder))
                    print(results[-1]["line"], flush=True)
    lines = [*head, *files, *table, *(row["line"] for row in results), "",
             *(summary(preset, results) for preset in args.presets)]
    print("", *lines, sep="\n")
    if args.write:
        (HERE / "results" / "stats.md").write_text("\n".join([*lines, ""]))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
