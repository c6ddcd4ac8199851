#!/usr/bin/env python3
"""IQ3_XXS and IQ3_S on a small model: solved, weighted and nearest blocks, and as choices of `baryon llm auto`.

Blocks solved on ids diverge less than weighted ones, in files of the same size; with these types the divergence at the size of
Q3_K is less than without; bytes do not depend on threads; gguf-py reads what `llm dequantize` writes.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file
from test_ggml import load_gguf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib import gguf_file, llm_mixture_models  # noqa: E402
from llm_files import byte_tokenizer  # noqa: E402

BARYON = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "baryon"
LENGTH = 64
TEXT = ("--text", "learn.npy", "--length", LENGTH, "--windows", 8)
COMMON = ("--layout", "gguf", "--exclude", "*embed_tokens", "--exclude", "lm_head")
Q3_BITS = 3.4375
OLD = "q2_K,q3_K,iq4_xs,q4_K"
NEW = f"{OLD},iq3_xxs,iq3_s"


def run(folder, *arguments):
    return subprocess.run([BARYON, "llm", *map(str, arguments)], cwd=folder, capture_output=True, text=True)


def must(folder, *arguments):
    done = run(folder, *arguments)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return done.stdout


def uniform(folder, out, kind, *more):
    must(folder, "quantize", "model", "-o", out, "--scheme", "q6_k", "--layer", f"*_proj={kind}", *COMMON, *more)


def divergence(folder, out):
    return json.loads(must(folder, "eval", out, "--against", "model", "--text", "judge.npy", "--length", LENGTH, "--json"))["kl"]


def check_methods(folder):
    for kind in ("iq3_xxs", "iq3_s"):
        uniform(folder, "near.gguf", kind)
        uniform(folder, "weighted.gguf", kind, *TEXT, "--method", "importance")
        uniform(folder, "solved.gguf", kind, *TEXT)
        names = ("near.gguf", "weighted.gguf", "solved.gguf")
        found, sizes = [divergence(folder, name) for name in names], {(folder / name).stat().st_size for name in names}
        yield None if found[2] < 0.8 * min(found[:2]) and len(sizes) == 1 else f"{kind}: divergences {found}, sizes {sizes}"
        uniform(folder, "three.gguf", kind, *TEXT, "--threads", 3)
        same = (folder / "three.gguf").read_bytes() == (folder / "solved.gguf").read_bytes()
        yield None if same else f"{kind}: other bytes with three threads"
        uniform(folder, "gptq.gguf", kind, *TEXT, "--method", "gptq")
        gptq = divergence(folder, "gptq.gguf")
        yield None if gptq < 0.95 * found[1] else f"{kind}: divergence of gptq {gptq}, weighted {found[1]}"


def check_reader(folder):
    """Rows of q and k have another order in the folder, those of down do not."""
    quants, constants = load_gguf()
    must(folder, "dequantize", "solved.gguf", "-o", "floats", "--to", "f32")
    ours = load_file(folder / "floats/model.safetensors")["model.layers.1.mlp.down_proj.weight"]
    name, shape, content = gguf_file.Reader(folder / "solved.gguf").tensors["blk.1.ffn_down.weight"]
    blocks = np.frombuffer(content, np.uint8).reshape(shape[1], -1)
    theirs = quants.dequantize(blocks, constants.GGMLQuantizationType[name])
    yield None if name == "IQ3_S" and np.array_equal(ours, theirs) else f"{name}: other values"


def check_choices(folder):
    files, found = {}, {}
    for name, types, threads in (("all", NEW, 1), ("same", NEW, 3), ("old", OLD, 2)):
        must(folder, "auto", "model", "-o", f"{name}.gguf", "--bits", Q3_BITS, "--types", types, *COMMON, *TEXT, "--no-uniform", "--threads",
             threads, "--judge-windows", 2, "--probe-windows", 1)  # fmt: skip
        files[name], found[name] = (folder / f"{name}.gguf").read_bytes(), divergence(folder, f"{name}.gguf")
    uniform(folder, "q3.gguf", "q3_K", *TEXT)
    q3 = divergence(folder, "q3.gguf")
    yield None if files["all"] == files["same"] else "auto: other bytes with three threads"
    kinds = {kind for kind, _, _ in gguf_file.Reader(folder / "all.gguf").tensors.values()}
    yield None if kinds & {"IQ3_XXS", "IQ3_S"} else f"auto: chose {kinds}"
    yield None if len(files["all"]) <= (folder / "q3.gguf").stat().st_size else "auto: larger than asked for"
    yield None if found["all"] < min(0.97 * found["old"], 0.8 * q3) else f"auto: divergences {found}, of q3_K {q3}"


def main():
    with tempfile.TemporaryDirectory() as name:
        folder, draw = pathlib.Path(name), np.random.default_rng(31)
        llm_mixture_models.MODELS["points"] = (256, 256, 8, 2, 2, 0, False)
        llm_mixture_models.write("points", folder / "model")
        (folder / "model/tokenizer.json").write_text(json.dumps(byte_tokenizer()))
        for text, count in (("learn", 16), ("judge", 8)):
            np.save(folder / f"{text}.npy", draw.integers(0, 256, (count, LENGTH)).astype(np.uint16))
        results = [*check_methods(folder), *check_reader(folder), *check_choices(folder)]
    for line in filter(None, results):
        print("FAILED", line)
    print(f"{results.count(None)} passed, {len(results) - results.count(None)} failed")
    return any(results)


if __name__ == "__main__":
    sys.exit(main())
