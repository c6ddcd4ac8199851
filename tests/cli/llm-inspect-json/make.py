"""Makes a model for inspect json."""

import llm_files as made

made.llama("model", layers=1)
