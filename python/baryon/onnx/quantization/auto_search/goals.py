"""What a search asks of a candidate: a metric beside the float model, or what a function of the caller's
finds of a file."""

import os
import tempfile
from typing import Callable, NamedTuple, Optional, Union

from ..config.words import check_keys
from .metrics import AT_MOST_ONE, GREATER


class Goal(NamedTuple):
    text: str
    goal: Optional[Union[Callable, list]] = None  #: as baryon.auto() takes it
    at_least: Optional[float] = None
    at_most: Optional[float] = None
    name: str = "sqnr"  #: of the value


def _joined(outputs, names):
    import numpy

    return numpy.concatenate([numpy.asarray(outputs[name], numpy.float64).ravel() for name in names])


class _Metric:
    """The mean over samples, whose float outputs are computed once."""

    def __init__(self, name, function, model, samples):
        from ....running import Session

        if not samples:
            raise ValueError("there are no samples to evaluate with")
        self.name, self.function, self.samples = name, function, samples
        with Session(model) as session:
            self.names = [port.name for port in session.outputs]
            self.floats = [_joined(session.run(sample), self.names) for sample in samples]

    def _value(self, base, other):
        import numpy

        if base.size != other.size:
            raise ValueError(f"the quantized model gives {other.size} values for a sample, the float one {base.size}: "
                             f"{self.name} compares equal numbers of them; give a search_evaluator")  # fmt: skip
        if not numpy.isfinite(other).all():  # the worst there is
            return -1e30 if self.name in GREATER else 1e30
        return float(self.function(base, other))

    def __call__(self, candidate):
        values = [self._value(base, _joined(candidate.run(sample), self.names))
                  for base, sample in zip(self.floats, self.samples)]  # fmt: skip
        return sum(values) / len(values)


def metric_goal(name, metrics, bound, model, samples):
    """A bound of one of Quark's metrics."""
    check_keys("the list of metrics", [name], metrics)
    if name in AT_MOST_ONE and bound > 1:
        raise ValueError(f"search_metric_tolerance is {bound:g}, and {name} is at most 1: the tolerance is the least "
                         f"{name} that a model may have")  # fmt: skip
    judge = _Metric(name, metrics[name], model, samples)
    if name in GREATER:
        return Goal(f"{name}>={bound:g}", judge, at_least=bound, name=name)
    return Goal(f"{name}<={bound:g}", judge, at_most=bound, name=name)


class _Loss:
    """What the evaluator's value falls by; it gets the paths of files."""

    def __init__(self, evaluator, model, folder, lower_is_better):
        self.evaluator, self.folder, self.sign = evaluator, folder, -1 if lower_is_better else 1
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
        self.base = float(evaluator(model)) if isinstance(model, (str, os.PathLike)) else self._of(model)

    def _of(self, model):
        from ...._model import bytes_of

        with tempfile.TemporaryDirectory(prefix="candidate.", dir=self.folder) as place:
            path = os.path.join(place, "quantized_model.onnx")
            with open(path, "wb") as file:
                file.write(bytes_of(model))
            return float(self.evaluator(path))

    def __call__(self, candidate):
        return self.sign * (self.base - self._of(candidate.model))


def evaluator_goal(evaluator, model, folder, bound=None, lower_is_better=False):
    """At most `bound` is lost of the float model's value, 1 % of it where there is no bound."""
    if not callable(evaluator):
        raise TypeError(f"search_evaluator is a {type(evaluator).__name__}, a function of a model's path is expected")
    judge = _Loss(evaluator, model, folder, lower_is_better)
    bound = abs(judge.base) / 100 if bound is None else bound
    return Goal(f"loss of search_evaluator<={bound:g}, float model {judge.base:g}", judge, at_most=bound, name="loss")
