#!/usr/bin/env python3
"""Compares the readers and writers of checkpoints with the packages safetensors and gguf.

Files of theirs are listed by `baryon llm inspect` as they list them, come out of our writers byte
for byte, and what we write they read.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

import ml_dtypes
import numpy as np
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

# Model cards are YAML to gguf; nothing here reads one.
for missing in ("yaml", "tqdm", "requests"):
    sys.modules.setdefault(missing, types.ModuleType(missing))
sys.modules["tqdm"].tqdm = None

import gguf

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from lib import llm_tokenizer, llm_weights

BUILD = ROOT / os.environ.get("BUILD", "build")
counts = {"passed": 0, "failed": 0}


def expect(condition, what):
    counts["passed" if condition else "failed"] += 1
    if not condition:
        print(f"FAILED {what}")


def run(program, *arguments):
    done = subprocess.run([BUILD / program, *map(str, arguments)], stdout=subprocess.PIPE, check=False)
    expect(done.returncode == 0, f"{program} {arguments}")
    return done.stdout


def copy(source, target, *more):
    run("tests/tools/llm_copy", source, target, *more)


def some_tensors(rng, ml_types=True):
    kinds = ["float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint64", "uint32",
             "uint16", "uint8", "bool"]
    tensors = {}
    for i, kind in enumerate(kinds):
        shape = [(3, 4), (5,), (), (2, 3, 4), (1, 7)][i % 5]
        tensors[f"model.layers.{i}.weight"] = rng.integers(0, 2, shape).astype(kind)
        tensors[f"{kind}.bias"] = rng.integers(0, 2, (i + 1,)).astype(kind)
    tensors["empty"] = np.zeros((0, 3), np.float32)
    if ml_types:
        tensors["half"] = rng.standard_normal((4, 6)).astype(ml_dtypes.bfloat16)
    return {name: np.ascontiguousarray(value) for name, value in tensors.items()}


def check_safetensors(folder, rng):
    theirs = folder / "theirs.safetensors"
    tensors = some_tensors(rng)
    save_file(tensors, theirs, metadata={"format": "pt"})
    listed = json.loads(run("baryon", "llm", "inspect", "--json", "--tensors", theirs))["tensors"]
    with safe_open(theirs, "np") as file:
        expect({t["name"] for t in listed} == set(file.keys()), "names of tensors")
        for tensor in listed:
            slice_ = file.get_slice(tensor["name"])
            expect(tensor["type"] == slice_.get_dtype(), f"dtype of {tensor['name']}")
            expect(tensor["shape"] == slice_.get_shape(), f"shape of {tensor['name']}")
            expect(tensor["bytes"] == tensors[tensor["name"]].nbytes, f"bytes of {tensor['name']}")
    copy(theirs, folder / "ours.safetensors")
    expect((folder / "ours.safetensors").read_bytes() == theirs.read_bytes(), "bytes of a copy")
    copy(theirs, folder / "sharded", 100)
    check_shards(folder / "sharded", tensors)
    copy(folder / "sharded", folder / "sharded-again", 100)
    check_shards(folder / "sharded-again", tensors)
    copy(theirs, folder / "sorted", 1 << 30)
    expect((folder / "sorted/model.safetensors").read_bytes() == theirs.read_bytes(),
           "order of the tensors of a file")


def check_shards(folder, tensors):
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    expect(index["metadata"]["total_size"] == sum(t.nbytes for t in tensors.values()), "total_size")
    expect(set(index["weight_map"]) == set(tensors), "weight_map")
    text = json.dumps(index, indent=2, sort_keys=True) + "\n"
    expect((folder / "model.safetensors.index.json").read_text() == text, "text of the index")
    for name in sorted(set(index["weight_map"].values())):
        for key, value in load_file(folder / name).items():
            expect(index["weight_map"][key] == name, f"file of {key}")
            expect(value.dtype == tensors[key].dtype and value.shape == tensors[key].shape
                   and value.tobytes() == tensors[key].tobytes(), f"value of {key}")


def write_gguf(path, rng, alignment):
    writer = gguf.GGUFWriter(path, "llama")
    if alignment:
        writer.add_custom_alignment(alignment)
    writer.add_uint32("a.u32", 7)
    writer.add_int8("a.i8", -3)
    writer.add_int64("a.i64", -(2**40))
    writer.add_uint64("a.u64", 2**63)
    writer.add_float32("a.f32", 1e-5)
    writer.add_float64("a.f64", 0.1)
    writer.add_bool("a.bool", True)
    writer.add_string("a.string", "gr\u00fc\u00df")
    writer.add_array("a.texts", ["one", "", "three"])
    writer.add_array("a.numbers", [1, -2, 3])
    writer.add_array("a.nested", [[1, 2], [3]])
    writer.add_tensor("blk.0.attn_q.weight", rng.standard_normal((4, 64)).astype(np.float32))
    writer.add_tensor("blk.0.ffn_norm.weight", rng.standard_normal(5).astype(np.float16))
    quantized = gguf.quants.quantize(rng.standard_normal((3, 64)).astype(np.float32),
                                     gguf.GGMLQuantizationType.Q4_0)
    writer.add_tensor("blk.0.ffn_up.weight", quantized,
                      raw_dtype=gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def check_gguf(folder, rng, alignment):
    theirs, ours = folder / f"theirs{alignment}.gguf", folder / f"ours{alignment}.gguf"
    write_gguf(theirs, rng, alignment)
    listed = json.loads(run("baryon", "llm", "inspect", "--json", "--tensors", theirs))["tensors"]
    read = {t.name: t for t in gguf.GGUFReader(theirs).tensors}
    expect({t["name"] for t in listed} == set(read), "names of GGUF tensors")
    for tensor in listed:
        other = read[tensor["name"]]
        expect(tensor["type"] == other.tensor_type.name, f"type of {tensor['name']}")
        expect(tensor["shape"] == list(map(int, other.shape))[::-1], f"shape of {tensor['name']}")
        expect(tensor["offset"] == other.data_offset, f"offset of {tensor['name']}")
        expect(tensor["bytes"] == other.n_bytes, f"bytes of {tensor['name']}")
    copy(theirs, ours)
    expect(ours.read_bytes() == theirs.read_bytes(), f"bytes of a GGUF copy, {alignment}")


def split_gguf(whole, target, most):
    """The same in parts of at most so many tensors."""
    reader = gguf.GGUFReader(whole)
    writer = gguf.GGUFWriter(target, "llama", split_max_tensors=most)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        sub = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), field.types[0], sub_type=sub)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(target.parent.glob(f"{target.stem}-*-of-*.gguf"))


def check_gguf_parts(folder):
    """Parts are read as the whole file is, by every command."""
    whole, parts = folder / "whole.gguf", folder / "parts"
    llm_weights.write_model(folder / "model")
    llm_tokenizer.write_tokenizer(folder / "model")
    parts.mkdir()
    run("baryon", "llm", "quantize", folder / "model", "-o", whole, "--layout", "gguf", "--scheme",
        "q4_0", "-q")
    first = split_gguf(whole, parts / "model.gguf", 5)[0]
    expect(len(list(parts.iterdir())) > 2, "number of parts")
    for path in (first, parts):
        listed = [{t["name"]: (t["type"], t["shape"], t["bytes"]) for t in json.loads(
            run("baryon", "llm", "inspect", "--json", "--tensors", file))["tensors"]}
            for file in (path, whole)]
        expect(listed[0] == listed[1], f"tensors of {path.name}")
    for what in ("convert", "dequantize"):
        for source, target in ((first, "of-parts"), (whole, "of-whole")):
            run("baryon", "llm", what, source, "-o", folder / f"{what}-{target}")
        results = [{file.name: file.read_bytes() for file in (folder / f"{what}-{target}").iterdir()}
                   for target in ("of-parts", "of-whole")]
        expect(results[0] == results[1] and "model.safetensors" in results[0],
               f"what {what} makes of parts")


def check_gguf_written(folder):
    """Parts as llama-gguf-split --split-max-size makes them: each takes tensors while they fit, padded to 32 bytes."""
    whole, most = folder / "whole.gguf", 60000
    copy(whole, folder / "written.gguf", most)
    parts = sorted(folder.glob("written-*-of-*.gguf"))
    readers = [gguf.GGUFReader(path) for path in parts]
    wanted, left = gguf.GGUFReader(whole), None
    expect(len(parts) > 2 and not (folder / "written.gguf").exists(), "number of written parts")
    for i, (path, reader) in enumerate(zip(parts, readers)):
        expect(path.name == f"written-{i + 1:05}-of-{len(parts):05}.gguf", f"name {path.name}")
        keys = [key for key in reader.fields if not key.startswith("GGUF.")]
        own = [key for key in wanted.fields if not key.startswith("GGUF.")] if i == 0 else []
        expect(keys == own + ["split.no", "split.tensors.count", "split.count"], f"keys of {path.name}: {keys}")
        found = [(int(reader.fields[key].parts[-1][0]), reader.fields[key].types) for key in keys[-3:]]
        kinds = gguf.GGUFValueType
        expect(found == [(i, [kinds.UINT16]), (len(wanted.tensors), [kinds.INT32]), (len(parts), [kinds.UINT16])],
               f"values of {path.name}: {found}")
        sizes = [-(-int(tensor.n_bytes) // 32) * 32 for tensor in reader.tensors]
        expect(sum(sizes) <= most or len(sizes) == 1, f"size of {path.name}")
        expect(left is None or left + sizes[0] > most, f"the first tensor of {path.name} fits in the part before")
        left = sum(sizes)
    tensors = [tensor for reader in readers for tensor in reader.tensors]
    expect([(t.name, t.tensor_type, list(t.shape), t.data.tobytes()) for t in tensors]
           == [(t.name, t.tensor_type, list(t.shape), t.data.tobytes()) for t in wanted.tensors], "tensors of written parts")
    copy(parts[0], folder / "joined.gguf")
    expect((folder / "joined.gguf").read_bytes() == whole.read_bytes(), "parts joined again")


def main():
    rng = np.random.default_rng(26)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_safetensors(folder, rng)
        for alignment in (0, 64):
            check_gguf(folder, rng, alignment)
        check_gguf_parts(folder)
        check_gguf_written(folder)
    print(f"{counts['passed']} passed, {counts['failed']} failed")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
