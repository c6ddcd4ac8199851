"""Makes a file with this defect: value type."""

import llm_files as made

made.gguf("bad.gguf", [made.text("key") + (13).to_bytes(4, "little") + bytes(8)])
