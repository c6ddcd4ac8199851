"""Makes a model for inspect sparse."""

import llm_files as made

entries = {"w": made.entry("BF16", [2**24, 3200], 0, 2**24 * 6400)}
made.safetensors("large.safetensors", entries)
with open("large.safetensors", "r+b") as file:
    file.truncate(file.seek(0, 2) + 2**24 * 6400)
