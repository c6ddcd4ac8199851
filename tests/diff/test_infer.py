"""Types and shapes beside onnx.shape_inference, and beside what a run gives.

Over every backend test model of the installed onnx package, and the models in the
folders of $ZOO or build/zoo when there are any: of the values of which onnx knows type
or shape, how many agree, know less, know more, contradict. Nothing may contradict, every
type has to be known, and 95 % of the shapes. What a run of the model gives, in the
test data or in ONNX Runtime with every value as an output, may not contradict either. Without LONG=1 one of three backend models
is compared with onnx, and another one of three with nothing declared.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
from collections import Counter

import numpy as np
import onnx
import onnx.backend.test
import onnxruntime as ort

from lib.backend import model_files, node_cases

from dump import tool

ZOO = pathlib.Path(os.environ.get("ZOO", "build/zoo"))
PART = 1 if os.environ.get("LONG") else 3  # of the backend models, one in so many

# Sizes for dimensions that are not numbers, tried in turn until the model runs.
SIZES = (64, 96, 512, 576, 48, 1536)
BATCH = 2
ort.set_default_logger_severity(4)


def backend_models(folder):
    light = pathlib.Path(onnx.backend.test.__file__).parent / "data" / "light"
    return model_files(folder) + [(path.stem, path) for path in sorted(light.glob("*.onnx"))]


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
    run = subprocess.run([tool("infer_dump")], input=lines, text=True,
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
            here = values.get(key, (0, None))
            verdict = "same" if here[0] == elem else "contradicts" if here[0] else "less"
            types[verdict] += 1
            if verdict != "same":
                print(f"{name}: {key[1]}: type {here[0]}, onnx has {elem}")
            verdict = compare_dims(here[1], dims)
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


def fits(mine, array, bound):
    """Whether a tensor of a run is of the inferred type and shape; binds symbols."""
    elem, dims = mine
    if elem and elem != onnx.helper.np_dtype_to_tensor_dtype(array.dtype):
        return False
    if dims is None:
        return True
    if len(dims) != array.ndim:
        return False
    for dim, size in zip(dims, array.shape):
        if isinstance(dim, int) and dim != size:
            return False
        if isinstance(dim, str) and dim != "?" and bound.setdefault(dim, size) != size:
            return False
    return True


def check_test_data(models):
    """Outputs of the node cases as their test data has them."""
    counts, mine = Counter(), ours(models)
    for case in node_cases():
        if mine[case.name][1]:
            continue
        values, bound = mine[case.name][0], {}
        for inputs, outputs in case.data_sets[:1]:
            pairs = [*zip(case.model.graph.input, inputs), *zip(case.model.graph.output, outputs)]
            for info, array in pairs:
                if not isinstance(array, np.ndarray) or array.dtype == object:
                    continue
                good = fits(values[0, info.name], array, bound)
                counts["fits" if good else "contradicts"] += 1
                if not good:
                    print(f"{case.name}: {info.name}: {values[0, info.name]}, the test data has "
                          f"{array.dtype} {array.shape}")
    print(f"test data: {dict(counts)}")
    return [counts["fits"] > 1000 and not counts["contradicts"]]


def run_inputs(session, size):
    rng, inputs, bound = np.random.default_rng(1), {}, {}
    kinds = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}
    for info in session.get_inputs():
        shape = []
        for axis, dim in enumerate(info.shape):
            if isinstance(dim, str):
                dim = bound.setdefault(dim, BATCH if axis == 0 or "batch" in dim else size)
            batch = axis == 0 or len(info.shape) == 3 and axis == 1  # a state: [layers, batch, ...]
            shape.append(dim or (BATCH if batch else size))
        if np.issubdtype(kinds[info.type], np.integer):
            inputs[info.name] = rng.integers(0, 9, shape).astype(kinds[info.type])
        else:
            inputs[info.name] = rng.random(shape, dtype=np.float32)
        if not shape:  # the sampling rate of a voice model
            inputs[info.name] = np.array(16000, kinds[info.type])
    return inputs, bound


def run_all(path, values):
    """All tensors of the main graph of one run, by name, and what symbols stand for."""
    model = onnx.load(path)
    made = [out for node in model.graph.node for out in node.output]
    del model.graph.output[:]
    for name in made:
        elem = values.get((0, name), (0, None))[0]
        if elem:
            model.graph.output.append(onnx.helper.make_tensor_value_info(name, elem, None))
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    session = ort.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    names = [out.name for out in session.get_outputs()]
    for size in SIZES:
        inputs, bound = run_inputs(session, size)
        try:
            return dict(zip(names, session.run(names, inputs))), bound
        except Exception:  # this size is not one that the model takes
            continue
    return None, None


def check_runs(models):
    counts, mine = Counter(), ours(models)
    for name, path in models:
        values = mine[name][0]
        arrays, bound = run_all(path, values)
        if arrays is None:
            print(f"{name}: no size found that it runs with")
            counts["not run"] += 1
            continue
        for key, array in arrays.items():
            if not isinstance(array, np.ndarray):
                continue
            good = fits(values[0, key], array, bound)
            counts["fits" if good else "contradicts"] += 1
            if not good:
                print(f"{name}: {key}: {values[0, key]}, the run has {array.dtype} {array.shape}")
    print(f"runs of {len(models)} real models: {dict(counts)}")
    return [counts["fits"] > 0 and not counts["contradicts"]]


def main():
    verbose = "-v" in sys.argv
    results = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        models = backend_models(folder)
        results += compare("backend models", models[::PART], verbose)
        stripped = without_declarations(models[PART - 1::PART], folder / "bare")
        results += compare("backend models, only inputs declared", stripped, verbose)
        results += check_test_data(models)
        zoo = sorted((p.stem, p) for p in ZOO.glob("**/*.onnx"))
        if zoo:
            results += check_runs(zoo)
            results += compare("real models", zoo, verbose)
            results += compare("real models, only inputs declared",
                               without_declarations(zoo, folder / "bare_zoo"), verbose)
    passed = sum(results)
    print(f"{passed} passed, {len(results) - passed} failed")
    return passed != len(results)


if __name__ == "__main__":
    sys.exit(main())
