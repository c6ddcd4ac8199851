"""Running models with ONNX Runtime.

    >>> baryon.run("model.onnx", {"x": x})["y"]
"""

import ctypes
import os
from typing import NamedTuple, Optional

from . import _library
from ._arrays import Arrays, to_numpy
from ._call import Call
from ._model import bytes_of, path_of
from ._samples import _named

_LEVELS = {"all": 0, "none": 1, "basic": 2, "extended": 3}


class Port(NamedTuple):
    name: str
    kind: str
    type: int  #: of ONNX's TensorProto.DataType; 0 when it is no tensor
    shape: Optional[tuple]  #: sizes, names of open ones, or None


def _port(struct):
    symbols = struct.symbols
    dims = [
        struct.dims[i] if struct.dims[i] >= 0 else symbols[i].decode() if symbols[i] else None
        for i in range(max(struct.rank, 0))
    ]
    shape = tuple(dims) if struct.rank >= 0 else None
    return Port(struct.name.decode(), struct.kind.decode(), struct.type, shape)


def _texts(values):
    return (ctypes.c_char_p * max(len(values), 1))(*(os.fsencode(value) for value in values))


class Session:
    """A model made ready; for a with statement, or close()."""

    def __init__(self, model, *, threads=0, optimization="all", providers=(), operator_libraries=(),
                 deterministic=False, low_memory=False, allow_links=False):  # fmt: skip
        if optimization not in _LEVELS:
            raise ValueError(f"optimization {optimization!r}, must be one of {', '.join(_LEVELS)}")
        self._library, self._pointer = _library.library(), ctypes.c_void_p()
        runtime = _library.onnxruntime()
        options = _library.SessionOptions(
            onnxruntime=os.fsencode(runtime) if runtime else None, threads=threads,
            optimization=_LEVELS[optimization], providers=_texts(providers), provider_count=len(providers),
            operator_libraries=_texts(operator_libraries), operator_library_count=len(operator_libraries),
            deterministic=deterministic, low_memory=low_memory, allow_links=allow_links,
        )  # fmt: skip
        path, out = path_of(model), ctypes.byref(self._pointer)
        if path is not None:
            Call(False).run("baryon_session_open", out, path, ctypes.byref(options))
        else:
            data = bytes_of(model)
            Call(False).run("baryon_session_open_bytes", out, data, len(data), ctypes.byref(options))

    def close(self):
        pointer, self._pointer = self._pointer, None
        if pointer:
            self._library.baryon_session_close(pointer)

    def _opened(self):
        if not self._pointer:
            raise ValueError("the session is closed")
        return self._pointer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_pointer", None):
            self.close()

    @property
    def inputs(self):
        count = self._library.baryon_session_input_count(self._opened())
        return [_port(self._library.baryon_session_input(self._pointer, i).contents) for i in range(count)]

    @property
    def outputs(self):
        count = self._library.baryon_session_output_count(self._opened())
        return [_port(self._library.baryon_session_output(self._pointer, i).contents) for i in range(count)]

    @property
    def runtime(self):
        """The version of ONNX Runtime."""
        return self._library.baryon_session_runtime(self._opened()).decode()

    def run(self, inputs, outputs=()):
        """{name: array} of the outputs named, of all by default. inputs: a dict by name, an array
        for the only input, or a list in their order."""
        self._opened()
        named = _named(inputs)
        if any(name is None for name, _ in named):
            names = [port.name for port in self.inputs]
            if len(named) > len(names):
                raise ValueError(f"{len(named)} arrays for {len(names)} inputs of the model")
            named = [(name, value) for name, (_, value) in zip(names, named)]
        arrays, result = Arrays(named), ctypes.c_void_p()
        stop = lambda: self._library.baryon_session_cancel(self._pointer)  # noqa: E731
        try:
            Call(False, on_stop=stop).run("baryon_session_run", self._pointer, arrays.structs, arrays.count,
                                          _texts(outputs) if outputs else None, len(outputs),
                                          ctypes.byref(result))  # fmt: skip
        except KeyboardInterrupt:
            self._library.baryon_session_resume(self._pointer)
            raise
        try:
            count = self._library.baryon_run_output_count(result)
            given = (self._library.baryon_run_output(result, i).contents for i in range(count))
            return {array.name.decode(): to_numpy(array) for array in given}
        finally:
            self._library.baryon_run_free(result)


def run(model, inputs, outputs=(), **options):
    """Runs a model once, {name: array}; options are those of Session."""
    with Session(model, **options) as session:
        return session.run(inputs, outputs)
