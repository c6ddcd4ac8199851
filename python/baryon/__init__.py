"""Baryon quantizes trained models in ONNX.

    import baryon

    result = baryon.quantize("model.onnx", "model_int8.onnx", preset="XINT8", data=samples)
    print(result)

Everything is computed by the C library that is in the package; what is here only hands it on.
Importing loads neither numpy nor the library. baryon.onnx has the classes of AMD Quark's flow for
ONNX, so that its scripts run with another import; baryon.torch has those for language models, which
work on folders. baryon.llm has the commands for language models.
"""

_HOMES = {
    "quantize": "quantization", "plan": "quantization", "Plan": "quantization",
    "Result": "quantization",
    "calibrate": "statistics", "Statistics": "statistics",
    "run": "running", "Session": "running",
    "evaluate": "evaluation", "Evaluation": "evaluation",
    "compare": "comparison", "Comparison": "comparison",
    "check": "checking",
    "preset": "lists", "presets": "lists", "methods": "lists", "metrics": "lists",
    "Error": "errors",
}  # fmt: skip
_MODULES = ("checking", "comparison", "errors", "evaluation", "formats", "lists", "llm", "onnx", "quantization",
            "running", "shapeshifter", "statistics", "torch")  # fmt: skip
__all__ = [*_HOMES, "formats", "llm", "version"]


def version():
    """The version of the C library, "0.1.0"."""
    from ._library import library

    return library().baryon_version().decode()


def __getattr__(name):
    import importlib

    if name == "__version__":
        return version()
    if name in _HOMES:
        return getattr(importlib.import_module("baryon." + _HOMES[name]), name)
    if name in _MODULES:
        return importlib.import_module("baryon." + name)
    from ._names import missing

    raise missing("baryon", name, [*_HOMES, *_MODULES, "version"])
