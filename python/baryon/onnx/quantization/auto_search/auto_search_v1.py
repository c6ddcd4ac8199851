"""AutoSearch, by Quark's name: a configuration whose outputs are within a tolerance."""

from ...._notices import notice
from ..config import words
from ..config.config import Config, QConfig
from ..config.legacy import FIELDS
from . import goals, target
from .metrics import GREATER, METRICS
from .running import IDLE, Running, mention_idle, mention_space, samples_of

_TOLERANCE = 2e4
_READ = ("calibrate_method", "activation_type", "weight_type")
_STOPS = ("time_limit", "find_n_candidates", "find_best_candidate", "iteration_limit")


class AutoSearchConfig:
    """To inherit from, or to set: what AutoSearch reads. Any object with such members will do."""

    search_space = {}
    search_metric = "L2"
    search_evaluator = None
    search_metric_tolerance = None
    search_cache_dir = None
    search_output_dir = "./"
    search_log_path = None
    search_stop_condition = {}


_KEYS = [name for name in vars(AutoSearchConfig) if not name.startswith("_")]


def _members(config):
    """Those of the object and its classes; functions of its own by other names are its affair."""
    if isinstance(config, dict):
        return dict(config)
    kinds = (config if isinstance(config, type) else type(config)).__mro__[:-1]
    names = {name for holder in (*kinds, config) for name in getattr(holder, "__dict__", ())}
    members = {name: getattr(config, name) for name in sorted(names) if not name.startswith("_")}
    return {name: value for name, value in members.items() if name in _KEYS or not callable(value)}


class AutoSearch:
    """search: the baryon.Search, once search_model() was called."""

    def __init__(self, model_input, config, auto_search_config=None, eval_dataloader=None,
                 calibration_data_reader=None, calibration_data_path=None):  # fmt: skip
        if not isinstance(config, (Config, QConfig)):
            raise TypeError(f"config is a {type(config).__name__}, must be a Config or a QConfig")
        if (calibration_data_reader is None) == (calibration_data_path is None):
            raise ValueError("calibration_data_reader or calibration_data_path is required, and only one of them")
        self.model_input, self.config, self.eval_dataloader = model_input, config, eval_dataloader
        self.data = calibration_data_path if calibration_data_reader is None else calibration_data_reader
        given = _members(AutoSearchConfig if auto_search_config is None else auto_search_config)
        words.check_keys("the configuration of AutoSearch", given, [*_KEYS, *IDLE])
        self.given = {**_members(AutoSearchConfig), **{name: value for name, value in given.items() if value is not None}}
        words.check_keys("search_stop_condition", self.given["search_stop_condition"], _STOPS)
        words.check_keys("search_space", self.given["search_space"], FIELDS)

    def _target(self):
        space, own = self.given["search_space"], self.config.options()[0]
        found = target.of_fields(space, self.config)
        mention_space("search_space", space, _READ, found)
        read = [*_READ, "preset"]
        if isinstance(self.config, QConfig):  # whose specifications are more options
            read += ["quant_format", "enable_npu_cnn", "include_cle"]
            read += [name for name in own if name.startswith(("activation", "weight"))]
        mention_space("config", own, read, found)
        return found

    def _goal(self):
        given, evaluator = self.given, self.given["search_evaluator"]
        bound, name = given["search_metric_tolerance"], given["search_metric"]
        if bound is None:
            if evaluator is None and name in GREATER:
                raise ValueError(f"search_metric {name!r} requires search_metric_tolerance, the least {name} that a "
                                 "model may have")  # fmt: skip
            notice("search_metric_tolerance is %g where none is given, as in Quark, and nearly any model is within it",
                   _TOLERANCE)  # fmt: skip
            bound = _TOLERANCE
        if evaluator is not None:
            if self.eval_dataloader is not None:
                notice("eval_dataloader has no effect beside search_evaluator")
            return goals.evaluator_goal(evaluator, self.model_input, given["search_cache_dir"], bound)
        return goals.metric_goal(name, METRICS, bound, self.model_input, self._samples())

    def _samples(self):
        """Those that the metric is measured on."""
        from ...._samples import is_path
        from ...calibration.data_readers import PathDataReader

        if self.eval_dataloader is not None:
            return samples_of(self.eval_dataloader)
        if is_path(self.data):
            return samples_of(PathDataReader(self.model_input, self.data))
        self.data = samples_of(self.data)
        return self.data

    def search_model(self):
        """A list of what meets the goal, the model that is written first; [] where nothing does, and then
        the best is written and the log says what would be needed."""
        stop = self.given["search_stop_condition"]
        mention_idle({**self.given, **stop})
        limit = stop.get("time_limit", -1)
        found, goal = self._target(), self._goal()
        running = Running(self.model_input, self.data, self.given["search_output_dir"], goal, found,
                          limit if limit >= 0 else None, self.given["search_log_path"])  # fmt: skip
        self.search = running.found
        return running.candidates()
