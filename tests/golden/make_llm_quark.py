#!/usr/bin/env python3
"""Records what Quark 0.13 exports for tests/lib/llm_weights.py: tests/golden/llm_quark.json.

Needs amd-quark, torch and transformers in the Python that runs it. Of each tensor the file has
element type, shape and SHA-256, which tests/diff/test_llm_schemes.py compares.
"""

import hashlib
import json
import pathlib
import sys
import tempfile

import torch
from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
from safetensors import safe_open
from transformers import LlamaConfig, LlamaForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import llm_weights  # noqa: E402

SCHEMES = """fp8 ptpc_fp8 int8 int4_wo_32 int4_wo_64 int4_wo_128 int4_wo_per_channel int4_wa_64 uint4_wo_32
uint4_wo_64 uint4_wo_128 uint4_wo_per_channel mxfp4 mxfp4_weight_only mxfp6_e3m2 mxfp6_e2m3 mxfp4_mxfp6_e2m3
mxfp4_fp8 nvfp4 amdfp4 amdfp4_g32 int4_fp8""".split()


def model():
    made = LlamaForCausalLM(LlamaConfig(**llm_weights.CONFIG)).to(torch.bfloat16)
    state = {name: torch.tensor(value).to(torch.bfloat16) for name, value in llm_weights.tensors().items()}
    made.load_state_dict(state)
    return made.eval()


def export(scheme, folder):
    torch.manual_seed(0)
    quantizer = ModelQuantizer(LLMTemplate.get("llama").get_config(scheme=scheme))
    ids = [{"input_ids": torch.arange(16) % llm_weights.VOCAB}]
    quantized = quantizer.freeze(quantizer.quantize_model(model(), torch.utils.data.DataLoader(ids)))
    export_safetensors(model=quantized, output_dir=folder)


def described(tensor):
    raw = tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
    kind = str(tensor.dtype).removeprefix("torch.")
    return {"type": kind, "shape": list(tensor.shape), "sha256": hashlib.sha256(raw).hexdigest()}


def record(scheme):
    with tempfile.TemporaryDirectory() as folder:
        export(scheme, folder)
        config = json.loads((pathlib.Path(folder) / "config.json").read_text())["quantization_config"]
        with safe_open(f"{folder}/model.safetensors", "pt") as file:
            weights = {
                name: described(file.get_tensor(name))
                for name in sorted(file.keys())
                if name.startswith("model.layers.0.") and any(name.startswith(layer + ".") for layer in llm_weights.linears())
                and not name.rpartition(".")[2].startswith(("input_", "output_"))
            }
    return {"config": config, "tensors": weights}


def main():
    found = {}
    for scheme in SCHEMES:
        try:
            found[scheme] = record(scheme)
        except Exception as error:  # what Quark cannot do is no answer
            print(f"{scheme}: {error}", file=sys.stderr)
    text = json.dumps(found, separators=(",", ":"), sort_keys=True)
    for word, begin in (("config", "\n "), ("tensors", "\n "), ("model.", "\n  ")):
        text = text.replace(f'"{word}', f'{begin}"{word}')
    (HERE / "llm_quark.json").write_text(text + "\n")


main()
