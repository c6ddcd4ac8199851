#!/usr/bin/env python3
"""Records what Quark 0.13 makes of activations of tests/lib/llm_weights.py: llm_activations.json.

Needs amd-quark, torch and transformers in the Python that runs it. Of each scheme the file has the
scales of inputs that samples give, logits of the quantized model on other ids, and with an fp8 cache
of keys and values their scales. tests/diff/test_llm_activations.py compares.
"""

import json
import pathlib
import sys
import tempfile

import numpy as np
import torch
from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
from quark.torch.quantization.config import config as parts
from safetensors import safe_open
from transformers import LlamaConfig, LlamaForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "lib"))
import llm_weights  # noqa: E402

SCHEMES = """fp8 ptpc_fp8 int8 int4_wa_64 mxfp4 mxfp6_e3m2 mxfp6_e2m3 mxfp4_mxfp6_e2m3 mxfp4_fp8 nvfp4 amdfp4
amdfp4_g32 int4_fp8 mx6 mx9 bfp16""".split()
# Schemes that Quark has as parts and under no name.
PARTS = {
    "ptpc_int8": (("Int8PerChannelSpec", {"ch_axis": 0}), "Int8PerChannelSpec"),
    "int4_int8_64": (("Int4PerGroupSpec", {"ch_axis": -1, "group_size": 64}), "Int8PerChannelSpec"),
    "int4_int8_per_channel": (("Int4PerChannelSpec", {"ch_axis": 0}), "Int8PerChannelSpec"),
    "int4_fp8_128": (("Int4PerGroupSpec", {"ch_axis": -1, "group_size": 128}), "FP8E4M3PerChannelSpec"),
}
UNWRITTEN = ("mx6", "mx9", "bfp16")  # Quark computes with them and has no file for them
CACHES = ["fp8", "int4_wo_64"]  # with an fp8 cache beside


def model():
    made = LlamaForCausalLM(LlamaConfig(**llm_weights.CONFIG | {"torch_dtype": "float32"})).to(torch.float32)
    made.load_state_dict({name: torch.tensor(value) for name, value in llm_weights.tensors().items()})
    return made.eval()


def register(scheme):
    """Weights by a part of Quark, inputs with a scale for each token."""
    (name, own), inputs = PARTS[scheme]
    weight = getattr(parts, name)(is_dynamic=False, **own).to_quantization_spec()
    tokens = getattr(parts, inputs)(is_dynamic=True, ch_axis=1).to_quantization_spec()
    LLMTemplate.register_scheme(scheme, config=parts.QLayerConfig(weight=weight, input_tensors=tokens))


def quantize(scheme, **options):
    torch.manual_seed(0)
    quantizer = ModelQuantizer(LLMTemplate.get("llama").get_config(scheme=scheme, **options))
    windows = [torch.tensor(row) for row in llm_weights.calibration_ids()]
    loader = torch.utils.data.DataLoader(windows, batch_size=1)
    return quantizer.freeze(quantizer.quantize_model(model(), loader))


def scales_of(quantized, words):
    with tempfile.TemporaryDirectory() as folder:
        export_safetensors(model=quantized, output_dir=folder)
        config = json.loads((pathlib.Path(folder) / "config.json").read_text())["quantization_config"]
        with safe_open(f"{folder}/model.safetensors", "pt") as file:
            found = {name: file.get_tensor(name) for name in sorted(file.keys()) if name.rpartition(".")[2].startswith(words)}
    types = {str(value.dtype) for value in found.values()}
    return config, {name: float(value.float()) for name, value in found.items()}, sorted(types)


def logits_of(quantized):
    """A window at a time: dynamic scales of a token are those of its place in all windows of a batch."""
    with torch.no_grad():
        rows = [quantized(torch.tensor(row[None])).logits.float().numpy() for row in llm_weights.evaluation_ids()]
    return np.concatenate(rows)


def record(scheme):
    quantized = quantize(scheme)
    logits = logits_of(quantized)
    _, scales, types = (None, {}, []) if scheme in UNWRITTEN else scales_of(quantized, ("input_",))
    kept = llm_weights.kept_logits(logits)
    return {"scales": scales, "types": types, "logits": [round(float(x), 5) for x in kept.ravel()]}


def record_cache(scheme):
    quantized = quantize(scheme, kv_cache_scheme="fp8")
    logits = logits_of(quantized)
    config, scales, types = scales_of(quantized, ("output_",))
    kept = llm_weights.kept_logits(logits)
    return {
        "scales": scales, "types": types, "logits": [round(float(x), 5) for x in kept.ravel()],
        "config": {key: config[key] for key in ("layer_quant_config", "kv_cache_quant_config", "export")},
    }  # fmt: skip


def main():
    for scheme in PARTS:
        register(scheme)
    found = {scheme: record(scheme) for scheme in [*SCHEMES, *PARTS]}
    caches = {scheme: record_cache(scheme) for scheme in CACHES}
    text = json.dumps({"schemes": found, "caches": caches}, separators=(",", ":"), sort_keys=True)
    (HERE / "llm_activations.json").write_text(text.replace('},"', '},\n"') + "\n")


main()
