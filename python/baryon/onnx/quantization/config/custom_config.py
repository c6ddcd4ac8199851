"""Configurations that are ready, by Quark's names."""

from .algorithm import AdaQuantConfig, AdaRoundConfig
from .config import QConfig, get_default_config
from .spec import BFloat16Spec, BFP16Spec, Int8Spec, Int16Spec, QLayerConfig, XInt8Spec

__all__ = ["DEFAULT_ADAQUANT_PARAMS", "DEFAULT_ADAROUND_PARAMS", "get_default_config"]

# What fast fine-tuning of Quark's presets of the flat configuration has.
DEFAULT_ADAROUND_PARAMS = {
    "DataSize": 1000, "FixedSeed": 1705472343, "BatchSize": 2, "NumIterations": 1000, "LearningRate": 0.1,
    "OptimAlgorithm": "adaround", "OptimDevice": "cpu", "InferDevice": "cpu", "EarlyStop": True,
}  # fmt: skip
DEFAULT_ADAQUANT_PARAMS = {**DEFAULT_ADAROUND_PARAMS, "LearningRate": 1e-5, "OptimAlgorithm": "adaquant"}

_NPU = {"AlignSlice": False, "AlignConcat": True}
_VINT8 = {
    "OptimizeModel": False, "EnableNPUCnn": True, "UseRandomData": True, "ConvertBNToConv": True,
    "ConvertSigmoidToHardSigmoid": False, "ConvertSplitToSlice": True,
    "SplitLargeKernelPool": False, "ConvertReduceMeanToGlobalAvgPool": False, "RemoveQDQConvClip": False,
    "RemoveQDQConvPRelu": False, "RemoveQDQConvRelu": False, "RemoveQDQConvLeakyRelu": False,
    "Int32Bias": False, "DedicatedQDQPair": True, "QuantizeAllOpTypes": True,
}  # fmt: skip


def _make(spec, weight=None, algorithms=None, **options):
    layer = QLayerConfig(input_tensors=spec(), weight=(weight or spec)())
    return QConfig(layer, algo_config=algorithms, **options)


_TUNED = {"": lambda: None, "_ADAROUND": lambda: [AdaRoundConfig()], "_ADAQUANT": lambda: [AdaQuantConfig()]}
for _name, _algorithms in _TUNED.items():
    globals()[f"XINT8{_name}_QCONFIG"] = _make(XInt8Spec, algorithms=_algorithms())
    globals()[f"A8W8{_name}_QCONFIG"] = _make(Int8Spec, algorithms=_algorithms(), **_NPU)
    globals()[f"A16W8{_name}_QCONFIG"] = _make(Int16Spec, Int8Spec, _algorithms(), AlignEltwiseQuantType=True, **_NPU)
VINT8_QCONFIG = _make(XInt8Spec, **_VINT8)
BF16_QCONFIG = _make(BFloat16Spec)
BFP16_QCONFIG = _make(BFP16Spec)
__all__ += [_name for _name in list(globals()) if _name.endswith("_QCONFIG")]
