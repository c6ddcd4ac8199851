"""Algorithms by Quark's names. What the library does in their place is in docs/quantization.md."""

from . import words


class AlgoConfig:
    """The fields are those of _fields, with their defaults."""

    _fields = {}

    def __init__(self, **fields):
        from ...._names import near

        for name in fields:
            if name not in self._fields:
                raise TypeError(f"{type(self).__name__} has no field {name!r}{near(name, self._fields)}")
        for name, default in self._fields.items():
            setattr(self, name, fields.get(name, default))

    def changed(self):
        """Fields that differ from their defaults."""
        return {name: getattr(self, name) for name, default in self._fields.items() if getattr(self, name) != default}

    def options(self):
        """What it means for a quantization: keys of a configuration file."""
        return {}

    def to_dict(self):
        """Its name, and the fields that differ from their defaults."""
        return {"name": type(self).__name__, **words.plain(self.changed())}

    @staticmethod
    def from_dict(values):
        known = {kind.__name__: kind for kind in _kinds(AlgoConfig) if kind._fields or not kind.__name__.startswith("_")}
        words.check_keys("the list of algorithms", [values.get("name")], known)
        return known[values["name"]](**{name: value for name, value in values.items() if name != "name"})

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.changed().items())})"


def _kinds(kind):
    for child in kind.__subclasses__():
        yield child
        yield from _kinds(child)


class CLEConfig(AlgoConfig):
    _fields = {"cle_balance_method": "max", "cle_steps": 1, "cle_weight_threshold": 0.5,
               "cle_scale_append_bias": True, "cle_scale_use_threshold": True,
               "cle_total_layer_diff_threshold": 1.9e-7}  # fmt: skip
    _names = {"cle_balance_method": "CLEBalanceMethod", "cle_steps": "CLESteps",
              "cle_weight_threshold": "CLEWeightThreshold", "cle_scale_append_bias": "CLEScaleAppendBias",
              "cle_scale_use_threshold": "CLEScaleUseThreshold",
              "cle_total_layer_diff_threshold": "CLETotalLayerDiffThreshold"}  # fmt: skip

    def options(self):
        return {"include_cle": True,
                "extra_options": {self._names[name]: value for name, value in self.changed().items()}}  # fmt: skip


class BiasCorrectionConfig(AlgoConfig):
    def options(self):
        return {"extra_options": {"BiasCorrection": True}}


class GPTQConfig(AlgoConfig):
    _fields = {"bits": 8, "block_size": 128, "group_size": -1, "perc_damp": 0.01, "act_order": False,
               "per_channel": False, "mse": False, "weight_symmetric": True}  # fmt: skip
    _names = {"bits": "Bits", "block_size": "BlockSize", "group_size": "GroupSize", "perc_damp": "PercDamp",
              "act_order": "ActOrder", "per_channel": "PerChannel", "mse": "MSE",
              "weight_symmetric": "WeightSymmetric"}  # fmt: skip

    def options(self):
        params = {self._names[name]: value for name, value in self.changed().items()}
        return {"extra_options": {"UseGPTQ": True, "GPTQParams": {"Bits": self.bits, **params}}}


_TRAINED = {
    "optim_device": "cpu", "infer_device": "cpu", "fixed_seed": 1705472343, "data_size": 1000000000,
    "batch_size": 1, "num_batches": 1, "num_iterations": 1000, "learning_rate": 0.1, "early_stop": False,
    "output_index": 0, "lr_adjust": None,
    "target_op_type": ["Conv", "ConvTranspose", "Gemm", "MatMul", "InstanceNormalization", "LayerNormalization"],
    "selective_update": False, "update_bias": False, "output_qdq": False, "drop_ratio": 1.0, "mem_opt_level": 1,
    "cache_dir": None, "log_period": 100, "ref_model_path": None, "dynamic_batch": False, "parallel": False,
    "reg_param": 0.01, "beta_range": (20, 2), "warm_start": 0.2, "select_max_mem_layer": False,
    "num_workers": 1, "pin_memory": False, "use_gds": False,
}  # fmt: skip


class _FastFinetune(AlgoConfig):
    _algorithm = None

    def options(self):
        finetune = {"OptimAlgorithm": self._algorithm, **self.changed()}
        return {"include_fast_ft": True, "extra_options": {"FastFinetune": finetune}}


class AdaRoundConfig(_FastFinetune):
    _fields, _algorithm = _TRAINED, "adaround"


class AdaQuantConfig(_FastFinetune):
    _fields, _algorithm = {**_TRAINED, "num_iterations": 3000, "learning_rate": 1e-5}, "adaquant"


class SmoothQuantConfig(AlgoConfig):
    _fields = {"alpha": 0.5}

    def options(self):
        return {"include_sq": True, "extra_options": {"SmoothAlpha": self.alpha}}


class QuarotConfig(AlgoConfig):
    _fields = {"r_matrix_dim": 4096, "use_random_had": False, "r_config_path": None}

    def options(self):
        given = {"RMatrixDim": self.r_matrix_dim, "UseRandomHad": self.use_random_had, "RConfigPath": self.r_config_path}
        usual = {"RMatrixDim": 4096, "UseRandomHad": False, "RConfigPath": None}
        return {"include_rotation": True,
                "extra_options": {name: value for name, value in given.items() if value != usual[name]}}


class AutoMixprecisionConfig(AlgoConfig):
    _fields = {"target_layer_config": None, "target_op_type": None, "include_layers": None, "exclude_layers": None,
               "subgraph_json": None, "data_size": 0, "metric_output_index": 0, "metric_distance_fn": None,
               "metric_evaluate_fn": None, "metric_default": None, "metric_threshold": 0,
               "metric_optimize_object": "speed", "sensitivity_cache_file": None, "worker_num": 1,
               "dual_quant_nodes": False, "no_input_qdq_shared": False, "shared_param_mode": "propagate"}  # fmt: skip

    def options(self):
        given = {**self.changed(), "metric_threshold": self.metric_threshold}
        target = given.get("target_layer_config")
        if hasattr(target, "rule"):
            given["target_layer_config"] = {
                name: spec if isinstance(spec, str) else spec["type"] for name, spec in target.rule().items()
                if name in ("input", "weight")}  # fmt: skip
        return {"extra_options": {"AutoMixprecision": given}}
