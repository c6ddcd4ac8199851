"""What Quark's tools that rewrite models have in common: each is a list of passes, and the arguments
that its command takes."""

import argparse
import importlib
import json
import sys

_EXTERNAL = "--save_as_external_data"


def rewrite(model, output, passes, external=False):
    """Runs passes, {name: parameters}; the model where output is None."""
    from ..._model import Loaded
    from ...shapeshifter import Engine

    made = Engine({"passes": passes}).run(model)
    if output is None:
        return made
    with Loaded(made) as loaded:
        loaded.save(output, external)
    return None


def on(name, **more):
    """A pass that a parameter of its own name switches on."""
    return lambda _: {name: {name.removeprefix("onnx_"): True, **more}}


class Tool:
    """places: names of the arguments that are the model and its output; as options when they begin with
    --, else by their order. more: {argument: options of argparse}. passes: of the arguments."""

    def __init__(self, text, places, passes, more=None):
        self.text, self.places, self.passes, self.more = text, places, passes, more or {}

    def parser(self, name):
        parser = argparse.ArgumentParser(prog=f"python -m baryon.onnx.tools.{name}", description=self.text)
        for place in self.places:
            parser.add_argument(place, **({"required": True} if place.startswith("--") else {}))
        for argument, options in self.more.items():
            parser.add_argument(argument, **options)
        if _EXTERNAL not in self.more:
            parser.add_argument(_EXTERNAL, action="store_true")
        return parser

    def main(self, name, arguments=None):
        import baryon

        options = self.parser(name).parse_args(arguments)
        model, *_, output = (getattr(options, place.lstrip("-")) for place in self.places)
        try:
            self.work(model, output, options)
        except (baryon.Error, ValueError, OSError) as error:
            print(f"baryon: {error}", file=sys.stderr)
            return 3
        return 0

    def work(self, model, output, options):
        rewrite(model, output, self.passes(options), options.save_as_external_data)


class Quantizer(Tool):
    """passes gives (configuration, data) for a ModelQuantizer here."""

    def work(self, model, output, options):
        from ..quantization.api import ModelQuantizer

        config = self.passes(options)
        config.global_quant_config.use_external_data_format = options.save_as_external_data
        ModelQuantizer(config).quantize_model(model, output)


def spans(text):
    """"([a, b], [c]); ([d], [e])" and "[a, b],[c]" as [[[a, b], [c]], [[d], [e]]]."""
    found = []
    for part in text.split(";"):
        lists = part.strip().strip("()").split("]")
        names = [[name.strip() for name in piece.partition("[")[2].split(",") if name.strip()] for piece in lists]
        if len(names) != 3 or any(char in lists[2] for char in "[,"):
            raise ValueError(f"{part!r} is no pair of lists of nodes, [STARTS],[ENDS]")
        found.append(names[:2])
    return found


def shapes(text):
    """"input:[1,3,224,224];output:[1,1000]" as a dict."""
    found = {}
    for part in text.split(";"):
        name, _, sizes = part.strip().rpartition(":")
        try:
            found[name] = json.loads(sizes)
        except ValueError as failure:
            raise ValueError(f"{part!r} is no NAME:[SIZE, ...]") from failure
    return found


def main_of(spec):
    """For the modules of single tools: their main()."""
    name = spec.name.rpartition(".")[2]

    def main(arguments=None):
        return importlib.import_module("baryon.onnx.tools._table").TOOLS[name].main(name, arguments)

    return main
