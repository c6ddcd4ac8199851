import llm_files as made

made.gguf("bad.gguf", [], [made.tensor("a", [48, 2], 2, 0)], bytes(32))
