"""Models: a path, bytes, or an onnx.ModelProto."""

import ctypes
import os

from . import _library
from ._call import call


def path_of(model):
    """Bytes of the path; None when the model is in memory."""
    return bytes_of_path(model) if isinstance(model, (str, os.PathLike)) else None


def bytes_of_path(path):
    found = os.fsencode(path)
    if b"\0" in found:
        raise ValueError(f"the path {path!r} contains a NUL character")
    return found


def bytes_of(model):
    if hasattr(model, "SerializeToString"):
        try:
            return model.SerializeToString()
        except Exception as failure:
            raise ValueError("the ModelProto cannot be serialized, protobuf supports at most 2 GiB: save it with "
                             "external data and give the path") from failure
    if isinstance(model, (bytes, bytearray, memoryview)):
        return bytes(model)
    raise TypeError(f"model is a {type(model).__name__}, must be a path, bytes or an onnx.ModelProto")


class Loaded:
    """A struct baryon_model, for a with statement."""

    def __init__(self, model):
        self.library = _library.library()
        self.pointer = ctypes.c_void_p()
        path = path_of(model)
        if path is not None:
            call("baryon_model_load", ctypes.byref(self.pointer), path, None)
            return
        self.bytes = bytes_of(model)  # which it looks into
        call("baryon_model_load_bytes", ctypes.byref(self.pointer), self.bytes, len(self.bytes), None, None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.baryon_model_free(self.pointer)

    def save(self, path, external_data=False):
        options = ctypes.byref(_library.SaveOptions(data=1 if external_data else 0))
        call("baryon_model_save", self.pointer, bytes_of_path(path), options)

    def to_bytes(self):
        data, size = ctypes.c_void_p(), ctypes.c_size_t()
        call("baryon_model_save_bytes", self.pointer, ctypes.byref(data), ctypes.byref(size))
        try:
            return ctypes.string_at(data, size.value)
        finally:
            self.library.baryon_bytes_free(data)
