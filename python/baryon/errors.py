"""Errors of the library. Each is also one of Python's own, so that either can be caught."""

import ctypes


class Error(Exception):
    """code: "input", "usage", ...; the parts of the message are file, place, message and hint."""

    code = file = place = message = hint = ""


class InternalError(Error, RuntimeError):
    """A defect of Baryon itself."""


class UsageError(Error, ValueError):
    """Options or arguments that make no sense."""


class InputError(Error, ValueError):
    """A damaged or wrong file, or a wrong sample."""


class ChangedError(Error, RuntimeError):
    """A file changed while it was in use, or statistics are of something else."""


class UnsupportedError(Error, NotImplementedError):
    """Well formed, but not something that Baryon does."""


class OutOfMemoryError(Error, MemoryError):
    """Out of memory, or over the limit set for it."""


class FileError(Error, OSError):
    """Reading or writing failed."""


class DependencyError(Error, RuntimeError):
    """ONNX Runtime or another library is missing."""


class EngineError(Error, RuntimeError):
    """ONNX Runtime refused or failed."""


class GoalError(Error):
    """A goal was missed."""


class CancelledError(Error):
    """A progress function asked to stop."""


_KINDS = {
    "usage": UsageError, "input": InputError, "changed": ChangedError,
    "unsupported": UnsupportedError, "memory": OutOfMemoryError, "io": FileError,
    "dependency": DependencyError, "engine": EngineError, "goal": GoalError,
    "cancelled": CancelledError,
}  # fmt: skip


def _text(raw):
    return raw.decode("utf-8", "replace")


def in_python(text):
    """The library writes options as its program has them: --weight-scale for weight_scale."""
    from ._names import as_keywords

    return as_keywords(text).replace("=false", "=False")


def from_struct(library, struct, hide=None):
    """The exception of a filled struct baryon_error. hide: a file of ours that nobody knows."""
    code = _text(library.baryon_code_name(struct.code))
    if hide and _text(struct.file) == hide:
        struct.file = b""
        head, _, rest = _text(struct.place).partition(": ")
        struct.place = rest.encode() if head[:1].isdigit() else struct.place
    for part in ("place", "message", "hint"):
        if b"--" in (raw := getattr(struct, part)):
            setattr(struct, part, in_python(_text(raw)).encode())
    buffer = ctypes.create_string_buffer(2048)
    library.baryon_error_format(ctypes.byref(struct), buffer, len(buffer))
    from ._names import as_keywords

    def words(raw):
        text = as_keywords(_text(raw))
        return text.replace(f"{hide}: ", "").replace(hide, "the options") if hide else text

    error = _KINDS.get(code, InternalError)(words(buffer.value))
    error.code, error.file, error.place = code, _text(struct.file), words(struct.place)
    error.message, error.hint = words(struct.message), words(struct.hint)
    return error
