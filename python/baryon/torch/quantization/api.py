"""ModelQuantizer, by Quark's name."""

import logging

from .._folder import Folder, path_of
from .config.config import QConfig

_CALL = "quantize_model(FOLDER) or baryon.llm.quantize(FOLDER, OUT, scheme=NAME)"


class ModelQuantizer:
    def __init__(self, config, multi_device=False):
        if not isinstance(config, QConfig):
            raise TypeError(f"config is a {type(config).__name__}, must be a QConfig")
        config.scheme()  # refused here rather than later
        self.config = config

    def quantize_model(self, model, dataloader=None):
        """Takes the path of a folder; what it gives is for freeze() and the functions of export, which
        do the work. No samples are used: inputs that need a scale of samples get it while the
        model runs, or stay floats."""
        path = path_of(model, _CALL)
        if dataloader is not None:
            logging.getLogger("baryon").warning("samples are not used: the schemes here need none")
        return Folder(path, self.config)

    def freeze(self, model):
        """Nothing has to be frozen; it is here because scripts call it."""
        if not isinstance(model, Folder):
            raise TypeError(f"the model is a {type(model).__name__}, must be what quantize_model(FOLDER) gives")
        return model

    def direct_quantize_checkpoint(self, pretrained_model_path, save_path, keep_excluded_layers_as_original_model_state=False,
                                   *_, weight_converters=None, device=None, presharded_weights=None):  # fmt: skip
        """From folder to folder. device is ignored: the processor computes."""
        if weight_converters or presharded_weights:
            raise NotImplementedError("weight_converters and presharded_weights are not supported; stacked experts are split "
                                      "without them")  # fmt: skip
        if keep_excluded_layers_as_original_model_state:
            raise NotImplementedError("keep_excluded_layers_as_original_model_state is not supported: layers that are not "
                                      "quantized become floats")  # fmt: skip
        Folder(path_of(pretrained_model_path, _CALL), self.config).write(save_path, "quark")
