"""For tests/bad and tests/cli: checkpoints of language models, right and wrong."""

import json
import pathlib
import random
import struct

U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 = range(13)
NUMBERS = {U8: "B", I8: "b", U16: "H", I16: "h", U32: "I", I32: "i", F32: "f", BOOL: "B",
           U64: "Q", I64: "q", F64: "d"}


def write(name, data):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def safetensors_text(name, text, data=b"", length=None):
    """A file with this text as its header, whatever it says."""
    text = text if isinstance(text, bytes) else text.encode()
    write(name, struct.pack("<Q", len(text) if length is None else length) + text + data)


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def safetensors(name, tensors, data=b"", **more):
    """tensors: name -> entry(...)."""
    safetensors_text(name, json.dumps({**more, **tensors}), data)


def tensors_in_a_row(shapes, dtype="F32", size=4):
    """Entries that follow each other for name -> shape, and their data."""
    entries, at = {}, 0
    for name, shape in shapes.items():
        count = size
        for dim in shape:
            count *= dim
        entries[name] = entry(dtype, shape, at, at + count)
        at += count
    return entries, bytes(i % 61 for i in range(at))


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<Q", len(value)) + value


def value(kind, content):
    if kind == STRING:
        return text(content)
    if kind == ARRAY:
        inner, items = content
        return struct.pack("<IQ", inner, len(items)) + b"".join(value(inner, i) for i in items)
    return struct.pack("<" + NUMBERS[kind], content)


def pair(key, kind, content):
    return text(key) + struct.pack("<I", kind) + value(kind, content)


def tensor(name, dims, kind, offset):
    """dims fastest first, as in the file."""
    return (text(name) + struct.pack("<I", len(dims)) + b"".join(struct.pack("<Q", d) for d in dims)
            + struct.pack("<IQ", kind, offset))


def gguf(name, pairs=(), tensors=(), data=b"", version=3, counts=None, alignment=32):
    """pairs and tensors: bytes of pair() and tensor()."""
    counts = counts or (len(tensors), len(pairs))
    head = b"GGUF" + struct.pack("<IQQ", version, *counts) + b"".join(pairs) + b"".join(tensors)
    head += bytes(-len(head) % alignment)
    write(name, head + data)


def llama(folder, layers=2, hidden=8, ffn=16, vocab=12):
    """config.json and model.safetensors of a tiny model."""
    shapes = {"model.embed_tokens.weight": [vocab, hidden]}
    for i in range(layers):
        at = f"model.layers.{i}."
        for part in "qkvo":
            shapes[f"{at}self_attn.{part}_proj.weight"] = [hidden, hidden]
        for part in ("gate", "up"):
            shapes[f"{at}mlp.{part}_proj.weight"] = [ffn, hidden]
        shapes[at + "mlp.down_proj.weight"] = [hidden, ffn]
        for part in ("input_layernorm", "post_attention_layernorm"):
            shapes[f"{at}{part}.weight"] = [hidden]
    shapes["model.norm.weight"] = [hidden]
    shapes["lm_head.weight"] = [vocab, hidden]
    entries, data = tensors_in_a_row(shapes)
    safetensors(f"{folder}/model.safetensors", entries, data, __metadata__={"format": "pt"})
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden,
              "intermediate_size": ffn, "num_hidden_layers": layers, "num_attention_heads": 2,
              "num_key_value_heads": 2, "vocab_size": vocab, "tie_word_embeddings": False}
    write(f"{folder}/config.json", json.dumps(config).encode())


def byte_tokenizer():
    """tokenizer.json of a byte-level BPE without merges: ids are the bytes of a text."""
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]  # GPT-2's signs for bytes
    others = [byte for byte in range(256) if byte not in plain]
    signs = {chr(byte) if byte in plain else chr(0x100 + others.index(byte)): byte for byte in range(256)}
    level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}
    return {"model": {"type": "BPE", "vocab": signs, "merges": []}, "pre_tokenizer": level, "added_tokens": []}


def byte_decoder(folder, step, hidden=16, inner=24):
    """A tiny decoder that reads bytes, with a tokenizer; weights are multiples of `step`."""
    layer = {
        "input_layernorm": [hidden], "self_attn.q_proj": [hidden, hidden], "self_attn.k_proj": [hidden // 2, hidden],
        "self_attn.v_proj": [hidden // 2, hidden], "self_attn.o_proj": [hidden, hidden],
        "post_attention_layernorm": [hidden], "mlp.gate_proj": [inner, hidden], "mlp.up_proj": [inner, hidden],
        "mlp.down_proj": [hidden, inner],
    }  # fmt: skip
    config = {
        "model_type": "llama", "hidden_size": hidden, "intermediate_size": inner, "num_hidden_layers": 2,
        "num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": 256, "rms_norm_eps": 1e-5,
        "tie_word_embeddings": True,
    }  # fmt: skip
    shapes = {"model.embed_tokens.weight": [256, hidden], "model.norm.weight": [hidden]}
    for number in range(2):
        shapes |= {f"model.layers.{number}.{key}.weight": shape for key, shape in layer.items()}
    entries, data = tensors_in_a_row(shapes)
    rng = random.Random(4)
    values = [round(rng.uniform(-1, 1) / step) * step for _ in range(len(data) // 4)]
    safetensors(f"{folder}/model.safetensors", entries, struct.pack(f"<{len(values)}f", *values))
    write(f"{folder}/config.json", json.dumps(config).encode())
    write(f"{folder}/tokenizer.json", json.dumps(byte_tokenizer()).encode())


def byte_decoders():
    """For `llm eval`: float, a rounded copy of it, and a folder of texts."""
    byte_decoder("float", 2**-20)
    byte_decoder("rounded", 2**-3)
    write("texts/a", b"The quick brown fox jumps over the lazy dog.")
    write("texts/b", b"Pack my box with five dozen liquor jugs.")


def gguf_parts(stem, parts, numbers=None, counts=None, tensors=None, pairs=(), left_out=()):
    """Files as llama-gguf-split makes them. parts: of each, the names of its tensors, of 8 floats;
    numbers, counts, tensors: what the metadata say instead."""
    total = sum(map(len, parts)) if tensors is None else tensors
    for i, names in enumerate(parts):
        split = [pair("split.no", U16, numbers[i] if numbers else i),
                 pair("split.count", U16, counts[i] if counts else len(parts)),
                 pair("split.tensors.count", I32, total)]
        own = [tensor(name, [8], 0, 32 * k) for k, name in enumerate(names)]
        data = b"".join(struct.pack("<8f", *(k + 8 * i for k in range(8))) for _ in names)
        if i not in left_out:
            gguf(f"{stem}-{i + 1:05}-of-{len(parts):05}.gguf",
                 [*(pairs if not i else ()), *split], own, data)
