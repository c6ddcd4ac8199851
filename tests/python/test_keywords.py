"""Every keyword of the package's functions arrives in the library, in the member of its name, and
no other one does. The keywords come from the signatures: a new one needs a value here."""

import ctypes
import inspect
import json
import os
import pathlib
import re

from world import ROOT, Again, Score, raises, samples, workplace

import numpy as np

import baryon
from baryon import _library, errors, formats, running, statistics

FILLED = (_library.ErrorStruct, _library.Range, _library.Summary)  # by the library
HEADERS = "\n".join(path.read_text() for path in sorted((ROOT / "include/baryon").glob("*.h")))


# --- Calls of the library, and what they get ---


def members(struct):
    """A struct's members by name; lists of texts as lists, pointers by whether there is one."""
    found = {}
    for name, kind in struct._fields_:
        value = getattr(struct, name)
        if isinstance(value, ctypes._Pointer) and kind._type_ is ctypes.c_char_p:
            count = getattr(struct, {"providers": "provider_count"}.get(name, "operator_library_count"))
            value = [value[i] for i in range(count)]
        elif isinstance(value, (ctypes._Pointer, ctypes._CFuncPtr)):
            value = bool(value)
        found[name] = value
    return found


def pairs(settings):
    """Settings as a dict; those of a file that they name are among them."""
    found = {}
    for setting in settings:
        name, value = setting.name.decode(), os.fsdecode(setting.value)
        if name == "config":
            found.update(json.loads(pathlib.Path(value).read_text()))
        elif setting.name:
            found[name] = value
    return found


def shown(argument):
    struct = getattr(argument, "_obj", argument)
    if isinstance(struct, ctypes.Structure) and not isinstance(struct, FILLED):
        return members(struct)
    if isinstance(struct, ctypes.Array) and issubclass(struct._type_, _library.Setting):
        return pairs(setting for setting in struct if setting.name)
    return {}


class Listening:
    """The library, which notes the options of all calls: {"NAME.member": value}."""

    def __init__(self, library):
        self.library, self.got = library, {}

    def __getattr__(self, name):
        function = getattr(self.library, name)

        def call(*arguments):
            for argument in arguments:
                self.got.update((f"{name}.{member}", value) for member, value in shown(argument).items())
            return function(*arguments)

        return call


def options_of(call, *arguments, **keywords):
    """What the library gets by the call."""
    real = _library.library()
    _library._loaded = Listening(real)
    try:
        call(*arguments, **keywords)
        return _library._loaded.got
    finally:
        _library._loaded = real


def differing(one, other):
    """Members, without the functions' names, that are not the same in both."""
    return {name.split(".", 1)[1] for name in {*one, *other} if one.get(name) != other.get(name)}


# --- Keywords ---

# function | keyword: (value, members that it sets; by default that of its name)
VALUES = {
    running.Session: {
        "threads": (3,), "optimization": ("basic",), "deterministic": (True,), "low_memory": (True,),
        "providers": (["cpu"], {"providers", "provider_count"}), "allow_links": (True,),
        "operator_libraries": ([ROOT / "build/libbaryon_ops.so"], {"operator_libraries", "operator_library_count"}),
    },
    baryon.quantize: {
        "preset": ("XINT8",), "external_data": (True, {"data"}), "overwrite": (True,),
        "output": ("keyword.onnx", set()), "data": ("data",), "progress": (False, set()),
    },
    baryon.plan: {"preset": ("XINT8",), "data": ("data",), "progress": (False, set())},
    baryon.calibrate: {"output": ("keyword.stats", {"out"}), "overwrite": (True, {"force"}), "data": ("data",),
                       "progress": (False, set())},
    baryon.evaluate: {"data": ("data",), "progress": (False, set())},
    baryon.check: {"custom_operators": (True,)},
    formats.fake_quantize: {"axis": (0,), "scale": (0.5,), "zero_point": (1,), "block_size": (8,), "ties": ("up",)},
    statistics.Statistics.range: {"method": ("minmse", set()), "type": ("uint8", set()),
                                  "symmetric": (False, {"symmetry"}), "power_of_two": (True,)},
}  # fmt: skip


def keywords_of(function):
    """Those that may be left out."""
    found = inspect.signature(function).parameters.values()
    return [one.name for one in found if one.default is not inspect.Parameter.empty]


