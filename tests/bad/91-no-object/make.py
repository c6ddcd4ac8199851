import llm_files as made

made.safetensors_text("bad.safetensors", "[1]")
