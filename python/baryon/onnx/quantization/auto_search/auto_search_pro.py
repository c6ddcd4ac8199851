"""AutoSearchPro, by Quark's name: the best configuration, as one dict says what that is."""

import json
import os

from ...._notices import notice
from ..config import words
from . import goals, target
from .metrics import METRICS_PRO
from .running import IDLE, Running, mention_idle, mention_space, samples_of

_KEYS = ("model_input", "calib_data_reader", "eval_data_reader", "output_dir", "temp_dir", "search_space",
         "search_evaluator", "search_metric", "search_metric_tolerance", "goal", "direction", "base_framework")  # fmt: skip
_SPACE = ("activation", "activation_params", "weight", "weight_params", "algorithms", "cle_algo", "cle_params",
          "adaround_params", "adaquant_params", "specific_layer_config", "layer_type_config", "exclude",
          "use_external_data_format")  # fmt: skip

_USUAL = "sqnr>=20"  # of baryon.auto()


def _check(config):
    words.check_keys("the configuration of AutoSearchPro", config, [*_KEYS, *IDLE])
    for name in ("model_input", "calib_data_reader"):
        if config.get(name) is None:
            raise ValueError(f"{name} is required")
    # Those with a capital letter are extra options.
    options = [name for name in config.get("search_space") or {} if not name[:1].isupper()]
    words.check_keys("search_space", options, _SPACE)
    for name, known in (("direction", ("minimize", "maximize")), ("base_framework", ("onnx",))):
        if config.get(name) is not None:
            words.check_keys(f"the list of values for {name}", [config[name]], known)


def _read(space):
    """Names of what the target is found by, and groups that have nothing else."""
    types = {"scale_type", "data_type", "only_if"}
    groups = [name for name in ("activation_params", "weight_params") if not set(space.get(name) or ()) - types]
    return ["activation", "weight", *groups]


class AutoSearchPro:
    """search: the baryon.Search, once run() was called."""

    def __init__(self, config):
        _check(config)
        self.config = {name: value for name, value in config.items() if value is not None}
        self.data = self.config["calib_data_reader"]

    def _goal(self):
        """Of the evaluator, of the metric where there is a bound for it, or of baryon.auto() itself."""
        config, bound = self.config, self.config.get("search_metric_tolerance")
        if "search_evaluator" in config:
            found = goals.evaluator_goal(config["search_evaluator"], config["model_input"], config.get("temp_dir"), bound,
                                         config.get("direction") == "maximize")  # fmt: skip
        elif bound is not None:
            name = config.get("search_metric", "L2")
            found = goals.metric_goal(name, METRICS_PRO, bound, config["model_input"], self._samples())
        else:
            return goals.Goal(str(config.get("goal", _USUAL)), config.get("goal"))
        if "goal" not in config:
            return found
        more = config["goal"] if isinstance(config["goal"], (list, tuple)) else [config["goal"]]
        return found._replace(text=f"{found.text}; {config['goal']}", goal=[found.goal, *more])

    def _samples(self):
        if "eval_data_reader" in self.config:
            return samples_of(self.config["eval_data_reader"])
        self.data = samples_of(self.data)
        return self.data

    def _mention(self, found):
        """What has no effect, a notice each."""
        config = self.config
        why = ""
        if "search_evaluator" in config:
            why = "beside search_evaluator"
        elif "search_metric_tolerance" not in config:
            why = f"without search_metric_tolerance: {config.get('goal', _USUAL)} is the goal"
        for name in ("search_metric", "eval_data_reader"):
            if why and name in config:
                notice("%s has no effect %s", name, why)
        if config.get("direction") == "maximize" and "search_evaluator" not in config:
            notice("direction has no effect: whether more of a metric is better is known")
        mention_idle(config)
        space = config.get("search_space", {})
        mention_space("search_space", space, _read(space), found)

    def run(self):
        """What was found, as best_params.json has it: the best, also where it misses the goal."""
        config = self.config
        found, folder = target.of_specifications(config.get("search_space", {})), config.get("output_dir", "./output")
        self._mention(found)
        goal = self._goal()
        running = Running(config["model_input"], self.data, folder, goal, found)
        self.search = running.found
        best = running.best()
        with open(os.path.join(folder, "best_params.json"), "w", encoding="utf-8") as file:
            json.dump(best, file, indent=2)
            file.write("\n")
        return best
