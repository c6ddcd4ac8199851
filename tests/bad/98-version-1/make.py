import llm_files as made

made.gguf("bad.gguf", version=1)
