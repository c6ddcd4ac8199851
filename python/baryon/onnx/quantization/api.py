"""ModelQuantizer, by Quark's name."""

from ... import quantization
from .config.config import Config, QConfig


class ModelQuantizer:
    def __init__(self, config):
        if not isinstance(config, (Config, QConfig)):
            raise TypeError(f"config is a {type(config).__name__}, a Config or a QConfig is expected")
        self.config = config

    def quantize_model(self, model_input, model_output=None, calibration_data_reader=None,
                       calibration_data_path=None, algorithms=None):  # fmt: skip
        """Writes the quantized model, or returns it as an onnx.ModelProto where model_output is
        None. result has what baryon.quantize() gives."""
        if calibration_data_reader is not None and calibration_data_path is not None:
            raise ValueError("calibration_data_reader and calibration_data_path cannot be given at once")
        options, external = self.config.options()
        for algorithm in algorithms or []:
            theirs = algorithm.options()
            extra = {**theirs.pop("extra_options", {}), **options.get("extra_options", {})}
            options.update(theirs, extra_options=extra)
        data = calibration_data_reader if calibration_data_path is None else calibration_data_path
        if data is not None:
            options = _without_random(options)
        self.result = self._quantize(model_input, model_output, data, external, options)
        return self.result.to_onnx() if model_output is None else None

    @staticmethod
    def _quantize(model, output, data, external, options):
        settings = quantization.settings_of(None, data, options, in_file=True)
        return quantization.quantize_with(settings, model, output, data, external, overwrite=True)


def _without_random(options):
    """Samples that are given count before random ones."""
    extra = options.get("extra_options", {})
    return {**options, "extra_options": {**extra, "UseRandomData": False}} if "UseRandomData" in extra else options
