"""Makes a file with this defect: a part without its number."""

import llm_files as made

made.gguf("bad.gguf", [made.pair("split.count", made.U16, 3)])
