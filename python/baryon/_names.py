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


# Options of the program that have another name here.
_OTHERS = {"force": "overwrite=True", "out": "output", "quiet": "progress=False"}


def _keyword(found):
    name, given = found.group(1), found.group(2)
    if name in _OTHERS:
        return _OTHERS[name]
    if not given:
        return name.replace("-", "_")
    key, _, value = given.partition("=")
    return f"{name.replace('-', '_')}={f'{{{key}: {value}}}' if value else given}"


def as_keywords(text):
    """Options as one writes them in Python: "--data PATH" is data=PATH, "--int-range" int_range."""
    import re

    return re.sub(r"(?<![\w-])--([a-z][a-z0-9-]*)(?: ([A-Z][A-Z]+(?:[:=][A-Z]+)?)\b)?", _keyword, text)
