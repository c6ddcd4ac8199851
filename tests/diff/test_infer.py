"""Types and shapes beside onnx.shape_inference.

Over every backend test model of the installed onnx package, and the models in the
folders of $ZOO or build/zoo when there are any: of the values of which onnx knows type
or shape, how many agree, know less, know more, contradict. Nothing may contradict, every
type has to be known, and 95 % of the shapes.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import warnings
from collections import Counter

import onnx
import onnx.backend.test
from onnx.backend.test.case.node import collect_testcases
from onnx.backend.test.loader import load_model_tests

BUILD = pathlib.Path(os.environ.get("BUILD", "build"))
ZOO = pathlib.Path(os.environ.get("ZOO", "build/zoo"))

# Where onnx's own inference says something else than the operator's definition does.
ONNX_IS_WRONG = {}


def backend_models(folder):
    """(name, path): node cases are generated, the others ship as files."""
    found = []
    warnings.simplefilter("ignore")  # some cases divide by zero on purpose
    for case in collect_testcases(None):
        if case.model is None:
            continue
        path = folder / f"{case.name}.onnx"
        path.write_bytes(case.model.SerializeToString())
        found.append((case.name, path))
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for case in load_model_tests(kind=kind):
            path = pathlib.Path(case.model_dir or "") / "model.onnx"
            if path.is_file():
                found.append((f"{kind}-{case.name}", path))
    return found


def bare(graph):
    """Takes out what the model says of its own values, so that all is inferred."""
    del graph.value_info[:]
    for info in graph.output:
        info.ClearField("type")
    for node in graph.node:
        for attr in node.attribute:
            for nested in ([attr.g] if attr.HasField("g") else []) + list(attr.graphs):
                bare(nested)


def without_declarations(models, folder):
    """The models with nothing declared but inputs."""
    found = []
    folder.mkdir()
    for name, path in models:
        model = onnx.load(path, load_external_data=False)
        bare(model.graph)
        out = folder / f"{name}.onnx"
        out.write_bytes(model.SerializeToString())
        found.append((name, out))
    return found


def ours(models):
    """{name: ({(graph, value): (elem, dims or None)}, error or None)}"""
    lines = "".join(f"{path}\n" for _, path in models)
    run = subprocess.run([BUILD / "tests/tools/infer_dump"], input=lines, text=True,
                         capture_output=True, check=True)
    found, names = {}, iter(models)
    for line in run.stdout.splitlines():
        kind, *parts = line.split("\t")
        if kind == "MODEL":
            values, name = {}, next(names)[0]
            found[name] = (values, None)
        elif kind == "V":
            graph, value, elem, rank, *dims = parts
            dims = None if rank == "-1" else [int(d) if d.isdigit() else d for d in dims]
            values[int(graph), value] = (int(elem), dims)
        elif kind == "FAIL":
            found[name] = (values, parts[0])
    return found


def tensor_type(proto):
    """(elem, dims or None); None when it is no tensor."""
    if not proto.HasField("tensor_type"):
        return None
    tensor = proto.tensor_type
    if not tensor.HasField("shape"):
        return tensor.elem_type, None
    dims = []
    for dim in tensor.shape.dim:
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            dims.append(dim.dim_value)
        else:
            generated = dim.dim_param.startswith("unk__") or not dim.dim_param
            dims.append("?" if generated else dim.dim_param)
    return tensor.elem_type, dims


def collect(graph, values, number):
    """Walks as by_model_each_graph does; number is [next graph]."""
    here = number[0]
    number[0] += 1
    for info in list(graph.value_info) + list(graph.output):
        known = tensor_type(info.type)
        if known and known[0]:
            values[here, info.name] = known
    for node in graph.node:
        for attr in node.attribute:
            for nested in ([attr.g] if attr.HasField("g") else []) + list(attr.graphs):
                collect(nested, values, number)


def theirs(path):
    values = {}
    model = onnx.load(path, load_external_data=False)
    for data_prop in (False, True):
        try:
            inferred = onnx.shape_inference.infer_shapes(model, data_prop=data_prop)
        except Exception:  # onnx refuses some of its own models with data propagation
            continue
        collect(inferred.graph, values, [0])
    return values


def compare_dims(mine, other):
    """One of same, less, more, contradicts."""
    if other is None:
        return "more" if mine is not None else "same"
    if mine is None:
        return "less"
    if len(mine) != len(other):
        return "contradicts"
    verdict = "same"
    for a, b in zip(mine, other):
        if isinstance(a, int) and isinstance(b, int) and a != b:
            return "contradicts"
        if b != "?" and a == "?" or isinstance(b, int) and not isinstance(a, int):
            verdict = "less"
        elif a != b and verdict == "same":
            verdict = "more"
    return verdict


def compare(label, models, verbose):
    types, shapes, failed = Counter(), Counter(), 0
    mine = ours(models)
    for name, path in models:
        values, error = mine[name]
        other = theirs(path)
        if error:
            print(f"{name}: refused: {error}")
            failed += 1
            continue
        for key, (elem, dims) in other.items():
            here = values.get(key)
            if here is None:
                continue
            verdict = "same" if here[0] == elem else "contradicts" if here[0] else "less"
            types[verdict] += 1
            if verdict != "same":
                print(f"{name}: {key[1]}: type {here[0]}, onnx has {elem}")
            verdict = compare_dims(here[1], dims)
            if verdict == "contradicts" and (name, key[1]) in ONNX_IS_WRONG:
                verdict = "onnx is wrong"
            if dims is not None:
                shapes[verdict] += 1
            if verdict == "contradicts" or verdict == "less" and verbose:
                print(f"{name}: {key[1]}: {verdict}: {here[1]}, onnx has {dims}")
    known = sum(shapes.values())
    print(f"{label}: {len(models)} models, {sum(types.values())} values with a type "
          f"({dict(types)}), {known} with a shape ({dict(shapes)})")
    passed = [failed == 0, types["contradicts"] + types["less"] == 0,
              shapes["contradicts"] == 0, shapes["less"] <= 0.05 * known]
    return passed


def main():
    verbose = "-v" in sys.argv
    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        models = backend_models(folder)
        results += compare("backend models", models, verbose)
        stripped = without_declarations(models, folder / "bare")
        results += compare("backend models, only inputs declared", stripped, verbose)
        zoo = sorted((p.stem, p) for p in ZOO.glob("**/*.onnx"))
        if zoo:
            results += compare("real models", zoo, verbose)
            results += compare("real models, only inputs declared",
                               without_declarations(zoo, folder / "bare_zoo"), verbose)
    passed = sum(results)
    print(f"{passed} passed, {len(results) - passed} failed")
    return passed != len(results)


if __name__ == "__main__":
    sys.exit(main())
