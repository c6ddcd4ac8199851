"""Specifications of tensors and layers, by Quark's names. What they say is what is done."""

from enum import Enum

from ...._notices import notice
from . import data_type as types
from . import words
from .data_type import DataType


class CalibMethod(Enum):
    MinMax = 0
    MinMSE = 1
    Percentile = 2
    Entropy = 3
    LayerwisePercentile = 4
    Distribution = 5


class ScaleType(Enum):
    Float32 = 0
    PowerOf2 = 1
    Int16 = 2
    Float16 = 3


class QuantGranularity(Enum):
    Tensor = 0
    Channel = 1
    Group = 2


_SCALES = {
    ScaleType.Float32: "float32", ScaleType.PowerOf2: "pow2", ScaleType.Int16: "int16",
    ScaleType.Float16: "float16",
}  # fmt: skip
# Of scales that are powers of two.
_METHODS_POW2 = {CalibMethod.MinMax: "nonoverflow", CalibMethod.MinMSE: "minmse-pow2"}
# What there is for constants; as in Quark all other methods are MinMax there, and Percentile is what
# specifications have by default.
_METHODS_WEIGHT = {
    CalibMethod.MinMax: "minmax", CalibMethod.MinMSE: "minmse", CalibMethod.Percentile: "minmax",
}  # fmt: skip
_FIELDS = ("symmetric", "scale_type", "calibration_method", "quant_granularity", "data_type")


class QTensorConfig:
    _fields = {"scale": "scale_type", "symmetric": "symmetric"}
    _own = {}  # of a class with defaults: those of these fields

    def __init__(self, symmetric, scale_type, calibration_method, quant_granularity, data_type):
        self.set_symmetric(symmetric)
        self.set_scale_type(scale_type)
        self.set_calibration_method(calibration_method)
        self.set_quant_granularity(quant_granularity)
        self.set_data_type(data_type)

    def set_symmetric(self, symmetric):
        self.symmetric = bool(symmetric)

    def set_scale_type(self, scale_type):
        self.scale_type = _member(ScaleType, scale_type)

    def set_calibration_method(self, calibration_method):
        self.calibration_method = _member(CalibMethod, calibration_method)

    def set_quant_granularity(self, quant_granularity):
        self.quant_granularity = _member(QuantGranularity, quant_granularity)

    def set_data_type(self, data_type):
        if not (isinstance(data_type, type) and issubclass(data_type, DataType)):
            raise TypeError(f"data_type is {data_type!r}, a type such as Int8 is expected")
        self.data_type = data_type

    @property
    def is_integer(self):
        return "int" in self.data_type.name and not self.data_type.name.startswith("mx")

    def method(self, weight=False):
        """The name of the calibration method."""
        if self.scale_type is ScaleType.PowerOf2 and self.calibration_method in _METHODS_POW2:
            return _METHODS_POW2[self.calibration_method]
        if weight and self.calibration_method not in _METHODS_WEIGHT:
            notice("weights take MinMax instead of %s, which is for activations only", self.calibration_method.name)
            return "minmax"
        return _METHODS_WEIGHT[self.calibration_method] if weight else _named(self.calibration_method)

    def to_dict(self):
        """A dict of plain values, for files; from_dict() of QTensorConfig makes a specification of it."""
        return {"name": type(self).__name__, **{name: words.plain(getattr(self, name)) for name in _FIELDS}}

    @staticmethod
    def from_dict(values):
        known = {kind.__name__: kind for kind in (QTensorConfig, *QTensorConfig.__subclasses__())}
        words.check_keys("a specification", values, ("name", *_FIELDS))
        name = values.get("name", "QTensorConfig")
        words.check_keys("the list of specifications", [name], known)
        made = {key: _WORDS.get(key, bool)(value) for key, value in values.items() if key != "name"}
        return known[name](**made)

    def __repr__(self):
        fields = ", ".join(f"{name}={words.plain(getattr(self, name))}" for name in _FIELDS)
        return f"{type(self).__name__}({fields})"

    def check_type(self, weight):
        """ONNX has no QuantizeLinear to 32 bits, and no DequantizeLinear of uint32."""
        if self.data_type is types.UInt32 or (self.data_type is types.Int32 and not weight):
            raise NotImplementedError(f"{self.data_type!r} of {'weights' if weight else 'activations'}: no operator of "
                                      "ONNX quantizes to these 32 bits; Int32 is for weights and biases, Int16 and "
                                      "UInt16 are the widest types of activations")  # fmt: skip

    def rule(self, weight=False):
        """As a rule of a configuration file has it."""
        self.check_type(weight)
        if not self.is_integer:
            return self.data_type.name
        rule = {"type": self.data_type.name, "symmetric": self.symmetric, "scale": _SCALES[self.scale_type],
                "method": self.method(weight)}  # fmt: skip
        if self.quant_granularity is not QuantGranularity.Tensor:
            rule["granularity"] = self.quant_granularity.name.lower()
            if self.quant_granularity is QuantGranularity.Group:
                rule["group"] = 128
        return rule

    def options(self, role):
        """As options of the library have it: role is "activation" or "weight"."""
        self.check_type(role == "weight")
        options = {role: self.data_type.name}
        if not self.is_integer:
            return options
        options[f"{role}_symmetric"] = self.symmetric
        options[f"{role}_scale"] = _SCALES[self.scale_type]
        options[f"{role}_method"] = self.method(role == "weight")
        if role == "weight":
            options["weight_granularity"] = self.quant_granularity.name.lower()
        elif self.quant_granularity is not QuantGranularity.Tensor:
            raise NotImplementedError(f"{self.quant_granularity} of activations is not available")
        return options

    def yields(self, role, options):
        """The options without scale and symmetry that are the class's own: a target with powers of two sets them."""
        left = {f"{role}_{name}" for name, value in self._own.items()
                if value not in (ScaleType.PowerOf2, True) and getattr(self, self._fields[name]) is value}  # fmt: skip
        return {name: value for name, value in options.items() if name not in left}


