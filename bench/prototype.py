"""Step by step from nearest rounding to reconstruction: what each step brings, on MobileNetV2 in XINT8.

    prototype.py [--model mobilenet_v2] [--samples 96] [--judge 64] [--zoo FOLDER] [--write]

The steps are those of a trial in torch that preceded the implementation; beside each are the options of
`baryon quantize` that do it. SQNR in dB of the outputs against the float model and the share of samples with the
same greatest output, on `eval` samples that took no part in calibration or reconstruction, as the model is written.
Activations alone, with float weights: `baryon sensitivity --decompose`, on 24 of the samples given. The trial used
other pictures, so single figures differ by up to a decibel; its column shows the order of the steps.
"""

import argparse
import datetime
import os
import pathlib
import sys
import tempfile

from judge import judge
from measure import machine, run

HERE = pathlib.Path(__file__).parent
XINT8 = ["--preset", "XINT8"]
PLAIN = [*XINT8, "--cle", "off", "--bias-correction", "false"]
EXACT = [*XINT8, "--cle", "exact", "--bias-correction", "false"]
SOLVED = ["--rounding", "descent"]
# what is done | options | what the trial got, dB and share of the same class
STEPS = [
    ("nearest rounding", PLAIN, "5.4, 0.72"),
    ("equalization through Relu6, exact and bounded", EXACT, "-"),
    ("that, and bias correction", [*EXACT[:-1], "true"], "5.9"),
    ("descent, layer after layer, with biases", [*PLAIN, *SOLVED], "11.7, 0.83"),
    ("equalization, then descent", [*EXACT, *SOLVED], "11.9, 0.84"),
    ("equalization, then descent to any integers", [*EXACT, *SOLVED, "--rounding-free"], "10.2"),
    ("equalization, then descent without biases", [*EXACT, *SOLVED, "--rounding-biases=false"], "8.2"),
    ("equalization, then descent on inputs of the float model, without biases",
     [*EXACT, *SOLVED, "--rounding-inputs=float", "--rounding-biases=false"], "9.2"),
    ("8 bits, a float scale for each channel of weights",
     ["--preset", "A8W8", "--weight-granularity", "channel", "--cle", "off"], "12.1"),
    ("that, and descent",
     ["--preset", "A8W8", "--weight-granularity", "channel", "--cle", "off", "--bias-correction", "false", *SOLVED], "-"),
]


def measured(args, options, out):
    run([args.program, "quantize", f"{args.zoo}/models/{args.model}.onnx", "--data",
         f"{args.zoo}/data/{args.model}/calib", "--limit", str(args.samples), "--out", out, "--force", "--quiet", *options])
    found = judge(f"{args.zoo}/models/{args.model}.onnx", out, f"{args.zoo}/data/{args.model}", args.judge).values()
    return [f"{sum(one['written_db'] for one in found) / len(found):.1f}",
            f"{sum(one['same_top1'] for one in found) / len(found):.2f}"]


def activations(args):
    found = run([args.program, "sensitivity", f"{args.zoo}/models/{args.model}.onnx", "--data",
                 f"{args.zoo}/data/{args.model}/calib", "--limit", str(args.samples), "--decompose", "--json", "--quiet",
                 *PLAIN])
    return [f"{found['activations_db']:.1f}", "-"]


def rows(args):
    yield ["activations alone", "`sensitivity --decompose`", *activations(args), "11.1"]
    with tempfile.TemporaryDirectory() as folder:
        for what, options, trial in STEPS:
            yield [what, f"`{' '.join(options)}`", *measured(args, options, f"{folder}/model.onnx"), trial]


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="mobilenet_v2")
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--judge", type=int, default=64)
    parser.add_argument("--zoo", default="build/zoo-all")
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--write", action="store_true", help="write bench/results/prototype.md")
    return parser.parse_args()


def main():
    args = parse()
    if not os.path.isdir(f"{args.zoo}/models"):
        sys.exit(f"no models in {args.zoo}: `make zoo` makes them (600 MB of downloads)")
    lines = ["# Step by step to rounding reconstruction", "",
             f"{datetime.date.today()}, {machine()}; {args.model}, {args.samples} samples, judged on {args.judge} others.",
             "", *__doc__.split("\n\n")[2].splitlines(), "",
             "| step | options | SQNR dB | same class | the trial's |", "|---|---|---|---|---|"]
    print("\n".join(lines))
    for cells in rows(args):
        lines.append(f"| {' | '.join(cells)} |")
        print(lines[-1], flush=True)
    if args.write:
        (HERE / "results" / "prototype.md").write_text("\n".join([*lines, ""]))
    return 0


if __name__ == "__main__":
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    sys.exit(main())
