"""Makes a file with this defect: magic."""

import llm_files as made

made.write("bad.gguf", b"GGML")
