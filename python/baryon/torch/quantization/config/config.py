"""What is quantized, by Quark's names. Configurations become schemes of baryon.llm.quantize()."""

import enum

from ...._names import missing


def _word(value):
    return value.value if isinstance(value, enum.Enum) else value


class QTensorConfig:
    """A specification of a tensor. Those that no scheme has are refused when they are used."""

    def __init__(self, dtype, qscheme=None, group_size=None, symmetric=None, is_dynamic=None, ch_axis=None,
                 scale_type=None, scale_format=None, scale_calculation_mode=None, mx_element_dtype=None,
                 block_size=None, is_scale_quant=False, **rest):  # fmt: skip
        self.dtype, self.qscheme = _word(dtype), _word(qscheme)
        self.group_size = group_size if group_size not in (None, -1) else block_size
        self.symmetric, self.is_dynamic, self.ch_axis = symmetric, is_dynamic, ch_axis
        self.scale_type, self.scale_format = _word(scale_type), scale_format
        self.scale_calculation_mode = scale_calculation_mode
        self.mx_element_dtype, self.is_scale_quant = _word(mx_element_dtype), is_scale_quant
        self.rest = rest

    def key(self):
        """Type, granularity, group size, format of scales."""
        return (self.dtype, self.qscheme, self.group_size if self.qscheme == "per_group" else None, self.scale_format)

    def to_quantization_spec(self):
        return self

    def __repr__(self):
        return f"QTensorConfig(dtype={self.dtype!r}, qscheme={self.qscheme!r}, group_size={self.group_size!r})"


class DataTypeSpec:
    """What has a method to_quantization_spec()."""

    _fixed = {}
    _defaults = {}

    def __init__(self, **given):
        self._given = {**self._defaults, **self._fixed, **given}

    def to_quantization_spec(self):
        return QTensorConfig(**self._given)

    def __repr__(self):
        return f"{type(self).__name__}()"


def _spec(name, dtype, qscheme, **fixed):
    kind = type(name, (DataTypeSpec,), {"_fixed": {"dtype": dtype, "qscheme": qscheme, **fixed},
                                        "__doc__": f"{dtype}, {qscheme}."})  # fmt: skip
    kind.__module__ = __name__
    globals()[name] = kind
    return name


_SPECS = []
for _type, _name in (("int8", "Int8"), ("uint8", "Uint8"), ("int4", "Int4"), ("uint4", "Uint4")):
    for _words, _q in (("Tensor", "per_tensor"), ("Channel", "per_channel"), ("Group", "per_group")):
        _SPECS.append(_spec(f"{_name}Per{_words}Spec", _type, _q))
_SPECS += [_spec("Int3PerGroupSpec", "int3", "per_group"), _spec("Int3PerChannelSpec", "int3", "per_channel"),
           _spec("Int2PerGroupSpec", "int2", "per_group")]  # fmt: skip
for _type, _name in (("fp8_e4m3", "FP8E4M3"), ("fp8_e5m2", "FP8E5M2")):
    for _words, _q in (("Tensor", "per_tensor"), ("Channel", "per_channel"), ("Group", "per_group")):
        _SPECS.append(_spec(f"{_name}Per{_words}Spec", _type, _q))
_SPECS += [_spec("FP4PerGroupSpec", "fp4", "per_group"), _spec("FP6E2M3PerGroupSpec", "fp6_e2m3", "per_group"),
           _spec("FP6E3M2PerGroupSpec", "fp6_e3m2", "per_group")]  # fmt: skip
for _type, _name in (("fp8_e4m3", "FP8E4M3"), ("fp8_e5m2", "FP8E5M2"), ("fp6_e3m2", "FP6E3M2"),
                     ("fp6_e2m3", "FP6E2M3"), ("fp4", "FP4")):  # fmt: skip
    _SPECS.append(_spec(f"OCP_MX{_name}Spec", _type, "per_group", group_size=32, scale_format="e8m0"))
_SPECS += [_spec("OCP_MXINT8Spec", "mxint8", None), _spec("MX6Spec", "mx6", None), _spec("MX9Spec", "mx9", None),
           _spec("BFP16Spec", "bfp16", None), _spec("Float16Spec", "float16", None),
           _spec("Bfloat16Spec", "bfloat16", None)]  # fmt: skip


class _TwoStages:
    def __init__(self, first_stage, second_stage):
        self.first, self.second = first_stage, second_stage

    def to_quantization_spec(self):
        return [_tensor(self.first), _tensor(self.second)]


class ProgressiveSpec(_TwoStages):
    """fp8 first, then integers on what is left of the values."""


class ScaleQuantSpec(_TwoStages):
    """Scales of the first are quantized by the second."""

    def to_quantization_spec(self):
        first, second = super().to_quantization_spec()
        second.is_scale_quant = True
        return [first, second]


def _tensor(spec):
    """A QTensorConfig, a list of two, or None."""
    if isinstance(spec, (list, tuple)):
        return [_tensor(one) for one in spec]
    return spec.to_quantization_spec() if hasattr(spec, "to_quantization_spec") else spec


