"""Arrays of numpy as the library has them, and back."""

import ctypes

from ._library import Array

# Names of dtypes, those of ml_dtypes too, by ONNX's numbers.
_TYPES = {
    "float32": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7, "bool": 9,
    "float16": 10, "float64": 11, "uint32": 12, "uint64": 13, "complex64": 14, "complex128": 15,
    "bfloat16": 16, "float8_e4m3fn": 17, "float8_e4m3fnuz": 18, "float8_e5m2": 19,
    "float8_e5m2fnuz": 20, "float8_e8m0fnu": 24,
}  # fmt: skip
_NAMES = {number: name for name, number in _TYPES.items()}
_STRING = 8


def _as_text(value):
    return value if isinstance(value, bytes) else str(value).encode()


def _what(name):
    return f"the array {name!r}" if name is not None else "an array"


class Arrays:
    """A list of struct baryon_array; what they point to lives as long."""

    def __init__(self, named):
        import numpy

        self.keep = []
        self.count = len(named)
        self.structs = (Array * max(self.count, 1))()
        for struct, (name, value) in zip(self.structs, named):
            if numpy.ma.is_masked(value):
                raise ValueError(f"{_what(name)} has masked values, which a model cannot leave out: fill them, "
                                 "array.filled(VALUE)")  # fmt: skip
            array = numpy.asarray(value)
            struct.name = name.encode() if name is not None else None
            struct.rank = array.ndim
            struct.dims = dims = (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
            self.keep.append(dims)
            if array.dtype.kind in "OSU":
                self._put_texts(struct, array, name)
            else:
                self._put_numbers(struct, array, name)

    def _put_texts(self, struct, array, name):
        for value in array.ravel().tolist():
            if not isinstance(value, (str, bytes)):
                raise TypeError(f"{_what(name)} contains a {type(value).__name__}, must contain numbers or strings")
        texts = (ctypes.c_char_p * max(array.size, 1))(*map(_as_text, array.ravel().tolist()))
        self.keep.append(texts)
        struct.type, struct.data = _STRING, ctypes.cast(texts, ctypes.c_void_p)
        struct.size = array.size * ctypes.sizeof(ctypes.c_char_p)

    def _put_numbers(self, struct, array, name):
        import numpy

        if array.dtype.name not in _TYPES:
            raise TypeError(f"{_what(name)} has type {array.dtype}, which ONNX does not support")
        array = numpy.ascontiguousarray(array, array.dtype.newbyteorder("="))
        self.keep.append(array)
        struct.type, struct.data, struct.size = _TYPES[array.dtype.name], array.ctypes.data, array.nbytes


def dtype_of(number):
    """The dtype of one of ONNX's types."""
    import numpy

    if number == _STRING:
        return numpy.dtype(object)
    if number not in _NAMES:
        raise NotImplementedError(f"arrays of type {number} (TensorProto.DataType of ONNX) are not supported")
    try:
        return numpy.dtype(_NAMES[number])
    except TypeError:
        import ml_dtypes

        return numpy.dtype(getattr(ml_dtypes, _NAMES[number]))


def to_numpy(struct):
    """A copy of a struct baryon_array."""
    import numpy

    shape = struct.dims[: struct.rank]
    dtype = dtype_of(struct.type)
    if dtype == object:
        count = struct.size // ctypes.sizeof(ctypes.c_char_p)
        texts = ctypes.cast(struct.data, ctypes.POINTER(ctypes.c_char_p))[:count] if count else []
        return numpy.array([text.decode("utf-8", "replace") for text in texts], object).reshape(shape)
    raw = ctypes.string_at(struct.data, struct.size) if struct.size else b""
    return numpy.frombuffer(raw, dtype).reshape(shape).copy()
