"""Rewrites of float models by a file of passes, with the names of AMD Quark's Shapeshifter.

    config = LoadConfigFromFileOrDict("passes.yaml").data
    engine = Engine(config=config)
    engine.initialize()
    engine.run()
"""

import ctypes
import json
import os
import tempfile

from .. import _library
from .._call import Call
from .._model import Loaded
from .model_config import ModelConfig, ONNXModelConfig
from .run_config import RunConfig


class LoadConfigFromFileOrDict:
    """data is what Engine takes: the path of a YAML or JSON file, or a dict."""

    def __init__(self, config):
        if isinstance(config, dict):
            self.data = config
        elif os.path.exists(config):
            self.data = os.fspath(config)
        else:
            raise FileNotFoundError(f"{config}: the file of passes does not exist")


class Engine:
    def __init__(self, config):
        if isinstance(config, RunConfig):
            config = config.to_dict()
        if not isinstance(config, (dict, str, os.PathLike)):
            raise TypeError(f"config is a {type(config).__name__}, must be a RunConfig, a dict or the path of a file")
        self.config = config

    def initialize(self):
        """Nothing has to be made ready; it is here because scripts call it."""

    def run(self, float_model=None):
        """Writes the model to output_model_path, or returns it as an onnx.ModelProto where there is
        none. float_model: instead of input_model_path."""
        if isinstance(self.config, dict):
            with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
                json.dump(self.config, file)
            try:
                return self._run(file.name, float_model, hide=file.name)
            finally:
                os.unlink(file.name)
        return self._run(os.fspath(self.config), float_model)

    def _run(self, passes, model, hide=None):
        job = Call(False)
        runtime = _library.onnxruntime()
        options = _library.ConvertOptions(onnxruntime=os.fsencode(runtime) if runtime else None, log=job.log)
        source, out = ctypes.create_string_buffer(4096), ctypes.create_string_buffer(4096)
        job.run("baryon_convert_places", os.fsencode(passes), source, out, len(source), hide=hide)
        if model is None and not source.value:
            raise ValueError("no model: set input_model_path, or give a model to run()")
        with Loaded(model if model is not None else os.fsdecode(source.value)) as loaded:
            job.run("baryon_convert", loaded.pointer, os.fsencode(passes), ctypes.byref(options), hide=hide)
            if out.value:
                return loaded.save(os.fsdecode(out.value))
            import onnx

            return onnx.load_from_string(loaded.to_bytes())


def shapeshifter(run_config, model=None):
    """Runs passes and returns the model, which is written too where run_config says so. model: in
    memory or a path, instead of the configuration's."""
    return Engine(run_config).run(model)


_NAMES = ["Engine", "LoadConfigFromFileOrDict", "ModelConfig", "ONNXModelConfig", "RunConfig", "shapeshifter"]
_LATER = {"ONNXPass": "a pass of one's own", "PytorchPass": "PyTorch", "PytorchModelConfig": "PyTorch"}
__all__ = [*_NAMES]


def __getattr__(name):
    from .._names import missing

    raise missing("baryon.shapeshifter", name, _NAMES, _LATER)
