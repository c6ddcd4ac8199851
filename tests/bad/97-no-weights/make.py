import llm_files as made

made.write("bad/config.json", b"{}")
made.write("bad/pytorch_model.bin", b"x")
