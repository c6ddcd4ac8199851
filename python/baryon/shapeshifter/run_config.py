"""RunConfig, by Quark's name."""

import os

from .model_config import ModelConfig, ONNXModelConfig


class RunConfig:
    """The model, passes as {name: parameters}, and where the result goes."""

    def __init__(self, input_model_config=None, passes=None, output_model_path=None, input_model_path=None):
        if input_model_config is not None and not isinstance(input_model_config, ModelConfig):
            raise TypeError(f"input_model_config is a {type(input_model_config).__name__}, an ONNXModelConfig is expected")
        self.input_model_config = ONNXModelConfig(input_model_path) if input_model_path else input_model_config
        self.passes = dict(passes or {})
        self.output_model_path = os.fspath(output_model_path) if output_model_path else None

    def to_dict(self):
        found = {"passes": self.passes}
        if self.input_model_config is not None:
            found["input_model_path"] = self.input_model_config.input_model_path
        if self.output_model_path:
            found["output_model_path"] = self.output_model_path
        return found

    def __repr__(self):
        return (f"RunConfig(input_model_config={self.input_model_config!r}, passes={self.passes!r}, "
                f"output_model_path={self.output_model_path!r})")  # fmt: skip