def check_all(score, function, call, skipped=()):
    """Each keyword of the function changes what the library gets by the call where it should."""
    name, values = function.__qualname__, VALUES[function]
    score.check(set(keywords_of(function)) == set(values), f"{name}: {set(keywords_of(function)) ^ set(values)}")
    before = options_of(call)
    score.check(options_of(call) == before, f"{name}: what it hands on is the same twice")
    for keyword, (value, *where) in values.items():
        wanted = where[0] if where else {keyword}
        if keyword in skipped or not wanted:
            continue
        found = differing(before, options_of(call, **{keyword: value}))
        score.check(found == wanted, f"{name}({keyword}={value!r}) sets {sorted(found)}, not {sorted(wanted)}")


def check_session(score, data):
    def call(**keywords):
        with baryon.Session("model.onnx", **keywords) as session:
            session.run(data[0])

    check_all(score, running.Session, call)
    check_all(score, running.Session, lambda **keywords: baryon.run("model.onnx", data[0], **keywords))
    names = baryon.run("model.onnx", data[0], ["scores"])
    score.check(list(names) == ["scores"] and len(two_outputs(data[0], ["less"])) == 1, "outputs that are asked for")


def two_outputs(sample, outputs):
    import onnx

    proto = onnx.load("model.onnx")
    proto.graph.node.append(onnx.helper.make_node("Neg", ["scores"], ["less"]))
    proto.graph.output.append(onnx.helper.make_tensor_value_info("less", 1, None))
    return baryon.run(proto, sample, outputs)


def check_quantization(score, data):
    def quantize(**keywords):
        baryon.quantize("model.onnx", "out.onnx", **{"approach": "weights", **keywords})

    def with_samples(function, **keywords):
        preset = {"preset": "A8W8"} if "preset" not in keywords else {}
        function("model.onnx", **preset, **({} if "data" in keywords else {"data": Again(data)}), **keywords)

    check_all(score, baryon.quantize, quantize, ("data", "preset", "external_data"))
    kept = options_of(quantize, external_data=True)
    score.check(kept.get("baryon_model_save.data") == 1, "external_data")
    score.check(options_of(quantize, external_data=False).get("baryon_model_save.data", 0) == 0, "no external_data")
    for function in (baryon.quantize, baryon.plan):
        before = options_of(with_samples, function)
        score.check(before["baryon_" + WORK[function] + ".samples"], f"{function.__name__}: samples arrive")
        found = differing(before, options_of(with_samples, function, preset="XINT8"))
        score.check(found == {"preset"}, f"{function.__name__}(preset=...) sets {found}")
        found = differing(before, options_of(with_samples, function, data="data"))
        score.check(found == {"data", "samples"}, f"{function.__name__}(data=PATH) sets {found}")
        score.check(set(keywords_of(function)) == set(VALUES[function]), f"{function.__name__}: its keywords")


WORK = {baryon.quantize: "quantize", baryon.plan: "plan_make", baryon.calibrate: "calibrate_file",
        baryon.evaluate: "evaluate_models"}  # fmt: skip


def check_statistics(score, data):
    check_all(score, baryon.calibrate, lambda **keywords: baryon.calibrate("model.onnx", **{"random": 2, **keywords}),
              ("data", "overwrite"))  # fmt: skip
    one, other = (options_of(baryon.calibrate, "model.onnx", output=f"{i}.stats", overwrite=i, random=2) for i in (False, True))
    score.check(differing(one, other) == {"out", "force"}, f"calibrate(overwrite=True) sets {differing(one, other)}")
    raises(score, errors.UsageError, "overwrite=True requires output", baryon.calibrate, "model.onnx", data, overwrite=True)
    before = options_of(baryon.calibrate, "model.onnx", Again(data))
    found = differing(before, options_of(baryon.calibrate, "model.onnx", "data"))
    score.check(found == {"data", "samples"}, f"calibrate(data=PATH) sets {found}")
    one = baryon.calibrate("model.onnx", data)
    check_all(score, statistics.Statistics.range, lambda **keywords: one.range("image", **keywords))
    plain, uneven = one.range("image"), one.range("image", symmetric=False)
    score.check(plain.scale == one.range("image", symmetric=True).scale and plain.zero_point == 0, "int8 is symmetric by default")
    score.check(uneven.zero_point != 0 and uneven.scale < plain.scale, "symmetric=False")
    score.check(one.range("image", "minmse").scale != plain.scale and one.range("image", type="uint8").zero_point > 0, "method and type")


