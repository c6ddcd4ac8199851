"""Small models whose experts are stacked in one tensor: floats, and MXFP4 as gpt-oss has it."""

import json
import pathlib

import ml_dtypes
import numpy as np

from . import llm_weights

BF16 = ml_dtypes.bfloat16
EXPERTS, HIDDEN, INNER, LAYERS = 3, llm_weights.HIDDEN, 96, llm_weights.LAYERS
LEVELS = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6], np.float32)


def expert(name, rows, columns, seed):
    """Of each layer: [experts, rows, columns]."""
    return {f"model.layers.{n}.mlp.experts.{name}": np.stack(
        [llm_weights.matrix(rows, columns, seed + 100 * n + e) for e in range(EXPERTS)]) for n in range(LAYERS)}  # fmt: skip


def rest(router):
    arrays = {name: value.astype(BF16) for name, value in llm_weights.tensors().items() if ".mlp." not in name}
    for n in range(LAYERS):
        arrays[f"model.layers.{n}.mlp.{router}.weight"] = llm_weights.matrix(EXPERTS, HIDDEN, 900 + n).astype(BF16)
    return arrays


def write(folder, arrays, kind, quantization=None):
    llm_weights.write_model(folder, arrays, quantization)
    path = pathlib.Path(folder, "config.json")
    config = json.loads(path.read_text()) | {"model_type": kind, "num_experts": EXPERTS, "num_local_experts": EXPERTS,
                                             "moe_intermediate_size": INNER, "num_experts_per_tok": 2}  # fmt: skip
    path.write_text(json.dumps(config))


def mxfp4(codes, scales):
    """Values of codes [..., columns] and powers of two [..., columns / 32]."""
    values = LEVELS[codes & 7] * np.where(codes & 8, np.float32(-1), np.float32(1))
    return values * np.repeat(np.exp2(scales.astype(np.float64) - 127).astype(np.float32), 32, -1)


def gpt_oss():
    """Tensors of the folder, and what its stacks mean, [experts, outputs, inputs] by name."""
    arrays, wanted = rest("router"), {}
    for n in range(LAYERS):
        for seed, (leaf, rows, columns) in enumerate((("gate_up_proj", 2 * INNER, HIDDEN), ("down_proj", HIDDEN, INNER))):
            place, count = f"model.layers.{n}.mlp.experts.{leaf}", EXPERTS * rows * columns
            codes = (llm_weights.mixed(count, 50 * n + seed) % np.uint64(16)).astype(np.uint8).reshape(EXPERTS, rows, columns)
            scales = 120 + (llm_weights.mixed(count // 32, 70 + seed) % np.uint64(9)).astype(np.uint8)
            scales = scales.reshape(EXPERTS, rows, columns // 32)
            blocks = (codes[..., ::2] | codes[..., 1::2] << 4).reshape(EXPERTS, rows, columns // 32, 16)
            bias = llm_weights.matrix(EXPERTS, rows, 60 + seed).astype(BF16)
            arrays |= {place + "_blocks": blocks, place + "_scales": scales, place + "_bias": bias}
            wanted[place] = mxfp4(codes, scales)
    return arrays, wanted


def write_gpt_oss(folder):
    arrays, wanted = gpt_oss()
    write(folder, arrays, "gpt_oss", {"quant_method": "mxfp4", "modules_to_not_convert": ["model.embed_tokens"]})
    return wanted


def write_stacks(folder, turned=False):
    """[experts, outputs, inputs] as Qwen3 has it; turned: [experts, inputs, outputs] as Llama 4 has it."""
    stacks = {**expert("gate_up_proj", 2 * INNER, HIDDEN, 20), **expert("down_proj", HIDDEN, INNER, 40)}
    kept = {name: np.ascontiguousarray(stack.swapaxes(1, 2) if turned else stack).astype(BF16)
            for name, stack in stacks.items()}  # fmt: skip
    write(folder, rest("gate") | kept, "qwen3_moe")
    return stacks, kept
