"""Makes folders that are converted and others that are refused."""

import json
import pathlib

from lib import llm_tokenizer, llm_weights


def folder(name, change=None, without="-", tokenizer=True):
    llm_weights.write_model(name)
    path = pathlib.Path(name, "config.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | (change or {})))
    arrays = llm_weights.read_safetensors(name)
    for old in pathlib.Path(name).glob("*safetensors*"):
        old.unlink()
    kept = {key: array for key, array in arrays.items() if without not in key}
    llm_weights.write_safetensors(f"{name}/model.safetensors", kept)
    if tokenizer:
        llm_tokenizer.write_tokenizer(name)


folder("model")
folder("unknown", {"model_type": "newllama"})
folder("untied", without="lm_head")
folder("shape", {"hidden_size": 64})
folder("missing", without="layers.1.self_attn.k_proj")
folder("bare", tokenizer=False)
folder("damaged")
damaged = {"model": {"type": "BPE", "vocab": {"a": 64}, "merges": []}}
pathlib.Path("damaged/tokenizer.json").write_text(json.dumps(damaged))
folder("quantized", {"quantization_config": {"quant_method": "awq"}})
