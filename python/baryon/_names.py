"""What is said of names that there are not."""


def near(name, names):
    """"; did you mean 'x'?", or nothing."""
    import difflib

    lower = {str(known).lower(): known for known in names}
    found = difflib.get_close_matches(str(name).lower(), lower, 1, 0.7)
    return f"; did you mean {lower[found[0]]!r}?" if found else ""


def missing(module, name, names, later=()):
    """For the __getattr__ of a module. `later` are names that stand for what is not there yet."""
    if name in later:
        return NotImplementedError(f"{module}.{name}: {later[name]} is not supported yet")
    return AttributeError(f"module {module!r} has no {name!r}{near(name, names)}")
