"""Makes models for compare nothing."""

import llm_files as made

made.llama("a")
made.safetensors("b.safetensors", {"w": made.entry("F32", [1], 0, 4)}, b"1234")
