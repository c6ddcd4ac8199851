"""GGUF files of a tiny model of each family: metadata beside tests/golden/llm_metadata.json, names of
keys and of tensors beside the tables of the package gguf."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from dump import BUILD, Score

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "golden")]
import make_llm_metadata  # noqa: E402
from lib import llm_families  # noqa: E402
from make_llm_metadata import gguf  # noqa: E402

PROGRAM = (BUILD / "baryon").resolve()
OWN_TENSORS = {"rope_freqs.weight"}


def known_keys(arch):
    """All keys of the package, the architecture's filled in."""
    found, classes = set(), [gguf.Keys]
    while classes:
        for value in vars(classes.pop()).values():
            if isinstance(value, type):
                classes.append(value)
            elif isinstance(value, str):
                found.add(value.replace("{arch}", arch))
    return found


def tensor_names(kind, arch):
    """What the package calls the tensors of the folder, experts in one."""
    number = next(key for key, name in gguf.MODEL_ARCH_NAMES.items() if name == arch)
    names, found = gguf.get_tensor_name_map(number, llm_families.LAYERS), set()
    for name in llm_families.shapes(kind):
        stack = re.sub(r"block_sparse_moe\.experts\.\d+\.", "feed_forward.experts.", name)
        stack = re.sub(r"^model\.(layers.*feed_forward)", r"\1", re.sub(r"experts\.\d+\.", "experts.", stack))
        found.add(names.get_name(stack, try_suffixes=(".weight", ".bias")))
    return found


def compare(score, kind, golden):
    arch = llm_families.FAMILIES[kind][1]
    llm_families.write_family(kind)
    done = subprocess.run([PROGRAM, "llm", "convert", kind, "-o", f"{kind}.gguf"], capture_output=True, text=True)
    if not score.check(done.returncode == 0, f"{kind}: {done.stderr}"):
        return
    found = make_llm_metadata.read(f"{kind}.gguf")
    for key in sorted(set(found) | set(golden)):
        score.check(found.get(key) == golden.get(key), f"{kind}: {key} is {found.get(key)}, not {golden.get(key)}")
    unknown = set(found) - known_keys(arch)
    score.check(not unknown, f"{kind}: the package has no keys {unknown}")
    tensors = {tensor.name for tensor in gguf.GGUFReader(f"{kind}.gguf").tensors} - OWN_TENSORS
    score.check(tensors == tensor_names(kind, arch), f"{kind}: tensors {sorted(map(str, tensors ^ tensor_names(kind, arch)))[:6]}")


def main():
    score = Score()
    golden = json.loads((HERE.parent / "golden/llm_metadata.json").read_text())
    score.check(set(golden) == set(llm_families.FAMILIES), "families of the golden file")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        os.chdir(folder)
        for kind in golden:
            compare(score, kind, golden[kind])
        os.chdir("/")
    return score.finish()


if __name__ == "__main__":
    sys.exit(main())
