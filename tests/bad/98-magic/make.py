import llm_files as made

made.write("bad.gguf", b"GGML")
