"""Number formats: what is left of an array in few bits.

    >>> import numpy
    >>> from baryon import formats
    >>> formats.fake_quantize(numpy.array([0.3, -1.25, 2.6], numpy.float32), "fp4_e2m1")
    array([ 0.5, -1. ,  3. ], dtype=float32)
"""

import ctypes
from typing import NamedTuple

from ._call import call
from ._library import ErrorStruct, RoundOptions, library

_TIES = {"even": 0, "away": 1, "up": 2}


class Format(NamedTuple):
    name: str
    help: str
    bits: float  #: of an element, with what a block shares
    block: int  #: elements that share a scale, 0: none do
    integer: bool
    low: int
    high: int  #: of integers
    most: float  #: greatest finite magnitude
    least: float  #: above 0


def _from_struct(struct):
    values = [getattr(struct, name) for name in Format._fields]
    return Format(*(value.decode() if isinstance(value, bytes) else value for value in values))


def names():
    """All formats, {name: Format}."""
    found = []
    while row := library().baryon_format_at(len(found)):
        found.append(_from_struct(row.contents))
    return {format.name: format for format in found}


def find(name):
    """A format by our name or by Quark's ("MXFP4E2M1", "BFloat16")."""
    from . import errors

    error = ErrorStruct()
    row = library().baryon_format_find(name.encode(), ctypes.byref(error))
    if not row:
        raise errors.from_struct(library(), error)
    return _from_struct(row.contents)


def fake_quantize(array, format, axis=None, scale=0.0, zero_point=0, block_size=0, ties="even"):
    """The array as it comes back from the format, float32.

    axis: along which the blocks of a format of blocks lie; by default the last one. scale and
    zero_point: of formats without blocks; integers without a scale have the one that their
    greatest magnitude asks for. ties: "even", "away" or "up".
    """
    import numpy

    if ties not in _TIES:
        raise ValueError(f"ties {ties!r}, must be one of {', '.join(_TIES)}")
    if axis is None:
        axis = -1 if find(format).block else 0
    values = numpy.ascontiguousarray(array, numpy.float32)
    out = numpy.empty_like(values)
    dims = (ctypes.c_int64 * max(values.ndim, 1))(*values.shape)
    options = RoundOptions(scale=scale, zero_point=int(zero_point), axis=axis, block_size=block_size,
                           ties=_TIES[ties])  # fmt: skip
    call("baryon_round", format.encode(), values.ctypes.data, dims, values.ndim, ctypes.byref(options),
         out.ctypes.data)  # fmt: skip
    return out.reshape(numpy.shape(array))
