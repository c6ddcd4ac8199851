"""Networks of many structures with random weights: what presets leave of them.

    structures.py [--work DIR] [--program FILE] [--only NAME,...] [--presets NAME,...]

Random weights have no outliers, so that every preset should keep 20 dB and more: less is a defect of how a structure
is treated, as of constants, joins or masks. Exports are those of torch (of this environment: that of `make peers`,
with transformers), once as torch.export gives them (`d`), once by TorchScript with an open batch (`s`). 32 samples
calibrate, 16 others judge. One line a network: SQNR of each output, or of each of its parts, in dB.
"""

import argparse
import logging
import pathlib
import re
import subprocess
import sys
import warnings

import numpy as np

PRESETS = "XINT8", "A8W8", "A16W8", "U8S8_AAWS --weight-granularity channel", "INT8_TRANSFORMER_DEFAULT", "BF16"
BERT = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
TEXT = BERT | {"vocab_size": 200}
PATCHES = BERT | {"image_size": 64, "patch_size": 8}
STAGES = {"hidden_sizes": [16, 32, 64, 64], "depths": [1, 1, 1, 1]}
SOUND = BERT | {"conv_dim": [32] * 3, "conv_stride": [5, 4, 4], "conv_kernel": [10, 8, 4], "num_conv_pos_embeddings": 16,
                "num_conv_pos_embedding_groups": 4}  # fmt: skip
