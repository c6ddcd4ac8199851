"""Writes the seeds of the fuzz target checkpoint into tests/fuzz/corpus.

The files of tests/bad that break a rule, and whole ones. The seeds are in the repository, so this
is only needed when a reader learns something new.
"""

import os
import pathlib
import runpy
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CORPUS = HERE / "corpus" / "checkpoint"
SMALL = 4096


def keep(name):
    for path in pathlib.Path(".").rglob("*"):
        if path.suffix in (".safetensors", ".gguf") and path.stat().st_size <= SMALL:
            (CORPUS / f"{name}-{path.name}").write_bytes(path.read_bytes())


def main():
    sys.path.insert(0, str(HERE.parent))
    CORPUS.mkdir(parents=True, exist_ok=True)
    for make in sorted(HERE.parent.glob("*/*/make.py")):
        if "llm_files" not in make.read_text():
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            runpy.run_path(str(make))
            keep(make.parent.name)
            os.chdir(HERE)


if __name__ == "__main__":
    main()
