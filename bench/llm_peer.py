"""Quark quantizes a folder on given windows: llm_peer.py IN OUT SCHEME METHOD IDS.npy. Prints processor seconds and MiB.

METHOD is rtn or an algorithm of Quark with its defaults; `smoothquant-0.5` gives alpha. Schemes of weights alone come out
as floats of quantized values; those that round inputs too as Quark exports them, so that one evaluation judges all.
"""

import json
import pathlib
import resource
import shutil
import sys
import time

WEIGHTS_ALONE = ("_wo_", "weight_only")
FEW_BITS = {"int3_wo_64": ("Int3PerGroupSpec", 64), "int2_wo_32": ("Int2PerGroupSpec", 32)}


def register(template, scheme):
    """Schemes that Quark has as parts and under no name."""
    from quark.torch.quantization.config import config as parts

    if scheme in FEW_BITS:
        name, group = FEW_BITS[scheme]
        spec = getattr(parts, name)(symmetric=True, scale_type="float", round_method="half_even", is_dynamic=False, ch_axis=-1,
                                    group_size=group).to_quantization_spec()
        template.register_scheme(scheme, config=parts.QLayerConfig(weight=spec))


def configure(template, model_type, scheme, method):
    register(template, scheme)
    own = template.get(model_type)
    name, _, alpha = method.partition("-")
    if name == "rtn":
        return own.get_config(scheme=scheme)
    if not alpha:
        return own.get_config(scheme=scheme, algorithm=[name])
    algorithm = own.algo_config[name]
    algorithm.alpha = float(alpha)
    return own.get_config(scheme=scheme, algorithm=[name], algo_configs={name: algorithm})


def write_floats(frozen, source, folder):
    from safetensors.torch import load_file, save_file

    tensors = load_file(source / "model.safetensors")
    found = dict(frozen.named_parameters())
    for name in tensors:
        if name in found:
            tensors[name] = found[name].detach().float().contiguous()
    folder.mkdir()
    shutil.copy(source / "config.json", folder)
    save_file(tensors, folder / "model.safetensors")


def main():
    source, out, scheme, method, ids = sys.argv[1:]
    import numpy as np
    import torch
    from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.float32).eval()
    config = configure(LLMTemplate, model.config.model_type, scheme, method)
    windows = [{"input_ids": row[None]} for row in torch.from_numpy(np.load(ids).astype(np.int64))]
    loader = torch.utils.data.DataLoader(windows, batch_size=None)
    begin = time.process_time()
    quantizer = ModelQuantizer(config)
    frozen = quantizer.freeze(quantizer.quantize_model(model, loader))
    seconds = time.process_time() - begin
    folder = pathlib.Path(out)
    if any(part in scheme for part in WEIGHTS_ALONE):
        write_floats(frozen, pathlib.Path(source), folder)
    else:
        with torch.no_grad():
            export_safetensors(frozen, folder)
    for file in pathlib.Path(source).glob("tokenizer*.json"):
        shutil.copy(file, folder)
    print()
    print(json.dumps({"seconds": seconds, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
