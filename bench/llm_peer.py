"""Quark quantizes a folder on given windows: llm_peer.py IN OUT SCHEME METHOD IDS.npy. Prints processor seconds and MiB.

What comes out is the model with quantized values as floats, so that one evaluation judges all.
"""

import json
import pathlib
import resource
import shutil
import sys
import time


def main():
    source, out, scheme, method, ids = sys.argv[1:]
    import numpy as np
    import torch
    from quark.torch import LLMTemplate, ModelQuantizer
    from safetensors.torch import load_file, save_file
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32).eval()
    template = LLMTemplate.get(model.config.model_type)
    config = template.get_config(scheme=scheme, algorithm=["gptq"] if method == "gptq" else None)
    windows = [{"input_ids": row[None]} for row in torch.from_numpy(np.load(ids).astype(np.int64))]
    loader = torch.utils.data.DataLoader(windows, batch_size=None)
    begin = time.process_time()
    quantizer = ModelQuantizer(config)
    frozen = quantizer.freeze(quantizer.quantize_model(model, loader))
    seconds = time.process_time() - begin
    tensors = load_file(pathlib.Path(source) / "model.safetensors")
    found = dict(frozen.named_parameters())
    for name in tensors:
        if name in found:
            tensors[name] = found[name].detach().float().contiguous()
    folder = pathlib.Path(out)
    folder.mkdir()
    for file in pathlib.Path(source).glob("*.json"):
        shutil.copy(file, folder)
    save_file(tensors, folder / "model.safetensors")
    print()
    print(json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
