"""The names of AMD Quark's flow for PyTorch, on folders of language models: no torch is needed, and
scripts of its users run with `quark` replaced by `baryon` and the path of a folder in place of a
model.

    quantizer = ModelQuantizer(LLMTemplate.get("llama").get_config("int4_wo_128"))
    export_safetensors(quantizer.freeze(quantizer.quantize_model("folder")), "folder-int4")
"""

from .export.api import export_gguf, export_onnx, export_safetensors, import_model_from_safetensors
from .quantization.api import ModelQuantizer
from .quantization.config.template import LLMTemplate
from .quantization.config.type import QuantFlow

__all__ = ["LLMTemplate", "ModelQuantizer", "QuantFlow", "export_gguf", "export_onnx", "export_safetensors",
           "import_model_from_safetensors"]  # fmt: skip
_LATER = {
    "ModelPruner": "pruning", "load_params": "a model in memory (baryon.llm.open() reads weights)",
    "save_params": "a model in memory (export_safetensors() writes folders)",
    "RuntimeOptions": "running a model", "enable_native_inference": "running a model",
    "disable_native_inference": "running a model",
}  # fmt: skip


def __getattr__(name):
    from .._names import missing

    raise missing("baryon.torch", name, __all__, _LATER)
