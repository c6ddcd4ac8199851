#!/usr/bin/env python3
"""Notes about a model (license, author, tags) between the head of README.md and general.* of GGUF files, as gguf's converter names
them; a head that is no YAML is left out and said."""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from lib import gguf_file, llm_weights  # noqa: E402

BARYON = pathlib.Path("build/baryon").resolve()
passed = failed = 0
HEAD = """---
license:
- mit
- apache-2.0
license_link: "https://example.org/a: b"
model_creator: Ada \\"Countess\\"
language: no
tags: [text, 'a "quoted" tag']
pipeline_tag: text-generation
description: >
  Two
  lines
version: 1.0
base_model: other/model
---
# A model

license: not this one
"""
NOTES = {"general.author": 'Ada \\"Countess\\"', "general.version": "1.0", "general.description": "Two lines\n",
         "general.license": "mit,apache-2.0", "general.license.link": "https://example.org/a: b",
         "general.tags": ["text", 'a "quoted" tag', "text-generation"], "general.languages": ["no"]}  # fmt: skip
OWN = ("architecture", "type", "name", "size_label", "file_type", "quantization_version")


def check(what, good):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print("FAILED", what)


def convert(folder, source, out):
    done = subprocess.run([BARYON, "llm", "convert", source, "-o", out, "--no-tokenizer"], capture_output=True, text=True, cwd=folder)
    check(f"{source} to {out}: {done.stderr}", done.returncode == 0)
    return done.stderr


def notes(path):
    metadata = gguf_file.Reader(path).metadata
    own = [f"general.{key}" for key in OWN]
    return metadata["general.name"], {key: value for key, value in metadata.items() if key.startswith("general.") and key not in own}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        llm_weights.write_model(folder / "model")
        readme = folder / "model/README.md"
        readme.write_text(HEAD)
        convert(folder, "model", "a.gguf")
        check(f"notes of README.md {notes(folder / 'a.gguf')}", notes(folder / "a.gguf") == ("model", NOTES))
        convert(folder, "a.gguf", "b.gguf")
        check("a GGUF file of a GGUF file", notes(folder / "b.gguf") == ("model", NOTES))
        convert(folder, "a.gguf", "back")
        convert(folder, "back", "c.gguf")
        check(f"there and back {(folder / 'back/README.md').read_text()}", (folder / "c.gguf").read_bytes() == (folder / "a.gguf").read_bytes())
        for number, (content, said) in enumerate((("# No head\n", ""), ("---\nlicense: mit\n", ""), ("---\n- a\n---\n", ""), ("", ""),
                                                  ("---\na: b: c\n---\n", "notes in README.md are left out"))):  # fmt: skip
            readme.write_text(content)
            told = convert(folder, "model", f"d{number}.gguf")
            check(f"{content!r}: {told}", notes(folder / f"d{number}.gguf") == ("model", {}) and said in told and bool(told) == bool(said))
            if said:
                convert(folder, f"d{number}.gguf", "plain")
                check("a README.md of nothing", not (folder / "plain/README.md").exists())
        readme.write_text(HEAD.replace("version", "model_name: Other\nversion"))
        convert(folder, "model", "e.gguf")
        check("its own name", notes(folder / "e.gguf") == ("Other", NOTES))
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
