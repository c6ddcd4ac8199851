"""Writing quantized models, by Quark's names."""

from .api import export_gguf, export_onnx, export_safetensors, import_model_from_safetensors

__all__ = ["export_gguf", "export_onnx", "export_safetensors", "import_model_from_safetensors"]
