"""Small models whose tensors llama-quantize gives different types: wide rows, narrow rows, a tied head, experts."""

import json
import pathlib
import struct

import ml_dtypes
import numpy as np

from lib import llm_weights

MODELS = {
    # hidden, inner, heads, heads of k and v, layers, experts, tied
    "wide": (256, 512, 8, 2, 8, 0, False),
    "tied": (256, 768, 4, 4, 5, 0, True),
    "narrow": (96, 160, 3, 1, 8, 0, False),
    "experts": (256, 256, 8, 2, 3, 8, False),
}
MIXTURES = """q2_k q3_k_s q3_k_m q3_k_l q4_0 q4_1 q4_k_s q4_k_m q5_0 q5_1 q5_k_s q5_k_m q6_k q8_0 iq4_nl iq4_xs
mxfp4_moe""".split()
# Of types that ours searches further: bytes differ. (llama-quantize makes iq3_xxs and iq3_xs with an importance matrix alone.)
SEARCHED = "iq3_s iq3_m".split()
VOCAB = 288


def shapes(name):
    hidden, inner, heads, heads_kv, layers, experts, tied = MODELS[name]
    width = hidden // heads * heads_kv
    found = {"model.embed_tokens.weight": (VOCAB, hidden), "model.norm.weight": (hidden,)}
    if not tied:
        found["lm_head.weight"] = (VOCAB, hidden)
    for n in range(layers):
        at = f"model.layers.{n}."
        for part, rows in (("q", hidden), ("k", width), ("v", width), ("o", hidden)):
            found[f"{at}self_attn.{part}_proj.weight"] = (rows, hidden)
        for kind in ("input_layernorm", "post_attention_layernorm"):
            found[f"{at}{kind}.weight"] = (hidden,)
        if experts:
            found[f"{at}block_sparse_moe.gate.weight"] = (experts, hidden)
        for e in range(experts):
            for part, shape in (("w1", (inner, hidden)), ("w2", (hidden, inner)), ("w3", (inner, hidden))):
                found[f"{at}block_sparse_moe.experts.{e}.{part}.weight"] = shape
        if not experts:
            for part, shape in (("gate", (inner, hidden)), ("up", (inner, hidden)), ("down", (hidden, inner))):
                found[f"{at}mlp.{part}_proj.weight"] = shape
    return found


def config(name):
    hidden, inner, heads, heads_kv, layers, experts, tied = MODELS[name]
    kind = "mixtral" if experts else "llama"
    made = {"architectures": [f"{kind.title()}ForCausalLM"], "model_type": kind, "hidden_size": hidden,
            "intermediate_size": inner, "num_attention_heads": heads, "num_key_value_heads": heads_kv,
            "num_hidden_layers": layers, "vocab_size": VOCAB, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
            "max_position_embeddings": 512, "tie_word_embeddings": tied, "torch_dtype": "bfloat16"}  # fmt: skip
    return made | ({"num_local_experts": experts, "num_experts_per_tok": 2} if experts else {})


def write(name, folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    header, data = {}, []
    at = 0
    for seed, (tensor, shape) in enumerate(shapes(name).items()):
        values = llm_weights.matrix(*shape, seed) if len(shape) == 2 else np.ones(shape, np.float32)
        data.append(values.astype(ml_dtypes.bfloat16).tobytes())
        header[tensor] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + len(data[-1])]}
        at += len(data[-1])
    text = json.dumps(header).encode()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + b"".join(data))
    (folder / "config.json").write_text(json.dumps(config(name)))
