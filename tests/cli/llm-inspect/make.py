"""Makes a model for inspect."""

import llm_files as made

made.llama("model")
