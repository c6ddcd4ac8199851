"""Weights of quantized folders by the formulas of their formats, in torch: for layouts whose loaders cannot be installed.

Written from the formats' descriptions, not from Baryon's code: AWQ (AutoAWQ, vLLM), GPTQ (AutoGPTQ's first version, whose
zero points are stored less one), vLLM's fp8, and json-safetensors as docs/llm-quantize.md has it.
"""

import json
import pathlib

AWQ_PLACES = (0, 4, 1, 5, 2, 6, 3, 7)  # where element k of eight is in a word of AWQ


def spread(words, axis, places=range(8)):
    """Codes of four bits out of int32 words, eight along an axis."""
    import torch
    shifts = torch.tensor([4 * place for place in places], dtype=torch.int32)
    codes = (words.unsqueeze(axis + 1) >> shifts.reshape([8 if d == axis + 1 else 1 for d in range(words.dim() + 1)])) & 15
    shape = list(words.shape)
    shape[axis] *= 8
    return codes.reshape(shape)


def awq(parts, group):
    codes, zeros = spread(parts["qweight"], 1, AWQ_PLACES), spread(parts["qzeros"], 1, AWQ_PLACES)
    steps = parts["scales"].float().repeat_interleave(group, 0)
    return ((codes - zeros.repeat_interleave(group, 0)).float() * steps).T


def gptq(parts, group):
    codes, zeros, index = spread(parts["qweight"], 0), spread(parts["qzeros"], 1) + 1, parts["g_idx"].long()
    return ((codes - zeros[index]).float() * parts["scales"].float()[index]).T


def fp8(parts, group):
    return parts["weight"].float() * parts["weight_scale"].float()


def plain(parts, group):
    """json-safetensors with integers of four bits without a sign, or signed where there is no zero point."""
    import torch
    words = parts["weight"]
    codes = torch.stack([words & 15, words >> 4], 2).reshape(words.shape[0], -1).int()
    if "weight_zero_point" in parts:
        levels = codes - parts["weight_zero_point"].int().repeat_interleave(group, 1)
    else:
        levels = torch.where(codes > 7, codes - 16, codes)
    return levels.float() * parts["weight_scale"].float().repeat_interleave(group, 1)


def compressed(parts, group):
    """By compressed-tensors itself: the loader of transformers 5.24 does not take its packed zero points."""
    from compressed_tensors.compressors import PackedQuantizationCompressor
    from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
    args = QuantizationArgs(num_bits=4, type="int", strategy="group", group_size=group, symmetric="weight_zero_point" not in parts)
    found = PackedQuantizationCompressor.decompress(parts, QuantizationScheme(targets=["Linear"], weights=args))
    return found["weight"].float()


FORMULAS = {"awq": awq, "gptq": gptq, "fp8": fp8, "json-safetensors": plain, "compressed-tensors": compressed}


def model_of(folder, layout, group):
    """A transformers model in float32 with the unpacked weights."""
    import torch
    import transformers
    from safetensors.torch import load_file
    found = {}
    for path in sorted(pathlib.Path(folder).glob("*.safetensors")):
        found.update(load_file(path))
    state, layers = {}, {}
    for name, tensor in found.items():
        layer, _, part = name.rpartition(".")
        layers.setdefault(layer, {})[part] = tensor
    for layer, parts in layers.items():
        if "qweight" in parts or "weight_scale" in parts:
            state[layer + ".weight"] = FORMULAS[layout](parts, group)
        else:
            state.update({f"{layer}.{part}": tensor.float() for part, tensor in parts.items()})
    config = json.loads(pathlib.Path(folder, "config.json").read_text())
    config.pop("quantization_config", None)
    model = transformers.AutoModelForCausalLM.from_config(transformers.AutoConfig.for_model(**config), dtype=torch.float32)
    missing, unexpected = model.load_state_dict(state, strict=False)
    left = [name for name in missing if name != "lm_head.weight"]
    if left or unexpected:
        raise ValueError(f"missing {left}, unexpected {unexpected}")
    model.tie_weights()
    return model