def check_evaluation(score, data):
    def evaluate(**keywords):
        baryon.evaluate("model.onnx", "model.onnx", **{"random": 2, **keywords})

    check_all(score, baryon.evaluate, evaluate, ("data",))
    before = options_of(evaluate)
    for name, value in (("min", {"cosine": "0.5"}), ("max", {"l2": "9"}), ("logits", True), ("peak", 2)):
        found = differing(before, options_of(evaluate, **{name: value}))
        score.check(found == {name}, f"evaluate({name}=...) sets {found}")
    found = options_of(baryon.evaluate, "model.onnx", "model.onnx", "data")
    score.check(found.get("baryon_evaluate_models.data") == "data", "evaluate(data=PATH)")
    missed = baryon.evaluate("model.onnx", "model.onnx", data, max={"l2": -1})
    score.check(missed["l2"].missed, "a goal of max is judged")


def check_others(score):
    for model in ("model.onnx", pathlib.Path("model.onnx").read_bytes()):
        check_all(score, baryon.check, lambda model=model, **keywords: baryon.check(model, **keywords))
    values = np.linspace(-3, 3, 64, dtype=np.float32).reshape(2, 32)
    check_all(score, formats.fake_quantize, lambda **keywords: formats.fake_quantize(values, "mxfp4_e2m1", **keywords),
              ("scale", "zero_point"))  # fmt: skip
    before = options_of(formats.fake_quantize, values, "int8")
    for keyword in ("scale", "zero_point"):
        value = {"scale": 0.5} if keyword == "scale" else {"scale": 0.5, "zero_point": 1}
        found = differing(before, options_of(formats.fake_quantize, values, "int8", **value))
        score.check(found == set(value), f"fake_quantize({keyword}=...) sets {found}")


def check_progress(score, data):
    """A function for progress is called, with the stages of the work, and may stop it."""
    for call in (
        lambda progress: baryon.quantize("model.onnx", preset="A8W8", data=data, progress=progress),
        lambda progress: baryon.plan("model.onnx", preset="A8W8", data=data, progress=progress),
        lambda progress: baryon.calibrate("model.onnx", data, progress=progress),
        lambda progress: baryon.evaluate("model.onnx", "model.onnx", data, progress=progress),
    ):
        stages = []
        call(lambda stage, done, total, stages=stages: stages.append(stage))
        score.check({"calibrate", "evaluate"} & set(stages), f"progress is told: {set(stages)}")


# --- Words, numbers and options ---

ENUMS = {
    "baryon_optimization": (running._LEVELS, {"OPTIMIZE_ALL": "all", "OPTIMIZE_NONE": "none",
                                              "OPTIMIZE_BASIC": "basic", "OPTIMIZE_EXTENDED": "extended"}),
    "baryon_ties": (formats._TIES, {"TIES_EVEN": "even", "TIES_AWAY": "away", "TIES_UP": "up"}),
    "baryon_symmetry": (statistics._SYMMETRY, {"SYMMETRY_OF_TYPE": None, "SYMMETRIC": True, "ASYMMETRIC": False}),
}  # fmt: skip


def check_words(score):
    """The package's words are the numbers that the headers have."""
    for enum, (words, names) in ENUMS.items():
        body = re.search(rf"enum {enum} {{(.*?)}};", HEADERS, re.DOTALL)[1]
        numbers = {name: int(number) for name, number in re.findall(r"BARYON_(\w+) = (\d+)", body)}
        score.check({names[name]: number for name, number in numbers.items()} == words, f"{enum}: {words}")


def check_kinds(score):
    """Options of every kind arrive as they are."""
    given = {"weight_granularity": "channel", "bias_correction": False, "all_op_types": True, "cle_steps": 3,
             "exclude": ["pool1"], "op_types": {"Gemm": {"weight": "int16"}}}  # fmt: skip
    found = options_of(lambda: baryon.quantize("model.onnx", preset="A8W8", random=2, progress=False, **given))
    for name, value in given.items():
        text = {True: "true", False: "false"}.get(value, str(value)) if not isinstance(value, (list, dict)) else value
        score.check(found.get(f"baryon_quantize.{name}") == text, f"{name}={value!r} arrives as {found.get('baryon_quantize.' + name)!r}")
    ours = str(ROOT / "build/libbaryon_ops.so")
    for keywords in ({"ops_library": ours}, {"extra_options": {"UserCustomOpLibPath": ours}}):
        found = options_of(lambda keywords=keywords: baryon.quantize("model.onnx", preset="A8W8", random=2, **keywords))
        score.check(found.get("baryon_quantize.ops_library") == ours, f"{keywords} arrives")


def main():
    score = Score()
    data = samples(3)
    with workplace():
        os.mkdir("data")
        for i, sample in enumerate(data):
            np.save(f"data/s{i}.npy", sample["image"])
        check_words(score)
        check_session(score, data)
        check_quantization(score, data)
        check_statistics(score, data)
        check_evaluation(score, data)
        check_others(score)
        check_progress(score, data)
        check_kinds(score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
