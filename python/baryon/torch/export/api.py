"""What becomes of a quantized model, by Quark's names."""

import os

from ... import llm
from .._folder import Folder


def _folder(model, call):
    if isinstance(model, Folder):
        return model
    raise TypeError(f"the model is a {type(model).__name__}, must be what ModelQuantizer.quantize_model(FOLDER) gives; "
                    f"without a quantizer call {call}")  # fmt: skip


def export_safetensors(model, output_dir, custom_mode="quark", weight_format=None, pack_method="reorder"):
    """Quantizes the folder into output_dir. custom_mode: "quark", "awq" or "fp8"; all other layouts
    have baryon.llm.quantize(..., layout=NAME)."""
    folder = _folder(model, "baryon.llm.quantize(FOLDER, OUT, scheme=NAME)")
    if custom_mode == "baryon":  # of scripts in which all of `quark` was replaced
        custom_mode = "quark"
    if custom_mode not in ("quark", "awq", "fp8"):
        raise ValueError(f"custom_mode {custom_mode!r}, must be 'quark', 'awq' or 'fp8'; other layouts are those of "
                         "baryon.llm.quantize(FOLDER, OUT, scheme=NAME, layout=LAYOUT)")  # fmt: skip
    if weight_format not in (None, "real_quantized"):
        raise NotImplementedError(f"weight_format {weight_format!r} is not supported, only 'real_quantized'; "
                                  "baryon.llm.dequantize(OUT, FLOATS) writes rounded floats")  # fmt: skip
    if pack_method != "reorder":
        raise NotImplementedError(f"pack_method {pack_method!r} is not supported, only 'reorder'")
    return folder.write(output_dir, custom_mode)


def export_gguf(model, output_dir, model_type=None, tokenizer_path=None):
    """Writes output_dir/model.gguf with the type Q4_1 for uint4 in groups of 32, as Quark does. All
    types of GGUF have baryon.llm.quantize(FOLDER, OUT, scheme="q4_k_m", layout="gguf")."""
    call = 'baryon.llm.quantize(FOLDER, "OUT.gguf", scheme="q4_k_m", layout="gguf")'
    folder = _folder(model, call)
    if folder.config.scheme() != ("uint4_wo_32", None):
        raise NotImplementedError(f"export_gguf() is for the scheme uint4_wo_32, which becomes Q4_1; call {call}")
    if tokenizer_path is not None and not os.path.samefile(tokenizer_path, folder.path):
        raise NotImplementedError("tokenizer_path is another folder than the model, must be the same: copy the files")
    os.makedirs(output_dir, exist_ok=True)
    return llm.quantize(folder.path, os.path.join(output_dir, "model.gguf"), scheme="q4_1", layout="gguf")


def export_onnx(*_, **__):
    raise NotImplementedError("export_onnx() needs a model in torch, which is not supported: export the float model with "
                              "torch.onnx, then call baryon.quantize(MODEL, OUT, preset=NAME)")  # fmt: skip


def import_model_from_safetensors(model=None, model_dir=None, **_):
    raise NotImplementedError("import_model_from_safetensors() builds a model in torch, which is not supported: "
                              "baryon.llm.open(FOLDER) reads its weights, baryon.llm.dequantize(FOLDER, OUT) writes a folder "
                              "that transformers loads")  # fmt: skip
