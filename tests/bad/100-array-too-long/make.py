"""Makes a file with this defect: array too long."""

import llm_files as made

one = made.pair("list", made.ARRAY, (made.U32, [1]))
made.gguf("bad.gguf", [one[:20] + (1 << 40).to_bytes(8, "little") + one[28:] + bytes(8)])
