"""Blocks of code as documents of Quark's flow for PyTorch have them, with nothing but `quark` replaced
by `baryon` and folders in place of models: each runs, or is refused with what to call."""

import os
import pathlib
import subprocess
import sys
import tempfile

from world import PROGRAM, ROOT, Score, raised

sys.path.insert(0, str(ROOT / "tests"))
from lib import llm_tokenizer, llm_weights  # noqa: E402

from baryon import llm  # noqa: E402

BLOCKS = {
    "template": ("""
from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
template = LLMTemplate.get("llama")
quant_config = template.get_config(scheme="int4_wo_64")
quantizer = ModelQuantizer(quant_config)
quantized_model = quantizer.quantize_model(model, calib_dataloader)
quantized_model = quantizer.freeze(quantized_model)
export_safetensors(model=quantized_model, output_dir=out)
""", ["--scheme", "int4_wo_64"]),
    "layers": ("""
from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
template = LLMTemplate.get("llama")
config = template.get_config("uint4_wo_32", layer_config={"*.mlp.gate_proj": "mxfp4"},
                             exclude_layers=["lm_head", "*self_attn*", "*.block_sparse_moe.gate"])
model = ModelQuantizer(config).quantize_model(model)
export_safetensors(model, out, custom_mode="quark", weight_format="real_quantized", pack_method="reorder")
""", ["--scheme", "uint4_wo_32", "--layer", "*.mlp.gate_proj=mxfp4", "--exclude", "*self_attn*"]),
    "specs": ("""
from quark.torch import ModelQuantizer
from quark.torch.export import export_safetensors
from quark.torch.quantization.config.config import QConfig, QLayerConfig, Uint4PerGroupSpec
spec = Uint4PerGroupSpec(symmetric=False, scale_type="float", round_method="half_even", ch_axis=-1,
                         is_dynamic=False, group_size=32).to_quantization_spec()
global_quant_config = QLayerConfig(weight=spec)
quant_config = QConfig(global_quant_config=global_quant_config, exclude=["lm_head"])
model = ModelQuantizer(quant_config).quantize_model(model)
export_safetensors(model, out, custom_mode="awq")
""", ["--scheme", "uint4_wo_32", "--layout", "awq"]),
    "no exclusions": ("""
from quark.torch.quantization import Bfloat16Spec, QConfig, QLayerConfig, Int8PerChannelSpec
from quark.torch.quantization.api import ModelQuantizer
from quark.torch.export.api import export_safetensors
config = QConfig(global_quant_config=QLayerConfig(weight=Int8PerChannelSpec(ch_axis=0)))
export_safetensors(ModelQuantizer(config).quantize_model(model), out)
""", ["--scheme", "int8_wo_per_channel", "--layer", "lm_head=int8_wo_per_channel"]),
    "other groups": ("""
from quark.torch.quantization import QConfig, QLayerConfig, Int4PerGroupSpec, ProgressiveSpec
from quark.torch import ModelQuantizer, export_safetensors
config = QConfig(QLayerConfig(weight=Int4PerGroupSpec(ch_axis=-1, group_size=16)), exclude=["lm_head"])
export_safetensors(ModelQuantizer(config).quantize_model(model), out)
""", ["--scheme", "int4_wo_32", "--group-size", "16"]),
    "file to file": ("""
from quark.torch import LLMTemplate, ModelQuantizer
from quark.torch.quantization import QLayerConfig, OCP_MXFP4Spec
LLMTemplate.register_scheme("mine", config=QLayerConfig(input_tensors=OCP_MXFP4Spec(is_dynamic=True), weight=OCP_MXFP4Spec()))
LLMTemplate.register_template(LLMTemplate(model_type="new", exclude_layers_name=["lm_head", "*o_proj"]))
quantizer = ModelQuantizer(LLMTemplate.get("new").get_config("mine"))
quantizer.direct_quantize_checkpoint(pretrained_model_path=model, save_path=out)
LLMTemplate.unregister_scheme("mine")
""", ["--scheme", "mxfp4", "--exclude", "*o_proj"]),
    "fp8": ("""
from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
assert "llama" in LLMTemplate.list_available() and "fp8" in LLMTemplate.get_supported_schemes()
model = ModelQuantizer(LLMTemplate.get("llama").get_config(scheme="fp8")).quantize_model(model)
export_safetensors(model, out, custom_mode="fp8")
""", ["--scheme", "fp8", "--layout", "fp8"]),
}  # fmt: skip

