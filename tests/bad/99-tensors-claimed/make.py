import llm_files as made

made.gguf("bad.gguf", counts=(1 << 60, 0))
