"""How far results are from those of another model."""

import ctypes
import os
from typing import NamedTuple, Optional

from . import _library, errors
from ._call import Call
from ._model import Loaded
from ._samples import is_path, open_source
from ._settings import Settings


class Score(NamedTuple):
    output: Optional[str]  #: None: files of folders
    metric: str
    mean: float
    worst: float
    worst_sample: str
    samples: int
    higher: bool  #: is better
    missed: bool  #: a goal for it was missed


class Evaluation:
    """scores: a list of Score; samples: how many were compared; failure: the GoalError of the
    first goal that was missed, or None."""

    def __init__(self, pointer, failure):
        library = _library.library()
        self.failure = failure
        self.samples = library.baryon_evaluation_samples(pointer)
        self.scores = []
        while row := library.baryon_evaluation_score(pointer, len(self.scores)):
            values = (getattr(row.contents, name) for name in Score._fields)
            self.scores.append(Score(*(v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values)))

    def __getitem__(self, key):
        """By metric, or by output and metric."""
        output, metric = key if isinstance(key, tuple) else (None, key)
        for score in self.scores:
            if score.metric == metric and (output is None or score.output == output):
                return score
        from ._names import near

        raise KeyError(f"unknown score {key!r}{near(metric, [score.metric for score in self.scores])}")

    def __repr__(self):
        head = ", ".join(f"{score.metric} {score.mean:.6g}" for score in self.scores[:4])
        return f"<Evaluation of {self.samples} samples: {head}, ...>"


def _goals(options):
    """Goals as maps: min={"cosine": 0.98}."""
    for name in ("min", "max"):
        if isinstance(options.get(name), dict):
            options[name] = {key: str(value) for key, value in options[name].items()}
    return options


def evaluate(baseline, quantized, data=None, *, progress=None, **options):
    """Compares two models on the same samples, or two folders of results, and returns an
    Evaluation. Options are those of `baryon evaluate`: min and max (goals, {"cosine": 0.98}), peak,
    channels, compat, logits; of models also labels, output and those of samples and the engine.

        >>> baryon.evaluate("model.onnx", "int8.onnx", samples)["cosine"].mean
        0.9987
    """
    pointer, failure = ctypes.c_void_p(), None
    folders = all(is_path(place) and os.path.isdir(place) for place in (baseline, quantized))
    source = open_source(data)
    job = Call(progress, source)
    options = _goals({**options, "data": data if is_path(data) else None})
    filled = job.fill(_library.Options())
    with Settings(options, runs=not folders) as settings:
        rest = (settings.structs, settings.count, ctypes.byref(filled))
        out = ctypes.byref(pointer)
        try:
            if folders:
                job.run("baryon_evaluate_folders", out, os.fsencode(baseline), os.fsencode(quantized),
                        *rest, hide=settings.file)  # fmt: skip
            else:
                with Loaded(baseline) as one, Loaded(quantized) as other:
                    job.run("baryon_evaluate_models", out, one.pointer, other.pointer, *rest,
                            hide=settings.file)  # fmt: skip
        except errors.GoalError as error:
            failure = error
    try:
        return Evaluation(pointer, failure)
    finally:
        _library.library().baryon_evaluation_free(pointer)
