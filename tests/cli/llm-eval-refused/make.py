"""A tiny decoder whose ids are bytes, a rounded copy of it, and texts."""

import llm_files

llm_files.byte_decoders()
