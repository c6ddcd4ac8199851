"""A tiny decoder whose ids are bytes, and more texts than it comes with."""

import pathlib

import llm_files

llm_files.byte_decoders()
pathlib.Path("more").write_text("".join(chr(33 + (i * i + 7 * i) % 90) + " " * (i % 5 == 0) for i in range(400)))
