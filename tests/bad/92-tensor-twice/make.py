"""Makes a file with this defect: tensor twice."""

import llm_files as made

one = '"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}'
made.safetensors_text("bad.safetensors", "{" + one + ", " + one + "}", b"1234")
