"""The classes of AMD Quark's flow for ONNX, over this library: scripts of its users run with
`quark` replaced by `baryon`."""

from .calibration import (
    CalibrationDataReader, CalibrationMethod, ExtendedCalibrationMethod, Int16Method, LayerWiseMethod,
    PowerOfTwoMethod,
)  # fmt: skip
from .calibration.data_readers import CachedDataReader, PathDataReader, RandomDataReader
from .dump import dump_model
from .operators.custom_ops import get_library_path
from .quantization.api import ModelQuantizer
from .quantization.auto_search import LISTS as _LISTS
from .quantization.auto_search import AutoSearch, AutoSearchPro, get_auto_search_config
from .quantization.auto_search import refused as _refused
from .quantization.config import algorithm as _algorithm
from .quantization.config import custom_config as _custom
from .quantization.config import data_type as _types
from .quantization.config import spec as _spec
from .quantization.config.config import Config, QConfig, get_default_config
from .quantization.config.legacy import QuantizationConfig
from .quantization.quantize import quantize_dynamic, quantize_static
from .quantization.quant_utils import (
    ExtendedQuantFormat, ExtendedQuantType, QuantFormat, QuantType, VitisQuantFormat, VitisQuantType,
)  # fmt: skip

__all__ = [
    "AutoSearch", "AutoSearchPro", "CachedDataReader", "CalibrationDataReader", "CalibrationMethod", "Config",
    "ExtendedCalibrationMethod", "ExtendedQuantFormat", "ExtendedQuantType", "Int16Method", "LayerWiseMethod",
    "ModelQuantizer", "PathDataReader", "PowerOfTwoMethod", "QConfig", "QuantFormat", "QuantType",
    "QuantizationConfig", "RandomDataReader", "VitisQuantFormat", "VitisQuantType", "dump_model",
    "get_auto_search_config", "get_default_config", "get_library_path", "quantize_dynamic", "quantize_static",
]  # fmt: skip
for _module in (_algorithm, _custom, _types, _spec):
    for _name, _value in vars(_module).items():
        if not _name.startswith("_") and not hasattr(_value, "__path__") and _name[0].isupper():
            globals()[_name] = _value
            __all__.append(_name)


def __getattr__(name):
    from .._names import missing

    if name in _LISTS:
        raise _refused(f"baryon.onnx.{name}")
    raise missing("baryon.onnx", name, __all__)
