"""Makes a file with this defect: shorter than a length."""

import llm_files as made

made.write("bad.safetensors", b"1234567")
