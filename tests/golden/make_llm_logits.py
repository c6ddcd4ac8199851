#!/usr/bin/env python3
"""Logits of transformers for tiny random decoders of each family, into llm_logits.json.

    make_llm_logits.py        needs torch and transformers

Weights are made of the tensor's name and shape (weights_of), so that the test makes the same ones.
"""

import json
import pathlib
import zlib

import numpy as np

LENGTH, WINDOWS, VOCAB = 48, 2, 320
# One window that is longer than what attention takes at a time, and than what longrope's short factors are for.
LONG, LONG_FAMILIES, LONG_TOKENS = 200, ("llama", "mistral", "gemma3", "phi3-long"), (100, 127, 128, 129, 199)
BASE = {
    "vocab_size": VOCAB, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3, "num_attention_heads": 4,
    "num_key_value_heads": 2, "max_position_embeddings": 256, "tie_word_embeddings": False,
}  # fmt: skip
LLAMA3 = {
    "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}  # fmt: skip
SHORT, FAR = [1.0 + 0.1 * i for i in range(8)], [2.0 + i for i in range(8)]
FAMILIES = {
    "llama": ("Llama", {}),
    "llama3": ("Llama", {"rope_scaling": LLAMA3, "rope_theta": 500000.0}),
    "llama-linear": ("Llama", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}),
    "llama-biases": ("Llama", {"tie_word_embeddings": True, "num_key_value_heads": 4, "attention_bias": True, "mlp_bias": True}),
    "mistral": ("Mistral", {"sliding_window": 16, "head_dim": 32}),
    "qwen2": ("Qwen2", {}),
    "qwen2-window": ("Qwen2", {"use_sliding_window": True, "sliding_window": 16, "max_window_layers": 2}),
    "qwen3": ("Qwen3", {"head_dim": 32}),
    "phi3": ("Phi3", {"pad_token_id": 0}),
    "phi3-long": ("Phi3", {
        "pad_token_id": 0, "max_position_embeddings": 512, "original_max_position_embeddings": 128,
        "rope_scaling": {"type": "longrope", "short_factor": SHORT, "long_factor": FAR},
    }),
    "gemma": ("Gemma", {"head_dim": 32, "tie_word_embeddings": True}),
    "gemma2": ("Gemma2", {"head_dim": 32, "sliding_window": 16, "query_pre_attn_scalar": 24, "tie_word_embeddings": True}),
    "gemma3": ("Gemma3Text", {
        "head_dim": 32, "num_hidden_layers": 7, "sliding_window": 16, "query_pre_attn_scalar": 32, "tie_word_embeddings": True,
    }),
    "mixtral": ("Mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2}),
    "qwen2-moe": ("Qwen2Moe", {
        "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 48, "shared_expert_intermediate_size": 80,
    }),
    "qwen3-moe": ("Qwen3Moe", {
        "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 48, "norm_topk_prob": True, "head_dim": 32,
    }),
}  # fmt: skip


def weights_of(name, shape, centred):
    """Float32 values that depend on the name alone."""
    values = np.random.default_rng(zlib.crc32(name.encode())).standard_normal(shape, np.float32)
    if len(shape) > 1:
        return values * np.float32(2.0 / np.sqrt(shape[-1]))
    return values * np.float32(0.3) + np.float32(1.0 if "norm" in name and not centred else 0.0)


def ids():
    return np.random.default_rng(1).integers(0, VOCAB, (WINDOWS, LENGTH))


def kept(logits):
    """Every twelfth token's, for every tenth id."""
    return logits[:, 11::12, ::10]


def long_ids():
    return np.random.default_rng(2).integers(0, VOCAB, (1, LONG))


def kept_long(logits):
    return logits[:, LONG_TOKENS, ::10]


def record(name):
    import torch
    import transformers

    kind, options = FAMILIES[name]
    config = getattr(transformers, f"{kind}Config")(**BASE | options)
    config._attn_implementation = "eager"
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32).eval()
    folder = pathlib.Path("/tmp") / f"llm-logits-{name}"
    model.save_pretrained(folder)
    from safetensors import safe_open

    with safe_open(folder / "model.safetensors", "np") as file:
        shapes = {key: list(file.get_slice(key).get_shape()) for key in file.keys()}
    from safetensors.numpy import save_file

    centred = "gemma" in name
    save_file({key: weights_of(key, shape, centred) for key, shape in shapes.items()}, folder / "model.safetensors",
              metadata={"format": "pt"})  # fmt: skip
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    with torch.no_grad():
        logits = model(torch.tensor(ids())).logits.numpy()
        far = model(torch.tensor(long_ids())).logits.numpy() if name in LONG_FAMILIES else None
    written = json.loads((folder / "config.json").read_text())
    written.pop("transformers_version", None)
    made = {"config": written, "shapes": shapes, "logits": [round(float(x), 5) for x in kept(logits).ravel()]}
    return made | ({} if far is None else {"long": [round(float(x), 5) for x in kept_long(far).ravel()]})


def main():
    path = pathlib.Path(__file__).parent / "llm_logits.json"
    made = {name: record(name) for name in FAMILIES}
    path.write_text(json.dumps(made, separators=(",", ":")).replace('},"', '},\n"') + "\n")


if __name__ == "__main__":
    main()