# What is refused: code, and words of the explanation.
REFUSED = {
    "algorithms": ('LLMTemplate.get("llama").get_config("int4_wo_64", algorithm="awq")', "needs samples"),
    "kv cache": ('LLMTemplate.get("llama").get_config("fp8", kv_cache_scheme="fp8")', "kv_cache_scheme"),
    "a model in memory": ("ModelQuantizer(QConfig(QLayerConfig(weight=Int4PerChannelSpec()))).quantize_model(object())",
                          "baryon.llm.quantize(FOLDER, OUT"),
    "another scheme": ('LLMTemplate.get("llama").get_config("int4_wo_65")', "did you mean 'int4_wo_6"),
    "floats": ("export_safetensors(ready, 'x', weight_format='fake_quantized')", "baryon.llm.dequantize"),
    "modes": ("export_safetensors(ready, 'x', custom_mode='gptq')", "layout=LAYOUT"),
    "packing": ("export_safetensors(ready, 'x', pack_method='order')", "pack_method"),
    "gguf": ("export_gguf(ready, 'x', 'llama', 'model')", 'layout="gguf"'),
    "onnx": ("export_onnx(ready, 'x', ())", "baryon.quantize"),
    "reload": ("import_model_from_safetensors(None, 'x')", "baryon.llm.open"),
    "pruning": ("from baryon.torch import ModelPruner", "pruning"),
    "awq": ("from baryon.torch.quantization import AWQConfig", "needs samples"),
    "a spec": ("QLayerConfig(weight=Int4PerTensorSpec()).scheme()", "baryon.llm.quantize"),
    "inputs": ("QLayerConfig(weight=Int4PerGroupSpec(group_size=32), input_tensors=Int8PerTensorSpec()).scheme()", "no scheme"),
    "layer types": ("QConfig(QLayerConfig(weight=MX9Spec()), layer_type_quant_config={int: 1})", "classes of torch"),
    "biases": ("QLayerConfig(weight=MX9Spec(), bias=MX9Spec())", "bias cannot be quantized"),
}  # fmt: skip

