"""The search of `baryon auto`, beside a peer's fixed presets on the same samples.

    auto.py [--models NAME,...] [--targets any,cpu,xint8] [--goals 20,30] [--samples 48] [--no-peers]
    auto.py --adaround [--models NAME,...] [--samples 48]
    auto.py --presets [--seconds 200] [--models NAME,...] [--samples 48]
    auto.py --ladder [--models NAME,...] [--samples 48] [--write]

First: for each model, target and goal in dB what was found: SQNR of the worst output on the samples that chose and on
the last ones, the share of multiply-adds in 8 bits or less, size, steps, and seconds of processors, also as a multiple
of those that the float model takes for all samples in one thread. With AMD Quark 0.13 in build/peers (`make peers`) a
second table: its presets and its AutoMixprecision, calibrated on the same samples and measured on the last ones.
Both tables are printed as bench/results/auto.md has them.

--adaround: the search for target any at 20 dB beside Quark's XINT8_ADAROUND, which has the search's seconds of processors
and 10 more for imports, and is ended then.

--presets: the search for target any at 20 dB beside Quark's presets and its AutoMixprecision, each of which has --seconds
of processors.

--ladder: the steps of Quark's best practice for Ryzen AI, each for itself, on the samples that calibrate, measured on
the last ones. --write: docs/ladder.md.
"""

import argparse
import datetime
import glob
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import onnxruntime
from measure import lay_out, machine, run

HERE = pathlib.Path(__file__).parent
ZOO = os.environ.get("ZOO", "build/zoo-all")
BARYON = os.path.abspath(os.environ.get("BARYON", "build/baryon"))
PEER_PRESETS = {"xint8": ["XINT8", "XINT8_ADAROUND"], "cpu": ["U8S8_AAWS", "INT8_CNN_DEFAULT"],
                "any": ["A8W8", "A16W8", "A16W8+GOAL"]}
LADDER_MODELS = ["mobilenet_v2", "ppocr_cls", "silero_vad"]
LADDER = [
    ("XINT8", "XINT8", ["--cle", "off", "--bias-correction=false"]),
    ("XINT8, equalization and biases", "XINT8", []),
    ("XINT8, AdaRound", "XINT8_ADAROUND", []),
    ("XINT8, AdaQuant", "XINT8_ADAQUANT", []),
    ("A8W8", "A8W8", []),
    ("A8W8, per channel", "A8W8", ["--weight-granularity", "channel"]),
    ("A8W8, per channel, AdaRound", "A8W8_ADAROUND", ["--weight-granularity", "channel"]),
    ("A16W8", "A16W8", []),
    ("A16W8, AdaRound", "A16W8_ADAROUND", []),
    ("BFP16", "BFP16", []),
    ("BF16", "BF16", []),
]


def samples_of(model):
    return sorted(glob.glob(f"{ZOO}/data/{model}/calib/*.npz"))


def inference(path, files):
    """Seconds of processors that the float model takes for these samples, in one thread; the median of three turns."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    names = [port.name for port in session.get_inputs()]
    loaded = [np.load(file) for file in files]
    feeds = [{name: sample[name] for name in names} for sample in loaded]
    session.run(None, feeds[0])
    times = []
    for _ in range(3):
        begin = time.process_time()
        for feed in feeds:
            session.run(None, feed)
        times.append(time.process_time() - begin)
    return statistics.median(times)


def search(path, folder, data, target, goal):
    """What `baryon auto` found; a goal that is missed is a result."""
    out = f"{folder}/out.onnx"
    begin = os.times()
    command = [BARYON, "auto", path, "-o", out, "-f", "-q", "--data", data, "--target", target, "--goal", f"sqnr>={goal}",
               "--report", f"{folder}/report.json"]
    done = subprocess.run(command, capture_output=True, check=False)
    end = os.times()
    if done.returncode not in (0, 7):
        return {"failed": done.stderr.decode().strip().splitlines()[-1]}
    with open(f"{folder}/report.json", encoding="utf-8") as file:
        report = json.load(file)
    report["cpu"] = end.children_user + end.children_system - begin.children_user - begin.children_system
    return report


def peer(python, path, folder, preset, timeout):
    """SQNR of the peer's preset on the last samples, and seconds of its call."""
    command = [os.path.abspath(python), str(HERE.resolve() / "peer_quantize.py"), os.path.abspath(path),
               os.path.abspath(folder), preset, f"{folder}/peer.onnx"]
    return run(command, timeout=timeout, folder=folder)


def db(value):
    return "-" if value is None else f"{value:.1f}"


def final_step(report):
    return next(step for step in report["steps"] if step["state"] == "final")


def describe(report, bare):
    if "failed" in report:
        return report["failed"]
    step = final_step(report)
    met = "" if report["outcome"]["goal"] == "met" else " (missed)"
    return (f"{step['name']}{met} | {db(step['choose']['sqnr'])} | {db(step['last']['sqnr'])} | "
            f"{100 * step['low_bits_share']:.1f} % | {report['bytes'] / report['bytes_before']:.2f} | "
            f"{len(report['steps'])} | {report['cpu']:.0f} | {report['cpu'] / bare:.0f}")


