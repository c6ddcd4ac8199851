"""Makes models for compare quantized."""

import llm_files as made

made.llama("a", layers=1, hidden=32, ffn=64)
