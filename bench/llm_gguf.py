#!/usr/bin/env python3
"""GGUF types solved on texts, beside llama-quantize with an importance matrix of the same text: divergence from the float model.

The model is that of llm_base.py, with hidden size and heads filled up with zeros to a multiple of 256: the same function, in
whole blocks of the K types. Linear layers alone are quantized, all in one type; embeddings stay floats. Without a folder with
llama-imatrix and llama-quantize (built from the sources in the package llama-cpp-python) our encoder stands for it, which
writes the same bytes of the same importance matrix (tests/diff/test_llm_importance.py): with --matrix that of llm_imatrix.py,
else, in the rows `importance`, the mean squares that our own pass finds in the rounded model.
usage: llm_gguf.py BARYON FOLDER [--llama FOLDER | --matrix FILE] [--windows COUNT] [TYPE...]"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import llm_base  # noqa: E402
import measure  # noqa: E402

TYPES = {"q4_k": "Q4_K_S", "q3_k": "Q3_K_S", "iq4_xs": "IQ4_XS", "q2_k": "Q2_K", "iq4_nl": "IQ4_NL", "mxfp4": None,
         "q4_0": "Q4_0", "q5_k": "Q5_K_S", "iq3_s": "IQ3_S", "iq3_xxs": "IQ3_XXS"}
LENGTH = 512


def padded(base, out):
    """Heads and hidden channels of zeros; norms are multiplied so that the mean square of more channels gives the same."""
    if os.path.exists(f"{out}/config.json"):
        return out
    config = json.load(open(f"{base}/config.json"))
    tensors = llm_base.read_safetensors(f"{base}/model.safetensors")
    hidden, heads, kv_heads = (config[k] for k in ("hidden_size", "num_attention_heads", "num_key_value_heads"))
    width, more = hidden // heads, -(-hidden // 256) * 256
    while more // width % (heads // kv_heads):
        more += 256
    rows = {"q_proj": more, "k_proj": more * kv_heads // heads, "v_proj": more * kv_heads // heads, "o_proj": more, "down_proj": more}
    columns = {"down_proj": config["intermediate_size"]}
    for name, values in tensors.items():
        kind = name.split(".")[-2]
        if values.ndim == 1:
            tensors[name] = np.pad(values * np.float32(math.sqrt(hidden / more)), (0, more - hidden))
            continue
        shape = (rows.get(kind, values.shape[0]), columns.get(kind, more))
        tensors[name] = np.pad(values, [(0, n - m) for n, m in zip(shape, values.shape)])
    config.update(hidden_size=more, num_attention_heads=more // width, num_key_value_heads=more // width * kv_heads // heads,
                  head_dim=width, rms_norm_eps=config["rms_norm_eps"] * hidden / more, torch_dtype="float32")
    os.makedirs(out, exist_ok=True)
    llm_base.write_safetensors(f"{out}/model.safetensors", tensors)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        open(f"{out}/{name}", "w").write(open(f"{base}/{name}").read())
    json.dump(config, open(f"{out}/config.json", "w"))
    return out


def pieces(paths, count, out):
    """Characters that fill windows, and few more: evenly spread over the texts. A token has 4.1 of them."""
    texts = []
    for path in paths:
        text = open(path).read()
        size, own = int(LENGTH * 4.2), count // len(paths)
        texts += [text[(len(text) - size) * (2 * i + 1) // (2 * own):][:size] for i in range(own)]
    open(out, "w").write("\n\n".join(texts))
    return out


def run(*arguments):
    """What the program prints, its processor seconds, and its peak memory in MiB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen([str(a) for a in arguments], stdout=out, stderr=errors)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        for file in (out, errors):
            file.seek(0)
        if status:
            sys.exit(f"{' '.join(map(str, arguments))}: {errors.read()[-2000:]}")
        return out.read(), used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("baryon")
    parser.add_argument("folder")
    parser.add_argument("--llama")
    parser.add_argument("--matrix", help="an importance matrix of learn.txt in the folder")
    parser.add_argument("--windows", type=int, default=8)
    parser.add_argument("types", nargs="*")
    given = parser.parse_intermixed_args()
    folder, windows = given.folder, given.windows
    os.makedirs(folder, exist_ok=True)
    llm_base.fetch_texts(folder)
    base = measure.apart(padded, measure.apart(llm_base.make_base, given.baryon, folder), f"{folder}/padded")
    learn = pieces([f"{folder}/debian-handbook.txt"], windows, f"{folder}/learn.txt")
    judge = pieces([f"{folder}/debian-reference-en.txt", f"{folder}/developers-reference.txt"], windows, f"{folder}/judge.txt")
    out, source, matrix = (f"{folder}/{name}" for name in ("out.gguf", "source.gguf", "matrix.gguf"))
    if given.llama:
        run(given.baryon, "llm", "convert", base, "-o", source, "--type", "f32")
        run(f"{given.llama}/llama-imatrix", "-m", source, "-f", learn, "-o", matrix, "-c", LENGTH, "-b", LENGTH, "-ub", LENGTH,
            "--chunks", windows, "--no-ppl")
    elif not given.matrix:
        print("llama-imatrix and llama-quantize are not there: their encoder with our mean squares stands for them\n")
    print("| type | made by | KL divergence (standard error) | perplexity | same token | CPU s | peak MiB |\n"
          "|---|---|---|---|---|---|---|")
    for type_name in given.types or TYPES:
        rows = ["matrix" if given.matrix else "importance", "descent"]
        if given.llama and TYPES[type_name]:
            rows[0] = "llama-quantize"
        ours = [given.baryon, "llm", "quantize", base, "-o", out, "--layout", "gguf", "--scheme", "q4_k_m", "--layer",
                f"*_proj={type_name}", "--exclude", "*embed_tokens", "-q"]
        for row in rows:
            if os.path.exists(out):
                os.remove(out)
            if row == "llama-quantize":
                _, seconds, peak = run(f"{given.llama}/llama-quantize", "--imatrix", matrix, "--pure", "--token-embedding-type",
                                       "f16", "--output-tensor-type", "f16", source, out, TYPES[type_name])
            elif row == "matrix":
                _, seconds, peak = run(*ours, "--importance", given.matrix)
            else:
                _, seconds, peak = run(*ours, "--method", row, "--text", learn, "--length", LENGTH, "--windows", windows)
            told = json.loads(run(given.baryon, "llm", "eval", out, "--against", base, "--text", judge, "--length", LENGTH,
                                  "--windows", windows, "--json", "-q")[0])
            print(f"| {type_name} | {row} | {told['kl']:.4f} ({told['kl_error']:.4f}) | {told['perplexity']:.2f} "
                  f"| {100 * told['same_top']:.1f} % | {seconds:.0f} | {peak:.0f} |", flush=True)
            os.remove(out)


if __name__ == "__main__":
    main()
