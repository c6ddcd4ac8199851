"""Checkpoints of language models: folders of safetensors and GGUF files.

    from baryon import llm

    llm.quantize("Qwen3-0.6B", "Qwen3-0.6B-int4", scheme="int4_wo_128", layout="awq")
    with llm.open("Qwen3-0.6B-int4") as model:
        weight = model["model.layers.0.mlp.down_proj.weight"]
        print(weight, weight.array().std(), weight.scales.shape)

No model is built and torch is not needed. Arrays need numpy.
"""

import ctypes
import json
import os
from collections.abc import Mapping

from . import _library, errors
from ._call import Call, call
from ._names import near
from ._settings import Settings

__all__ = ["Checkpoint", "Choice", "Result", "Weight", "auto", "compare", "convert", "dequantize", "evaluate", "export", "inspect", "layouts", "open",
           "quantize", "schemes"]  # fmt: skip


# --- Commands ---


class Result:
    """What a command did. path: what was written, or None; tensors: how many were quantized or
    dequantized, of convert() all; weights, others: values in them and in the rest; bytes_in,
    bytes_out: of tensors; bits_per_weight; sqnr, minmax_sqnr: dB of quantized weights as they are and
    with whole ranges, nan: not measured (no search)."""

    def __init__(self, path, summary):
        self.path = path
        for name in ("tensors", "weights", "others", "bytes_in", "bytes_out"):
            setattr(self, name, getattr(summary, name))
        values = self.weights + self.others
        self.bits_per_weight = 8 * self.bytes_out / values if values else float("nan")
        self.sqnr = _decibels(summary.signal, summary.error)
        self.minmax_sqnr = _decibels(summary.signal, summary.minmax_error)

    def __repr__(self):
        bits = f", {self.bits_per_weight:.2f} bits per weight" if self.bits_per_weight == self.bits_per_weight else ""
        return f"<Result: {self.path}, {self.tensors} tensors, {self.bytes_in} bytes before, {self.bytes_out} now{bits}>"


def _decibels(signal, error):
    import math

    return 10 * math.log10(signal / error) if signal > 0 and error > 0 else float("nan")


def _path(path, what):
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"{what} is a {type(path).__name__}, must be the path of a folder or of a GGUF file")
    return os.fsencode(path)


def _run(name, model, out, options):
    summary = _library.LlmSummary()
    job = Call(False)
    how = _library.LlmOptions(log=job.log)
    source, target = _path(model, "the model"), _path(out, "the output")
    with Settings(options, runs=False) as settings:
        job.run(name, source, target, settings.structs, settings.count, ctypes.byref(how),
                ctypes.byref(summary), hide=settings.file)  # fmt: skip
    return Result(os.fspath(out), summary)


def quantize(model, out=None, *, scheme=None, dry_run=False, **options):
    """Quantizes the linear layers of a folder or a GGUF file into the folder out, which is new or
    empty, or with layout="gguf" into a GGUF file. Options are those of `baryon llm quantize`
    with _ for -: layout="awq", exclude=["*.o_proj"], layer={"*.v_proj": "int8_wo_64"},
    group_size=64, search="minmax", report="report.json"; text=["docs"], method="gptq", windows=32
    rounds on texts; config="out.yaml", such as auto() leaves, has scheme and layers. dry_run: checks and counts only.
    """
    if out is None and not dry_run:
        raise TypeError("out is missing: the folder for the new model")
    options = {"scheme": scheme, "dry_run": True if dry_run else None, **options}
    result = _run("baryon_llm_quantize", model, "none.gguf" if out is None else out, options)
    result.path = None if dry_run else result.path
    return result


def dequantize(model, out, **options):
    """Writes a quantized model as floats. Options are those of `baryon llm dequantize`: to="fp32"."""
    return _run("baryon_llm_dequantize", model, out, options)


def convert(model, out, **options):
    """A folder to a GGUF file (out ends with .gguf), or back. Options are those of `baryon llm
    convert`: type="q4_k_m"."""
    return _run("baryon_llm_convert", model, out, options)


def export(model, out, **options):
    """Writes a model as ONNX, for onnxruntime-genai, into the folder out. Options are those of `baryon
    llm export`: accuracy_level=4, context=4096. Of the result, tensors are layers by MatMulNBits."""
    return _run("baryon_llm_export", model, out, options)


