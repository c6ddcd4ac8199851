"""Tiny decoders: one whose groups of 32 have integers, and one whose heads are too small."""

import llm_files

llm_files.byte_decoder("wide", 2**-20, hidden=32, inner=64)
llm_files.byte_decoders()