WINDOWS = {"patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4], "window_size": 4}


def picture(torch, random, size=64):
    return {"pixel_values": torch.rand(1, 3, size, size, generator=random) * 2 - 1}


def words(torch, random, masked=True, length=24):
    tokens = {"input_ids": torch.randint(5, 200, (1, length), generator=random)}
    kept = int(torch.randint(length // 2, length + 1, (1,), generator=random))
    return tokens | ({"attention_mask": (torch.arange(length) < kept)[None].long()} if masked else {})


def wave(torch, random):
    return {"input_values": torch.randn(1, 4000, generator=random)}


# Model of transformers, its configuration, its inputs.
FAMILIES = {
    "resnet": ("ResNetModel", STAGES | {"embedding_size": 16}, picture),
    "mobilenet_v1": ("MobileNetV1ForImageClassification", {"depth_multiplier": 0.25, "image_size": 64}, picture),
    "mobilenet_v2": ("MobileNetV2ForImageClassification", {"depth_multiplier": 0.35, "image_size": 64}, picture),
    "regnet": ("RegNetForImageClassification", STAGES | {"embedding_size": 16, "groups_width": 8}, picture),
    "convnext": ("ConvNextForImageClassification", STAGES, picture),
    "convnextv2": ("ConvNextV2ForImageClassification", STAGES, picture),
    "poolformer": ("PoolFormerForImageClassification", STAGES | {"hidden_sizes": [16, 32, 40, 64]}, picture),
    "focalnet": ("FocalNetForImageClassification", STAGES | {"image_size": 64, "embed_dim": 16}, picture),
    "segformer": ("SegformerForSemanticSegmentation",
                  {"hidden_sizes": [16, 32, 40, 64], "depths": [1] * 4, "decoder_hidden_size": 32}, picture),
    "mobilevit": ("MobileViTForImageClassification",
                  {"hidden_sizes": [24, 32, 40], "neck_hidden_sizes": [8, 16, 24, 32, 40, 48, 56], "image_size": 64}, picture),
    "vit": ("ViTForImageClassification", PATCHES, picture),
    "deit": ("DeiTForImageClassification", PATCHES, picture),
    "beit": ("BeitForImageClassification", PATCHES | {"use_relative_position_bias": True}, picture),
    "clip_vision": ("CLIPVisionModel", PATCHES, picture),
    "siglip_vision": ("SiglipVisionModel", PATCHES, picture),
    "yolos": ("YolosForObjectDetection", PATCHES | {"image_size": [64, 64], "num_detection_tokens": 10}, picture),
    "swin": ("SwinForImageClassification", WINDOWS | {"image_size": 64}, picture),
    "swinv2": ("Swinv2ForImageClassification", WINDOWS | {"image_size": 64}, picture),
    "bert": ("BertForSequenceClassification", TEXT, words),
    "distilbert": ("DistilBertForSequenceClassification",
                   {"dim": 64, "n_layers": 2, "n_heads": 4, "hidden_dim": 128, "vocab_size": 200}, words),
    "roberta": ("RobertaForTokenClassification", TEXT, words),
    "albert": ("AlbertModel", TEXT | {"embedding_size": 32}, words),
    "electra": ("ElectraForTokenClassification", TEXT | {"embedding_size": 32}, words),
    "deberta_v2": ("DebertaV2ForSequenceClassification", TEXT | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
                   words),
    "mpnet": ("MPNetModel", TEXT, words),
    "gpt2": ("GPT2LMHeadModel", {"n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 200, "use_cache": False},
             lambda *how: words(*how, masked=False)),
    "llama": ("LlamaForCausalLM", TEXT | {"num_key_value_heads": 2, "use_cache": False},
              lambda *how: words(*how, masked=False)),
    "t5_encoder": ("T5EncoderModel", {"d_model": 64, "d_kv": 16, "d_ff": 128, "num_layers": 2, "num_heads": 4, "vocab_size": 200},
                   words),
    "wav2vec2": ("Wav2Vec2ForCTC", SOUND | {"vocab_size": 32}, wave),
    "hubert": ("HubertModel", SOUND, wave),
    "wavlm": ("WavLMModel", SOUND, wave),
}  # fmt: skip
TORCHSCRIPT = {"beit", "swin", "t5_encoder"}  # torch.export does not take them
RESULTS = "logits", "reconstruction", "last_hidden_state"


def randomize(torch, model):
    """What training leaves of normalizations, and weights that keep the size of values."""
    for part in model.modules():
        if getattr(part, "running_mean", None) is not None:
            part.running_mean.normal_(0, 0.2)
            part.running_var.uniform_(0.5, 2)
            part.weight.data.uniform_(0.5, 1.5)
            part.bias.data.normal_(0, 0.2)
        if isinstance(part, torch.nn.Linear):
            part.weight.data.normal_(0, part.in_features**-0.5)


def family(torch, name):
    import transformers

    kind, config, inputs = FAMILIES[name]
    model_class = getattr(transformers, kind)
    model = model_class(model_class.config_class(**config)).eval()

    class Plain(torch.nn.Module):
        """With tensors in and out."""

        def __init__(self, names):
            super().__init__()
            self.model, self.names = model, names

        def forward(self, *tensors):
            found = self.model(**dict(zip(self.names, tensors)))
            result = next(getattr(found, key) for key in RESULTS if getattr(found, key, None) is not None)
            return (result, found.pred_boxes) if hasattr(found, "pred_boxes") else result

    return model, Plain(list(inputs(torch, torch.Generator()))), lambda random: inputs(torch, random)


def export(torch, model, example, path, dynamo):
    names = list(example)
    if dynamo:
        torch.onnx.export(model, tuple(example.values()), path, input_names=names, opset_version=20, dynamo=True,
                          external_data=False, verbose=False)  # fmt: skip
    else:
        torch.onnx.export(model, tuple(example.values()), path, input_names=names, opset_version=16, dynamo=False,
                          dynamic_axes={name: {0: "N"} for name in names})  # fmt: skip


def make(work, name, kind):
    """The model's path; its samples lie beside it, in calib.txt and eval.txt."""
    import torch
    from structures_nets import NETS

    folder = work / f"{name}_{kind}"
    if (folder / "eval.txt").exists():
        return folder / "model.onnx"
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(0)
    random = torch.Generator().manual_seed(1)
    if name in FAMILIES:
        inner, model, inputs = family(torch, name)
    else:
        make_net, shape = NETS[name]
        inner = model = make_net().eval()
        inputs = lambda random: {"x": torch.randn(shape, generator=random)}  # noqa: E731
    randomize(torch, inner)
    export(torch, model, inputs(random), folder / "model.onnx", kind == "d")
    files = [folder / f"{i:02}.npz" for i in range(48)]
    for file in files:
        np.savez(file, **{key: value.numpy() for key, value in inputs(random).items()})
    for part, which in (("calib", files[:32]), ("eval", files[32:])):
        (folder / f"{part}.txt").write_text("".join(f"{file.resolve()}\n" for file in which))
    return folder / "model.onnx"


def judged(program, model, preset):
    out = model.with_name("quantized.onnx")
    data = [str(model.with_name(f"{part}.txt")) for part in ("calib", "eval")]
    made = subprocess.run([program, "quantize", model, "-o", out, "-f", "-q", "--no-judge", "--data", data[0], "-p", *preset.split()],
                          capture_output=True, text=True)  # fmt: skip
    if made.returncode:
        return "refused" if "no node of the model can be quantized" in made.stderr else "FAILED"
    found = subprocess.run([program, "evaluate", model, out, "-q", "--data", data[1]], capture_output=True, text=True)
    return " / ".join(f"{float(value):.1f}" for value in re.findall(r"sqnr +(\S+)", found.stdout)) or "FAILED"


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("build/structures"))
    parser.add_argument("--program", default="build/baryon")
    parser.add_argument("--only", type=lambda text: text.split(","))
    parser.add_argument("--presets", type=lambda text: text.split(","), default=PRESETS)
    options = parser.parse_args()
    try:
        from structures_nets import NETS
    except ImportError:
        print("torch is absent: 'make peers' installs it; nothing was measured")
        return 0
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    print("| network | " + " | ".join(preset.split()[0] for preset in options.presets) + " |")
    print("|---|" + "---|" * len(options.presets))
    families = [(name, "s" if name in TORCHSCRIPT else "d") for name in FAMILIES]
    for name, kind in families + [(name, kind) for name in NETS for kind in "ds"]:
        if options.only and name not in options.only:
            continue
        try:
            model = make(options.work, name, kind)
        except Exception as error:  # noqa: BLE001
            print(f"{name} {kind} is not exported: {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        print(f"| {name} {kind} | " + " | ".join(judged(options.program, model, p) for p in options.presets) + " |", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
