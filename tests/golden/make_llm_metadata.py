#!/usr/bin/env python3
"""Records the metadata that llama.cpp's convert_hf_to_gguf gives the models of tests/lib/llm_families.py:
tests/golden/llm_metadata.json.

Rules are written down here by family, from its documented behaviour; names of keys and types of
values come from the package gguf. general.name is left out: the converter makes a title of the
folder's name, Baryon takes it as it is. tests/diff/test_llm_metadata.py compares.
"""

import json
import pathlib
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
for _missing in ("yaml", "tqdm", "requests"):  # of model cards and progress, which nothing here needs
    sys.modules.setdefault(_missing, types.ModuleType(_missing))
sys.modules["tqdm"].tqdm = None
import gguf  # noqa: E402

from lib import llm_families, llm_tokenizer  # noqa: E402

BF16 = 32


def add_sizes(writer, c):
    writer.add_block_count(c["num_hidden_layers"])
    writer.add_context_length(c["max_position_embeddings"])
    writer.add_embedding_length(c["hidden_size"])
    writer.add_feed_forward_length(c["intermediate_size"])
    writer.add_head_count(c["num_attention_heads"])
    writer.add_head_count_kv(c["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(c["rms_norm_eps"])


def add_heads(writer, c):
    """The converter reads config.json by transformers' classes, of which two fill the size in."""
    size = c.get("head_dim")
    if c["model_type"] in ("llama", "mistral"):
        size = size or c["hidden_size"] // c["num_attention_heads"]
    if size:
        writer.add_key_length(size)
        writer.add_value_length(size)


def add_experts(writer, c):
    if experts := c.get("num_local_experts") or c.get("num_experts"):
        writer.add_expert_count(experts)
        writer.add_expert_used_count(c["num_experts_per_tok"])


def add_model(writer, arch, c):
    """The model's own part, by the converter's class for it."""
    add_sizes(writer, c)
    if arch == "phi3":
        writer.add_rope_scaling_orig_ctx_len(c["original_max_position_embeddings"])
        writer.add_rope_dimension_count(c["hidden_size"] // c["num_attention_heads"])
        writer.add_rope_freq_base(c["rope_theta"])
        writer.add_sliding_window(c["sliding_window"])
        return
    add_heads(writer, c)
    if arch in ("gemma", "gemma2"):
        if arch == "gemma2":
            writer.add_attn_logit_softcapping(c["attn_logit_softcapping"])
            writer.add_final_logit_softcapping(c["final_logit_softcapping"])
            writer.add_sliding_window(c["sliding_window"])
        return
    writer.add_rope_freq_base(c["rope_theta"])
    if arch == "gemma3":
        writer.add_sliding_window(c["sliding_window"])
        writer.add_rope_freq_base_swa(c["rope_local_base_freq"])
        return
    add_experts(writer, c)
    if arch == "llama":
        writer.add_vocab_size(c["vocab_size"])
        writer.add_rope_dimension_count(c.get("head_dim", c["hidden_size"] // c["num_attention_heads"]))
    if arch in ("qwen2moe", "qwen3moe"):
        writer.add_expert_feed_forward_length(c["moe_intermediate_size"])
    if arch == "qwen2moe":
        writer.add_expert_shared_feed_forward_length(c["shared_expert_intermediate_size"])
    rope = c.get("rope_scaling") or {}
    if rope.get("type") == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])


def add_tokenizer(writer, pieces):
    """Of llm_tokenizer, padded to the rows of the embedding."""
    if not pieces:
        root, settings = llm_tokenizer.byte_level()
        tokens = sorted(root["model"]["vocab"], key=root["model"]["vocab"].get) + ["<|end|>"]
        kinds = [1] * (len(tokens) - 1) + [3]
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("gpt-2")
        writer.add_token_merges(root["model"]["merges"])
        writer.add_add_bos_token(False)
        writer.add_chat_template(settings["chat_template"])
    else:
        tokens = [text for text, _, _ in llm_tokenizer.PIECES]
        kinds = [1 if kind == 4 else kind for _, _, kind in llm_tokenizer.PIECES]
        pad = llm_families.VOCAB - len(tokens)
        writer.add_tokenizer_model("t5" if pieces == "unigram" else "llama")
        writer.add_tokenizer_pre("default")
        writer.add_token_scores([score for _, score, _ in llm_tokenizer.PIECES] + [-10000.0] * pad)
        writer.add_add_space_prefix(True)
        if pieces == "unigram":
            writer.add_remove_extra_whitespaces(True)
            writer.add_precompiled_charsmap(llm_tokenizer.CHARSMAP)
        writer.add_bos_token_id(1)
        writer.add_unk_token_id(0)
        writer.add_add_bos_token(True)
    writer.add_eos_token_id(tokens.index("</s>" if pieces else "<|end|>"))
    writer.add_token_list(tokens + [f"[PAD{i}]" for i in range(len(tokens), llm_families.VOCAB)])
    writer.add_token_types(kinds + [5] * (llm_families.VOCAB - len(tokens)))


def add_sum(writer, kind):
    """The label of the size, as the package counts."""
    total = experts = 0
    for name, shape in llm_families.shapes(kind).items():
        count = 1
        for dim in shape:
            count *= dim
        total += count
        experts += count if ".experts." in name else 0
    count = llm_families.EXPERTS if experts else 0
    shared = total - experts
    writer.add_size_label(gguf.size_label(total, shared, experts // count if count else 0, count))


def metadata(kind):
    _, arch, pieces = llm_families.FAMILIES[kind]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "x.gguf")
        writer = gguf.GGUFWriter(path, arch)
        writer.add_type("model")
        add_sum(writer, kind)
        add_model(writer, arch, llm_families.config_of(kind))
        writer.add_file_type(BF16)
        writer.add_quantization_version(gguf.GGML_QUANT_VERSION)
        add_tokenizer(writer, pieces)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        return read(path)


def read(path):
    """{key: [types, value]} of a file; what the container itself has is left out."""
    fields = gguf.GGUFReader(path).fields
    return {name: [[kind.name for kind in field.types], field.contents()] for name, field in sorted(fields.items())
            if not name.startswith("GGUF.") and name != "general.name"}  # fmt: skip


if __name__ == "__main__":
    found = {kind: metadata(kind) for kind in llm_families.FAMILIES}
    lines = ",\n".join(
        f'"{kind}": {{\n' + ",\n".join(f" {json.dumps(key)}: {json.dumps(value)}" for key, value in keys.items()) + "}"
        for kind, keys in found.items())  # fmt: skip
    HERE.joinpath("llm_metadata.json").write_text("{" + lines + "}\n")
