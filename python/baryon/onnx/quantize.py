"""quantize_static() and quantize_dynamic(), by a path of earlier versions of Quark."""

from .quantization.quantize import quantize_dynamic, quantize_static

__all__ = ["quantize_dynamic", "quantize_static"]
