"""Two quantized models side by side, of whatever tools."""

import ctypes
import html
import json

from . import _library, errors
from ._call import Call
from ._model import Loaded
from ._samples import is_path, open_source
from ._settings import Settings
from .evaluation import _goals


class Comparison:
    """What `baryon compare --json` prints, as attributes.

    a, b: what each model is, dicts with types (shares of multiply-adds), operators, bytes;
    layers: those that compute in other types, and how many are alike; tensors: a list, the most
    important differences first; differences: how many tensors differ in what; outputs,
    a_against_float, b_against_float: lists of measures, None where the models did not run; failure:
    the GoalError of the first goal that was missed, or None."""

    def __init__(self, text, failure=None):
        self.as_dict = json.loads(text)
        self.failure = failure

    def __getattr__(self, name):
        if name in ("a", "b", "layers", "tensors", "differences"):
            return self.as_dict[name]
        if name in ("outputs", "a_against_float", "b_against_float", "samples"):
            return self.as_dict.get(name)
        raise AttributeError(f"'Comparison' object has no attribute {name!r}")

    def __getitem__(self, name):
        """The tensor of that name."""
        for tensor in self.tensors:
            if tensor["name"] == name:
                return tensor
        from ._names import near

        raise KeyError(f"neither model has a quantized tensor {name!r}{near(name, [t['name'] for t in self.tensors])}")

    def score(self, metric, output=None, of="outputs"):
        """The mean of a metric, of the first output or the one given; of: outputs (B against A),
        a_against_float or b_against_float. None where there is none."""
        for row in self.as_dict.get(of) or ():
            if row["metric"] == metric and output in (None, row["output"]):
                return row["mean"]
        return None

    def __repr__(self):
        found = ", ".join(f"{count} {_said(kind)}" for kind, count in self.differences.items() if count)
        sqnr = self.score("sqnr")
        return f"<Comparison of {len(self.tensors)} tensors: {found}" + (
            f"; B against A {sqnr:.4g} dB>" if sqnr is not None else ">"
        )

    def _repr_html_(self):
        parts = [_models(self), _types(self), _tensors(self.tensors[:_SHOWN]), _outputs(self)]
        return "\n".join(part for part in parts if part)


_SHOWN = 20


def _said(kind):
    return kind if kind == "alike" else f"differ in {kind}"


def _table(caption, heads, rows):
    def line(cells, tag):
        return "<tr>" + "".join(f"<{tag}>{html.escape(str(cell))}</{tag}>" for cell in cells) + "</tr>"

    body = "".join(line(row, "td") for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><thead>{line(heads, 'th')}</thead><tbody>{body}</tbody></table>"


def _models(comparison):
    keys = ("model", "bytes", "producer", "nodes", "quantized_tensors")
    rows = [[key.replace("_", " "), *(side.get(key, "") for side in (comparison.a, comparison.b))] for key in keys]
    return _table("Models", ["", "A", "B"], rows)


def _types(comparison):
    shares = []
    for side in (comparison.a, comparison.b):
        shares.append({_pair(row): row["share"] for row in side["types"] if row["multiply_adds"]})
    rows = [[name, *(f"{100 * (share.get(name) or 0):.1f} %" for share in shares)]
            for name in dict.fromkeys([*shares[0], *shares[1]])]  # fmt: skip
    return _table("Multiply-adds", ["", "A", "B"], rows)


def _pair(row):
    return row["data"] + (f" x {row['weight']}" if "weight" in row else "")


def _side(side):
    if side is None:
        return "none"
    return side["type"] + (f", {side['scale']:.4g}" if "scale" in side else "")


def _tensors(tensors):
    rows = [[row["name"], row["role"], row["differs"], _side(row["a"]), _side(row["b"]),
             f"{row['ratio']:.3g}" if "ratio" in row else "", f"{row['sqnr']:.1f}" if "sqnr" in row else ""]
            for row in tensors if row["differs"] != "alike"]  # fmt: skip
    return _table("Tensors that differ", ["", "", "in", "A", "B", "B / A", "dB"], rows) if rows else ""


def _outputs(comparison):
    if not comparison.outputs:
        return ""
    rows = []
    for row in comparison.outputs:
        others = (comparison.score(row["metric"], row["output"], of) for of in ("a_against_float", "b_against_float"))
        rows.append([row["output"], row["metric"], f"{row['mean']:.6g}" if row["mean"] is not None else "",
                     *("" if other is None else f"{other:.6g}" for other in others)])  # fmt: skip
    return _table("Outputs", ["", "", "B against A", "A against float", "B against float"], rows)


def compare(a, b, data=None, *, reference=None, progress=None, **options):
    """Compares two models, of which at least one is quantized, and returns a Comparison.

    a, b and reference are paths, bytes or onnx models. With data (or random=N) both also run on
    samples, and outputs of b are compared with those of a; with the float model as reference, both
    with that. Other options are those of `baryon compare`.

        >>> comparison = baryon.compare("quark.onnx", "baryon.onnx")
        >>> comparison.differences["scale"]
        12
        >>> comparison.tensors[0]["ratio"]
        0.5
    """
    pointer, failure = ctypes.c_void_p(), None
    source = open_source(data)
    job = Call(progress, source)
    options = _goals({**options, "data": data if is_path(data) else None})
    filled = job.fill(_library.Options())
    runs = source is not None or reference is not None or any(value is not None for value in options.values())
    with Settings(options, runs=runs) as settings, Loaded(a) as one, Loaded(b) as other:
        rest = (settings.structs, settings.count, ctypes.byref(filled))
        places = (ctypes.byref(pointer), one.pointer, other.pointer)
        try:
            if reference is None:
                job.run("baryon_compare", *places, None, *rest, hide=settings.file)
            else:
                with Loaded(reference) as floats:
                    job.run("baryon_compare", *places, floats.pointer, *rest, hide=settings.file)
        except errors.GoalError as error:
            failure = error
    library = _library.library()
    try:
        return Comparison(library.baryon_comparison_json(pointer).decode("utf-8", "replace"), failure)
    finally:
        library.baryon_comparison_free(pointer)
