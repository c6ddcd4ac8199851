"""The configuration classes of Quark's flow for PyTorch."""

from .config import Config, QConfig, QLayerConfig, QTensorConfig, QuantizationConfig, QuantizationSpec
from .template import LLMTemplate
from .type import Dtype, QSchemeType, QuantFlow, ScaleType

__all__ = ["Config", "Dtype", "LLMTemplate", "QConfig", "QLayerConfig", "QSchemeType", "QTensorConfig", "QuantFlow",
           "QuantizationConfig", "QuantizationSpec", "ScaleType"]  # fmt: skip
