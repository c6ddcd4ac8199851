"""Quark's package for tools, as far as Baryon provides it: `python -m baryon.onnx.tools.NAME`, or
main([ARGUMENT, ...]) of the module NAME."""


def __getattr__(name):
    from ..._names import missing
    from ._table import ABSENT, TOOLS

    if name in ABSENT:
        raise NotImplementedError(f"baryon.onnx.tools.{name} is not available: {ABSENT[name]}")
    if name in TOOLS:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise missing("baryon.onnx.tools", name, [*TOOLS, "evaluate"])
