import llm_files as made

made.llama("model", layers=1)
