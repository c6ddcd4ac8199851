"""Weights of a small language model, the same on every machine: no random numbers of a library."""

import numpy as np

HIDDEN, INNER, HEADS, KV_HEADS, LAYERS, VOCAB = 128, 256, 4, 2, 2, 64


def mixed(count, seed):
    """64-bit numbers without order (splitmix64)."""
    x = np.arange(1, count + 1, dtype=np.uint64) + np.uint64(seed) * np.uint64(1 << 32)
    x *= np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def matrix(rows, columns, seed):
    """float32 values that bf16 holds exactly; rows and values of different size."""
    x = mixed(rows * columns, seed)
    parts = [((x >> np.uint64(s)) & np.uint64(1023)).astype(np.float64) - 511.5 for s in (0, 10, 20)]
    rough = sum(parts) / 1024 * np.exp2(-((x >> np.uint64(40)) % np.uint64(5)).astype(np.float64))
    size = 1 + (mixed(rows, seed + 1000) % np.uint64(7)).astype(np.float64)
    values = (rough.reshape(rows, columns) * size[:, None] / 16).astype(np.float32)
    bits = values.view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return bits.view(np.float32)


def linears():
    """Names of the linear layers and their shapes."""
    head = HIDDEN // HEADS
    shapes = {
        "self_attn.q_proj": (HIDDEN, HIDDEN),
        "self_attn.k_proj": (KV_HEADS * head, HIDDEN),
        "self_attn.v_proj": (KV_HEADS * head, HIDDEN),
        "self_attn.o_proj": (HIDDEN, HIDDEN),
        "mlp.gate_proj": (INNER, HIDDEN),
        "mlp.up_proj": (INNER, HIDDEN),
        "mlp.down_proj": (HIDDEN, INNER),
    }
    return {f"model.layers.{n}.{name}": shape for n in range(LAYERS) for name, shape in shapes.items()}


def tensors():
    """All weights of the model by name, norms and embeddings too."""
    found = {}
    for seed, (name, shape) in enumerate(linears().items()):
        found[name + ".weight"] = matrix(*shape, seed)
    found["model.embed_tokens.weight"] = matrix(VOCAB, HIDDEN, 500)
    found["lm_head.weight"] = matrix(VOCAB, HIDDEN, 501)
    for n in range(LAYERS):
        for kind in ("input_layernorm", "post_attention_layernorm"):
            found[f"model.layers.{n}.{kind}.weight"] = np.ones(HIDDEN, np.float32)
    found["model.norm.weight"] = np.ones(HIDDEN, np.float32)
    return found


CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": HIDDEN,
    "intermediate_size": INNER,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS,
    "num_key_value_heads": KV_HEADS,
    "vocab_size": VOCAB,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-05,
    "hidden_act": "silu",
    "tie_word_embeddings": False,
    "torch_dtype": "bfloat16",
}
