"""Quark quantizes a folder: llm_io_peer.py memory|files IN OUT SCHEME. Prints seconds (without imports) and peak MiB."""

import json
import resource
import sys
import time


def in_memory(source, out, scheme):
    import torch
    from quark.torch import LLMTemplate, ModelQuantizer, export_safetensors
    from transformers import AutoModelForCausalLM
    model = AutoModelForCausalLM.from_pretrained(source, dtype=torch.bfloat16).eval()
    quantizer = ModelQuantizer(LLMTemplate.get(model.config.model_type).get_config(scheme=scheme))
    samples = torch.utils.data.DataLoader([{"input_ids": torch.arange(16)}])
    export_safetensors(model=quantizer.freeze(quantizer.quantize_model(model, samples)), output_dir=out)


def files(source, out, scheme):
    from quark.torch import LLMTemplate, ModelQuantizer
    from transformers import AutoConfig
    kind = AutoConfig.from_pretrained(source).model_type
    ModelQuantizer(LLMTemplate.get(kind).get_config(scheme=scheme)).direct_quantize_checkpoint(
        pretrained_model_path=source, save_path=out)


def main():
    way, source, out, scheme = sys.argv[1:]
    import quark.torch  # noqa: F401
    import transformers  # noqa: F401
    start = time.perf_counter()
    {"memory": in_memory, "files": files}[way](source, out, scheme)
    print()
    print(json.dumps({"seconds": time.perf_counter() - start,
                      "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
