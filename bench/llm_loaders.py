"""Checkpoints that Baryon quantized, opened by the loaders of others: transformers (with compressed-tensors and Quark).

For each scheme and layout: logits of the loaded model beside those of the weights that `baryon llm dequantize` gives,
both in float32. Needs a Python with torch and transformers, and compressed-tensors and amd-quark for their layouts;
without the peer it says so.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CASES = [("compressed-tensors", s) for s in ("int4_wo_32", "uint4_wo_32", "int8_wo_per_channel", "fp8_wo_per_channel", "ptpc_fp8",
                                             "mxfp4_weight_only", "nvfp4_weight_only")]
CASES += [("quark", s) for s in ("int4_wo_32", "uint4_wo_32", "uint4_wo_64", "uint4_wo_per_channel", "int4_wo_per_channel", "int8_wo_32", "fp8", "ptpc_fp8", "mxfp4_weight_only",
                                 "mxfp6_e2m3")]


BF16_ONLY = {("compressed-tensors", "mxfp4_weight_only"), ("compressed-tensors", "nvfp4_weight_only")}  # the loader makes bf16 of them


def logits(folder, ids, dtype):
    import torch
    import transformers
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype))
    with torch.no_grad():
        return model.eval()(ids).logits.float()


def compare(program, source, layout, scheme, work):
    import torch
    out, back = f"{work}/{layout}-{scheme}", f"{work}/{layout}-{scheme}-back"
    for command in (["quantize", source, "-o", out, "--scheme", scheme, "--layout", layout], ["dequantize", out, "-o", back, "--to", "fp32"]):
        done = subprocess.run([program, "llm", *command, "--quiet"], capture_output=True, text=True)
        if done.returncode:
            return "not written: " + done.stderr.strip().splitlines()[-1][:110]
    vocab = json.loads(pathlib.Path(source, "config.json").read_text())["vocab_size"]
    ids = (torch.arange(48) * 7919 % vocab).reshape(2, 24)
    dtype = "bfloat16" if (layout, scheme) in BF16_ONLY else "float32"
    ours = logits(back, ids, dtype)
    try:
        theirs = logits(out, ids, dtype)
    except Exception as error:  # whatever a loader of others says
        text = str(error).strip().splitlines() or [""]
        return f"not loaded: {type(error).__name__}: {text[0][:140]}"
    return f"{dtype}: {float((ours - theirs).abs().max()):.2g} of {float(ours.abs().max()):.2g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("BARYON", "build/baryon"))
    parser.add_argument("--model", help="a folder; without it a small made one")
    parser.add_argument("--only", default="", help="layouts and schemes with this text")
    args = parser.parse_args()
    try:
        import compressed_tensors
        import torch
        import transformers
    except ImportError as error:
        print(f"{error}: nothing to compare with")
        return 0
    with tempfile.TemporaryDirectory() as work:
        source = args.model
        if not source:
            sys.path.insert(0, str(HERE.parent / "tests/lib"))
            import llm_weights
            source = f"{work}/model"
            llm_weights.write_model(source)
        print(f"torch {torch.__version__}, transformers {transformers.__version__}, compressed-tensors {compressed_tensors.__version__}")
        print("| layout | scheme | largest difference of logits, of the largest logit |\n|---|---|---|")
        for layout, scheme in CASES:
            if args.only not in f"{layout} {scheme}":
                continue
            noise = io.StringIO()
            with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
                said = compare(args.program, source, layout, scheme, work)
            print(f"| {layout} | {scheme} | {said} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
