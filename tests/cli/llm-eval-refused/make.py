"""A tiny decoder whose ids are bytes, a rounded copy of it, and texts."""

import json
import pathlib
import random
import struct

from llm_files import safetensors, tensors_in_a_row

HIDDEN, INNER, VOCAB = 16, 24, 256
CONFIG = {
    "model_type": "llama", "hidden_size": HIDDEN, "intermediate_size": INNER, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": VOCAB, "rms_norm_eps": 1e-5,
    "tie_word_embeddings": True,
}  # fmt: skip
LAYER = {
    "input_layernorm": [HIDDEN], "self_attn.q_proj": [HIDDEN, HIDDEN], "self_attn.k_proj": [8, HIDDEN],
    "self_attn.v_proj": [8, HIDDEN], "self_attn.o_proj": [HIDDEN, HIDDEN], "post_attention_layernorm": [HIDDEN],
    "mlp.gate_proj": [INNER, HIDDEN], "mlp.up_proj": [INNER, HIDDEN], "mlp.down_proj": [HIDDEN, INNER],
}  # fmt: skip


def signs():
    """GPT-2's sign for each byte."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(byte) if byte in plain else chr(0x100 + others.index(byte)): byte for byte in range(256)}


def model(folder, step):
    shapes = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN]}
    for layer in range(2):
        shapes |= {f"model.layers.{layer}.{key}.weight": shape for key, shape in LAYER.items()}
    entries, data = tensors_in_a_row(shapes)
    rng = random.Random(4)
    values = [round(rng.uniform(-1, 1) / step) * step for _ in range(len(data) // 4)]
    safetensors(f"{folder}/model.safetensors", entries, struct.pack(f"<{len(values)}f", *values))
    level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    tokenizer = {"model": {"type": "BPE", "vocab": signs(), "merges": []}, "pre_tokenizer": level, "added_tokens": []}
    path = pathlib.Path(folder)
    (path / "config.json").write_text(json.dumps(CONFIG))
    (path / "tokenizer.json").write_text(json.dumps(tokenizer))


model("float", 2**-20)
model("rounded", 2**-3)
pathlib.Path("texts").mkdir()
pathlib.Path("texts/a").write_text("The quick brown fox jumps over the lazy dog.")
pathlib.Path("texts/b").write_text("Pack my box with five dozen liquor jugs.")
