"""Makes a model for inspect tensors."""

import llm_files as made

made.llama("model", layers=1)
