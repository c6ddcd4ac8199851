#!/usr/bin/env python3
"""GGUF files that 'baryon llm convert' writes, read by a reader of this test: order of the rows of q
and k, norms of Gemma, stacks of experts, and everything back again bit for bit."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes
import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib import llm_tokenizer, llm_weights  # noqa: E402

BARYON = pathlib.Path("build/baryon").resolve()
KINDS = {0: np.float32, 1: np.float16, 30: ml_dtypes.bfloat16}
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
passed = failed = 0


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


class Reader:
    """Tensors of a GGUF file by name."""

    def __init__(self, path):
        self.raw, self.at = pathlib.Path(path).read_bytes(), 8
        tensors, pairs = self.number(8), self.number(8)
        for _ in range(pairs):
            self.text()
            self.skip(self.number(4))
        entries = [self.entry() for _ in range(tensors)]
        base = -(-self.at // 32) * 32
        self.tensors = {name: self.values(base + offset, kind, shape) for name, shape, kind, offset in entries}

    def number(self, size):
        self.at += size
        return int.from_bytes(self.raw[self.at - size : self.at], "little")

    def text(self):
        size = self.number(8)
        self.at += size
        return self.raw[self.at - size : self.at].decode()

    def skip(self, kind):
        if kind == 8:
            self.text()
        elif kind == 9:
            inner, count = self.number(4), self.number(8)
            for _ in range(count):
                self.skip(inner)
        else:
            self.at += SIZES[kind]

    def entry(self):
        name, rank = self.text(), self.number(4)
        shape = [self.number(8) for _ in range(rank)][::-1]
        return name, shape, self.number(4), self.number(8)

    def values(self, at, kind, shape):
        dtype = np.dtype(KINDS[kind])
        count = int(np.prod(shape))
        return np.frombuffer(self.raw, dtype, count, at).reshape(shape)


def convert(*arguments):
    done = subprocess.run([BARYON, "llm", "convert", *arguments, "-q"], capture_output=True, text=True)
    check(f"{arguments}: {done.stderr}", done.returncode == 0)


def pairs_of_rows(matrix, heads):
    """Halves of each head in turn."""
    rows = matrix.shape[0] // heads
    return matrix.reshape(heads, 2, rows // 2, -1).swapaxes(1, 2).reshape(matrix.shape)


def mixtral(arrays):
    """Three experts of each layer instead of its feed-forward."""
    found = {name: array for name, array in arrays.items() if ".mlp." not in name}
    for name, array in arrays.items():
        word = {"gate": "w1", "down": "w2", "up": "w3"}.get(name.split(".")[-2].removesuffix("_proj"))
        for expert in range(3 if word else 0):
            new = name.replace(name.split("mlp.")[1], f"experts.{expert}.{word}.weight")
            found[new.replace("mlp.", "block_sparse_moe.")] = (array * (expert + 1)).astype(array.dtype)
    for layer in range(llm_weights.LAYERS):
        gate = llm_weights.matrix(3, llm_weights.HIDDEN, 700 + layer)
        found[f"model.layers.{layer}.block_sparse_moe.gate.weight"] = gate.astype(ml_dtypes.bfloat16)
    return found


def model(family, change):
    arrays = {name: value.astype(ml_dtypes.bfloat16) for name, value in llm_weights.tensors().items()}
    if family == "mixtral":
        arrays = mixtral(arrays)
    if family == "gemma":
        del arrays["lm_head.weight"]
    llm_weights.write_model(family, arrays)
    path = pathlib.Path(family, "config.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {"model_type": family} | change))
    llm_tokenizer.write_tokenizer(family)
    return arrays


def compare_back(family, arrays):
    convert(family + ".gguf", "-o", family + "-back")
    back = llm_weights.read_safetensors(family + "-back")
    check(f"{family}: names", back.keys() == arrays.keys())
    wrong = [name for name in arrays if name not in back or back[name].tobytes() != arrays[name].tobytes()]
    check(f"{family}: back {wrong}", not wrong)


def compare(family, change):
    arrays = model(family, change)
    convert(family, "-o", family + ".gguf")
    made = Reader(family + ".gguf").tensors
    single = {name.replace("model.layers.", ""): value for name, value in arrays.items()}
    q, k = single["0.self_attn.q_proj.weight"], single["1.self_attn.k_proj.weight"]
    turned = family in ("llama", "mixtral")
    check(f"{family}: q", (made["blk.0.attn_q.weight"] == (pairs_of_rows(q, 4) if turned else q)).all())
    check(f"{family}: k", (made["blk.1.attn_k.weight"] == (pairs_of_rows(k, 2) if turned else k)).all())
    norm = arrays["model.norm.weight"].astype(np.float32) + (family == "gemma")
    check(f"{family}: norm", (made["output_norm.weight"] == norm).all() and made["output_norm.weight"].dtype == np.float32)
    check(f"{family}: embedding", (made["token_embd.weight"] == arrays["model.embed_tokens.weight"]).all())
    if family == "mixtral":
        stack = np.stack([single[f"1.block_sparse_moe.experts.{i}.w2.weight"] for i in range(3)])
        check("mixtral: stack", (made["blk.1.ffn_down_exps.weight"] == stack).all())
        check("mixtral: router", made["blk.1.ffn_gate_inp.weight"].dtype == np.float32)
    compare_back(family, arrays)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for family, change in {
            "llama": {},
            "qwen2": {},
            "gemma": {"head_dim": 32, "tie_word_embeddings": True},
            "mixtral": {"num_local_experts": 3, "num_experts_per_tok": 2},
        }.items():
            compare(family, change)
        os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
