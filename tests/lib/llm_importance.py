"""Importance matrices for the models of llm_mixture_models.py, as llama-imatrix writes them: as a GGUF file and in the older form."""

import pathlib
import struct

import numpy as np

from lib import llm_mixture_models, llm_weights

CHUNKS, CHUNK = 3, 32
TEXTS = "texts/learn.txt"
LEFT = "blk.1.attn_v.weight"  # has no entry, as a layer that the text did not come to
NAMES = {"self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
         "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down"}  # fmt: skip
EXPERTS = {"ffn_gate_exps": "w1", "ffn_down_exps": "w2", "ffn_up_exps": "w3"}


def sums(matrices, columns, seed):
    """Sums of squares that differ by a factor of 4,000, and how many tokens each matrix saw: one of several saw none."""
    x = llm_weights.mixed(matrices * columns, 9000 + seed)
    values = np.exp2((x % np.uint64(13)).astype(np.float64)) * (1 + ((x >> np.uint64(20)) % np.uint64(1000)) / 1000)
    counts = 1 + llm_weights.mixed(matrices, 9500 + seed) % np.uint64(CHUNKS * CHUNK)
    if matrices > 1:
        counts[1] = 0
    values = values.reshape(matrices, columns) * counts[:, None]
    return values.astype(np.float32), counts.astype(np.float32)


def entries(name):
    """Names of tensors in a GGUF file: sums and counts."""
    _, inner, _, _, layers, experts, _ = llm_mixture_models.MODELS[name]
    found = {}
    shapes = llm_mixture_models.shapes(name)
    for layer in range(layers):
        for part, short in NAMES.items():
            shape = shapes.get(f"model.layers.{layer}.{part}.weight")
            if shape:
                found[f"blk.{layer}.{short}.weight"] = (1, shape[1])
        for short, part in EXPERTS.items():
            if experts:
                shape = shapes[f"model.layers.{layer}.block_sparse_moe.experts.0.{part}.weight"]
                found[f"blk.{layer}.{short}.weight"] = (experts, shape[1])
    found.pop(LEFT)
    return {key: sums(*shape, seed) for seed, (key, shape) in enumerate(sorted(found.items()))}


def dat(found):
    """Means times the calls that the busiest matrix had, rounded up."""
    out = struct.pack("<i", len(found))
    for name, (values, counts) in found.items():
        calls = -(-int(counts.max()) // CHUNK)
        means = np.where(counts[:, None] > 0, values / np.maximum(counts, 1)[:, None], np.float32(1)) * np.float32(calls)
        out += struct.pack(f"<i{len(name)}sii", len(name), name.encode(), calls, values.size) + means.astype("<f4").tobytes()
    return out + struct.pack(f"<ii{len(TEXTS)}s", CHUNKS, len(TEXTS), TEXTS.encode())


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def gguf(found, notes=True):
    pairs = [text("general.type") + struct.pack("<I", 8) + text("imatrix")]
    if notes:
        pairs += [text("imatrix.datasets") + struct.pack("<IIQ", 9, 8, 1) + text(TEXTS),
                  text("imatrix.chunk_count") + struct.pack("<II", 4, CHUNKS),
                  text("imatrix.chunk_size") + struct.pack("<II", 4, CHUNK)]  # fmt: skip
    tensors = {}
    for name, (values, counts) in found.items():
        tensors[f"{name}.in_sum2"], tensors[f"{name}.counts"] = values, counts.reshape(-1, 1)
    out, data = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(pairs)) + b"".join(pairs), b""
    for name, values in tensors.items():
        out += text(name) + struct.pack("<IQQIQ", 2, *values.shape[::-1], 0, len(data))
        data += values.astype("<f4").tobytes()
        data += bytes(-len(data) % 32)
    return out + bytes(-len(out) % 32) + data


def write(name, folder):
    found = entries(name)
    for form, content in (("gguf", gguf(found)), ("dat", dat(found))):
        pathlib.Path(folder, f"importance.{form}").write_bytes(content)
