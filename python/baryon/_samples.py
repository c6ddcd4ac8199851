"""Samples that Python makes, one at a time, for the callback of the library.

What can be given as data:
  - a path (str, os.PathLike): files, as on the command line;
  - an object with get_next(), as onnxruntime's CalibrationDataReader; with rewind(), it can be
    read again;
  - a list or another sequence, or anything else that can be iterated again;
  - a generator, which comes once: what is needed again is kept, in memory and in a temporary file;
  - an array: a stack of samples along its first axis; sample i is array[i : i + 1];
  - a dict of arrays by the names of inputs, a single sample.
A sample is a dict by the names of the inputs, an array (of the only input), or a list of arrays in
their order.
"""

import ctypes
import os

from . import _library
from ._arrays import Arrays


def is_path(data):
    return isinstance(data, (str, os.PathLike))


def open_source(data):
    """None where there is no data, or it is a path."""
    if data is None or is_path(data):
        return None
    return Source(*_readings(data))


def _length(data):
    try:
        return len(data)
    except (TypeError, NotImplementedError, AttributeError):
        return 0


def _readings(data):
    """A function that gives an iterator over all samples, whether it does so again, their number."""
    if hasattr(data, "get_next"):
        return _readings_of_reader(data)
    if isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"samples cannot be {type(data).__name__}; a path is a str")
    if isinstance(data, dict):
        return (lambda: iter([data])), True, 1
    if hasattr(data, "ndim") and hasattr(data, "__array__"):
        if not data.ndim:
            raise TypeError("an array of samples must have an axis of samples")
        return (lambda: (data[i : i + 1] for i in range(len(data)))), True, len(data)
    if not hasattr(data, "__iter__") and not hasattr(data, "__getitem__"):
        raise TypeError(f"samples are a {type(data).__name__}, must be a path, a reader with "
                        "get_next(), a sequence, a generator or an array")
    return (lambda: iter(data)), not hasattr(data, "__next__"), _length(data)


def _readings_of_reader(reader):
    rewinds = callable(getattr(reader, "rewind", None))
    if not callable(reader.get_next):
        raise TypeError("get_next of the reader must be callable")

    def begin():
        if rewinds:
            reader.rewind()
        return iter(reader.get_next, None)

    return begin, rewinds, _length(reader)


def _check_name(name):
    if not isinstance(name, str):
        raise TypeError(f"{name!r} is no name of an input, which is a str")
    if "\0" in name:
        raise ValueError(f"the name {name!r} of an input has a character 0 in it")
    return name


def _named(sample):
    if hasattr(sample, "items"):
        return [(_check_name(name), value) for name, value in sample.items()]
    if isinstance(sample, (list, tuple)):
        return [(None, value) for value in sample]
    return [(None, sample)]


class Source:
    def __init__(self, begin, again, count):
        self.begin, self.again, self.count = begin, again, count
        self.iterator = self.current = None
        self.given = self.whole = 0  # of this pass, and of one that came to its end
        self.call = None

    def struct(self, call):
        """The struct baryon_samples whose functions end the call with what they raise."""
        self.call = call
        self.functions = (_library.NEXT(self._next), _library.REWIND(self._rewind))
        self.samples = _library.Samples(next=self.functions[0], count=self.count, name=b"given by the caller")
        if self.again:
            self.samples.rewind = self.functions[1]
        return self.samples

    def _cancel(self, error, message):
        error.contents.code = 80
        error.contents.message = message
        return -1

    def _failed(self, failure, error):
        self.call.fail(failure)  # raised instead of the error
        return self._cancel(error, b"the source of samples raised an exception")

    def _next(self, _, arrays, count, name, error):
        if self.call.stopping:
            return self._cancel(error, b"stopped")
        try:
            if self.iterator is None:
                self.iterator = self.begin()
            sample = next(self.iterator, None)
            if sample is None:
                return self._end()
            self.given += 1
            self.current = Arrays(_named(sample))
            arrays[0] = ctypes.cast(self.current.structs, ctypes.POINTER(_library.Array))
            count[0] = self.current.count
            return 0
        except BaseException as failure:
            return self._failed(failure, error)

    def _end(self):
        if self.given < self.whole:
            raise ValueError(f"the source of samples gives {self.given} when it is read again, {self.whole} before; "
                             "each pass has to give the same samples")  # fmt: skip
        self.whole = self.given
        return 0

    def _rewind(self, _, error):
        try:
            self.given = 0
            self.iterator = self.begin()
            return 0
        except BaseException as failure:
            return self._failed(failure, error)