def worst_db(result):
    """SQNR of the worst output of the peer's model; None: no output has floats to compare."""
    return min((output["written_db"] for output in result["outputs"].values()), default=None)


def peer_rows(args, model, path, folder, target, goal):
    """Rows of the peer's presets; AutoMixprecision takes the goal as its threshold."""
    rows = []
    for preset in PEER_PRESETS[target]:
        preset = preset.replace("GOAL", str(goal))
        result = peer(args.peers, path, folder, preset, args.timeout)
        if "failed" in result:
            rows.append(f"| {model} | {target} | Quark {preset} | {result['failed']} | | | |")
        else:
            rows.append(f"| {model} | {target} | Quark {preset} | {db(worst_db(result))} | {100 * result['low_bits_share']:.1f} % | "
                        f"{result['bytes'] / os.path.getsize(path):.2f} | {result['cpu']:.0f} |")
        print(rows[-1], flush=True)
    return rows


def own_row(model, target, report):
    step = final_step(report)
    return (f"| {model} | {target} | {step['name']} | {db(step['last']['sqnr'])} | {100 * step['low_bits_share']:.1f} % | "
            f"{report['bytes'] / report['bytes_before']:.2f} | {report['cpu']:.0f} |")


def split_for_peer(files, report, folder):
    """The peer's samples are those of ours: it calibrates on the same ones, and the last ones judge."""
    parts = report["splits"]
    for name, part in (("calib", "calibrate"), ("eval", "last")):
        chosen = files[parts[part]["first"]:][: parts[part]["count"]]
        lay_out(chosen, len(chosen), f"{folder}/{name}")


def summary(shares, multiples, missed):
    text = ""
    if shares:
        text = (f"Target any, 20 dB: reached by {len(shares) - len(missed)} of {len(shares)}"
                f"{' (not: ' + ', '.join(missed) + ')' if missed else ''}; median of multiply-adds in 8 bits or less "
                f"{100 * statistics.median(shares):.1f} %. ")
    return text + (f"Seconds of processors less 10, over bare inference: median {statistics.median(multiples):.0f}, "
                   f"greatest {max(multiples):.0f}, above 40 in {sum(m > 40 for m in multiples)} of {len(multiples)}.")


