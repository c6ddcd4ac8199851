"""Types and formats, by a path of earlier versions of Quark."""

from .quantization.quant_utils import (
    ExtendedQuantFormat, ExtendedQuantType, QuantFormat, QuantType, VitisQuantFormat, VitisQuantType,
)  # fmt: skip

__all__ = ["ExtendedQuantFormat", "ExtendedQuantType", "QuantFormat", "QuantType", "VitisQuantFormat", "VitisQuantType"]
