"""Makes a file with this defect: key twice."""

import llm_files as made

one = made.pair("general.name", made.STRING, "a")
made.gguf("bad.gguf", [one, one])
