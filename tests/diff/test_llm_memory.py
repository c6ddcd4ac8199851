"""--max-memory of the commands for language models: tiles of weights in a file give the bytes of a run without a limit.

The model has matrices of more than a tile (2 million values): gate, up and down of a decoder of one layer.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import save_file

sys.path.insert(0, "tests")
from llm_files import byte_tokenizer  # noqa: E402

BARYON = pathlib.Path(os.environ.get("BUILD", "build")).resolve() / "baryon"
HIDDEN, INNER = 256, 8320
CONFIG = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "vocab_size": 256, "hidden_size": HIDDEN,
          "intermediate_size": INNER, "num_hidden_layers": 1, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
          "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "max_position_embeddings": 512, "hidden_act": "silu",
          "tie_word_embeddings": True, "torch_dtype": "float16"}  # fmt: skip
TEXTS = ("--text", "text", "--length", 16, "--windows", 4, "--threads", 1)
QUANTIZE = ("llm", "quantize", "model", "--scheme", "int4_wo_64", "--exclude", "*down_proj", *TEXTS)
AUTO = ("llm", "auto", "model", "--bits", 4.5, "--types", "int4_wo_64,uint4_wo_64,int8_wo_64", "--exclude", "*down_proj",
        "--judge-windows", 1, "--probe-windows", 1, "--no-uniform", "--corrections", 0, *TEXTS)  # fmt: skip


def make(folder):
    rng = np.random.default_rng(27)
    shapes = {"self_attn.q_proj": (HIDDEN, HIDDEN), "self_attn.k_proj": (128, HIDDEN), "self_attn.v_proj": (128, HIDDEN),
              "self_attn.o_proj": (HIDDEN, HIDDEN), "mlp.gate_proj": (INNER, HIDDEN), "mlp.up_proj": (INNER, HIDDEN),
              "mlp.down_proj": (HIDDEN, INNER)}  # fmt: skip
    tensors = {f"model.layers.0.{name}.weight": rng.standard_normal(shape, np.float32) / np.float32(shape[1] ** 0.5)
               for name, shape in shapes.items()}  # fmt: skip
    tensors["model.embed_tokens.weight"] = rng.standard_normal((256, HIDDEN), np.float32)
    for norm in ("model.norm", "model.layers.0.input_layernorm", "model.layers.0.post_attention_layernorm"):
        tensors[f"{norm}.weight"] = np.ones(HIDDEN, np.float32)
    (folder / "model").mkdir()
    save_file({name: values.astype(np.float16) for name, values in tensors.items()}, folder / "model/model.safetensors")
    (folder / "model/config.json").write_text(json.dumps(CONFIG))
    (folder / "model/tokenizer.json").write_text(json.dumps(byte_tokenizer()))
    (folder / "text").write_bytes(bytes(rng.integers(32, 127, 400).astype(np.uint8)))


def run(folder, *arguments):
    done = subprocess.run([BARYON, *map(str, arguments)], cwd=folder, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def least_of(folder, *arguments):
    """What the message of a limit that is too small says."""
    status, _, said = run(folder, *arguments, "--max-memory", "1MB")
    found = re.search(r"tiles of weights .* the least that does is --max-memory (\d+MB)", said)
    return found.group(1) if status and found else None


def check_written(folder, name, command):
    status, _, said = run(folder, *command, "-o", f"{name}-free")
    least = least_of(folder, *command, "-o", f"{name}-none")
    if status or not least or (folder / f"{name}-none").exists():
        return [f"{name}: status {status}, {said}, at least {least}"]
    status, _, said = run(folder, *command, "-o", f"{name}-tiles", "--max-memory", least)
    if status or "weights that share an input" not in said:
        return [f"{name}: status {status} with {least}: {said}"]
    free, tiles = ((folder / f"{name}-{which}/model.safetensors").read_bytes() for which in ("free", "tiles"))
    return [] if free == tiles else [f"{name}: other bytes with tiles"]


def check_evaluated(folder):
    command = ("llm", "eval", "quantize-free", "--against", "model", *TEXTS, "--json")
    free, least = run(folder, *command), least_of(folder, *command)
    if not least:
        return ["eval: a limit of 1 MB is not refused with the least"]
    tiles = run(folder, *command, "--max-memory", least)
    wrong = [] if "weights of a layer and heads" in tiles[2] and "hidden states" in tiles[2] else [f"eval: {tiles[2]}"]
    return wrong if free[0] == tiles[0] == 0 and free[1] == tiles[1] else [*wrong, "eval: other figures with tiles"]


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make(folder)
        checks = [check_written(folder, "quantize", QUANTIZE), check_written(folder, "gptq", (*QUANTIZE, "--method", "gptq")),
                  check_written(folder, "auto", AUTO), check_evaluated(folder)]  # fmt: skip
    for wrong in checks:
        for line in wrong:
            print(line)
    failed = sum(map(len, checks))
    print(f"{sum(not wrong for wrong in checks)} passed, {failed} failed")
    sys.exit(failed > 0)


main()
