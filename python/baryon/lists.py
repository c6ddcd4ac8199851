"""What there is, as {name: help}."""

import ctypes


def _list(name):
    from ._library import library

    found, help_text = {}, ctypes.c_char_p()
    while row := library().baryon_list(name, len(found), ctypes.byref(help_text)):
        found[row.decode()] = help_text.value.decode()
    return found


def presets():
    """Named configurations of quantization."""
    return _list(b"presets")


def methods():
    """Ways to choose the range of a tensor."""
    return _list(b"methods")


def metrics():
    """What evaluate() measures."""
    return _list(b"metrics")
