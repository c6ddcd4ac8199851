"""Checkpoints that Baryon quantized, opened by the loaders of others: transformers (with compressed-tensors and Quark).

For each scheme and layout: logits of the loaded model beside those of the weights that `baryon llm dequantize` gives,
both in float32, and what both generate. Where a layout's loader cannot be installed, weights are unpacked by the format's
formulas (llm_unpack.py); GGUF is read by transformers, or where it has no gguf by the package gguf (--gguf: a folder of
packages with it). Rows with r4 rotate inputs of down while the model runs: compressed-tensors acts on its transform_config,
which transformers reads and leaves alone, and Quark's own importer opens its layout. Needs a Python with torch and transformers, and compressed-tensors and amd-quark for their layouts; a
layout without its loader is told.
"""

import argparse
import contextlib
import importlib.metadata
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
CASES += [("awq", "uint4_wo_32"), ("awq", "int4_wo_32"), ("gptq", "uint4_wo_32"), ("gptq", "int4_wo_32"), ("fp8", "fp8"),
          ("json-safetensors", "uint4_wo_32"), ("json-safetensors", "int4_wo_32")]
ROTATED = [("compressed-tensors", "int4_wo_32", 0), ("compressed-tensors", "int4_wo_32", 32), ("quark", "int4_wo_32", 0), ("quark", "int4_wo_32", 32)]
CASES += [("gguf", s) for s in ("q8_0", "q4_0", "q4_1", "q4_k_m", "q6_k")]
UNPACKED = {"awq", "gptq", "fp8", "json-safetensors"}
UNPACKED_TOO = {("compressed-tensors", "uint4_wo_32")}  # by its own decompression
PROMPT, MORE = 8, 12  # tokens

BF16_ONLY = {("compressed-tensors", "mxfp4_weight_only"), ("compressed-tensors", "nvfp4_weight_only")}  # the loader makes bf16 of them


def opened(folder, dtype, **more):
    import torch
    import transformers
    return transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, dtype), **more)


def answers(model, ids):
    """Logits, and the tokens that follow the first ones."""
    import torch
    with torch.no_grad():
        model.eval()
        text = model.generate(ids[:1, :PROMPT], max_new_tokens=MORE, min_new_tokens=MORE, do_sample=False, pad_token_id=0)
        return model(ids).logits.float(), text[0].tolist()


def transformed(out):
    """By compressed-tensors: what is done to inputs, since weights are rotated already."""
    import safetensors.torch
    from compressed_tensors.transform import TransformConfig, TransformFactory, TransformScheme
    model = opened(out, "float32")
    said = json.loads(pathlib.Path(out, "config.json").read_text())["quantization_config"]["transform_config"]
    for name, group in TransformConfig(**said).config_groups.items():
        online = TransformScheme(**{**group.model_dump(), "apply": [apply for apply in group.apply if apply.is_online()]})
        TransformFactory.from_scheme(online, name=name).apply_to_model(model, use_tqdm=False)
    own = dict(model.named_parameters(remove_duplicate=False))
    for path in pathlib.Path(out).glob("*.safetensors"):
        for name, matrix in safetensors.torch.load_file(path).items():
            if name.endswith("R4_input.weight"):  # a matrix that is not made
                own[name].data.copy_(matrix)
    return model


def imported(out, source):
    import torch
    import transformers
    from quark.torch import import_model_from_safetensors
    empty = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.from_pretrained(source), dtype=torch.float32)
    return import_model_from_safetensors(empty, out)


def theirs_of(out, layout, scheme, dtype, rotated_from=None):
    if rotated_from:
        return transformed(out) if layout == "compressed-tensors" else imported(out, rotated_from)
    if layout in UNPACKED or (layout, scheme) in UNPACKED_TOO:
        import llm_unpack
        return llm_unpack.model_of(out, layout, 32)
    if layout == "gguf":
        path = pathlib.Path(out)
        return opened(str(path.parent), dtype, gguf_file=path.name)
    return opened(out, dtype)


def compare(program, source, layout, scheme, work, rotate=None):
    import torch
    out = f"{work}/{layout}-{scheme}-{rotate}"
    back = f"{out}-back"
    more = []
    if rotate is not None:  # Quark's importer computes in the type of the file
        more = ["--rotate", "r1r2r4", "--rotate-size", str(rotate)]
        floats = f"{work}/floats"
        if not os.path.exists(floats):
            subprocess.run([program, "llm", "dequantize", source, "-o", floats, "--to", "fp32", "--quiet"], check=True)
        source = floats
    if layout == "gguf":
        os.makedirs(out)
        out += "/model.gguf"
    for command in (["quantize", source, "-o", out, "--scheme", scheme, "--layout", layout, *more], ["dequantize", out, "-o", back, "--to", "fp32"]):
        done = subprocess.run([program, "llm", *command, "--quiet"], capture_output=True, text=True)
        if done.returncode:
            return "not written: " + done.stderr.strip().splitlines()[-1][:110]
    vocab = json.loads(pathlib.Path(source, "config.json").read_text())["vocab_size"]
    ids = (torch.arange(48) * 7919 % vocab).reshape(2, 24)
    dtype = "bfloat16" if (layout, scheme) in BF16_ONLY else "float32"
    ours, text = answers(opened(back, dtype), ids)
    try:
        theirs, other = answers(theirs_of(out, layout, scheme, dtype, None if rotate is None else source), ids)
    except Exception as error:  # whatever a loader of others says
        lines = str(error).strip().splitlines() or [""]
        return f"not loaded: {type(error).__name__}: {lines[0][:140]}"
    same = "the same tokens" if text == other else f"{sum(a == b for a, b in zip(text, other)) - PROMPT} of {MORE} tokens the same"
    return f"{dtype}: {float((ours - theirs).abs().max()):.2g} of {float(ours.abs().max()):.2g}; {same}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("BARYON", "build/baryon"))
    parser.add_argument("--model", help="a folder; without it a small made one")
    parser.add_argument("--gguf", default="build/venv/lib/python3.11/site-packages", help="a folder of packages with gguf")
    parser.add_argument("--only", default="", help="layouts and schemes with this text")
    args = parser.parse_args()
    sys.path.append(args.gguf)
    try:
        import torch
        import transformers
    except ImportError as error:
        print(f"{error}: nothing to compare with")
        return 0
    with tempfile.TemporaryDirectory() as work:
        source = args.model
        if not source:
            sys.path.insert(0, str(HERE.parent / "tests/lib"))
            import llm_tokenizer
            import llm_weights
            source = f"{work}/model"
            llm_weights.write_model(source)
            llm_tokenizer.write_tokenizer(source)  # GGUF files have one
        print(f"torch {torch.__version__}, transformers {transformers.__version__}")
        for peer in ("compressed-tensors", "amd-quark", "gguf"):
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                print(f"{peer} {importlib.metadata.version(peer)}")
        print("| layout | scheme | largest difference of logits, of the largest logit |\n|---|---|---|")
        for layout, scheme, rotate in [(*case, None) for case in CASES] + ROTATED:
            name = scheme if rotate is None else f"{scheme} r4 {rotate or 'whole'}"
            if args.only not in f"{layout} {name}":
                continue
            noise = io.StringIO()
            with contextlib.redirect_stdout(noise), contextlib.redirect_stderr(noise):
                said = compare(args.program, source, layout, scheme, work, rotate)
            print(f"| {layout} | {name} | {said} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
