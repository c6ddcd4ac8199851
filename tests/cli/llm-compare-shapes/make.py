"""Makes models for compare shapes."""

import llm_files as made

made.llama("a", layers=1)
made.llama("b", layers=2, ffn=24)
