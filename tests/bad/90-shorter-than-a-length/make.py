import llm_files as made

made.write("bad.safetensors", b"1234567")
