"""The cheapest quantization that has the quality asked for."""

import ctypes
import json
import os
from typing import NamedTuple, Optional

from . import _library, errors
from ._call import Call, call
from ._model import Loaded
from ._samples import is_path, open_source
from ._settings import Settings
from .running import Session


class Point(NamedTuple):
    """A quantization that the search met."""

    name: str
    text: Optional[str]  #: what it changes
    config: Optional[str]  #: YAML for `baryon quantize --config`
    why: Optional[str]  #: it is not possible; None: it was measured
    chosen: float  #: the first goal's value on the samples that choose
    last: float  #: on the last ones; NaN: not measured
    sqnr: float  #: dB, of the worst output
    met: bool
    cost: float  #: 1: all multiply-adds in 8 bits
    low_bits_share: float
    bytes: int
    seconds: float


class Candidate(Session):
    """A quantized model that a goal judges: candidate(inputs) gives {name: array}, as run() does.

    model: its bytes."""

    def __init__(self, model):
        super().__init__(model)
        self.model = model

    __call__ = Session.run


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _fields(row, names):
    return (_text(getattr(row, name)) for name in names)


def _bytes_of_model(pointer):
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    call("baryon_model_save_bytes", pointer, ctypes.byref(data), ctypes.byref(size))
    try:
        return ctypes.string_at(data, size.value)
    finally:
        _library.library().baryon_bytes_free(data)


class Search:
    """met; outcome: one sentence; needs: what a missed goal requires; config: YAML that gives the same
    model without a search; points: all that was tried, as Point; best: the one that was taken; model:
    its bytes; seconds; as_dict: what `baryon auto --json` prints; failure: the GoalError or None."""

    def __init__(self, pointer, failure, name):
        library = _library.library()
        summary = library.baryon_auto_summary(pointer).contents
        self.failure, self.name = failure, name
        self.met, self.seconds = summary.met, summary.seconds
        self.outcome, self.needs, self.config = _fields(summary, ("outcome", "needs", "config"))
        self.as_dict = json.loads(_text(summary.json))
        self.samples = (summary.calibrate_samples, summary.choose_samples, summary.last_samples)
        self.points = []
        while row := library.baryon_auto_point(pointer, len(self.points)):
            self.points.append(Point(*_fields(row.contents, Point._fields)))
        self.best = self.points[summary.best]
        self.model = _bytes_of_model(library.baryon_auto_model(pointer))

    def save(self, path, *, overwrite=False):
        """The model, and its config beside it with the suffix .yaml, as `baryon auto` names it."""
        for place, content in zip(_places(path), (self.model, self.config.encode())):
            with open(place, "wb" if overwrite else "xb") as file:
                file.write(content)

    def report_data(self):
        """The report as a dict (docs/design/report.md)."""
        from . import version

        best = self.best
        return {
            **self.as_dict, "report": 1, "command": "auto", "version": version(), "model": self.name,
            "outcome": {"text": self.outcome, "goal": "met" if self.met else "missed", "quality_db": best.sqnr,
                        "low_bits_share": best.low_bits_share},
        }  # fmt: skip

    def report(self):
        """The page of it, a baryon.Report."""
        from .reporting import report

        return report(self)

    def __repr__(self):
        return f"<Search: {self.outcome}>"

    def _repr_html_(self):
        return self.report()._repr_html_()


def _places(path):
    """Of the model, and of its config."""
    path = os.fspath(path)
    return path, path.removesuffix(".onnx") + ".yaml"


def _goals(goal, at_least, at_most):
    """Goals as texts, and the callable among them."""
    listed = goal if isinstance(goal, (list, tuple)) else [] if goal is None else [goal]
    measures = [one for one in listed if callable(one)]
    if len(measures) > 1:
        raise ValueError("only one goal may be a function")
    texts = []
    for one in listed:
        if isinstance(one, dict):
            texts += [f"{metric}>={value}" for metric, value in one.items()]
        elif not callable(one):
            texts.append(str(one))
    if measures:
        bounds = [f"value{sign}{bound}" for sign, bound in ((">=", at_least), ("<=", at_most)) if bound is not None]
        if not bounds:
            raise ValueError("the goal is a function, and requires at_least or at_most")
        texts = bounds + texts
    elif at_least is not None or at_most is not None:
        raise ValueError("at_least and at_most require a goal that is a function")
    return texts, measures[0] if measures else None


def _judge(job, measure):
    """The function of the library that calls measure with a Candidate."""

    def value(_, model, out, error):
        try:
            with Candidate(_bytes_of_model(model)) as candidate:
                out[0] = float(measure(candidate))
            return 0
        except BaseException as failure:
            job.fail(failure)  # raised instead of the error
            error.contents.code = 80
            error.contents.message = b"the goal raised an exception"
            return -1

    return _library.VALUE(value) if measure else _library.VALUE()


def auto(model, output=None, data=None, *, goal=None, at_least=None, at_most=None, overwrite=False,
         progress=None, **options):  # fmt: skip
    """Finds the cheapest quantization that meets goals, and returns a Search.

    goal: as on the command line ("sqnr>=25", "top1>=0.99"), a dict of least values, a list of such,
    or a function of a Candidate, which runs the quantized model, with at_least or at_most:

        >>> found = baryon.auto("model.onnx", "int8.onnx", samples, goal=lambda run: my_map(run),
        ...                     at_least=0.35, target="cpu")
        >>> found.outcome
        >>> found.report().save("report.html")

    output: where the model is written, with its config beside it. An interrupted search keeps its
    steps in OUTPUT.part, and the same call continues it, unless the goal is a function. Goals that are missed are no
    error: Search.failure says so. Other options are those of `baryon auto`."""
    texts, measure = _goals(goal, at_least, at_most)
    pointer, failure = ctypes.c_void_p(), None
    for place in _places(output) if output is not None and not overwrite else ():
        if os.path.exists(place):
            raise FileExistsError(f"output {place!r} exists already; overwrite=True replaces it")
    source = open_source(data)
    job = Call(progress, source)
    options = {**options, "goal": texts or None, "data": data if is_path(data) else None}
    filled = job.fill(_library.AutoOptions())
    filled.value = _judge(job, measure)
    if output is not None and measure is None:  # whether a function is the one of before cannot be known
        filled.out = os.fsencode(output)
    with Settings(options) as settings, Loaded(model) as loaded:
        try:
            job.run("baryon_auto", ctypes.byref(pointer), loaded.pointer, settings.structs, settings.count,
                    ctypes.byref(filled), hide=settings.file)  # fmt: skip
        except errors.GoalError as error:
            failure = error
        try:
            name = os.fspath(model) if is_path(model) else "model.onnx"
            found = Search(pointer, failure, name)
        finally:
            _library.library().baryon_auto_free(pointer)
    if output is not None:
        found.save(output, overwrite=overwrite)
    return found
