"""A folder that stands for a model, and what is to become of it."""

import fnmatch
import os

from .. import llm
from ..errors import UsageError

# Kinds of matrices that stay as they are unless Quark's lists of exclusions leave them out.
_KEPT = ("head", "router", "shared_gate")


def path_of(model, call):
    """The path that was given as a model."""
    if isinstance(model, (str, os.PathLike)):
        return os.fspath(model)
    if isinstance(model, Folder):
        return model.path
    raise TypeError(f"the model is a {type(model).__name__}, must be the path of its folder: baryon.torch works on files; "
                    f"write the model with its save_pretrained(FOLDER), then call {call}")  # fmt: skip


class Folder:
    """A model's folder and its configuration; export_safetensors() writes the result."""

    def __init__(self, path, config):
        self.path, self.config = path, config

    def options(self):
        """Keywords of baryon.llm.quantize()."""
        options = self.config.options()
        excluded = options.pop("exclude", [])
        # Quark quantizes what its lists do not name; patterns that match nothing are ignored there.
        layers = dict(options.get("layer", {}))
        tensors = [] if self.config.by_structure else llm.inspect(self.path, tensors=True)["tensors"]
        for tensor in tensors:
            name = tensor["name"].removesuffix(".weight")
            named = any(fnmatch.fnmatchcase(name, pattern) for pattern in [*layers, *excluded])
            if tensor["kind"] in _KEPT and name != tensor["name"] and len(tensor["shape"]) == 2 and not named:
                layers[name] = options["scheme"]
        options["layer"] = self._that_match(options, "layer", layers)
        options["exclude"] = self._that_match(options, "exclude", excluded)
        return {key: value for key, value in options.items() if value}

    def _that_match(self, options, key, patterns):
        """Those patterns that match a layer, a list or a dict as they are."""
        found = [pattern for pattern in patterns if self._matches(options, key, pattern, patterns)]
        return {pattern: patterns[pattern] for pattern in found} if isinstance(patterns, dict) else found

    def _matches(self, options, key, pattern, patterns):
        one = {pattern: patterns[pattern]} if isinstance(patterns, dict) else [pattern]
        rest = {name: value for name, value in options.items() if name not in ("layer", "exclude") and value}
        try:
            llm.quantize(self.path, dry_run=True, **{**rest, "layout": "json-safetensors", key: one})
        except UsageError as error:
            if "matches no linear layer" in str(error):
                return False
            raise
        return True

    def write(self, out, layout):
        return llm.quantize(self.path, out, layout=layout, **self.options())

    def __repr__(self):
        return f"<Folder {self.path!r}, to be quantized as {self.config.scheme()[0]}>"
