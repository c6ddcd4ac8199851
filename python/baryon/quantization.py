"""Quantizing models."""

import ctypes
import os
from typing import NamedTuple, Optional

from . import _library
from ._call import Call
from ._model import Loaded, bytes_of_path, path_of
from ._samples import is_path, open_source
from ._settings import Settings
from .errors import UsageError


class PlanNode(NamedTuple):
    name: str
    op_type: str
    state: str  #: "quantized", "float" (it could be quantized), "other"
    why: str
    multiply_adds: float  #: 0: none, or unknown


class PlanOperator(NamedTuple):
    """Of all nodes of one operator."""

    op_type: str
    nodes: int
    quantized_nodes: int
    multiply_adds: float
    quantized_multiply_adds: float
    activations: str  #: types, "int8/int16" when they differ; "": none
    weights: str
    biases: str


class PlanTensor(NamedTuple):
    name: str
    role: str  #: "activation", "weight", "bias"
    type: str
    why: str
    remarks: str
    shares: Optional[str]  #: the tensor whose parameters it has
    scales: int  #: how many; 0: none
    scale: float
    last_scale: float
    zero_point: int
    low: float
    high: float  #: range of an activation; NaN: unknown
    readers: int


class Rounding(NamedTuple):
    """What rounding reconstruction came to."""

    layers: int
    kept_layers: int  #: the others keep nearest rounding
    samples: int  #: that it was solved on
    held_out: int  #: samples that judged; 0: the same ones
    nearest: float  #: SQNR in dB
    solved: float
    kept: bool  #: else all weights keep nearest rounding
    text: str  #: all in a sentence


class QualityOutput(NamedTuple):
    name: str
    sqnr: float  #: dB, at most 150; nan: all values of the float model are 0
    error: float  #: standard error of that
    rows: int  #: of classes; 0: the output has none
    same_class: int  #: rows with the same top class
    nonfinite: int  #: values that are nan or infinite after quantization alone
    reshaped: int  #: samples of which the output has another shape


def _texts(struct, names):
    values = (getattr(struct, name) for name in names)
    return [value.decode("utf-8", "replace") if isinstance(value, bytes) else value for value in values]


def _row(kind, struct):
    return kind(*_texts(struct, kind._fields))


def _rows(kind, get, pointer):
    found = []
    while row := get(pointer, len(found)):
        found.append(_row(kind, row.contents))
    return found


class Plan:
    """What becomes of each node and tensor, and why: nodes, tensors, operators, and seconds by stage."""

    def __init__(self, pointer):
        library = _library.library()
        self.nodes = _rows(PlanNode, library.baryon_plan_node, pointer)
        self.tensors = _rows(PlanTensor, library.baryon_plan_tensor, pointer)
        self.operators = _rows(PlanOperator, library.baryon_plan_operator, pointer)
        rounding = library.baryon_plan_rounding(pointer)
        self.rounding = _row(Rounding, rounding.contents) if rounding else None
        self.stages = {}
        while stage := library.baryon_plan_stage(pointer, len(self.stages)):
            self.stages[stage.contents.name.decode()] = stage.contents.seconds

    def tensor(self, name):
        for row in self.tensors:
            if row.name == name:
                return row
        from ._names import near

        raise KeyError(f"unknown quantized tensor {name!r}{near(name, [row.name for row in self.tensors])}")

    def table(self):
        """The tensors as text, a line each."""
        rows = [(row.name, row.role, row.type, f"{row.scale:.6g}" if row.scales else "") for row in self.tensors]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(4)]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)

    def __repr__(self):
        quantized = sum(node.state == "quantized" for node in self.nodes)
        floats = [node for node in self.nodes if node.state == "float"]
        return f"<Plan: {quantized} nodes quantized, {len(floats)} stay float, {len(self.tensors)} tensors>"


class Quality:
    """How far the outputs of a quantized model are from those of the float model.

    samples: how many it was measured on; first_sample: the first one's number; which: "unseen",
    "seen" (calibration used them, too) or "others" (judge_data); random; worst: SQNR of the worst
    output in dB; outputs: a list of QualityOutput; cause, next: under 20 dB what costs most and options
    to try, or None; text: all in sentences; unmeasured: why there is no result, or None; seconds.
    """

    def __init__(self, pointer):
        library = _library.library()
        names = [name for name, _ in _library.QualitySummary._fields_]
        for name, value in zip(names, _texts(library.baryon_quality_summary(pointer).contents, names)):
            setattr(self, name, value)
        self.outputs = _rows(QualityOutput, library.baryon_quality_output, pointer)

    def __repr__(self):
        found = self.unmeasured and f"not measured: {self.unmeasured}"
        return f"<Quality: {found or f'SQNR {self.worst:.1f} dB on {self.samples} samples'}>"


