"""Configurations and the quantizer, by Quark's names."""

from .api import ModelQuantizer
from .config import config as _config
from .config.template import LLMTemplate
from .config.type import Dtype, QSchemeType, QuantFlow, ScaleType

__all__ = ["Dtype", "LLMTemplate", "ModelQuantizer", "QSchemeType", "QuantFlow", "ScaleType", *_config.__all__]
for _name in _config.__all__:
    globals()[_name] = getattr(_config, _name)


def __getattr__(name):
    return _config.__getattr__(name)
