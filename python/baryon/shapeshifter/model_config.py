"""Models that passes start from, by Quark's names."""

import os


class ModelConfig:
    """input_model_path: the model's file."""

    model_type = "onnx"

    def __init__(self, input_model_path):
        self.input_model_path = os.fspath(input_model_path)

    def __repr__(self):
        return f"{type(self).__name__}(input_model_path={self.input_model_path!r})"


class ONNXModelConfig(ModelConfig):
    """A model in ONNX."""
