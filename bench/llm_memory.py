"""Memory of rounding on texts at the layer sizes of 7 billion parameters, beside the formula of docs/llm-quantize.md.

    bench/llm_memory.py [--work FOLDER] [--baryon PROGRAM] [--layers 2] [--windows 2] [--method descent]
                        [--stream-type float32] [LIMIT ...]

Makes a decoder of random bf16 weights (hidden size 4,096, 11,008 inside, 32 heads) and rounds it to int4 in groups of 64 on
random ids, with each LIMIT: `none`, a size such as 3GB, or `least`, which is what the refusal of 1 MB names. Prints the greatest
part of the process that lies in no file (RssAnon), what the formula says, and processor seconds. Descent goes through columns
once: that changes no memory. Weights are random, so that nothing is said of accuracy.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import time

import numpy as np

HIDDEN, INNER, VOCAB, HEADS, LENGTH = 4096, 11008, 1024, 32, 512
SHAPES = {"self_attn.q_proj": (HIDDEN, HIDDEN), "self_attn.k_proj": (HIDDEN, HIDDEN), "self_attn.v_proj": (HIDDEN, HIDDEN),
          "self_attn.o_proj": (HIDDEN, HIDDEN), "mlp.gate_proj": (INNER, HIDDEN), "mlp.up_proj": (INNER, HIDDEN),
          "mlp.down_proj": (HIDDEN, INNER)}  # fmt: skip


def tensors_of(layers):
    yield "model.embed_tokens", (VOCAB, HIDDEN)
    yield "model.norm", (HIDDEN,)
    for layer in range(layers):
        for norm in ("input_layernorm", "post_attention_layernorm"):
            yield f"model.layers.{layer}.{norm}", (HIDDEN,)
        for name, shape in SHAPES.items():
            yield f"model.layers.{layer}.{name}", shape


def values_of(shape, rng):
    if len(shape) == 1:
        return np.full(shape, 0x3F80, np.uint16)
    found = rng.standard_normal(shape, np.float32) * np.float32(shape[1] ** -0.5)
    return (found.view(np.uint32) >> 16).astype(np.uint16)


def make(folder, layers):
    if (folder / "config.json").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    header, at, rng = {}, 0, np.random.default_rng(7)
    for name, shape in tensors_of(layers):
        size = 2 * int(np.prod(shape))
        header[f"{name}.weight"] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(folder / "model.safetensors", "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _, shape in tensors_of(layers):
            file.write(values_of(shape, rng).tobytes())
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": VOCAB, "hidden_size": HIDDEN,
              "intermediate_size": INNER, "num_hidden_layers": layers, "num_attention_heads": HEADS, "num_key_value_heads": HEADS,
              "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 4096, "hidden_act": "silu",
              "tie_word_embeddings": True, "torch_dtype": "bfloat16"}  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))


def formula(windows, method, size):
    """Bytes: weights of gate and up, both streams, matrices of down's input, rows that are solved, the layer as it is stored."""
    tokens, streams = windows * LENGTH, 1 if method == "gptq" else 2
    held = windows >= 4
    kinds = 3 + held + (streams == 2)  # the means and those held out, the form and its factor, the drift
    rows = 100e6
    stored = 4.25 / 8 * sum(a * b for a, b in SHAPES.values())
    return 2 * stored + 4 * 2 * HIDDEN * INNER + size * streams * tokens * (HIDDEN + INNER) + 4 * kinds * INNER**2 + rows


def watched(command):
    """Status, messages, the most bytes that lie in no file, processor seconds."""
    running, most = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True), 0
    seconds = 0.0
    while running.poll() is None:
        status = pathlib.Path(f"/proc/{running.pid}/status").read_text()
        found = re.search(r"RssAnon:\s*([0-9]+) kB", status)
        most = max(most, int(found[1]) * 1024 if found else 0)
        with pathlib.Path(f"/proc/{running.pid}/stat").open() as file:
            fields = file.read().rsplit(")", 1)[1].split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        time.sleep(0.02)
    return running.returncode, running.stderr.read(), most, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("limits", nargs="*", help="none, least, or sizes; none and least")
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/bench/llm"))
    parser.add_argument("--baryon", type=pathlib.Path, default=pathlib.Path("build/baryon"))
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--windows", type=int, default=2)
    parser.add_argument("--method", default="descent")
    parser.add_argument("--stream-type", choices=("float32", "bf16"), default="float32")
    given = parser.parse_args()
    model, out = given.work / f"sizes-{given.layers}", given.work / "sizes-out"
    make(model, given.layers)
    np.save(given.work / "ids.npy", np.random.default_rng(1).integers(0, VOCAB, (given.windows, LENGTH)).astype(np.uint16))
    command = [given.baryon, "llm", "quantize", model, "-o", out, "--scheme", "int4_wo_64", "--text", given.work / "ids.npy",
               "--length", LENGTH, "--windows", given.windows, "--method", given.method, "--stream-type", given.stream_type]  # fmt: skip
    command += ["--sweeps", 1, "--scale-fits", 0] if given.method == "descent" else []
    expected = formula(given.windows, given.method, 2 if given.stream_type == "bf16" else 4)
    print("| limit | most in no file, MB | formula, MB | processor s |\n|---|---|---|---|")
    for limit in given.limits or ("none", "least"):
        shutil.rmtree(out, ignore_errors=True)
        if limit == "least":
            said = watched(list(map(str, [*command, "--max-memory", "1MB"])))[1]
            limit = re.search(r"--max-memory (\d+MB)$", said.strip())[1]
        more = [] if limit == "none" else ["--max-memory", limit]
        status, said, most, seconds = watched(list(map(str, [*command, *more])))
        told = f"{most / 1e6:.0f}" if status == 0 else f"refused: {said.strip()}"
        print(f"| {limit} | {told} | {expected / 1e6:.0f} | {seconds:.0f} |", flush=True)
    shutil.rmtree(out, ignore_errors=True)


if __name__ == "__main__":
    main()