class QLayerConfig:
    """What becomes of a layer: weight, input_tensors; the others are refused."""

    def __init__(self, input_tensors=None, output_tensors=None, weight=None, bias=None, target_device=None):
        for name, value in (("output_tensors", output_tensors), ("bias", bias)):
            if value is not None:
                raise NotImplementedError(f"QLayerConfig: {name} cannot be quantized here, only weights can, and inputs while "
                                          "the model runs")  # fmt: skip
        self.input_tensors, self.weight = _tensor(input_tensors), _tensor(weight)

    def scheme(self):
        """The name of a scheme, and a group size that differs from its own or None."""
        return _scheme_of(self.weight, self.input_tensors)


_INPUTS = {
    # scheme: what inputs may be beside the weights (type, granularity)
    "fp8": ("fp8_e4m3", "per_tensor"), "ptpc_fp8": ("fp8_e4m3", "per_channel"), "int8": ("int8", "per_tensor"),
    "int4_wa_64": ("int4", "per_group"), "int4_fp8": ("fp8_e4m3", "per_tensor"),
}  # fmt: skip


def _refuse(weight, inputs):
    with_inputs = f" with inputs {inputs}" if inputs is not None else ""
    raise NotImplementedError(f"no scheme has weights {weight}{with_inputs}; baryon.llm.quantize(FOLDER, OUT, scheme=NAME) has "
                              "those of `baryon list schemes`")  # fmt: skip


def _two_stages(weight, inputs):
    first, second = weight
    if second.is_scale_quant and first.dtype == "fp4" and first.group_size == 16 and second.dtype == "fp8_e4m3":
        return "nvfp4" if inputs is not None else "nvfp4_weight_only"
    if first.dtype == "fp8_e4m3" and second.dtype == "int4" and second.qscheme == "per_channel":
        return "int4_fp8"
    return _refuse(weight, inputs)


def _beside_inputs(weight, inputs):
    """Integers with inputs that are rounded: those of groups, or with a scale for each token."""
    if weight.key()[:3] == ("int4", "per_group", 64) and inputs.key()[:3] == ("int4", "per_group", 64):
        return "int4_wa_64", None
    own, tokens = (weight.dtype, weight.qscheme), (inputs.dtype, inputs.qscheme)
    if own == ("int8", "per_channel") and tokens == ("int8", "per_channel"):
        return "ptpc_int8", None
    if own == ("int4", "per_channel") and tokens == ("int8", "per_channel"):
        return "int4_int8_per_channel", None
    if own == ("int4", "per_group") and tokens == ("int8", "per_channel"):
        return ("int4_int8_64", None) if weight.group_size == 64 else ("int4_int8_128", _other(weight.group_size, 128))
    if own == ("int4", "per_group") and tokens == ("fp8_e4m3", "per_channel"):
        return "int4_fp8_128", _other(weight.group_size, 128)
    return _refuse(weight, inputs)


def _other(size, usual):
    return size if size != usual else None


def _integers(weight, inputs):
    if inputs is not None:
        return _beside_inputs(weight, inputs)
    if weight.qscheme == "per_channel" and weight.dtype != "int2":
        return f"{weight.dtype}_wo_per_channel", None
    if weight.qscheme != "per_group" or not weight.group_size:
        _refuse(weight, inputs)
    sizes = {"int3": (64, 128), "int2": (32, 64), "uint2": (32, 64)}.get(weight.dtype, (32, 64, 128))
    name = f"{weight.dtype}_wo_{weight.group_size if weight.group_size in sizes else sizes[0]}"
    return name, None if weight.group_size in sizes else weight.group_size


def _micro(weight, inputs):
    own = {"fp4": "mxfp4", "fp6_e3m2": "mxfp6_e3m2", "fp6_e2m3": "mxfp6_e2m3", "fp8_e4m3": "mxfp8_e4m3",
           "fp8_e5m2": "mxfp8_e5m2"}[weight.dtype]  # fmt: skip
    if inputs is None:
        return f"{own}_weight_only" if own.startswith(("mxfp4", "mxfp6")) else own
    if inputs.dtype == weight.dtype:
        return own
    if own == "mxfp4" and inputs.dtype == "fp6_e2m3":
        return "mxfp4_mxfp6_e2m3"
    if own == "mxfp4" and inputs.dtype == "fp8_e4m3":
        return "mxfp4_fp8"
    return _refuse(weight, inputs)


def _blocks(name, weight, inputs):
    if inputs is not None and inputs.dtype != weight.dtype:
        _refuse(weight, inputs)
    return name if inputs is not None else f"{name}_weight_only"