class Choice:
    """What auto() found. path; config: the file that quantize(config=...) turns into the same bytes;
    kl, bits_per_weight: of the model, on windows that took no part; types: {layer: type}; as_dict: what
    `baryon llm auto --json` prints; failure: the GoalError or None."""

    def __init__(self, path, found, failure):
        self.path, self.as_dict, self.failure = path, found, failure
        self.config = found["config"]
        self.kl, self.bits_per_weight = found["chosen"]["kl"], found["chosen"]["bits_per_weight"]
        self.types = {linear["layer"]: linear["type"] for linear in found["linears"]}

    def __repr__(self):
        return f"<Choice: {self.path}, {self.bits_per_weight:.3f} bits per weight, KL {self.kl:.4g}>"


def auto(model, out, *, text, **options):
    """Chooses a type for each linear layer under a budget, and writes the model. Options are those of
    `baryon llm auto`: bits=4.5, max_size="400MB", goal="kl<=0.02", layout="gguf", types=[...]. A goal that is
    missed is the result's failure; the best model is written all the same."""
    found, failure = _found("baryon_llm_auto", (_path(model, "the model"), _path(out, "the output")), {"text": text, **options})
    return Choice(os.fspath(out), found, failure)


def evaluate(model, *, text, against=None, **options):
    """How well a model predicts texts, and how far it is from another, as a dict: what `baryon llm eval --json`
    prints. Options are those of the command: length=512, windows=8, max_memory="2GB". by_window has each window."""
    if against is not None:
        options["against"] = os.fspath(against)
    return _found("baryon_llm_evaluate", (_path(model, "the model"),), {"text": text, **options})[0]


def _found(name, paths, options):
    """The JSON of a call that takes settings, and the goal that it missed or None."""
    job = Call(False)
    how = _library.LlmOptions(log=job.log)
    data, size, failure = ctypes.c_void_p(), ctypes.c_size_t(), None
    try:
        with Settings(options, runs=False) as settings:
            job.run(name, *paths, settings.structs, settings.count, ctypes.byref(how), ctypes.byref(data), ctypes.byref(size),
                    hide=settings.file)  # fmt: skip
    except errors.GoalError as error:
        failure = error
    try:
        return json.loads(ctypes.string_at(data, size.value)), failure
    finally:
        _library.library().baryon_bytes_free(data)


def _json(name, *arguments):
    data, size = ctypes.c_void_p(), ctypes.c_size_t()
    call(name, *arguments, ctypes.byref(data), ctypes.byref(size))
    try:
        return json.loads(ctypes.string_at(data, size.value))
    finally:
        _library.library().baryon_bytes_free(data)


def inspect(model, tensors=False):
    """What is in a checkpoint, as a dict: what `baryon llm inspect --json` prints."""
    return _json("baryon_llm_inspect", _path(model, "the model"), tensors)


def compare(a, b, threads=0):
    """How far the weights of b are from those of a, as a dict: what `baryon llm compare --json`
    prints."""
    return _json("baryon_llm_compare", _path(a, "the first model"), _path(b, "the second model"), threads)


def schemes():
    """{name: help} of the schemes that quantize() takes."""
    from .lists import schemes

    return schemes()


def layouts():
    """{name: help} of the layouts that quantize() writes."""
    from .lists import layouts

    return layouts()


# --- Weights ---


def _dtype(number):
    """Bits as unsigned integers, where numpy has no such type and ml_dtypes is not there."""
    import numpy

    from ._arrays import dtype_of

    try:
        return dtype_of(number)
    except (ImportError, NotImplementedError):
        return numpy.dtype(numpy.uint16 if number == 16 else numpy.uint8)


