"""The classes of AMD Quark's flow for ONNX, over this library: scripts of its users run with
`quark` replaced by `baryon`."""

from .calibration import (
    CalibrationDataReader, CalibrationMethod, ExtendedCalibrationMethod, Int16Method, LayerWiseMethod,
    PowerOfTwoMethod,
)  # fmt: skip
from .quantization.api import ModelQuantizer
from .quantization.config import algorithm as _algorithm
from .quantization.config import custom_config as _custom
from .quantization.config import data_type as _types
from .quantization.config import spec as _spec
from .quantization.config.config import Config, QConfig, get_default_config
from .quantization.config.legacy import QuantizationConfig
from .quantization.quant_utils import (
    ExtendedQuantFormat, ExtendedQuantType, QuantFormat, QuantType, VitisQuantFormat, VitisQuantType,
)  # fmt: skip

__all__ = [
    "CalibrationDataReader", "CalibrationMethod", "Config", "ExtendedCalibrationMethod",
    "ExtendedQuantFormat", "ExtendedQuantType", "Int16Method", "LayerWiseMethod", "ModelQuantizer",
    "PowerOfTwoMethod", "QConfig", "QuantFormat", "QuantType", "QuantizationConfig", "VitisQuantFormat",
    "VitisQuantType", "get_default_config", "get_library_path",
]  # fmt: skip
for _module in (_algorithm, _custom, _types, _spec):
    for _name, _value in vars(_module).items():
        if not _name.startswith("_") and not hasattr(_value, "__path__") and _name[0].isupper():
            globals()[_name] = _value
            __all__.append(_name)

_LATER = {
    "AutoSearch": "the search for a configuration", "AutoSearchPro": "the search for a configuration",
    "SearchSpace": "the search for a configuration", "generate_all_configs": "the search for a configuration",
    "get_auto_search_config": "the search for a configuration",
    "quantize_static": "this function", "quantize_dynamic": "this function", "dump_model": "this function",
    "RandomDataReader": "this reader", "CachedDataReader": "this reader", "PathDataReader": "this reader",
}  # fmt: skip


def get_library_path(device="CPU"):
    """The library of Quark's custom operators, for SessionOptions.register_custom_ops_library()."""
    import os

    from .. import _library

    if str(device).upper() != "CPU":
        raise NotImplementedError(f"operators for {device} are not supported yet")
    found = os.path.join(os.path.dirname(os.path.realpath(_library.path())), "libbaryon_ops.so")
    if not os.path.exists(found):
        raise FileNotFoundError(f"{found}: the library of operators is missing; set BARYON_LIBRARY")
    return found


def __getattr__(name):
    from .._names import missing

    raise missing("baryon.onnx", name, __all__, _LATER)
