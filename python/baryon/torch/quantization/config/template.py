"""LLMTemplate, by Quark's name: layers are found by their parts and shapes, so every family has one."""

from ...._names import near
from .config import QConfig

# What Quark calls families, for list_available(). Any other name is taken, too.
_FAMILIES = (
    "chatglm cohere dbrx deepseek deepseek_v2 deepseek_v3 gemma2 gemma3 gemma3_text glm4_moe gpt_oss gptj "
    "granitemoehybrid grok-1 instella llama llama4 mistral mixtral mllama olmo opt phi phi3 qwen qwen2 qwen2_moe qwen3 "
    "qwen3_moe"
).split()


class LLMTemplate:
    _templates = {}
    _schemes = {}

    def __init__(self, model_type, kv_layers_name=None, q_layer_name=None, gate_up_layers_name=None,
                 exclude_layers_name=None, **rest):  # fmt: skip
        """exclude_layers_name: patterns; None: heads, routers, towers and the like, found by structure.
        The names of other layers are needed by nothing here."""
        self.model_type = model_type
        self.exclude_layers_name = exclude_layers_name

    @classmethod
    def list_available(cls):
        return sorted({*_FAMILIES, *cls._templates})

    @classmethod
    def get(cls, model_type):
        return cls._templates.get(model_type) or cls(model_type)

    @classmethod
    def register_template(cls, template):
        cls._templates[template.model_type] = template

    @classmethod
    def register_scheme(cls, scheme_name, config):
        """config: a QLayerConfig."""
        cls._schemes[scheme_name] = config

    @classmethod
    def unregister_scheme(cls, scheme_name):
        cls._schemes.pop(scheme_name, None)

    @classmethod
    def get_supported_schemes(cls):
        return [*cls._names(), *cls._schemes]

    @staticmethod
    def _names():
        from ....lists import schemes

        return list(schemes())

    def get_config(self, scheme, algorithm=None, kv_cache_scheme=None, min_kv_scale=0.0, attention_scheme=None,
                   layer_config=None, layer_type_config=None, exclude_layers=None, algo_configs=None,
                   shared_scale_groups=None):  # fmt: skip
        """A QConfig. layer_config: {pattern: scheme}; exclude_layers: patterns instead of the
        template's."""
        for name, value in (("algorithm", algorithm), ("algo_configs", algo_configs),
                            ("kv_cache_scheme", kv_cache_scheme), ("attention_scheme", attention_scheme)):  # fmt: skip
            if value:
                raise NotImplementedError(f"get_config: {name}={value!r} needs samples, which is not supported yet: leave it "
                                          "out; weights are rounded with least squared error")  # fmt: skip
        if layer_type_config:
            raise NotImplementedError("get_config: layer_type_config names classes of torch, which is not supported: "
                                      "layer_config takes patterns of names")  # fmt: skip
        layers = {pattern: self._scheme(name) for pattern, name in (layer_config or {}).items()}
        config = QConfig(self._scheme(scheme), layer_quant_config=layers)
        excluded = self.exclude_layers_name if exclude_layers is None else exclude_layers
        config.by_structure = excluded is None
        config.exclude = list(excluded or [])
        return config

    def _scheme(self, name):
        if name in self._schemes:
            return self._schemes[name]
        known = self.get_supported_schemes()
        if name not in known and name not in ("fp4_block16_scale_e4m3", "w4a8", "mxfp8"):
            raise ValueError(f"unknown scheme {name!r}{near(name, known)}")
        return name
