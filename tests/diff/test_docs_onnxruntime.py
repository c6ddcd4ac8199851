"""docs/from-onnxruntime.md has every public name and argument of onnxruntime.quantization, and options that exist."""

import enum
import inspect
import pathlib
import re
import sys

import onnxruntime.quantization as package
from dump import Score

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTIONS = ("quantize", "quantize_static", "quantize_dynamic", "get_qdq_config", "quant_pre_process",
             "StaticQuantConfig", "DynamicQuantConfig")  # fmt: skip
HIDDEN = {"deprecated_kwargs"}


def public():
    for name in dir(package):
        if not name.startswith("_") and not inspect.ismodule(getattr(package, name)):
            yield name, getattr(package, name)


def keys():
    """Keys of extra_options that the sources of the package read."""
    for path in pathlib.Path(package.__file__).parent.glob("*.py"):
        text = path.read_text("utf-8")
        yield from re.findall(r'extra_options(?:\.get\(|\[)\s*"([A-Z]\w+)"', text)
        yield from re.findall(r'"([A-Z]\w+)" (?:not )?in (?:self\.)?extra_options', text)
        yield from re.findall(r'\(\s*"(Calib\w+)",\s*"\w+"\s*\)', text)


def main():
    score = Score()
    page = (ROOT / "docs/from-onnxruntime.md").read_text("utf-8")
    rows = [line for line in page.splitlines() if line.startswith("|")]
    names = set(re.findall(r"[\w.]+", " ".join(re.findall(r"`(.*?)`", " ".join(row.split("|")[1] for row in rows)))))
    words = names | {word for row in rows for word in re.findall(r"\w+", row.split("|")[2])}
    for name, value in public():
        if isinstance(value, type) and issubclass(value, enum.Enum):
            for member in value.__members__:
                score.check(f"{name}.{member}" in names, f"{name}.{member} is missing")
        else:
            score.check(name in words or name in page, f"{name} is missing")
    for name in FUNCTIONS:
        for argument in inspect.signature(getattr(package, name)).parameters:
            score.check(argument in names or argument in HIDDEN, f"{name}: the argument {argument} is missing")
    for key in sorted(set(keys())):
        score.check(key in names, f"extra_options: {key} is missing")
    options = set(re.findall(r"`(?:-\w, )?--([\w-]+)", (ROOT / "docs/commands.md").read_text("utf-8")))
    for option in re.findall(r"--([a-z][\w-]+)", page):
        score.check(option in options, f"there is no option --{option}")
    version = package.__file__ and __import__("onnxruntime").__version__.rsplit(".", 1)[0]
    score.check(f"`onnxruntime.quantization` {version}" in page, f"the page is not about version {version}")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
