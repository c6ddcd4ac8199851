"""Makes a file with this defect: no weights."""

import llm_files as made

made.write("bad/config.json", b"{}")
made.write("bad/pytorch_model.bin", b"x")
