"""Options as the settings of the library.

Names are those of the command line, with _ for -. Texts, numbers and flags are handed on as pairs,
lists and maps in a configuration file, in which they need no spelling of their own.
"""

import json
import os
import tempfile

from ._library import Setting, onnxruntime


def _scalar(value):
    """The value as one would write it; None when it is a list or a map."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str, os.PathLike)):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    return _scalar(value.item()) if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else None


def _plain(value):
    """The same for JSON."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (list, tuple, set, frozenset)):
        return [_plain(item) for item in (sorted(value) if isinstance(value, (set, frozenset)) else value)]
    raise TypeError(f"an option is a {type(value).__name__}, must be a bool, number, string, list or dict")


# A file may not name them, since a library is code; the caller of a function may.
_LIBRARIES = {"ops_library": "ops_library", "ops-library": "ops_library", "UserCustomOpLibPath": "ops_library",
              "onnxruntime": "onnxruntime"}  # fmt: skip


def _take_libraries(options):
    """Options without those that name libraries, and these as pairs."""
    pairs, rest = [], {}
    for name, value in options.items():
        if name == "extra_options" and isinstance(value, dict):
            found, value = _take_libraries(value)
            pairs += found
        if name not in _LIBRARIES:
            rest[name] = value
        elif value:
            listed = value if isinstance(value, (list, tuple)) else [value]
            pairs += [(_LIBRARIES[name], _scalar(path)) for path in listed]
    return pairs, rest


class Settings:
    """Pairs, and the file that one of them names; for a with statement. runs: ONNX Runtime is
    needed. in_file: all go to the file, where Quark's options are known by their own names."""

    def __init__(self, options, runs=True, in_file=False):
        pairs, options = _take_libraries(options)
        maps = {}
        for name, value in options.items():
            if value is None:
                continue
            text = None if in_file and name != "data" else _scalar(value)
            if text is None:
                maps[name] = _plain(value)
            else:
                pairs.append((name, text))
        folder = onnxruntime() if runs and not any(name == "onnxruntime" for name, _ in pairs) else None
        if folder:
            pairs.append(("onnxruntime", folder))
        self.pairs, self.maps, self.file = pairs, maps, None

    def __enter__(self):
        if self.maps:
            if any(name == "config" for name, _ in self.pairs):
                raise ValueError("config and options with lists or dicts are both given, only one is allowed")
            with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False, encoding="utf-8") as file:
                json.dump(self.maps, file)
            self.file = file.name
            self.pairs.append(("config", self.file))
        self.count = len(self.pairs)
        self.structs = (Setting * max(self.count, 1))()
        for struct, (name, value) in zip(self.structs, self.pairs):
            if "\0" in value:
                raise ValueError(f"{name} is {value!r}, must not contain a NUL character")
            struct.name, struct.value = name.encode(), os.fsencode(value)
        return self

    def __exit__(self, *_):
        if self.file:
            os.unlink(self.file)
