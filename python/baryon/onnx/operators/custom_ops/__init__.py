"""The library of Quark's custom operators."""


def get_library_path(device="CPU"):
    """For SessionOptions.register_custom_ops_library()."""
    import os

    from .... import _library

    if str(device).upper() != "CPU":
        raise NotImplementedError(f"operators for {device} are not available: those of the library run on the CPU")
    found = os.path.join(os.path.dirname(os.path.realpath(_library.path())), _library.OPERATORS)
    if not os.path.exists(found):
        raise FileNotFoundError(f"{found}: the library of operators is not there; set BARYON_LIBRARY")
    return found
