"""Tiny decoders whose ids are bytes, texts, and what is wrong with some of them."""

import json
import pathlib
import shutil
import struct

import llm_files
import numpy as np
from safetensors.numpy import load_file, save_file

llm_files.byte_decoders()
for name in ("mute", "strange", "small", "huge", "large"):
    shutil.copytree("float", name)
pathlib.Path("mute/tokenizer.json").unlink()
tokenizer = json.loads(pathlib.Path("small/tokenizer.json").read_text())
tokenizer["added_tokens"] = [{"id": 300, "content": "<one more>"}]
pathlib.Path("small/tokenizer.json").write_text(json.dumps(tokenizer))
weights = bytearray(pathlib.Path("strange/model.safetensors").read_bytes())
size = struct.unpack("<Q", weights[:8])[0]
begin = json.loads(weights[8 : 8 + size])["model.layers.1.self_attn.k_proj.weight"]["data_offsets"][0]
struct.pack_into("<f", weights, 8 + size + begin + 4 * 18, float("nan"))
pathlib.Path("strange/model.safetensors").write_bytes(weights)
for folder, factor, names in (("huge", 1e25, ("mlp.gate", "mlp.up")), ("large", 1e22, ("self_attn.v", "self_attn.o"))):
    weights = load_file(f"{folder}/model.safetensors")
    for name in names:
        weights[f"model.layers.1.{name}_proj.weight"] *= np.float32(factor)
    save_file(weights, f"{folder}/model.safetensors")
