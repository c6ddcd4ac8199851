"""Config and QConfig, by Quark's names."""

from . import words
from .algorithm import AlgoConfig
from .legacy import QuantizationConfig, plain
from .spec import QLayerConfig, ScaleType


class Config:
    def __init__(self, global_quant_config):
        if not isinstance(global_quant_config, QuantizationConfig):
            raise TypeError(f"global_quant_config is a {type(global_quant_config).__name__}, a "
                            "QuantizationConfig is expected")
        self.global_quant_config = global_quant_config

    def options(self):
        return self.global_quant_config.options()

    @property
    def extra_options(self):
        return self.global_quant_config.extra_options

    def __repr__(self):
        return f"Config(global_quant_config={self.global_quant_config!r})"


def get_default_config(config_name):
    """A QuantizationConfig of its own for a preset."""
    return QuantizationConfig(str(config_name))


def _name_pattern(name):
    """Quark takes what begins with ^ for a regular expression."""
    return f"re:{name}" if name.startswith("^") else name


def _is_span(item):
    """(starts, ends): what lies between nodes."""
    return isinstance(item, (list, tuple)) and len(item) == 2 and all(isinstance(end, (list, tuple)) for end in item)


def _flat(items):
    for item in items:
        if isinstance(item, list) and not _is_span(item):
            yield from _flat(item)
        elif isinstance(item, str) or _is_span(item):
            yield item
        else:
            raise TypeError(f"{item!r} is neither the name of a node nor a pair of lists of names, (starts, ends)")


def _parted(items):
    """Names, with the patterns of the library, and spans."""
    names = [_name_pattern(item) for item in _flat(items) if isinstance(item, str)]
    return names, [[list(item[0]), list(item[1])] for item in _flat(items) if not isinstance(item, str)]


def _check_layers(field, layers):
    for layer in layers:
        if layer is not None and not isinstance(layer, QLayerConfig):
            raise TypeError(f"{field} has a {type(layer).__name__} as a key; a QLayerConfig, or None for what stays "
                            "float, is expected")  # fmt: skip


_KEYS = ("global_config", "specific_layer_config", "layer_type_config", "exclude", "algo_config",
         "use_external_data_format", "extra_options")  # fmt: skip


