"""ModelQuantizer, by Quark's name."""

from ... import quantization
from . import nhwc, restore, summary
from .config.config import Config, QConfig
from .own import OwnOptions


class ModelQuantizer:
    def __init__(self, config):
        if not isinstance(config, (Config, QConfig)):
            raise TypeError(f"config is a {type(config).__name__}, must be a Config or a QConfig")
        self.config = config

    def quantize_model(self, model_input, model_output=None, calibration_data_reader=None,
                       calibration_data_path=None, algorithms=None):  # fmt: skip
        """Writes the quantized model, or returns it as an onnx.ModelProto where model_output is
        None, and prints a summary, which print_summary=False (PrintSummary) switches off. result has
        what baryon.quantize() gives."""
        if calibration_data_reader is not None and calibration_data_path is not None:
            raise ValueError("calibration_data_reader and calibration_data_path are both given, only one is allowed")
        options, external = self.config.options()
        for algorithm in algorithms or []:
            theirs = algorithm.options()
            extra = {**theirs.pop("extra_options", {}), **options.get("extra_options", {})}
            options.update(theirs, extra_options=extra)
        own = OwnOptions(options)
        data = calibration_data_reader if calibration_data_path is None else calibration_data_path
        options = restore.begin(own.ranges_file, own.options, data is not None)
        turned = data is not None and nhwc.asked(options)
        if turned:
            data = nhwc.reader_of(model_input, data)
        if own.evaluates and hasattr(data, "get_next"):
            data = summary.First(data)
        self.result = self._quantize(model_input, model_output, data, external, options)
        restore.finish(own.ranges_file, self.result)
        self._report(own, nhwc.turn_model(model_input) if turned and own.evaluates else model_input, data)
        return self.result.to_onnx() if model_output is None else None

    def _report(self, own, model, data):
        result = self.result
        samples = data.first() if isinstance(data, summary.First) else None
        if own.evaluates:
            own.evaluate(model, result.path if result.model is None else result.model, samples or data)
        if own.summary:
            for line in summary.summary(result):
                print(line)

    @staticmethod
    def _quantize(model, output, data, external, options):
        settings = quantization.settings_of(None, data, options, in_file=True)
        return quantization.quantize_with(settings, model, output, data, external, overwrite=True)
