"""A tiny model of each family that GGUF files are written of: config.json and tensors of zeros, as
transformers names them. `arch` is GGUF's name of the family, `pieces` its kind of tokenizer."""

import json
import pathlib

import ml_dtypes
import numpy as np

from . import llm_tokenizer, llm_weights

HIDDEN, INNER, HEADS, KV_HEADS, LAYERS, VOCAB, EXPERTS = 64, 96, 4, 2, 2, 64, 3
COMMON = {"hidden_size": HIDDEN, "intermediate_size": INNER, "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
          "num_key_value_heads": KV_HEADS, "vocab_size": VOCAB, "max_position_embeddings": 512, "rms_norm_eps": 1e-06,
          "rope_theta": 500000.0, "tie_word_embeddings": False}  # fmt: skip
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 128}  # fmt: skip
GEMMA = {"head_dim": 32, "tie_word_embeddings": True}

# model_type: what config.json has beside COMMON, GGUF's architecture, pieces of SentencePiece
FAMILIES = {
    "llama": ({"rope_scaling": LLAMA3}, "llama", None),
    "mistral": ({"head_dim": 32, "sliding_window": None}, "llama", "bpe"),
    "mixtral": ({"num_local_experts": EXPERTS, "num_experts_per_tok": 2}, "llama", "unigram"),
    "qwen2": ({"rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}}, "qwen2", None),
    "qwen3": ({"head_dim": 32}, "qwen3", None),
    "qwen2_moe": ({"num_experts": EXPERTS, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
                   "shared_expert_intermediate_size": 48}, "qwen2moe", None),
    "qwen3_moe": ({"head_dim": 32, "num_experts": EXPERTS, "num_experts_per_tok": 2, "moe_intermediate_size": 32},
                  "qwen3moe", None),
    "phi3": ({"original_max_position_embeddings": 512, "sliding_window": 256}, "phi3", "bpe"),
    "gemma": (GEMMA, "gemma", "bpe"),
    "gemma2": ({**GEMMA, "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0, "sliding_window": 128}, "gemma2", "bpe"),
    "gemma3_text": ({**GEMMA, "sliding_window": 128, "rope_local_base_freq": 10000.0}, "gemma3", "bpe"),
}  # fmt: skip


def config_of(kind):
    more, _, _ = FAMILIES[kind]
    return {**COMMON, "model_type": kind, "architectures": ["Tiny"], **more}


def _mlp(place, inner, names=("gate_proj", "up_proj", "down_proj")):
    gate, up, down = names
    return {f"{place}.{gate}.weight": (inner, HIDDEN), f"{place}.{up}.weight": (inner, HIDDEN), f"{place}.{down}.weight": (HIDDEN, inner)}


def _feed_forward(kind, place):
    if kind == "phi3":
        return {f"{place}.mlp.gate_up_proj.weight": (2 * INNER, HIDDEN), f"{place}.mlp.down_proj.weight": (HIDDEN, INNER)}
    if kind == "mixtral":
        found = {f"{place}.block_sparse_moe.gate.weight": (EXPERTS, HIDDEN)}
        for e in range(EXPERTS):
            found |= _mlp(f"{place}.block_sparse_moe.experts.{e}", INNER, ("w1", "w3", "w2"))
        return found
    if not kind.endswith("_moe"):
        return _mlp(f"{place}.mlp", INNER)
    found = {f"{place}.mlp.gate.weight": (EXPERTS, HIDDEN)}
    for e in range(EXPERTS):
        found |= _mlp(f"{place}.mlp.experts.{e}", 32)
    if kind == "qwen2_moe":
        found |= {f"{place}.mlp.shared_expert_gate.weight": (1, HIDDEN)} | _mlp(f"{place}.mlp.shared_expert", 48)
    return found


def shapes(kind):
    config = config_of(kind)
    dim = config.get("head_dim", HIDDEN // HEADS)
    found = {"model.embed_tokens.weight": (VOCAB, HIDDEN), "model.norm.weight": (HIDDEN,)}
    if not config["tie_word_embeddings"]:
        found["lm_head.weight"] = (VOCAB, HIDDEN)
    norms = ["input_layernorm", "post_attention_layernorm"]
    if kind in ("gemma2", "gemma3_text"):
        norms += ["pre_feedforward_layernorm", "post_feedforward_layernorm"]
    for n in range(LAYERS):
        place = f"model.layers.{n}"
        found |= {f"{place}.{norm}.weight": (HIDDEN,) for norm in norms}
        heads = {"q_proj": HEADS * dim, "k_proj": KV_HEADS * dim, "v_proj": KV_HEADS * dim}
        if kind == "phi3":
            heads = {"qkv_proj": sum(heads.values())}
        found |= {f"{place}.self_attn.{name}.weight": (rows, HIDDEN) for name, rows in heads.items()}
        found[f"{place}.self_attn.o_proj.weight"] = (HIDDEN, HEADS * dim)
        if kind.startswith("qwen2"):
            found |= {f"{place}.self_attn.{name}.bias": (rows,) for name, rows in heads.items()}
        if kind.startswith("qwen3") or kind == "gemma3_text":
            found |= {f"{place}.self_attn.{name}.weight": (dim,) for name in ("q_norm", "k_norm")}
        found |= _feed_forward(kind, place)
    return found


def write_family(kind):
    """A folder of that name; the shapes of its tensors."""
    found = shapes(kind)
    llm_weights.write_model(kind, {name: np.zeros(shape, ml_dtypes.bfloat16) for name, shape in found.items()})
    pathlib.Path(kind, "config.json").write_text(json.dumps(config_of(kind)))
    pieces = FAMILIES[kind][2]
    if pieces:
        llm_tokenizer.write_pieces(kind, unigram=pieces == "unigram")
    else:
        llm_tokenizer.write_tokenizer(kind)
    return found