def search_all(args):
    lines = ["| model | target | goal dB | found | chosen | last | 8 bits | size | steps | processor s | times bare |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    beside = ["| model | target | | last dB | 8 bits | size | processor s |", "|---|---|---|---|---|---|---|"]
    shares, multiples, missed = [], [], []
    for model in args.models:
        path, files = f"{ZOO}/models/{model}.onnx", samples_of(model)[: args.samples]
        bare = inference(path, files)
        with tempfile.TemporaryDirectory() as folder:
            data = lay_out(files, len(files), f"{folder}/data")
            for target, goal in itertools.product(args.targets, args.goals):
                report = search(path, folder, data, target, goal)
                lines.append(f"| {model} | {target} | {goal} | {describe(report, bare)} |")
                print(lines[-1], flush=True)
                if "failed" in report:
                    continue
                if target == "any" and goal == 20:
                    shares.append(final_step(report)["low_bits_share"])
                    missed += [model] if report["outcome"]["goal"] != "met" else []
                multiples.append((report["cpu"] - 10) / bare)
                if args.peers:
                    if not os.path.exists(f"{folder}/calib"):
                        split_for_peer(files, report, folder)
                    beside += [own_row(model, target, report), *peer_rows(args, model, path, folder, target, goal)]
    return [*lines, "", summary(shares, multiples, missed), *(["", *beside] if args.peers else [])]


IMPORTS = 10  # seconds of processors that importing torch and Quark takes, and more


def limited_peer(args, path, folder, preset, seconds):
    """What the peer's preset has when it has had so many seconds of processors."""
    limited = ["bash", "-c", f'ulimit -S -t {int(seconds)}; exec "$@"', "peer", os.path.abspath(args.peers),
               str(HERE.resolve() / "peer_quantize.py"), os.path.abspath(path), os.path.abspath(folder), preset,
               f"{folder}/peer.onnx"]
    result = run(limited, timeout=args.timeout, folder=folder)
    if "failed" in result:
        return result["failed"]
    return f"{db(worst_db(result))} dB, {100 * result['low_bits_share']:.0f} %, {result['cpu']:.0f} s"


def beside_limited(args, presets, seconds_of):
    """The search for target any at 20 dB, and presets of the peer with a limit of processor seconds."""
    names = [f"Quark {preset}" for preset in presets]
    lines = ["| model | found | last dB | 8 bits | size | processor s | " + " | ".join(names) + " |",
             "|---|---|---|---|---|---|" + "---|" * len(names)]
    for model in args.models:
        path, files = f"{ZOO}/models/{model}.onnx", samples_of(model)[: args.samples]
        with tempfile.TemporaryDirectory() as folder:
            report = search(path, folder, lay_out(files, len(files), f"{folder}/data"), "any", 20)
            split_for_peer(files, report, folder)
            own = own_row(model, "any", report).replace("| any ", "", 1)
            lines.append(own + "".join(f" {limited_peer(args, path, folder, preset, seconds_of(report))} |"
                                       for preset in presets))
            print(lines[-1], flush=True)
    return lines


def beside_adaround(args):
    return beside_limited(args, ["XINT8_ADAROUND"], lambda report: report["cpu"] + IMPORTS)


def beside_presets(args):
    return beside_limited(args, ["XINT8", "A8W8", "A16W8", "A16W8+20"], lambda report: args.seconds)


def print_head(args):
    print("\n".join([
        f"{datetime.date.today()}, {machine()}; {args.samples} samples of each model: half calibrate, a quarter chooses, "
        "a quarter is last. SQNR of the worst output in dB. Size: of the float model. Processor s: of the whole command; "
        "times bare: the same over the float model's on all samples.", ""]))


def climb(model, args):
    """Rows of the seed's ladder."""
    path, files = f"{ZOO}/models/{model}.onnx", samples_of(model)[: args.samples]
    half = len(files) // 2
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        calib = lay_out(files[:half], half, f"{folder}/calib")
        last = lay_out(files[half:], len(files) - half, f"{folder}/last")
        for name, preset, more in LADDER:
            out = f"{folder}/out.onnx"
            begin = run([BARYON, "quantize", path, "-o", out, "-f", "-q", "--no-judge", "-p", preset, "--data", calib, *more])
            judged = run([BARYON, "evaluate", path, out, "--data", last, "--json", "-q"])
            sqnr = min(score["mean"] for score in judged["scores"] if score["metric"] == "sqnr")
            rows.append((name, sqnr, begin["cpu"], os.path.getsize(out) / os.path.getsize(path)))
            print(model, *rows[-1], flush=True)
    return rows


def ladder_all(args):
    table = {model: climb(model, args) for model in args.models}
    lines = ["| step | " + " | ".join(f"{model}: dB | s | size" for model in table) + " |",
             "|---|" + "---|" * (3 * len(table))]
    for number, (name, *_) in enumerate(LADDER):
        cells = [f"{rows[number][1]:.1f} | {rows[number][2]:.1f} | {rows[number][3]:.2f}" for rows in table.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def write_ladder(args, lines):
    head = ["# The ladder of Quark's best practice", "",
            "AMD's page on best practice for Ryzen AI has a ladder that a person climbs: XINT8, equalization, AdaRound, "
            "AdaQuant, then A8W8, A16W8, BFP16 and BF16, and the algorithms again, measuring after each step. Here is each "
            f"step with Baryon's presets, on {args.samples // 2} samples, and the SQNR of the worst output in dB on "
            f"{args.samples - args.samples // 2} others; s: seconds of processors; size: of the float model.", "",
            f"{datetime.date.today()}, {machine()}; `bench/auto.py --ladder --write`", ""]
    tail = ["", "What a step gains differs from network to network. "
            "`baryon auto --target vitis-ai` [climbs it by itself](auto.md) and stops at the first step that has the "
            "quality asked for."]
    pathlib.Path("docs/ladder.md").write_text("\n".join(head + lines + tail) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models")
    parser.add_argument("--targets", default="any,cpu,xint8")
    parser.add_argument("--goals", default="20,30")
    parser.add_argument("--samples", type=int, default=48)
    parser.add_argument("--ladder", action="store_true")
    parser.add_argument("--adaround", action="store_true")
    parser.add_argument("--presets", action="store_true")
    parser.add_argument("--seconds", type=int, default=200, help="of processors, for each preset of the peer")
    parser.add_argument("--peers", default="build/peers/bin/python", help="has amd-quark")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--timeout", type=int, default=1800, help="seconds that a run of the peer may take")
    parser.add_argument("--write", action="store_true", help="docs/ladder.md")
    args = parser.parse_args()
    every = LADDER_MODELS if args.ladder else [os.path.basename(path)[:-5] for path in sorted(glob.glob(f"{ZOO}/models/*.onnx"))]
    args.models = args.models.split(",") if args.models else every
    args.targets = args.targets.split(",")
    args.goals = [float(goal) if "." in goal else int(goal) for goal in args.goals.split(",")]
    args.peers = None if args.no_peers or not os.path.exists(args.peers) else args.peers
    if not args.models:
        sys.exit(f"there are no models in {ZOO}/models: bench/zoo/fetch.sh makes them")
    if not args.peers and not args.ladder:
        print("no peers: ours alone (`make peers` installs them, 3 GB)")
    if not args.ladder:
        print_head(args)
    if (args.adaround or args.presets) and not args.peers:
        sys.exit("--adaround and --presets require the peer")
    ways = {"ladder": ladder_all, "adaround": beside_adaround, "presets": beside_presets}
    way = next((way for name, way in ways.items() if getattr(args, name)), search_all)
    lines = way(args)
    print("\n".join(lines))
    if args.write and args.ladder:
        write_ladder(args, lines)


if __name__ == "__main__":
    main()
