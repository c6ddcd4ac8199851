"""Weights of a small language model, the same on every machine: no random numbers of a library."""

import json
import pathlib

import ml_dtypes
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

KINDS = {
    "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16, "I8": np.int8, "U8": np.uint8,
    "I32": np.int32, "I64": np.int64, "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip


def write_safetensors(path, arrays):
    """A file of these arrays by name."""
    header, data = {}, b""
    for name, array in arrays.items():
        kind = next(kind for kind, dtype in KINDS.items() if array.dtype == dtype)
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    pathlib.Path(path).write_bytes(len(text).to_bytes(8, "little") + text + data)


def read_safetensors(folder):
    """Arrays by name of all files in a folder."""
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.safetensors")):
        raw = path.read_bytes()
        size = int.from_bytes(raw[:8], "little")
        for name, entry in json.loads(raw[8 : 8 + size]).items():
            if name == "__metadata__":
                continue
            begin, end = entry["data_offsets"]
            values = np.frombuffer(raw[8 + size + begin : 8 + size + end], KINDS[entry["dtype"]])
            found[name] = values.reshape(entry["shape"])
    return found


def write_model(folder, arrays=None, quantization=None):
    """A folder as transformers has it; weights in bf16 unless arrays are given."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    if arrays is None:
        arrays = {name: value.astype(ml_dtypes.bfloat16) for name, value in tensors().items()}
    write_safetensors(folder / "model.safetensors", arrays)
    config = CONFIG | ({"quantization_config": quantization} if quantization else {})
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / "generation_config.json").write_text("{}\n")


def calibration_ids(windows=3, length=24):
    """Windows of ids that give scales of activations."""
    return (mixed(windows * length, 900) % np.uint64(VOCAB)).astype(np.int64).reshape(windows, length)


def evaluation_ids(windows=2, length=24):
    return (mixed(windows * length, 901) % np.uint64(VOCAB)).astype(np.int64).reshape(windows, length)


def kept_logits(logits):
    """Every sixth token's, for every fourth id."""
    return logits[:, 5::6, ::4]