class QConfig:
    """Specifications for all layers, and others for some; more options by their names. In
    specific_layer_config and layer_type_config None stands for layers that stay float."""

    def __init__(self, global_config=None, specific_layer_config=None, layer_type_config=None, exclude=None,
                 algo_config=None, use_external_data_format=False, **kwargs):  # fmt: skip
        if not isinstance(global_config, QLayerConfig):
            raise TypeError("global_config has to be a QLayerConfig")
        if global_config.input_tensors is None or global_config.weight is None:
            raise ValueError("global_config needs input_tensors and weight")
        self.global_config = global_config
        self.specific_layer_config = dict(specific_layer_config or {})
        self.layer_type_config = dict(layer_type_config or {})
        self.exclude = list(exclude or [])
        self.algo_config = list(algo_config or [])
        _check_layers("specific_layer_config", self.specific_layer_config)
        _check_layers("layer_type_config", self.layer_type_config)
        for algorithm in self.algo_config:
            if not isinstance(algorithm, AlgoConfig):
                raise TypeError(f"algo_config has a {type(algorithm).__name__}, a configuration such as "
                                "AdaRoundConfig() is expected")
        self.use_external_data_format = use_external_data_format
        self.extra_options = {**kwargs.pop("extra_options", {}), **kwargs}

    @staticmethod
    def get_default_config(config_name):
        return Config(get_default_config(config_name))

    def to_dict(self):
        """A dict of plain values, for files in JSON or YAML."""
        def rows(layers, key):
            return [{"config": layer and layer.to_dict(), key: words.plain(list(names))} for layer, names in layers.items()]

        return {
            "global_config": self.global_config.to_dict(),
            "specific_layer_config": rows(self.specific_layer_config, "nodes"),
            "layer_type_config": rows(self.layer_type_config, "op_types"),
            "exclude": words.plain(self.exclude),
            "algo_config": [algorithm.to_dict() for algorithm in self.algo_config],
            "use_external_data_format": self.use_external_data_format,
            "extra_options": words.plain(self.extra_options),
        }

    @classmethod
    def from_dict(cls, values):
        """The configuration of a dict as to_dict() gives it."""
        def layers(field, key):
            found = {}
            for row in values.get(field) or []:
                words.check_keys(field, row, ("config", key))
                layer = QLayerConfig.from_dict(row["config"]) if row.get("config") is not None else None
                found.setdefault(layer, []).extend(row[key])
            return found

        words.check_keys("a QConfig", values, _KEYS)
        return cls(
            global_config=QLayerConfig.from_dict(values.get("global_config") or {}),
            specific_layer_config=layers("specific_layer_config", "nodes"),
            layer_type_config=layers("layer_type_config", "op_types"),
            exclude=values.get("exclude"),
            algo_config=[AlgoConfig.from_dict(row) for row in values.get("algo_config") or []],
            use_external_data_format=values.get("use_external_data_format", False),
            extra_options=dict(values.get("extra_options") or {}),
        )  # fmt: skip

    def __repr__(self):
        fields = {name: getattr(self, name) for name in _KEYS if name == "global_config" or getattr(self, name)}
        return f"QConfig({', '.join(f'{name}={value!r}' for name, value in fields.items())})"

    def options(self):
        layer = self.global_config
        options = {**self._types(), **self._form(), **self._layers(), **self._excluded()}
        if layer.bias is not None:
            options["bias"] = layer.bias.data_type.name
        if layer.output_tensors is not None:
            options["op_types"] = {**options.get("op_types", {}), "*": {"output": layer.output_tensors.rule()}}
        extra = dict(self.extra_options)
        options["include_cle"] = False
        for algorithm in self.algo_config:
            theirs = algorithm.options()
            extra = {**theirs.pop("extra_options", {}), **extra}
            options.update(theirs)
        options["extra_options"] = plain(extra)
        return options, self.use_external_data_format

    def _types(self):
        """Where a target is asked for by name, it sets what specifications leave at their defaults."""
        roles = {"activation": self.global_config.input_tensors, "weight": self.global_config.weight}
        told = {}
        for role, spec in roles.items():
            options = spec.options(role)
            told.update(spec.yields(role, options) if self.extra_options.get("EnableNPUCnn") else options)
        return told

    def _form(self):
        """Which quantizer of Quark's this is."""
        layer = self.global_config
        both = (layer.input_tensors, layer.weight)
        if "EnableNPUCnn" in self.extra_options:
            return {}
        if all(spec.scale_type is ScaleType.PowerOf2 for spec in both):
            return {"enable_npu_cnn": True}
        if not all(spec.is_integer for spec in both):
            return {}
        # Options of alignment have a meaning in the extended form alone.
        aligned = any(name.startswith("Align") and value for name, value in self.extra_options.items())
        plain_types = all(spec.data_type.name in ("int8", "uint8") for spec in both)
        return {} if plain_types and not aligned else {"quant_format": "ExtendedQuantFormat.QDQ"}

    def _layers(self):
        """Rules for operators, for nodes by name, and for what lies between nodes."""
        op_types, nodes, between = {}, {}, []
        for layer, types in self.layer_type_config.items():
            for name in types:
                op_types[name] = "float" if layer is None else layer.rule()
        for layer, items in self.specific_layer_config.items():
            names, spans = _parted(items)
            if layer is None:
                continue
            nodes.update((name, layer.rule()) for name in names)
            between += [[*span, layer.rule()] for span in spans]
        return {key: rules for key, rules in (("op_types", op_types), ("nodes", nodes), ("nodes_between", between)) if rules}

    def _excluded(self):
        names, spans = _parted([*self.exclude, *self.specific_layer_config.get(None, [])])
        found = {"nodes_to_exclude": names, "subgraphs_to_exclude": spans}
        return {key: value for key, value in found.items() if value}
