"""QuantizationConfig: one flat list of fields, by Quark's names."""

import copy

from ...._notices import notice
from ...calibration import CalibrationMethod, Int16Method, LayerWiseMethod, PowerOfTwoMethod
from ..quant_utils import ExtendedQuantFormat, ExtendedQuantType, QuantFormat, QuantType
from . import data_type

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

# What the words of fields are members of; a type that none of them has is one of data_type.
_KINDS = {
    "calibrate_method": (CalibrationMethod, PowerOfTwoMethod, LayerWiseMethod, Int16Method),
    "quant_format": (QuantFormat, ExtendedQuantFormat),
    "activation_type": (QuantType, ExtendedQuantType, data_type),
    "weight_type": (QuantType, ExtendedQuantType, data_type),
}  # fmt: skip


def _member(field, text):
    """"QDQ" and "ExtendedQuantFormat.QDQ" as Quark's scripts have them; other texts as they are."""
    kind, _, word = str(text).rpartition(".")
    for known in _KINDS.get(field, ()):
        if kind in ("", known.__name__) and hasattr(known, word):
            return getattr(known, word)
    return text


class QuantizationConfig:
    """Fields that are not set are those of the preset, or Quark's defaults. extra_options has what a
    preset says of them: what is deleted is at its default, another dict in its place is put on top."""

    def __init__(self, preset=None, **fields):
        object.__setattr__(self, "preset", preset)
        object.__setattr__(self, "shown", _shown(preset) if preset else {"extra_options": {}})
        object.__setattr__(self, "given", {"extra_options": copy.deepcopy(self.shown["extra_options"])} if preset else {})
        object.__setattr__(self, "extras", self.given.get("extra_options"))
        for name, value in fields.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        self._check(name)
        self.given[name] = value

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        self._check(name)
        default = self.shown.get(name, _member(name, FIELDS[name]))
        if isinstance(default, (list, dict)) and name not in self.given:
            self.given[name] = copy.deepcopy(default)
        return self.given.get(name, default)

    @staticmethod
    def _check(name):
        if name not in FIELDS:
            from ...._names import near

            raise AttributeError(f"QuantizationConfig has no field {name!r}{near(name, FIELDS)}")

    def __copy__(self):
        return self.__deepcopy__({})

    def __deepcopy__(self, memo):
        made = QuantizationConfig.__new__(QuantizationConfig)
        for name in ("preset", "shown", "given", "extras"):  # together, so that extras stay those of given
            object.__setattr__(made, name, copy.deepcopy(getattr(self, name), memo))
        return made

    def __repr__(self):
        fields = {name: value for name, value in self._set().items() if value not in ([], {})}
        if self.preset:
            fields = {"preset": self.preset, **fields}
        return f"QuantizationConfig({', '.join(f'{name}={value!r}' for name, value in fields.items())})"

    def _set(self):
        """Fields that do not say what the preset says."""
        fields = {name: value for name, value in self.given.items()
                  if not (self.preset and name in self.shown and value == self.shown[name])}  # fmt: skip
        extra, shown = fields.get("extra_options"), self.shown["extra_options"]
        if not extra or not shown:
            return fields
        fields["extra_options"] = {name: value for name, value in extra.items()
                                   if name not in shown or value != shown[name]}  # fmt: skip
        return fields

    def _names_preset(self):
        """Whether a preset says what is not given; not where one of its extra options was deleted."""
        extra = self.given.get("extra_options")
        return bool(self.preset) and not (extra is self.extras and any(name not in extra for name in self.shown["extra_options"]))

    def _fields(self):
        """All that a preset says, without its name; what Quark has no word for by ours."""
        from ....lists import preset

        if not self.preset:
            return dict(self.given)  # Quark's defaults of the others are the library's
        fields = {**self.shown, **self.given}
        method = plain(fields.get("calibrate_method", FIELDS["calibrate_method"]))
        if method == method.lower():
            fields["activation_method"] = fields.pop("calibrate_method")
        if fields.get("include_cle") and self.shown.get("include_cle"):
            fields["cle"] = preset(self.preset)["cle"]
        return fields

    def options(self):
        """Keys of a configuration file, and whether weights go to a file of their own."""
        named = self._names_preset()
        fields = self._set() if named else self._fields()
        external = fields.pop("use_external_data_format", False)
        options = {name: plain(value) for name, value in fields.items() if value not in ([], {}, None)}
        if options.get("execution_providers") == FIELDS["execution_providers"]:
            del options["execution_providers"]
        if named:
            options["preset"] = self.preset
        return options, external


def _shown(preset):
    """Fields of a preset, and its extra options."""
    from ....lists import rows_of_preset

    rows = rows_of_preset(preset, "baryon_preset_quark")
    shown = {name: _member(name, value) for name, value in rows.items() if name in FIELDS}
    return {**shown, "extra_options": {name: value for name, value in rows.items() if name not in FIELDS}}


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
