"""baryon.llm: commands beside the program, weights of every layout and container beside numpy, the
safetensors and the gguf package."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

from world import PROGRAM, ROOT, Score, raised

for _missing in ("yaml", "tqdm", "requests"):  # of model cards, which nothing here reads
    sys.modules.setdefault(_missing, types.ModuleType(_missing))
sys.modules["tqdm"].tqdm = None

import gguf  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
from safetensors.numpy import load_file  # noqa: E402

sys.path.insert(0, str(ROOT / "tests"))
import test_llm_quantize  # noqa: E402
from lib import llm_experts, llm_tokenizer, llm_weights  # noqa: E402

import baryon  # noqa: E402
from baryon import errors, llm  # noqa: E402

DOWN = "model.layers.1.mlp.down_proj.weight"
LAYOUTS = {
    "quark": ["int4_wo_64", "uint4_wo_32", "int8", "ptpc_fp8", "mxfp4", "mxfp6_e2m3", "nvfp4", "amdfp4", "int4_fp8",
              "int3_wo_64"],
    "compressed-tensors": ["int4_wo_32", "uint8_wo_per_channel", "ptpc_fp8", "nvfp4"],
    "awq": ["int4_wo_64", "uint4_wo_32"],
    "gptq": ["int4_wo_64", "uint4_wo_32", "int8_wo_64"],
    "fp8": ["fp8"],
    "json-safetensors": ["uint4_wo_64", "mxfp4", "mxint8", "bfp16", "fp16", "int2_wo_32"],
}  # fmt: skip


def run(*words):
    done = subprocess.run([PROGRAM, "llm", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        raise ValueError(f"{words}: {done.stderr.strip()}")
    return done.stdout


def files(folder):
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(folder).iterdir())}


def raises(score, kind, text, call, *arguments, **options):
    failure = raised(call, *arguments, **options)
    score.check(isinstance(failure, kind) and text in str(failure), f"{kind.__name__} {text!r}, not {failure!r}")


def level(codes, weight):
    """What codes are multiplied with scales; None: not told by numpy's types."""
    if weight.type.startswith(("int", "uint")):
        return codes.astype(np.float32)
    kind = {"fp8_e4m3": ml_dtypes.float8_e4m3fn, "fp4_e2m1": ml_dtypes.float4_e2m1fn,
            "fp6_e2m3": ml_dtypes.float6_e2m3fn}.get(weight.type)  # fmt: skip
    return None if kind is None else codes.astype(np.uint8).view(kind).astype(np.float32)


def check_parts_of_codes(score, what, weight, values):
    scales = weight.scales
    if scales is None:
        score.check(weight.zero_points is None, f"{what}: zero points without scales")
        raises(score, NotImplementedError, "apart", weight.codes)
        return
    codes, zeros = weight.codes(), weight.zero_points
    groups = weight.groups
    levels = level(codes, weight)
    if not score.check(levels is not None, f"{what}: type {weight.type}"):
        return
    if zeros is not None:
        levels = levels - zeros[:, groups].astype(np.float32)
    score.check(np.array_equal(levels * scales[:, groups], values), f"{what}: codes and scales mean other floats")


def check_export(score):
    """Layers of integers, floats, and an option."""
    import onnx

    made = llm.quantize("model", "to-export", scheme="int4_wo_32")
    done = llm.export(made.path, "exported", accuracy_level=4)
    nodes = onnx.load("exported/model.onnx", load_external_data=False).graph.node
    packed = [node for node in nodes if node.op_type == "MatMulNBits"]
    score.check(done.tensors == len(packed) > 0, f"export: {done.tensors} layers, {len(packed)} nodes")
    levels = {attribute.i for node in packed for attribute in node.attribute if attribute.name == "accuracy_level"}
    score.check(levels == {4}, f"export: accuracy levels {levels}")
    raises(score, errors.UsageError, "must be new or empty", llm.export, made.path, "exported")


def check_layouts(score):
    plain = llm.open("model")
    for layout, schemes in LAYOUTS.items():
        for scheme in schemes:
            what = f"{layout} {scheme}"
            made = llm.quantize("model", f"{layout}-{scheme}", scheme=scheme, layout=layout)
            llm.dequantize(made.path, made.path + "-float", to="f32")
            wanted = load_file(f"{made.path}-float/model.safetensors")
            with llm.open(made.path) as model:
                score.check(set(model) == set(plain) == set(wanted), f"{what}: names")
                weight = model[DOWN]
                score.check(weight.layout == layout and weight.shape == wanted[DOWN].shape, f"{what}: {weight}")
                values = weight.array()
                score.check(np.array_equal(values, wanted[DOWN]), f"{what}: other floats than dequantize")
                score.check(np.array_equal(np.asarray(weight, np.float64), values), f"{what}: __array__")
                check_parts_of_codes(score, what, weight, values)
                stored = llm_weights.read_safetensors(made.path)
                parts = weight.parts
                same = all(stored[name].tobytes() == array.tobytes() for name, array in parts.items())
                score.check(same and parts, f"{what}: parts {list(parts)}")
                norm = model["model.norm.weight"]
                score.check(norm.layout is None and norm.type == "BF16" and not raised(norm.array), f"{what}: {norm}")
    # An array stays when the checkpoint is closed.
    array = next(iter(model_parts("awq-uint4_wo_32").values()))
    score.check(int(array.astype(np.int64).sum()) != 0 and not array.flags.writeable, "views live on, read-only")


