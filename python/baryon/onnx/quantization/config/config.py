"""Config and QConfig, by Quark's names."""

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


def get_default_config(config_name):
    """A QuantizationConfig of its own for a preset."""
    return QuantizationConfig(str(config_name))


def _name_pattern(name):
    """Quark takes what begins with ^ for a regular expression."""
    return f"re:{name}" if name.startswith("^") else name


def _flat(items):
    for item in items:
        if isinstance(item, list):
            yield from _flat(item)
        else:
            yield item


class QConfig:
    """Specifications for all layers, and others for some; more options by their names."""

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
        for algorithm in self.algo_config:
            if not isinstance(algorithm, AlgoConfig):
                raise TypeError(f"algo_config has a {type(algorithm).__name__}, a configuration such as "
                                "AdaRoundConfig() is expected")
        self.use_external_data_format = use_external_data_format
        self.extra_options = {**kwargs.pop("extra_options", {}), **kwargs}

    @staticmethod
    def get_default_config(config_name):
        return Config(get_default_config(config_name))

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
        op_types, nodes = {}, {}
        for layer, names in self.layer_type_config.items():
            for name in names:
                op_types[name] = "float" if layer is None else layer.rule()
        for layer, names in self.specific_layer_config.items():
            for name in _flat(names):
                if not isinstance(name, str):
                    raise NotImplementedError("specific_layer_config for what lies between nodes is not available "
                                              "yet; name the nodes, or leave them out by exclude")
                nodes[_name_pattern(name)] = layer.rule()
        return {key: rules for key, rules in (("op_types", op_types), ("nodes", nodes)) if rules}

    def _excluded(self):
        names, spans = [], []
        for item in _flat(self.exclude):
            if isinstance(item, str):
                names.append(_name_pattern(item))
            else:
                spans.append([list(item[0]), list(item[1])])
        found = {"nodes_to_exclude": names, "subgraphs_to_exclude": spans}
        return {key: value for key, value in found.items() if value}
