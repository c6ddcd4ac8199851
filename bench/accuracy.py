"""Accuracy: ours beside AMD Quark and onnxruntime.quantization, preset by preset.

    accuracy.py [--models NAME,...] [--presets NAME,...] [--samples 32] [--judge 32] [--no-peers] [--write]

The eleven real models of bench/zoo (`make zoo`): calibrated on its `calib` samples, judged on
its `eval` samples, which share no source with them. SQNR of the outputs against the float model
in dB: mean over the outputs, each clipped to 0 to 100. Ours and the peers' in the same run on the same samples.
"""

import argparse
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from measure import machine, version

HERE = pathlib.Path(__file__).parent
MODELS = ["mobilenet_v2", "ppocrv4_rec", "ppocrv4_det", "ppocr_cls", "centerface", "mtcnn_onet", "minilm_l6",
          "magika", "silero_vad", "crepe_tiny", "yolov8n_320"]
PRESETS = ["XINT8", "VINT8", "A8W8", "A16W8", "S8S8_AAWS", "U8S8_AAWS", "U8U8_AAWA", "S16S8_ASWS", "U16S8_AAWS",
           "INT8_CNN_DEFAULT", "INT16_CNN_DEFAULT", "INT8_TRANSFORMER_DEFAULT", "INT16_TRANSFORMER_DEFAULT",
           "UINT8_DYNAMIC_QUANT", "MATMUL_NBITS", "S16S16_MIXED_S8S8"]
NO_DATA = {"UINT8_DYNAMIC_QUANT", "MATMUL_NBITS"}


def last_json(command, timeout):
    """What a program printed last; its complaint where that is no JSON."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {timeout} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"failed": (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]}
    return json.loads(lines[-1])


def ours(args, model, preset, out):
    data = [] if preset in NO_DATA else ["--data", f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples)]
    command = [args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", out, "--preset", preset,
               "--force", "--quiet", *args.options, *data]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"failed": done.stderr.strip()[:200]}
    judge = [args.python, str(HERE / "judge.py"), f"{args.zoo}/models/{model}.onnx", out,
             f"{args.zoo}/data/{model}", str(args.judge)]
    found = last_json(judge, 900)
    return found if "failed" in found else {"outputs": found}


def theirs(args, model, preset, out):
    kept = pathlib.Path(args.peer_answers, f"{model}.{preset}.json") if args.peer_answers else None
    if kept and kept.exists() and "failed" not in (answer := json.loads(kept.read_text())):
        return answer
    if not args.peers:
        return {"failed": "absent"}
    command = [args.peers, str(HERE / "peer_quantize.py"), f"{args.zoo}/models/{model}.onnx", f"{args.zoo}/data/{model}",
               preset, out, "--limit", str(args.samples), "--judge", str(args.judge)]
    return last_json(command, args.timeout)


def level(answer):
    """Mean SQNR over the outputs, None when there is none."""
    if "failed" in answer or not answer.get("outputs"):
        return None
    values = [min(max(row["sqnr_db"], 0), 100) for row in answer["outputs"].values()]
    return sum(values) / len(values)


def text(value):
    return "fails" if value is None else f"{value:.1f}"


def rows(args):
    with tempfile.TemporaryDirectory() as folder:
        for preset in args.presets:
            for model in args.models:
                mine = ours(args, model, preset, os.path.join(folder, "ours.onnx"))
                quark = theirs(args, model, preset, os.path.join(folder, "quark.onnx"))
                a, b = level(mine), level(quark)
                verdict = "" if b is None else "fails" if a is None else f"{a - b:+.1f}"
                remark = "; ".join(f"{who}: {answer['failed']}" for who, answer in (("ours", mine), ("Quark", quark))
                                   if "failed" in answer)
                row = f"| {preset} | {model} | {text(a)} | {text(b)} | {verdict} | {remark} |"
                print(row, flush=True)
                yield preset, a, b, row


def summary(results):
    both = [(a, b) for _, a, b, _ in results if a is not None and b is not None]
    return (f"Of {len(both)} pairs, ours is higher by more than 0.1 dB in {sum(a > b + 0.1 for a, b in both)}, within 0.1 dB in "
            f"{sum(abs(a - b) <= 0.1 for a, b in both)}, lower in {sum(a < b - 0.1 for a, b in both)}. Quark alone fails "
            f"in {sum(b is None and a is not None for _, a, b, _ in results)}, ours alone in "
            f"{sum(a is None and b is not None for _, a, b, _ in results)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", type=lambda t: t.split(","), default=MODELS)
    parser.add_argument("--presets", type=lambda t: t.split(","), default=PRESETS)
    parser.add_argument("--samples", type=int, default=32)
    parser.add_argument("--judge", type=int, default=32)
    parser.add_argument("--zoo", default="build/zoo-all")
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--options", type=lambda t: t.split(), default=[], help="further ones for ours")
    parser.add_argument("--peers", default="build/peers/bin/python", help="has amd-quark and onnxruntime")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--peer-answers", help="folder with MODEL.PRESET.json of earlier runs of the peer")
    parser.add_argument("--python", default="build/venv/bin/python", help="has onnxruntime and numpy")
    parser.add_argument("--timeout", type=int, default=1800)
    parser.add_argument("--write", action="store_true", help="write bench/results/accuracy.md")
    args = parser.parse_args()
    if not os.path.isdir(f"{args.zoo}/models"):
        sys.exit(f"no models in {args.zoo}: `make zoo` makes them (600 MB of downloads)")
    quark = None if args.no_peers else version(args.peers, "amd-quark")
    if not quark:
        args.peers = None
        print("no peers in build/peers: ours alone (`make peers` installs them, 3 GB)")
    head = ["# Accuracy", "",
            f"{datetime.date.today()}, {machine()}; {args.samples} samples to calibrate, {args.judge} others to judge. "
            f"Peer: amd-quark {quark or 'absent'}.", "", *__doc__.split("\n\n")[2].splitlines(), "",
            "| preset | model | ours dB | Quark dB | difference | |", "|---|---|---|---|---|---|"]
    print("\n".join(head))
    results = list(rows(args))
    lines = [*head, *(row for *_, row in results), "", summary(results), ""]
    print(summary(results))
    if args.write:
        (HERE / "results" / "accuracy.md").write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