class Result:
    """What quantize() gives.

    path: where the model is, or None; model: its bytes, when it was not written; plan: a Plan;
    stages: seconds by stage; quality: a Quality, or None (no samples, or no_judge=True);
    rounding: a Rounding, or None; quantized_nodes, float_nodes, multiply_adds,
    quantized_multiply_adds (nan: unknown), samples, seconds.
    """

    def __init__(self, path, model, plan, summary, quality=None):
        self.path, self.model, self.plan, self.stages = path, model, plan, plan.stages
        self.quality, self.rounding = quality, plan.rounding
        for name, _ in _library.Summary._fields_[1:]:
            setattr(self, name, getattr(summary, name))

    def to_onnx(self):
        """The model as an onnx.ModelProto."""
        import onnx

        return onnx.load(self.path) if self.model is None else onnx.load_from_string(self.model)

    def __repr__(self):
        where = self.path or f"{len(self.model)} bytes"
        return (f"<Result: {where}, {self.quantized_nodes} nodes quantized, {self.float_nodes} stay float, "
                f"{self.seconds:.2f} s>")


class _Wanted:
    """What a call fills, the struct baryon_plan or baryon_quality, as an object of the kind."""

    def __init__(self, kind, free):
        self.pointer = ctypes.c_void_p()
        self.kind, self.free = kind, free

    def take(self):
        try:
            return self.kind(self.pointer) if self.pointer else None
        finally:
            getattr(_library.library(), self.free)(self.pointer)


def _wanted_plan():
    return _Wanted(Plan, "baryon_plan_free")


def settings_of(preset, data, options, in_file=False):
    if "force" in options:
        raise UsageError("there is no force: overwrite=True replaces the model's own file, other files are replaced always")
    options = {"preset": preset, **options}
    if is_path(data):
        options["data"] = data
    return Settings(options, in_file=in_file)


def quantize(model, output=None, *, preset=None, data=None, external_data=False, overwrite=False, progress=None,
             **options):  # fmt: skip
    """Quantizes a model (a path, bytes, or an onnx.ModelProto) and returns a Result.

    output is where it is written; without it the result has the bytes. external_data: weights go to
    a file beside it. overwrite: output may be the model's own file. data are samples, see
    baryon._samples; options are those of `baryon quantize` with _ for -, for example
    weight_granularity="channel", exclude=["/head/*"], op_types={"Softmax": "float"}, stats=PATH.
    The result is measured on samples: result.quality; judge_data=PATH takes others,
    no_judge=True leaves it out.

        >>> result = baryon.quantize("model.onnx", "int8.onnx", preset="XINT8", data=samples)
        >>> result.plan.tensor("input").scale
        0.015625
    """
    return quantize_with(settings_of(preset, data, options), model, output, data, external_data, progress, overwrite)


def _refuse_itself(path, output):
    """As the library does with a file that it loads and writes by itself."""
    if path is not None and output is not None and os.path.exists(output) and os.path.samefile(path, output):
        raise UsageError("the output file is the input model; give another file, or set overwrite")


def quantize_with(settings, model, output, data, external_data=False, progress=None, overwrite=False):
    source = open_source(data)
    wanted, summary, quality = _wanted_plan(), _library.Summary(), _Wanted(Quality, "baryon_quality_free")
    job = Call(progress, source)
    filled = job.fill(_library.QuantizeOptions(plan=ctypes.pointer(wanted.pointer), overwrite=overwrite,
                                               quality=ctypes.pointer(quality.pointer)))  # fmt: skip
    path, made = path_of(model), None
    with settings:
        rest = (settings.structs, settings.count, ctypes.byref(filled), ctypes.byref(summary))
        if path is not None and output is not None and not external_data:
            job.run("baryon_quantize_file", path, bytes_of_path(output), *rest, hide=settings.file)
        else:
            if not overwrite:
                _refuse_itself(path, output)
            with Loaded(model) as loaded:
                job.run("baryon_quantize", loaded.pointer, *rest, hide=settings.file)
                if output is not None:
                    loaded.save(output, external_data)
                else:
                    made = loaded.to_bytes()
    return Result(os.fspath(output) if output is not None else None, made, wanted.take(), summary,
                  quality.take())  # fmt: skip


def plan(model, *, preset=None, data=None, progress=None, **options):
    """What quantize() with the same options would do, as a Plan.

        >>> for node in baryon.plan("model.onnx", preset="A8W8", data=samples).nodes:
        ...     print(node.name, node.state, node.why)
    """
    source = open_source(data)
    wanted = _wanted_plan()
    job = Call(progress, source)
    filled = job.fill(_library.QuantizeOptions())
    with settings_of(preset, data, options) as settings, Loaded(model) as loaded:
        job.run("baryon_plan_make", ctypes.byref(wanted.pointer), loaded.pointer, settings.structs,
                settings.count, ctypes.byref(filled), hide=settings.file)  # fmt: skip
    return wanted.take()
