"""Tiny decoders whose ids are bytes, and texts."""

import llm_files

llm_files.byte_decoders()
