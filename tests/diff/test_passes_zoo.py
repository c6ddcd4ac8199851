"""The passes that run by themselves on real models and real samples: the same outputs.

Over the models in the folders of $ZOO or build/zoo that there are: what comes out is valid and
its outputs are those of the model before within 100 dB (float16 models: 50 dB), with the
default passes and with those for NPUs.
"""

import collections
import math
import os
import pathlib
import tempfile

import numpy as np
import onnx

from pass_check import Passes, counts, session

ZOO = pathlib.Path(os.environ.get("ZOO", "build/zoo"))
SAMPLES = 3 if os.environ.get("LONG") else 1


def samples(name, opened):
    wanted = {item.name for item in opened.get_inputs()}
    folder = ZOO / "data" / name
    for path in sorted([*folder.glob("*.npz"), *folder.glob("eval/*.npz")])[:SAMPLES]:
        with np.load(path) as archive:
            found = {key: archive[key] for key in archive.files if key in wanted}
        if set(found) == wanted:
            yield found


def decibels(path, out, name):
    """The worst output's, inf when all are the same; None without samples."""
    before, after = session(str(path)), session(str(out))
    power = collections.defaultdict(lambda: [0.0, 0.0])
    for sample in samples(name, before):
        for item, a, b in zip(before.get_outputs(), before.run(None, sample), after.run(None, sample)):
            a, b = a.astype(np.float64), b.astype(np.float64)
            power[item.name][0] += float((a**2).sum())
            power[item.name][1] += float(((a - b) ** 2).sum())
    if not power:
        return None
    return min(10 * math.log10(signal / noise) if noise else math.inf for signal, noise in power.values())


def has_half(path):
    graph = onnx.load(path, load_external_data=False).graph
    return any(item.data_type == onnx.TensorProto.FLOAT16 for item in graph.initializer)


def main():
    passes = Passes()
    out = pathlib.Path(tempfile.mkdtemp()) / "out.onnx"
    for path in sorted((ZOO / "models").glob("*.onnx")):
        for which in ("default", "npu"):
            changes, _ = passes.run_file(path, out, which)
            if isinstance(changes, str):
                passes.note(f"{path.stem} {which}", changes)
                continue
            onnx.checker.check_model(str(out), full_check=True)
            found = decibels(path, out, path.stem)
            if found is None:
                continue
            ops = [sum(counts(onnx.load(p, load_external_data=False)).values()) for p in (path, out)]
            print(f"{path.stem} {which}: {changes} changes, {ops[0]} nodes, then {ops[1]}, {found:.0f} dB")
            passes.note(f"{path.stem} {which}", None if found > (50 if has_half(path) else 100) else f"{found:.1f} dB")
    passes.end()


main()