def _named(method):
    """The library's name of a method: LayerwisePercentile is layerwise-percentile."""
    from ....lists import methods

    return next(name for name in methods() if name.replace("-", "") == method.name.lower())


_WORDS = {
    "scale_type": lambda text: words.member(ScaleType, text),
    "calibration_method": lambda text: words.member(CalibMethod, text),
    "quant_granularity": lambda text: words.member(QuantGranularity, text),
    "data_type": words.data_type,
}  # fmt: skip


def _member(kind, value):
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is no {kind.__name__}; there are {', '.join(map(str, kind))}")
    return value


def _spec(name, data_type, symmetric=True, method=CalibMethod.Percentile, scale=ScaleType.Float32):
    def __init__(self, symmetric=symmetric, scale_type=scale, calibration_method=method,
                 quant_granularity=QuantGranularity.Tensor, data_type=data_type):  # fmt: skip
        QTensorConfig.__init__(self, symmetric, scale_type, calibration_method, quant_granularity, data_type)

    return type(name, (QTensorConfig,), {"__init__": __init__, "__module__": __name__,
                                       "_own": {"scale": scale, "symmetric": symmetric}})  # fmt: skip


Int4Spec = _spec("Int4Spec", types.Int4)
UInt4Spec = _spec("UInt4Spec", types.UInt4, symmetric=False)
Int8Spec = _spec("Int8Spec", types.Int8)
UInt8Spec = _spec("UInt8Spec", types.UInt8, symmetric=False)
XInt8Spec = _spec("XInt8Spec", types.Int8, method=CalibMethod.MinMSE, scale=ScaleType.PowerOf2)
Int16Spec = _spec("Int16Spec", types.Int16)
UInt16Spec = _spec("UInt16Spec", types.UInt16, symmetric=False)
Int32Spec = _spec("Int32Spec", types.Int32)
UInt32Spec = _spec("UInt32Spec", types.UInt32, symmetric=False)
for _name in ("Float16", "BFloat16", "BFP16", "MX4", "MX6", "MX9", "MXFP4E2M1", "MXFP6E3M2",
              "MXFP6E2M3", "MXFP8E5M2", "MXFP8E4M3", "MXInt8"):  # fmt: skip
    globals()[f"{_name}Spec"] = _spec(f"{_name}Spec", getattr(types, _name), method=CalibMethod.MinMax)


_TENSORS = ("input_tensors", "weight", "bias", "output_tensors")


class QLayerConfig:
    """Specifications of a layer's tensors; activation is another name of input_tensors."""

    def __init__(self, input_tensors=None, activation=None, weight=None, bias=None, output_tensors=None):
        if input_tensors is not None and activation is not None:
            raise ValueError("input_tensors and activation are two names of one thing, give one of them")
        self.input_tensors = input_tensors if activation is None else activation
        self.weight, self.bias, self.output_tensors = weight, bias, output_tensors
        for name in _TENSORS:
            spec = getattr(self, name)
            if spec is not None and not isinstance(spec, QTensorConfig):
                raise TypeError(f"{name} is a {type(spec).__name__}, a specification such as Int8Spec() is expected")

    @property
    def activation(self):
        return self.input_tensors

    def to_dict(self):
        return {name: getattr(self, name).to_dict() for name in _TENSORS if getattr(self, name) is not None}

    @classmethod
    def from_dict(cls, values):
        words.check_keys("a layer's configuration", values, ("activation", *_TENSORS))
        return cls(**{name: QTensorConfig.from_dict(spec) for name, spec in values.items() if spec is not None})

    def __repr__(self):
        fields = (f"{name}={getattr(self, name)!r}" for name in _TENSORS if getattr(self, name) is not None)
        return f"QLayerConfig({', '.join(fields)})"

    def rule(self):
        """As a rule for nodes or operators."""
        rule = {}
        for ours, spec in (("input", self.input_tensors), ("weight", self.weight), ("bias", self.bias),
                           ("output", self.output_tensors)):  # fmt: skip
            if spec is not None:
                rule[ours] = spec.rule(ours in ("weight", "bias"))
        return rule
