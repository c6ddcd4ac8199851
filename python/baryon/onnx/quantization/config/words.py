"""Configurations as plain dicts, for files in JSON or YAML: enums as "ScaleType.Float32", types and
specifications by their names."""

from enum import Enum

from .data_type import DataType, data_type_of


def plain(value):
    """What a file can have in place of a value."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, type) and issubclass(value, DataType):
        return value.__name__
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def member(kind, text):
    """The member of an enum by "ScaleType.Float32" or "Float32"; members pass."""
    if isinstance(text, kind):
        return text
    head, _, word = str(text).rpartition(".")
    if head not in ("", kind.__name__) or word not in kind.__members__:
        from ...._names import near

        raise ValueError(f"{text!r} is no {kind.__name__}{near(word, kind.__members__)}")
    return kind[word]


def data_type(value):
    return value if isinstance(value, type) else data_type_of(str(value).rpartition(".")[2])


def check_keys(what, given, known):
    """Keys that a dict cannot have are refused with the nearest."""
    for key in given:
        if key not in known:
            from ...._names import near

            raise ValueError(f"{what} has no key {key!r}{near(key, known)}")
