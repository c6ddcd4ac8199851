"""QuantizationConfig: one flat list of fields, by Quark's names."""

# Each field with its default; None: what a preset says, or else the library's own.
FIELDS = {
    "calibrate_method": "MinMax", "quant_format": "QDQ", "activation_type": "QInt8", "weight_type": "QInt8",
    "input_nodes": [], "output_nodes": [], "op_types_to_quantize": [], "extra_op_types_to_quantize": [],
    "nodes_to_quantize": [], "nodes_to_exclude": [], "exclude_nodes": [], "subgraphs_to_exclude": [],
    "specific_tensor_precision": False, "execution_providers": ["CPUExecutionProvider"],
    "per_channel": False, "reduce_range": False, "optimize_model": True, "use_dynamic_quant": False,
    "use_external_data_format": False, "convert_fp16_to_fp32": False, "convert_nchw_to_nhwc": False,
    "include_sq": False, "include_rotation": False, "include_cle": True, "include_auto_mp": False,
    "include_fast_ft": False, "enable_npu_cnn": False, "enable_npu_transformer": False,
    "debug_mode": False, "crypto_mode": False, "print_summary": True, "ignore_warnings": True,
    "log_severity_level": 1, "extra_options": {},
}  # fmt: skip
# Fields that say nothing of the model that comes out.
IDLE = {
    "debug_mode": "the log is told by Python's logging", "crypto_mode": "nothing is written but the result",
    "print_summary": "nothing is printed", "ignore_warnings": "warnings are few and always told",
    "log_severity_level": "the log is told by Python's logging",
}  # fmt: skip


class QuantizationConfig:
    """Fields that are not set are those of the preset, or Quark's defaults. extra_options has what
    is set on top of a preset's own."""

    def __init__(self, preset=None, **fields):
        object.__setattr__(self, "preset", preset)
        object.__setattr__(self, "given", {})
        for name, value in fields.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        self._check(name)
        self.given[name] = value

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._check(name)
        default = FIELDS[name]
        if isinstance(default, (list, dict)) and name not in self.given:
            self.given[name] = type(default)(default)
        elif self.preset and name not in self.given:
            raise AttributeError(f"{name} was not set: it is what the preset {self.preset} says, see "
                                 f"'baryon presets {self.preset}'")
        return self.given.get(name, default)

    @staticmethod
    def _check(name):
        if name not in FIELDS:
            from ...._names import near

            raise AttributeError(f"QuantizationConfig has no field {name!r}{near(name, FIELDS)}")

    def __copy__(self):
        return self.__deepcopy__({})

    def __deepcopy__(self, memo):
        import copy

        return QuantizationConfig(self.preset, **copy.deepcopy(self.given, memo))

    def options(self):
        """Keys of a configuration file, and whether weights go to a file of their own."""
        fields = dict(self.given) if self.preset else {**_defaults(), **self.given}
        external = fields.pop("use_external_data_format", False)
        for name in IDLE:
            if name in fields and fields.pop(name) != FIELDS[name]:
                _tell(name, IDLE[name])
        options = {name: plain(value) for name, value in fields.items() if value not in ([], {}, None)}
        if options.get("execution_providers") == FIELDS["execution_providers"]:
            del options["execution_providers"]
        if options.get("specific_tensor_precision") is False:
            del options["specific_tensor_precision"]
        if self.preset:
            options["preset"] = self.preset
        return options, external


def _defaults():
    """Fields whose defaults differ from the library's own, or are needed with it."""
    names = ("calibrate_method", "quant_format", "activation_type", "weight_type", "include_cle")
    return {name: FIELDS[name] for name in names}


def _tell(name, why):
    import logging

    logging.getLogger("baryon").warning("%s has no effect here: %s", name, why)


def plain(value):
    """Enums and classes of onnxruntime's and ours as the texts that files have."""
    from enum import Enum

    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, type) and hasattr(value, "name"):
        return value.__name__
    if isinstance(value, dict):
        return {(key if isinstance(key, str) else str(key)): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value
