"""Accuracy: ours beside AMD Quark and onnxruntime.quantization, preset by preset.

    accuracy.py [--models NAME,...] [--presets NAME,...] [--samples 32] [--judge 96] [--no-peers] [--write]
                [--keep FOLDER] [--peer-answers FOLDER]

The fourteen real models of bench/zoo (`make zoo`): calibrated on its `calib` samples, judged on
its `eval` samples, which share no source with them. SQNR of the outputs against the float model
in dB: mean over the outputs, each clipped to 0 to 100. "As written" is without integer kernels, which
saturate on x86 processors that have no VNNI. ORT_MinMax and the like are presets of
onnxruntime.quantization (uint8, int8 by channel); ours beside them: the nearest one, by channel too.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from measure import machine
from options import add_peers, find_peer, kept, parse, parser_for

HERE = pathlib.Path(__file__).parent
PRESETS = ["XINT8", "VINT8", "A8W8", "A16W8", "S8S8_AAWS", "U8S8_AAWS", "U8U8_AAWA", "S16S8_ASWS", "U16S8_AAWS",
           "INT8_CNN_DEFAULT", "INT16_CNN_DEFAULT", "INT8_TRANSFORMER_DEFAULT", "INT16_TRANSFORMER_DEFAULT",
           "UINT8_DYNAMIC_QUANT", "MATMUL_NBITS", "S16S16_MIXED_S8S8", "ORT_MinMax", "ORT_Percentile", "ORT_Entropy"]
BY_CHANNEL = ["--weight-granularity", "channel"]
BESIDE_ORT = {"ORT_MinMax": ["INT8_CNN_DEFAULT", *BY_CHANNEL], "ORT_Percentile": ["U8S8_AAWS", *BY_CHANNEL],
              "ORT_Entropy": ["INT8_CNN_DEFAULT", *BY_CHANNEL]}
LARGE = {"ppocrv4_rec", "ppocrv4_det", "centerface", "yolov8n_320"}  # judged on 32 samples at most, which take minutes
NO_DATA = {"UINT8_DYNAMIC_QUANT", "MATMUL_NBITS"}


def last_json(command, timeout, folder=None):
    """What a program, which may leave files in a folder, printed last; its complaint where that is no JSON."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, cwd=folder)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done in {timeout} s"}
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        return {"failed": (done.stderr.strip().splitlines() or ["no answer"])[-1][:200]}
    return json.loads(lines[-1])


def to_judge(args, model):
    return str(min(args.judge, 32) if model in LARGE else args.judge)


def judged(args, model, quantized, *library):
    found = last_json([args.python, str(HERE / "judge.py"), f"{args.zoo}/models/{model}.onnx", quantized,
                       f"{args.zoo}/data/{model}", to_judge(args, model), *library], 900)
    return found if "failed" in found else {"outputs": found}


def ours(args, model, preset, out):
    data = [] if preset in NO_DATA else ["--data", f"{args.zoo}/data/{model}/calib", "--limit", str(args.samples)]
    command = [args.program, "quantize", f"{args.zoo}/models/{model}.onnx", "--out", out, "--force", "--quiet",
               "--preset", *BESIDE_ORT.get(preset, [preset]), *args.options, *data]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return {"failed": done.stderr.strip()[:200]}
    return judged(args, model, out)


def theirs(args, model, preset, out):
    known = pathlib.Path(args.peer_answers or "", f"{model}.{preset}.json")
    if args.peer_answers and known.exists():
        answer = json.loads(known.read_text())
        written = known.with_suffix(".onnx")
        return judged(args, model, str(written)) if "failed" not in answer and written.exists() else answer
    if not args.peers or args.peer_answers:
        return {"failed": "not run"}
    command = [args.peers, str(HERE / "peer_quantize.py"), f"{args.zoo}/models/{model}.onnx", f"{args.zoo}/data/{model}",
               preset, out, "--limit", str(args.samples), "--judge", to_judge(args, model)]
    return last_json(command, args.timeout)


def level(answer, key="sqnr_db"):
    """Mean SQNR over the outputs, None when there is none."""
    if "failed" in answer or not answer.get("outputs"):
        return None
    values = [row.get(key) for row in answer["outputs"].values()]
    return None if None in values else sum(min(max(0, value), 100) for value in values) / len(values)  # NaN is 0


def text(value):
    return "-" if value is None else f"{value:.1f}"


def difference(mine, other):
    return "" if other is None else "fails" if mine is None else f"{mine - other:+.1f}"


def can_run(args, name):
    """False where the peer's answer is yet to come, which is not worth keeping."""
    return bool(args.peers) and not args.peer_answers or os.path.exists(f"{args.peer_answers}/{name}.json")


def rows(args):
    with tempfile.TemporaryDirectory() as folder:
        for preset in args.presets:
            for model in args.models:
                name = f"{model}.{preset}"
                mine = kept(args, name, lambda: ours(args, model, preset, os.path.join(folder, "ours.onnx")))
                other = theirs(args, model, preset, "") if not can_run(args, name) else kept(
                    args, f"{name}.peer", lambda: theirs(args, model, preset, os.path.join(folder, "peer.onnx")))
                a, b = level(mine), level(other)
                as_written = [level(answer, "written_db") for answer in (mine, other)]
                remark = "; ".join(f"{who}: {answer['failed']}" for who, answer in (("ours", mine), ("peer", other))
                                   if "failed" in answer)
                kernels = "" if a is None and "failed" not in mine else difference(a, b)
                row = (f"| {preset} | {model} | {text(a)} | {text(b)} | {kernels} | {text(as_written[0])} "
                       f"| {text(as_written[1])} | {difference(*as_written)} | {remark} |")
                print(row, flush=True)
                yield *as_written, row


def summary(results):
    both = [(a, b) for a, b, _ in results if a is not None and b is not None]
    return (f"Of {len(both)} pairs, as written ours is higher by more than 0.1 dB in {sum(a > b + 0.1 for a, b in both)}, within 0.1 dB in "
            f"{sum(abs(a - b) <= 0.1 for a, b in both)}, lower in {sum(a < b - 0.1 for a, b in both)}. The peer alone gives nothing "
            f"(it failed, was not done in time, or was not run) in {sum(b is None and a is not None for a, b, _ in results)}, ours alone gives nothing in "
            f"{sum(a is None and b is not None for a, b, _ in results)}.")


def main():
    parser = parser_for(__doc__, "accuracy.md", PRESETS, 32, 1800, "for ours")
    add_peers(parser)
    args = parse(parser)
    quark = find_peer(args)
    head = ["# Accuracy", "",
            f"{datetime.date.today()}, {machine()}; {args.samples} samples to calibrate, {args.judge} others to judge (of the four large models 32 at most). "
            + (f"Answers of amd-quark 0.13 and onnxruntime.quantization to the same samples were recorded before." if
               args.peer_answers else f"Peer: amd-quark {quark or 'absent'}."), "",
            *__doc__.split("\n\n")[2].splitlines(), "",
            "| preset | model | ours dB | peer dB | difference | ours as written | peer | difference | |",
            "|---|---|---|---|---|---|---|---|---|"]
    print("\n".join(head))
    results = list(rows(args))
    lines = [*head, *(row for *_, row in results), "", summary(results), ""]
    print(summary(results))
    if args.write:
        (HERE / "results" / "accuracy.md").write_text("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
