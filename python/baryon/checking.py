"""Checking models."""

import ctypes
from typing import NamedTuple

from . import _library, errors
from ._call import Call
from ._model import Loaded, path_of

_SEVERITIES = ("notice", "warning", "error")


class Finding(NamedTuple):
    severity: str  #: "error", "warning", "notice"
    rule: str
    text: str


def check(model, custom_operators=False):
    """All that is wrong with a model, as a list of Finding; nothing is raised for errors in it.

        >>> baryon.check("model.onnx")
        []
    """
    found = []
    library = _library.library()

    def visit(_, row):
        row = row.contents
        text = str(errors.from_struct(library, row.error.contents))
        found.append(Finding(_SEVERITIES[row.severity], row.rule.decode(), text))
        return True

    visit = _library.FINDING(visit)
    options = ctypes.byref(_library.CheckOptions(custom_operators=custom_operators))
    path = path_of(model)
    try:
        if path is not None:
            Call(False).run("baryon_check_file", path, None, options, visit, None)
        else:
            with Loaded(model) as loaded:
                Call(False).run("baryon_model_check", loaded.pointer, options, visit, None)
    except errors.Error:
        if not any(finding.severity == "error" for finding in found):
            raise
    return found
