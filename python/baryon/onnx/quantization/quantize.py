"""quantize_static() and quantize_dynamic(), which take the fields of a QuantizationConfig as arguments."""

from .api import ModelQuantizer
from .config.config import Config
from .config.legacy import QuantizationConfig


def quantize_static(model_input, model_output=None, calibration_data_reader=None, calibration_data_path=None,
                    quant_format=None, calibrate_method=None, **fields):  # fmt: skip
    """As ModelQuantizer.quantize_model() does with QuantizationConfig(**fields)."""
    if fields.pop("enable_dpu", False):
        fields["enable_npu_cnn"] = True
    fields = {"quant_format": quant_format, "calibrate_method": calibrate_method, **fields}
    config = QuantizationConfig(**{name: value for name, value in fields.items() if value is not None})
    return ModelQuantizer(Config(config)).quantize_model(model_input, model_output, calibration_data_reader,
                                                         calibration_data_path)  # fmt: skip


def quantize_dynamic(model_input, model_output=None, op_types_to_quantize=(), per_channel=False, reduce_range=False,
                     weight_type=None, **fields):  # fmt: skip
    """Weights as integers, activations while the model runs; no samples are needed."""
    fields = {"op_types_to_quantize": list(op_types_to_quantize or []), "weight_type": weight_type,
              "per_channel": per_channel, "reduce_range": reduce_range, "use_dynamic_quant": True, **fields}  # fmt: skip
    config = QuantizationConfig(**{name: value for name, value in fields.items() if value not in (None, [], False)})
    return ModelQuantizer(Config(config)).quantize_model(model_input, model_output)
