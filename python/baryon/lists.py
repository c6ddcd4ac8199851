"""Lists of presets, methods and more, as {name: help}."""

import ctypes


def _list(name):
    from ._library import library

    found, help_text = {}, ctypes.c_char_p()
    while row := library().baryon_list(name, len(found), ctypes.byref(help_text)):
        found[row.decode()] = help_text.value.decode()
    return found


def presets():
    """Named configs of quantization."""
    return _list(b"presets")


def schemes():
    """Quantization schemes of language models."""
    return _list(b"schemes")


def layouts():
    """How files hold quantized weights of language models."""
    return _list(b"layouts")


def _value(text):
    """true, 7 and ["a"] are values, what is no JSON is a word."""
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


def rows_of_preset(name, get):
    """get: baryon_preset_setting, or baryon_preset_quark."""
    from ._call import call
    from ._library import library

    pointer, found = ctypes.c_void_p(), {}
    call("baryon_preset_open", ctypes.byref(pointer), name.encode())
    try:
        while row := getattr(library(), get)(pointer, len(found)):
            found[row.contents.name.decode()] = _value(row.contents.value.decode())
    finally:
        library().baryon_preset_free(pointer)
    return found


def preset(name):
    """Every option of quantize() that applies to a preset, with its value.

        >>> baryon.preset("XINT8")["activation_scale"]
        'pow2'
    """
    return {key.replace("-", "_"): value for key, value in rows_of_preset(name, "baryon_preset_setting").items()}


def methods():
    """Calibration methods: how to choose the range of a tensor."""
    return _list(b"methods")


def metrics():
    """Metrics of evaluate()."""
    return _list(b"metrics")