# Specifications: which scheme they are.
SCHEMES = {
    "weight=FP8E4M3PerTensorSpec(), input_tensors=FP8E4M3PerTensorSpec()": ("fp8", None),
    "weight=FP8E4M3PerChannelSpec(ch_axis=0), input_tensors=FP8E4M3PerChannelSpec(ch_axis=1, is_dynamic=True)": ("ptpc_fp8", None),
    "weight=FP8E4M3PerChannelSpec()": ("fp8_wo_per_channel", None),
    "weight=FP8E4M3PerGroupSpec(group_size=64)": ("fp8_wo_128", 64),
    "weight=Int8PerTensorSpec(), input_tensors=Int8PerTensorSpec()": ("int8", None),
    "weight=Int8PerTensorSpec()": ("int8", None),
    "weight=Uint8PerGroupSpec(group_size=128)": ("uint8_wo_128", None),
    "weight=Int4PerGroupSpec(group_size=64), input_tensors=Int4PerGroupSpec(group_size=64)": ("int4_wa_64", None),
    "weight=Int4PerGroupSpec(group_size=64), input_tensors=Int8PerChannelSpec(ch_axis=1)": ("int4_int8_64", None),
    "weight=Int4PerGroupSpec(group_size=32), input_tensors=Int8PerChannelSpec(ch_axis=1)": ("int4_int8_128", 32),
    "weight=Int4PerChannelSpec(), input_tensors=Int8PerChannelSpec(ch_axis=1)": ("int4_int8_per_channel", None),
    "weight=Int4PerGroupSpec(group_size=128), input_tensors=FP8E4M3PerChannelSpec(ch_axis=1)": ("int4_fp8_128", None),
    "weight=Int8PerChannelSpec(), input_tensors=Int8PerChannelSpec(ch_axis=1)": ("ptpc_int8", None),
    "weight=MX6Spec(), input_tensors=MX6Spec()": ("mx6", None),
    "weight=MX9Spec()": ("mx9_weight_only", None),
    "weight=BFP16Spec(), input_tensors=BFP16Spec()": ("bfp16", None),
    "weight=Int2PerGroupSpec(group_size=32)": ("int2_wo_32", None),
    "weight=OCP_MXFP4Spec(), input_tensors=OCP_MXFP6E2M3Spec()": ("mxfp4_mxfp6_e2m3", None),
    "weight=OCP_MXFP4Spec(), input_tensors=FP8E4M3PerTensorSpec()": ("mxfp4_fp8", None),
    "weight=OCP_MXFP8E5M2Spec()": ("mxfp8_e5m2", None),
    "weight=OCP_MXFP6E2M3Spec()": ("mxfp6_e2m3_weight_only", None),
    "weight=OCP_MXINT8Spec()": ("mxint8", None),
    "weight=Float16Spec()": ("fp16", None),
    "weight=FP4PerGroupSpec(group_size=32, scale_format='e8m0')": ("mxfp4_weight_only", None),
    "weight=FP4PerGroupSpec(group_size=16, scale_format='e5m3')": ("amdfp4", None),
    "weight=ScaleQuantSpec(FP4PerGroupSpec(group_size=16), FP8E4M3PerTensorSpec())": ("nvfp4_weight_only", None),
    "weight=ProgressiveSpec(FP8E4M3PerTensorSpec(), Int4PerChannelSpec()), input_tensors=FP8E4M3PerTensorSpec()": ("int4_fp8", None),
}  # fmt: skip


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}


def check_blocks(score):
    for name, (text, options) in BLOCKS.items():
        world = {"model": "model", "out": f"{name}-ours", "calib_dataloader": [1, 2]}
        failure = raised(exec, text.replace("quark", "baryon"), world)
        if not score.check(failure is None, f"{name}: {failure!r}"):
            continue
        subprocess.run([PROGRAM, "llm", "quantize", "model", "-o", f"{name}-program", "-q", *options], check=True,
                       stderr=subprocess.DEVNULL)  # fmt: skip
        ours, program = files(f"{name}-ours"), files(f"{name}-program")
        ours.pop("config.json"), program.pop("config.json")
        score.check(ours == program, f"{name}: other bytes than the program's")


def check_refused(score):
    world = {}
    exec("from baryon.torch import *; from baryon.torch.quantization import *", world)
    world["ready"] = world["ModelQuantizer"](world["LLMTemplate"].get("llama").get_config("mxfp4")).quantize_model("model")
    for name, (code, words) in REFUSED.items():
        failure = raised(exec, code, world)
        score.check(failure is not None and words in str(failure), f"{name}: {failure!r}")
    score.check(not os.path.exists("x"), "what was refused left something")
    for code, scheme in SCHEMES.items():
        found = eval(f"QLayerConfig({code}).scheme()", world)
        score.check(found == scheme, f"{code}: {found}")


def check_gguf(score):
    from baryon.torch import LLMTemplate, ModelQuantizer, export_gguf

    model = ModelQuantizer(LLMTemplate.get("llama").get_config("uint4_wo_32")).quantize_model("model")
    export_gguf(model, "gguf", model_type="llama", tokenizer_path="model")
    types = {weight.type for weight in llm.open("gguf/model.gguf").values()}
    score.check("Q4_1" in types, f"types {types}")


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        llm_weights.write_model("model")
        llm_tokenizer.write_tokenizer("model")
        check_blocks(score)
        check_refused(score)
        check_gguf(score)
        os.chdir("/")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