def check_sources(score):
    """Files of other programs: groups in another order, fp8 in blocks that do not divide, MXFP4."""
    for name, config, make in (
        ("gptq", {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": True, "sym": False}, test_llm_quantize.gptq_layer),
        ("fp8-blocks", {"quant_method": "fp8", "weight_block_size": [48, 80]}, test_llm_quantize.block_layer),
    ):  # fmt: skip
        arrays, layer = llm_weights.tensors(), DOWN.removesuffix(".weight")
        own, floats = make(*arrays.pop(DOWN).shape, 3)
        arrays |= {f"{layer}.{suffix}": np.ascontiguousarray(value) for suffix, value in own.items()}
        llm_weights.write_model(name, arrays, config)
        weight = llm.open(name)[DOWN]
        values = weight.array()
        score.check(np.array_equal(values, floats.astype(np.float32)), f"{name}: values")
        check_parts_of_codes(score, name, Fp8(weight) if name == "fp8-blocks" else weight, values)
    wanted = llm_experts.write_gpt_oss("oss")
    for name, floats in wanted.items():
        weight = llm.open("oss")[name]
        score.check(weight.layout == "mxfp4" and np.array_equal(weight.array(), floats.swapaxes(1, 2)), f"{weight}")
        score.check(sorted(weight.parts) == [name + "_blocks", name + "_scales"] and weight.scales is None, f"parts of {weight}")


class Fp8:
    """Its type by the name of a format."""

    type = "fp8_e4m3"

    def __init__(self, weight):
        self._weight = weight

    def __getattr__(self, name):
        return getattr(self._weight, name)


def model_parts(path):
    with llm.open(path) as model:
        return model[DOWN].parts


def check_gguf(score):
    for kind in ("f32", "q8_0", "q4_k_m"):
        llm.convert("model", f"{kind}.gguf", type=kind)
        reader = gguf.GGUFReader(f"{kind}.gguf")
        model = llm.open(f"{kind}.gguf")
        score.check(list(model) == [tensor.name for tensor in sorted(reader.tensors, key=lambda t: t.data_offset)], "names")
        for tensor in reader.tensors:
            wanted = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
            weight = model[tensor.name]
            score.check(np.array_equal(weight.array(), wanted.reshape(weight.shape)), f"{kind}: {weight}")
            blocks = weight.layout == "gguf"
            score.check(weight.type.lower() == tensor.tensor_type.name.lower(), f"{kind}: {weight}")
            if tensor.name == "blk.1.ffn_down.weight" and kind == "q8_0":
                whole = weight.codes()[..., 2:].view(np.int8).astype(np.float32) * weight.scales.astype(np.float32)
                score.check(np.array_equal(whole.reshape(weight.shape), weight.array()), f"{kind}: scales of {weight}")
            if weight.type == "Q4_K":
                score.check(weight.scales.shape == (*weight.codes().shape[:2], 2), f"{kind}: scales of {weight}")
            if blocks:
                score.check(np.array_equal(weight.codes(), tensor.data.reshape(weight.codes().shape)), f"{kind}: blocks of {weight}")
    named = llm.open("f32.gguf", names="folder")
    plain = load_file("model/model.safetensors")
    score.check(set(named) == set(plain), "names of a folder")
    same = all(np.array_equal(named[name].array(), value.astype(np.float32)) for name, value in plain.items())
    score.check(same, "a GGUF file as a folder: other values")


def check_mapping(score):
    model = llm.open(pathlib.Path("model"))
    plain = load_file("model/model.safetensors")
    score.check(len(model) == len(plain) and set(model.keys()) == set(plain), "length and keys")
    score.check(DOWN in model and "nothing" not in model and model.get("nothing") is None, "in and get")
    for name, weight in model.items():
        score.check(np.array_equal(weight.array(), plain[name].astype(np.float32)), f"{name}: values")
    score.check(repr(model[DOWN]) == f"<Weight '{DOWN}': BF16[128, 256]>", repr(model[DOWN]))
    raises(score, KeyError, f"did you mean '{DOWN}'", model.__getitem__, DOWN.replace("down", "dwn"))
    raises(score, ValueError, "view", model[DOWN].__array__, copy=False)
    model.close()
    raises(score, ValueError, "closed", len, model)
    raises(score, ValueError, "names 'x'", llm.open, "model", names="x")
    raises(score, errors.InputError, "nothing", llm.open, "nothing")
    raises(score, TypeError, "must be the path", llm.open, 3)


def check_program(score):
    options = ["--scheme", "uint4_wo_32", "--layout", "awq", "--exclude", "*.o_proj", "--shard-size", "100kB"]
    run("quantize", "model", "-o", "c", *options)
    made = llm.quantize("model", "p", scheme="uint4_wo_32", layout="awq", exclude=["*.o_proj"], shard_size="100kB")
    score.check(files("c") == files("p"), "the same options in the program give other bytes")
    run("quantize", "model", "-o", "c2", "--scheme", "int4_wo_64", "--layer", "*.v_proj=int8_wo_64", "--search", "minmax")
    llm.quantize("model", "p2", scheme="int4_wo_64", layer={"*.v_proj": "int8_wo_64"}, search="minmax")
    score.check(files("c2") == files("p2"), "the same options in the program give other bytes (2)")
    told = json.loads(run("quantize", "model", "-n", *options, "--json"))
    score.check(made.tensors == told["quantizable"] and made.bytes_out == told["bytes"], f"counts {made}")
    score.check(made.sqnr > made.minmax_sqnr > 15 and abs(made.bits_per_weight - told["bits_per_weight"]) < 1e-9, repr(made))
    tried = llm.quantize("model", scheme="int4_wo_64", dry_run=True)
    score.check(tried.path is None and tried.tensors == 14 and not os.path.exists("none.gguf"), "a dry run")
    score.check(llm.inspect("p", tensors=True) == json.loads(run("inspect", "p", "--tensors", "--json")), "inspect")
    score.check(llm.compare("model", "p") == json.loads(run("compare", "model", "p", "--json")), "compare")
    score.check(baryon.llm is llm, "baryon.llm")


def check_auto(score):
    np.save("ids.npy", (np.arange(640) * 7919 % 31 % 13).astype(np.uint16))
    options = {"text": ["ids.npy"], "length": 16, "windows": 8, "judge_windows": 2, "no_uniform": True, "threads": 2}
    found = llm.auto("model", "best", bits=5.5, **options)
    score.check(found.failure is None and found.bits_per_weight <= 5.5 and len(set(found.types.values())) > 1, repr(found))
    llm.quantize("model", "best2", config=found.config)
    score.check(files("best") == files("best2"), "the config of llm.auto gives other bytes")
    missed = llm.auto("model", "worst", goal="kl<=1e-12", types=["int4_wo_64", "int4_wo_32"], **options)
    score.check(isinstance(missed.failure, errors.GoalError) and os.path.exists("worst/config.json"), repr(missed.failure))
    refused = raised(llm.auto, "model", "x", bits=1, **options)
    score.check(isinstance(refused, errors.UsageError) and "is too little" in str(refused), repr(refused))


def check_evaluate(score):
    texts = ["--text", "ids.npy", "--length", "16", "--windows", "3"]
    found = llm.evaluate("best", text="ids.npy", against="model", length=16, windows=3, threads=1)
    score.check(found == json.loads(run("eval", "best", "--against", "model", *texts, "--json")), "llm.evaluate")
    kls = [window["kl"] for window in found["by_window"]]
    score.check(len(kls) == 3 and abs(sum(kls) / 3 - found["kl"]) < 1e-9 and found["kl"] > 0, repr(found))
    refused = raised(llm.evaluate, "best", text="ids.npy", length=16, max_memory="1MB")
    score.check(isinstance(refused, MemoryError) and "the least that does" in str(refused), repr(refused))


def check_refused(score):
    raises(score, errors.UsageError, "did you mean", llm.quantize, "model", "x", scheme="int4_wo_65")
    raises(score, ValueError, "unknown setting 'layot'", llm.quantize, "model", "x", scheme="int4_wo_64", layot="awq")
    raises(score, TypeError, "out is missing", llm.quantize, "model", scheme="int4_wo_64")
    raises(score, errors.UsageError, "must be new or empty", llm.quantize, "model", "p", scheme="int4_wo_64")
    raises(score, errors.UsageError, "argument", llm._run, "baryon_llm_convert", "model", "x.gguf", {"out": "y.gguf"})
    raises(score, errors.UsageError, "q9", llm.convert, "model", "x.gguf", type="q9")
    score.check(not os.path.exists("x") and not os.path.exists("x.gguf"), "what was refused left something")


def main():
    score = Score()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        llm_weights.write_model("model")
        llm_tokenizer.write_tokenizer("model")
        check_mapping(score)
        check_layouts(score)
        check_export(score)
        check_sources(score)
        check_gguf(score)
        check_program(score)
        check_auto(score)
        check_evaluate(score)
        check_refused(score)
        os.chdir("/")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
