"""Makes a file with this defect: alignment."""

import llm_files as made

made.gguf("bad.gguf", [made.pair("general.alignment", made.U32, 48)])
