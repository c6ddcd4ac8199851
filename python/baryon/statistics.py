"""Statistics of a model's tensors on samples.

    >>> statistics = baryon.calibrate("model.onnx", samples)
    >>> statistics["input"].max
    2.64
    >>> statistics.range("input", "percentile", "int8").scale
    0.0207
"""

import ctypes
import os
from typing import NamedTuple, Optional

from . import _library
from ._call import Call, call
from ._model import Loaded, path_of
from ._samples import is_path, open_source
from ._settings import Settings

_SYMMETRY = {None: 0, True: 1, False: 2}


class TensorStatistics(NamedTuple):
    name: str
    type: int  #: of ONNX's TensorProto.DataType
    shape: Optional[tuple]  #: None in it, or for it, where samples differ
    samples: int
    values: int
    zeros: int
    nans: int
    infinities: int
    nonfinite_sample: int  #: the first with NaN or infinity, -1: none
    nonfinite_name: Optional[str]
    min: float
    max: float
    moving_min: float
    moving_max: float
    mean: float
    rms: float
    channel_axis: int
    channel_min: Optional[list]
    channel_max: Optional[list]


class Range(NamedTuple):
    low: float
    high: float
    scale: float
    zero_point: int
    position: int  #: of scales that are powers of two
    reached_low: float
    reached_high: float
    clipped: float  #: share of the values beyond
    error: float  #: what the method minimised; NaN: nothing


def _tensor(struct):
    def value(name):
        if name == "shape":
            dims = struct.dims[: struct.rank] if struct.rank >= 0 else None
            return None if dims is None else tuple(None if size < 0 else size for size in dims)
        if name in ("channel_min", "channel_max"):
            return getattr(struct, name)[: struct.channels] if struct.channels else None
        found = getattr(struct, name)
        return found.decode("utf-8", "replace") if isinstance(found, bytes) else found

    return TensorStatistics(*map(value, TensorStatistics._fields))


class Statistics:
    """By calibrate() or load(); a mapping from names of tensors to TensorStatistics."""

    def __init__(self, pointer):
        self._library, self._pointer = _library.library(), pointer

    def __del__(self):
        if getattr(self, "_pointer", None):
            self._library.baryon_statistics_free(self._pointer)

    @classmethod
    def load(cls, path):
        pointer = ctypes.c_void_p()
        call("baryon_statistics_load", ctypes.byref(pointer), os.fsencode(path))
        return cls(pointer)

    def save(self, path):
        call("baryon_statistics_save", self._pointer, os.fsencode(path))

    def merge(self, other):
        """Adds those of other samples of the same model and settings."""
        call("baryon_statistics_merge", self._pointer, other._pointer)

    @property
    def total(self):
        """Samples that there are."""
        return self._library.baryon_statistics_total(self._pointer)

    @property
    def covered(self):
        """Samples that are in it."""
        return self._library.baryon_statistics_covered(self._pointer)

    @property
    def skipped(self):
        """Of them, those that were bad."""
        return self._library.baryon_statistics_skipped(self._pointer)

    def __len__(self):
        return self._library.baryon_statistics_tensor_count(self._pointer)

    def __iter__(self):
        for place in range(len(self)):
            yield self._library.baryon_statistics_tensor(self._pointer, place).contents.name.decode()

    def keys(self):
        return list(self)

    def __getitem__(self, name):
        found = self._library.baryon_statistics_find(self._pointer, name.encode())
        if not found:
            from ._names import near

            raise KeyError(f"the statistics have no tensor {name!r}{near(name, self)}")
        return _tensor(found.contents)

    def histogram(self, name):
        """Arrays low, high and count: bins with something in them, from the least value on."""
        import numpy

        bins, count = ctypes.POINTER(_library.Bin)(), ctypes.c_size_t()
        call("baryon_statistics_histogram", self._pointer, name.encode(), ctypes.byref(bins),
             ctypes.byref(count))  # fmt: skip
        try:
            kind = numpy.dtype([("low", "f8"), ("high", "f8"), ("count", "u8")])
            raw = ctypes.string_at(bins, count.value * kind.itemsize)
            rows = numpy.frombuffer(raw, kind)
        finally:
            self._library.baryon_bytes_free(bins)
        return rows["low"].copy(), rows["high"].copy(), rows["count"].copy()

    def range(self, name, method="minmax", type="int8", symmetric=None, power_of_two=False):
        """What a calibration method chooses for a tensor in a number format, a Range."""
        if symmetric not in _SYMMETRY:
            raise ValueError(f"symmetric is {symmetric!r}, must be True, False or None (by the type)")
        options = _library.RangeOptions(symmetry=_SYMMETRY[symmetric], power_of_two=power_of_two)
        found = _library.Range()
        call("baryon_statistics_range", self._pointer, name.encode(), method.encode(), type.encode(),
             ctypes.byref(options), ctypes.byref(found))  # fmt: skip
        return Range(*(getattr(found, field) for field in Range._fields))

    def __repr__(self):
        return f"<Statistics: {len(self)} tensors, {self.covered} of {self.total} samples>"


def calibrate(model, data=None, output=None, *, overwrite=False, progress=None, **options):
    """Runs a model once over samples and returns Statistics; options are those of `baryon
    calibrate`. With output they are written too, can be interrupted, and are loaded when they are
    there already; overwrite: output may be a file of something else."""
    source = open_source(data)
    options = {**options, "force": True if overwrite else None, "out": output, "data": data if is_path(data) else None}
    job = Call(progress, source)
    filled = job.fill(_library.Options())
    pointer, path = ctypes.c_void_p(), path_of(model)
    with Settings(options) as settings:
        rest = (settings.structs, settings.count, ctypes.byref(filled))
        if path is not None:
            job.run("baryon_calibrate_file", ctypes.byref(pointer), path, *rest, hide=settings.file)
        else:
            with Loaded(model) as loaded:
                job.run("baryon_calibrate", ctypes.byref(pointer), loaded.pointer, *rest, hide=settings.file)
    return Statistics(pointer)