class Weight:
    """A tensor of a checkpoint, whatever it is stored as.

    name; shape: of the floats; type: of a value ("BF16", "Q4_K", "uint4"); layout: how it is stored
    ("awq", "quark", "gguf", ...), None: not quantized.
    """

    def __init__(self, owner, struct):
        self._owner, self._struct = owner, struct
        self.name = struct.name.decode()
        self.shape = tuple(struct.dims[: struct.rank])
        self.type = struct.type.decode()
        self.layout = struct.layout.decode() if struct.layout else None

    @property
    def size(self):
        return self._struct.rows * self._struct.columns

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("the values of a weight are computed when they are read: a view of them cannot be had")
        array = self.array()
        return array if dtype is None else array.astype(dtype)

    def array(self):
        """All values as float32: what codes mean."""
        import numpy

        out = numpy.empty(self.shape, numpy.float32)
        self._call("baryon_llm_values", out.ctypes.data, out.size)
        return out

    numpy = array

    def codes(self):
        """Codes [rows, columns]: integers as numbers, small floats as their bits. Of a GGUF file
        blocks [rows, blocks, bytes], with scales in them, a view of the file."""
        import numpy

        if self.layout == "gguf":
            return self._blocks()
        out = numpy.empty((self._struct.rows, self._struct.columns), numpy.int16)
        self._call("baryon_llm_codes", out.ctypes.data, out.size)
        return out

    def _coded(self):
        import numpy

        if not self._struct.groups:
            return None, None
        shape = (self._struct.rows, self._struct.groups)
        scales, zeros = numpy.empty(shape, numpy.float32), numpy.empty(shape, numpy.int32)
        self._call("baryon_llm_scales", scales.ctypes.data, zeros.ctypes.data, scales.size)
        return scales, zeros

    @property
    def scales(self):
        """Scales [rows, groups] as float32: what a decoded code is multiplied with. Of a GGUF file the
        float16 scales (and minima) of blocks [rows, blocks, scales], a view. None where there are
        none apart from codes."""
        import numpy

        if not self._struct.halves:
            return self._coded()[0]
        at = self._struct.halves_at
        return self._blocks()[..., at : at + 2 * self._struct.halves].view(numpy.float16)

    @property
    def groups(self):
        """The group of each column, whose scale and zero point it has; None as with scales."""
        import numpy

        if not self._struct.groups:
            return None
        out = numpy.empty(self._struct.columns, numpy.int32)
        self._call("baryon_llm_groups", out.ctypes.data, out.size)
        return out

    @property
    def zero_points(self):
        """What is taken off codes first, [rows, groups]. None: nothing is."""
        return self._coded()[1] if self._struct.zero_points else None

    def _blocks(self):
        """Of the tensor in the file: with names="folder" its rows may be in another order."""
        (array,) = self.parts.values()
        return array.reshape(-1, array.shape[-1] // self._struct.block_bytes, self._struct.block_bytes)

    @property
    def parts(self):
        """The arrays of the file that it consists of, {name: array}: read-only views of the mapped
        file."""
        get, name = _library.library().baryon_llm_part, self.name.encode()
        structs = [get(self._owner.pointer, name, i).contents for i in range(self._struct.parts)]
        return {struct.name.decode(): self._owner.view(struct) for struct in structs}

    def _call(self, function, *arguments):
        call(function, self._owner.pointer, self.name.encode(), *arguments)

    def __repr__(self):
        return f"<Weight {self.name!r}: {self.type}{list(self.shape)}{f', {self.layout}' if self.layout else ''}>"


class _Mapped:
    """A checkpoint of the library, which lives as long as views of it."""

    def __init__(self, path, folder_names):
        self.pointer = ctypes.c_void_p()
        self._close = _library.library().baryon_llm_close
        call("baryon_llm_open", ctypes.byref(self.pointer), _path(path, "the model"), folder_names)

    def view(self, struct):
        import numpy

        dtype = _dtype(struct.type)
        memory = (ctypes.c_char * struct.size).from_address(struct.data or 0) if struct.size else b""
        if struct.size:
            memory._owner = self  # the map stays while the array does
        array = numpy.frombuffer(memory, dtype).reshape(struct.dims[: struct.rank])
        array.flags.writeable = False
        return array

    def __del__(self):
        if self.pointer:
            self._close(self.pointer)


class Checkpoint(Mapping):
    """The weights of a checkpoint by name, a mapping in the order of the files. Reading opens a
    tensor alone; arrays stay good after close()."""

    def __init__(self, path, names="file"):
        if names not in ("file", "folder"):
            raise ValueError(f"names {names!r}, must be 'file' or 'folder'")
        self.path = os.fspath(path) if isinstance(path, os.PathLike) else path
        self._mapped = _Mapped(path, names == "folder")
        self._weights = {}
        get = _library.library().baryon_llm_weight_at
        while row := get(self._mapped.pointer, len(self._weights)):
            weight = Weight(self._mapped, row.contents)
            self._weights[weight.name] = weight

    def __getitem__(self, name):
        if name not in self._all():
            raise KeyError(f"there is no weight {name!r}{near(name, self._weights)}")
        return self._weights[name]

    def __iter__(self):
        return iter(self._all())

    def __len__(self):
        return len(self._all())

    def _all(self):
        if self._weights is None:
            raise ValueError("the checkpoint is closed")
        return self._weights

    def close(self):
        """Lets go of the files, as soon as no array or weight of them is in use."""
        self._weights = self._mapped = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<Checkpoint {self.path!r}{'' if self._weights is None else f': {len(self._weights)} weights'}>"


def open(path, names="file"):
    """Opens a folder, a .safetensors or a .gguf file: a mapping from names to weights.

    names="folder": weights of a GGUF file as transformers has them, in names, order of rows and
    shapes; otherwise as they are in the file.

        >>> llm.open("model.gguf", names="folder")["model.layers.0.mlp.down_proj.weight"].array()
    """
    return Checkpoint(path, names)
