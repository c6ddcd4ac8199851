#!/usr/bin/env python3
"""Runs notebooks without Jupyter: the cells in turn, by plain Python.

    scripts/notebook.py FILE...            runs them; ends with 1 where a cell fails
    scripts/notebook.py --write FILE...    and keeps texts and pictures that the cells show in the file

A cell shows what it prints, the value of its last line, and what it gives to display(); of pictures of Pillow a PNG.
The working folder of a notebook is a new one.
"""

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path


def shown(value):
    """An output of a cell, as a notebook has it."""
    data = {"text/plain": [repr(value)]}
    if hasattr(value, "_repr_html_"):
        data["text/html"] = [value._repr_html_()]
    if hasattr(value, "save") and hasattr(value, "getbands"):
        out = io.BytesIO()
        value.quantize(64).save(out, "PNG", optimize=True)  # fewer colours: a tenth of the bytes
        size = "x".join(map(str, value.size))
        data = {"image/png": base64.b64encode(out.getvalue()).decode(), "text/plain": [f"a picture of {size} pixels"]}
    return {"data": data, "metadata": {}, "output_type": "display_data"}


def run_cell(source, world, outputs):
    """Appends what the cell shows; an expression at its end is shown too."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), world)
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), world) if last else None
    if text := printed.getvalue():
        outputs.insert(0, {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)})
    if value is not None:
        outputs.append(shown(value))


def run_notebook(notebook):
    """Runs the cells of a notebook in the working folder; the error of the first that fails, or ""."""
    outputs = []
    world = {"__name__": "__main__", "display": lambda *values: outputs.extend(map(shown, values))}
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        outputs.clear()
        try:
            run_cell("".join(cell["source"]), world, outputs)
        except Exception:
            return f"cell {number}: {traceback.format_exc(limit=-2)}"
        cell["outputs"] = list(outputs)
    return ""


def main():
    words = sys.argv[1:]
    write, paths = "--write" in words, [Path(word).resolve() for word in words if word != "--write"]
    for path in paths:
        notebook = json.loads(path.read_text("utf-8"))
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            failure = run_notebook(notebook)
            os.chdir("/")
        if failure:
            print(f"{path}: {failure}")
            return 1
        if write:
            path.write_text(json.dumps(notebook, indent=1) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