def _scheme_of(weight, inputs):
    if weight is None:
        raise ValueError("QLayerConfig has no weight, must have one: only weights are quantized here")
    if isinstance(weight, list):
        return _two_stages(weight, inputs), None
    if isinstance(inputs, list):
        _refuse(weight, inputs)
    dtype, qscheme, group, scales = weight.key()
    if dtype in ("int4", "uint4", "uint8", "int3", "int2", "uint2") or (dtype == "int8" and qscheme != "per_tensor"):
        return _integers(weight, inputs)
    if scales == "e8m0" and group == 32:
        return _micro(weight, inputs), None
    if scales == "e5m3" and dtype == "fp4" and group in (16, 32):
        return "amdfp4" if group == 16 else "amdfp4_g32", None
    plain = {("int8", "per_tensor"): "int8", ("fp8_e4m3", "per_tensor"): "fp8", ("fp8_e5m2", "per_tensor"): "fp8_e5m2",
             ("fp8_e4m3", "per_channel"): "fp8_wo_per_channel", ("fp8_e4m3", "per_group"): "fp8_wo_128",
             ("mx6", None): "mx6", ("mx9", None): "mx9", ("bfp16", None): "bfp16", ("mxint8", None): "mxint8",
             ("float16", None): "fp16", ("bfloat16", None): "bf16"}.get((dtype, qscheme))  # fmt: skip
    if plain == "fp8_wo_per_channel" and inputs is not None:
        plain = "ptpc_fp8"
    if plain in ("mx6", "mx9", "bfp16"):
        return _blocks(plain, weight, inputs), None
    if plain is None or (inputs is not None and (inputs.dtype, inputs.qscheme) != _INPUTS.get(plain)):
        _refuse(weight, inputs)
    return plain, group if plain == "fp8_wo_128" and group != 128 else None


class QConfig:
    """What becomes of a model. Given names that need samples or a model in memory are refused."""

    def __init__(self, global_quant_config=None, layer_type_quant_config=None, layer_quant_config=None, exclude=None,
                 algo_config=None, kv_cache_quant_config=None, softmax_quant_spec=None, quant_mode=None,
                 quant_flow=None, **rest):  # fmt: skip
        for name, value in (("algo_config", algo_config), ("kv_cache_quant_config", kv_cache_quant_config),
                            ("softmax_quant_spec", softmax_quant_spec)):  # fmt: skip
            if value:
                raise NotImplementedError(f"QConfig: {name} needs samples, which is not supported yet: leave it out; weights "
                                          "are rounded with least squared error")  # fmt: skip
        if layer_type_quant_config:
            raise NotImplementedError("QConfig: layer_type_quant_config names classes of torch, which is not supported: "
                                      "layer_quant_config takes patterns of names")  # fmt: skip
        if unknown := set(rest) - {"log_severity_level", "version", "kv_cache_group", "min_kv_scale", "kv_cache_post_rope",
                                   "shared_scale_groups", "sync_moe_expert_input_amax", "keep_prequantized_layers",
                                   "gpu_resident_blocks"}:  # fmt: skip
            raise TypeError(f"QConfig has no {sorted(unknown)[0]!r}")
        self.global_quant_config = global_quant_config
        self.layer_quant_config = dict(layer_quant_config or {})
        self.exclude = list(exclude or [])
        self.by_structure = False  # heads, routers and the like stay without being named

    def scheme(self):
        """The scheme of all layers, and a group size of its own or None."""
        if self.global_quant_config is None:
            raise ValueError("QConfig has no global_quant_config, must have one")
        return _name_of(self.global_quant_config)

    def options(self):
        scheme, size = self.scheme()
        layers = {}
        for pattern, layer in self.layer_quant_config.items():
            layers[pattern], own = _name_of(layer)
            if own:
                raise NotImplementedError(f"{pattern}: groups of {own}, must be those of a scheme (32, 64 or 128) where a "
                                          "layer differs from the others")  # fmt: skip
        return {"scheme": scheme, "group_size": size, "layer": layers, "exclude": self.exclude}


def _name_of(layer):
    """Of a QLayerConfig, or of the name of a scheme."""
    return (layer, None) if isinstance(layer, str) else layer.scheme()


Config = QConfig
QuantizationConfig = QLayerConfig
QuantizationSpec = QTensorConfig
_ALGORITHMS = ("AWQConfig", "GPTQConfig", "GPTAQConfig", "QronosConfig", "SmoothQuantConfig", "AutoSmoothQuantConfig",
               "RotationConfig", "AutoRoundConfig", "SVDQuantConfig")  # fmt: skip
_LATER = {name: "an algorithm that needs samples or a model in memory" for name in _ALGORITHMS}
_LATER |= {"load_quant_algo_config_from_file": "an algorithm", "load_pre_optimization_config_from_file": "an algorithm",
           "TQTSpec": "training", "OCP_MXFP4DiffsSpec": "a choice of powers of two; OCP_MXFP4Spec is there"}  # fmt: skip
__all__ = ["Config", "ProgressiveSpec", "QConfig", "QLayerConfig", "QTensorConfig", "QuantizationConfig",
           "QuantizationSpec", "ScaleQuantSpec", *_SPECS]  # fmt: skip


def __getattr__(name):
    raise missing("baryon.torch.quantization", name, __all__, _LATER)
