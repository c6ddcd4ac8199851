"""The configuration classes of Quark, which hold the options of a quantization."""

from .config import Config, QConfig
from .custom_config import get_default_config
from .legacy import QuantizationConfig

__all__ = ["Config", "QConfig", "QuantizationConfig", "get_default_config"]
