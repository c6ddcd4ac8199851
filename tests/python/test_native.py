"""The package's own functions beside the program and numpy, and what they raise."""

import json
import logging
import os
import pathlib
import subprocess

from world import PROGRAM, Again, Reader, Score, raises, samples, workplace

import numpy as np
import onnx

import baryon
from baryon import errors, formats


def check_overwrite(score):
    """A model is replaced by its quantized self only where that is asked for."""
    before = pathlib.Path("model.onnx").read_bytes()
    pathlib.Path("itself.onnx").write_bytes(before)
    for external in (False, True):
        raises(score, errors.UsageError, "is the input model", baryon.quantize, "itself.onnx", "./itself.onnx",
               approach="weights", external_data=external)  # fmt: skip
    score.check(pathlib.Path("itself.onnx").read_bytes() == before, "a refused model is as it was")
    baryon.quantize("itself.onnx", "itself.onnx", approach="weights", overwrite=True)
    score.check(pathlib.Path("itself.onnx").read_bytes() != before, "overwrite")


def check_quantize(score, data):
    result = baryon.quantize("model.onnx", "q.onnx", preset="XINT8", data=data)
    whole = pathlib.Path("q.onnx").read_bytes()
    score.check(result.quantized_nodes == 5 and result.float_nodes == 0, "counts of nodes")
    score.check(result.samples == len(data) and result.path == "q.onnx", "samples and path")
    row = result.plan.tensor("conv.weight")
    score.check(row.role == "weight" and row.scale == 2**-6, "a row of the plan")
    score.check("conv.weight" in result.plan.table() and result.stages["calibrate"] > 0, "tables")
    plan = baryon.plan("model.onnx", preset="XINT8", data=data)
    score.check([r.scale for r in plan.tensors] == [r.scale for r in result.plan.tensors], "the plan alone")

    proto = onnx.load("model.onnx")
    stack = np.concatenate([sample["image"] for sample in data])
    ways = {
        "bytes": (pathlib.Path("model.onnx").read_bytes(), data), "a ModelProto": (proto, data),
        "a reader": ("model.onnx", Reader(data)), "one that rewinds": ("model.onnx", Again(data)),
        "a generator": ("model.onnx", (sample for sample in data)), "an array": ("model.onnx", stack),
        "lists of arrays": ("model.onnx", [[sample["image"]] for sample in data]),
        "arrays": ("model.onnx", [sample["image"] for sample in data]),
        "a folder": ("model.onnx", pathlib.Path("data")),
    }  # fmt: skip
    for name, (model, source) in ways.items():
        made = baryon.quantize(model, preset="XINT8", data=source).model
        score.check(made == whole, f"{name}: other bytes")
    onnx.checker.check_model(baryon.quantize(proto, preset="XINT8", data=data).to_onnx())


def check_program(score):
    """Options mean what they mean on the command line."""
    flags = ["--preset", "A8W8", "--data", "data", "--weight-granularity", "channel", "-q",
             "--op-type", "Gemm=weight:int16", "--exclude", "pool1,flat1"]  # fmt: skip
    subprocess.run([PROGRAM, "quantize", "model.onnx", "-o", "c.onnx", *flags], check=True)
    baryon.quantize("model.onnx", "p.onnx", preset="A8W8", data="data", weight_granularity="channel",
                    op_types={"Gemm": {"weight": "int16"}}, exclude=["pool1", "flat1"])  # fmt: skip
    same = pathlib.Path("c.onnx").read_bytes() == pathlib.Path("p.onnx").read_bytes()
    score.check(same, "the same options on the command line give another model")


def check_statistics(score, data):
    statistics = baryon.calibrate("model.onnx", data, "all.stats")
    stack = np.concatenate([sample["image"] for sample in data])
    row = statistics["image"]
    score.check(row.min == stack.min() and row.max == stack.max(), "extremes")
    score.check(abs(row.mean - stack.mean()) < 1e-6 and row.values == stack.size, "mean and number")
    low, high, count = statistics.histogram("image")
    score.check(count.sum() == stack.size and low.min() <= stack.min() <= high.max(), "histogram")
    for a, b, n in list(zip(low, high, count))[::97]:
        inside = (stack >= a) & (stack < b) if a >= 0 else (stack > a) & (stack <= b)
        score.check(abs(int(inside.sum()) - int(n)) <= 1, f"{n} values from {a} to {b}")
    found = statistics.range("image", "minmax", "int8")
    score.check(abs(found.scale - abs(stack).max() / 127.5) < 1e-6, "range")
    again = baryon.Statistics.load("all.stats")
    score.check(list(again) == list(statistics) and len(again) == 5, "saved and loaded")
    parts = [baryon.calibrate("model.onnx", data, shard=f"{i}/2") for i in (1, 2)]
    parts[0].merge(parts[1])
    parts[0].save("merged.stats")
    same = pathlib.Path("merged.stats").read_bytes() == pathlib.Path("all.stats").read_bytes()
    score.check(same and parts[0].covered == len(data), "parts that were merged")
    raises(score, KeyError, "did you mean 'image'", statistics.__getitem__, "imag")
    raises(score, errors.InputError, "twice", parts[0].merge, parts[1])


def check_running(score, data):
    with baryon.Session("model.onnx") as session:
        score.check(session.inputs[0].shape == (1, 3, 8, 8) and session.outputs[0].name == "scores", "ports")
        one = session.run(data[0])["scores"]
        score.check(np.array_equal(one, session.run(data[0]["image"], ["scores"])["scores"]), "by name and alone")
    proto = onnx.load("model.onnx")
    score.check(np.array_equal(one, baryon.run(proto, data[0])["scores"]), "a ModelProto runs")
    raises(score, errors.InputError, "no input .imag.".replace(".", chr(39)), baryon.run, "model.onnx", {"imag": data[0]["image"]})
    raises(score, ValueError, "closed", session.run, data[0])
    raises(score, ValueError, "closed", lambda: session.inputs)
    raises(score, TypeError, "contains a NoneType", baryon.run, "model.onnx", None)
    raises(score, ValueError, "optimization", baryon.run, "model.onnx", data[0], optimization="much")


def check_evaluate(score, data):
    flags = ["--data", "data", "--json", "-q", "--logits"]
    done = subprocess.run([PROGRAM, "evaluate", "model.onnx", "q.onnx", *flags],
                          stdout=subprocess.PIPE, check=True)  # fmt: skip
    told = json.loads(done.stdout)["scores"]
    found = baryon.evaluate("model.onnx", "q.onnx", data, logits=True, min={"cosine": 0.5})
    score.check(len(told) == len(found.scores) > 6 and found.failure is None, "as many scores")
    for row, one in zip(told, found.scores):
        score.check((row["metric"], row["mean"], row["worst"]) == (one.metric, one.mean, one.worst), f"{one}")
    missed = baryon.evaluate("model.onnx", "q.onnx", data, max={"l2.worst": 1e-9})
    score.check(isinstance(missed.failure, errors.GoalError) and missed["l2"].missed, "a goal that is missed")
    for name in ("one", "two"):
        os.mkdir(name)
        np.save(f"{name}/a.npy", np.full((4, 4), 2.0 + (name == "two")))
    folders = baryon.evaluate("one", pathlib.Path("two"))
    score.check(folders["l2"].mean == 4 and folders["l2"].output is None, "folders")
    raises(score, KeyError, "did you mean 'cosine'", folders.__getitem__, "cosin")


def check_compare(score, data):
    """baryon.compare beside the program."""
    baryon.quantize("model.onnx", "wide.onnx", preset="A16W8", data=data)
    done = subprocess.run([PROGRAM, "compare", "q.onnx", "wide.onnx", "--json"], stdout=subprocess.PIPE, check=True)
    found = baryon.compare("q.onnx", pathlib.Path("wide.onnx"))
    score.check(found.as_dict == json.loads(done.stdout), "what the program prints")
    score.check(found["image"]["b"]["type"] == "int16" and found.differences["type"] > 0, "a tensor")
    score.check(found.outputs is None and found.score("sqnr") is None, "without samples nothing runs")
    raises(score, KeyError, "did you mean 'image'", found.__getitem__, "imag")
    ran = baryon.compare("q.onnx", "wide.onnx", data, reference="model.onnx", min={"sqnr": 300})
    score.check(isinstance(ran.failure, errors.GoalError) and ran.samples == len(data), "samples and goals")
    narrow, wide = (ran.score("sqnr", of=part) for part in ("a_against_float", "b_against_float"))
    score.check(wide > narrow and ran.score("top1", "scores") is not None, "both beside the float model")
    page = ran._repr_html_()
    score.check(page.count("<table>") == 4 and "B against A" in page and "image" in page, "as HTML")
    raises(score, errors.InputError, "are both not quantized", baryon.compare, "model.onnx", "model.onnx")
    raises(score, errors.UsageError, "no samples", baryon.compare, "q.onnx", "q.onnx", reference="model.onnx")


def check_auto(score, data):
    """A search with a function as goal, and its report."""
    seen = []

    def goal(run):
        seen.append(run(data[0], ["scores"])["scores"].shape)
        return 1.5

    found = baryon.auto("model.onnx", "found.onnx", data, goal=goal, at_least=1, effort="quick", progress=False)
    score.check(found.met and found.failure is None and found.best.chosen == 1.5, "the goal's value")
    score.check(seen and all(shape[1] == 5 for shape in seen), "candidates run")
    score.check(pathlib.Path("found.onnx").read_bytes() == found.model, "the model")
    score.check(pathlib.Path("found.yaml").read_text() == found.config, "its config")
    again = baryon.quantize("model.onnx", data=data, config="found.yaml").model
    score.check(again == found.model, "the config gives the same bytes with all samples")
    page = found.report()
    page.save("page.html")
    score.check(page.html.startswith("<!doctype html>") and "<iframe srcdoc=" in found._repr_html_(), "a page")
    score.check(baryon.report(found.report_data()).html == page.html, "a report from a dict")
    raises(score, ZeroDivisionError, "division", baryon.auto, "model.onnx", None, data, goal=lambda run: 1 / 0, at_least=1)
    raises(score, errors.InputError, "must be a finite number", baryon.auto, "model.onnx", None, data, goal=lambda run: float("nan"), at_least=1)
    raises(score, ValueError, "at_least or at_most", baryon.auto, "model.onnx", None, data, goal=goal)
    raises(score, FileExistsError, "'found.onnx' exists already", baryon.auto, "model.onnx", "found.onnx", data)
    pathlib.Path("found.onnx").unlink()
    raises(score, FileExistsError, "'found.yaml' exists already", baryon.auto, "model.onnx", "found.onnx", data)


def check_interrupted_auto(score, data):
    """The same call continues a search that was interrupted after a step."""
    kept = pathlib.Path("again.onnx.part")

    def stop(*_):
        """Ctrl-C once a step is kept."""
        if kept.exists() and kept.stat().st_size > 1000:
            raise KeyboardInterrupt

    class Once(list):
        """Samples that are read a single time, whatever the number of candidates."""

        taken = 0

        def __getitem__(self, index):
            Once.taken += 1
            return super().__getitem__(index)

        def __iter__(self):
            return (self[index] for index in range(len(self)))

    raises(score, KeyboardInterrupt, "", baryon.auto, "model.onnx", "again.onnx", data, goal="sqnr>=200", progress=stop)
    score.check(kept.exists() and not pathlib.Path("again.onnx").exists(), "an interrupted search keeps its steps")
    said, handler, log = [], logging.Handler(), logging.getLogger("baryon")
    handler.emit = lambda record: said.append(record.getMessage())
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    found = baryon.auto("model.onnx", "again.onnx", Once(data), goal="sqnr>=200", progress=False)
    log.removeHandler(handler)
    score.check(Once.taken == len(data), f"samples are read once: {Once.taken}")
    score.check(any("earlier run are taken up" in line for line in said), f"the same call continues: {said}")
    score.check(not found.met and not kept.exists(), "nothing is left of it")


def check_formats(score):
    values = np.random.default_rng(1).normal(size=(5, 33)).astype(np.float32) * 3
    for name, row in formats.names().items():
        out = formats.fake_quantize(values, name)
        score.check(out.shape == values.shape and out.dtype == np.float32, f"{name}: shape and type")
        if not name.startswith("e8m0"):
            error = np.abs(out - values).max()
            worst = np.abs(values).max() * (1 if row.integer or row.bits < 7 else 0.08)
            score.check(error <= worst, f"{name}: {error}")
    half = formats.fake_quantize(values, "fp16")
    score.check(np.array_equal(half, values.astype(np.float16).astype(np.float32)), "fp16 is numpy's")
    whole = formats.fake_quantize(values, "int8", scale=0.5)
    score.check(np.array_equal(whole, np.round(values / 0.5) * 0.5), "int8 with a scale")
    across = formats.fake_quantize(values, "MXFP4", axis=0)
    turned = formats.fake_quantize(values.T.copy(), "mxfp4_e2m1", axis=1).T
    score.check(np.array_equal(across, turned), "blocks along another axis")
    raises(score, ValueError, "unknown format 'mxfp5'", formats.fake_quantize, values, "mxfp5")
    raises(score, ValueError, "ties", formats.fake_quantize, values, "int8", ties="odd")


def check_refused(score, data):
    quantize = baryon.quantize
    name = baryon._library.library().baryon_code_name
    codes = {name(code).decode() for code in range(256)} - {"ok", "internal"}
    score.check(codes == set(errors._KINDS), f"every code has its exception: {sorted(codes ^ set(errors._KINDS))}")
    raises(score, errors.UsageError, "nbits must be 2, 4 or 8", quantize, "model.onnx", approach="nbits", nbits=3)
    raises(score, ValueError, "did you mean 'preset'", quantize, "model.onnx", presett="XINT8")
    raises(score, errors.UsageError, "did you mean 'XINT8'", quantize, "model.onnx", preset="XINT9", data=data)
    raises(score, NotImplementedError, "not supported yet", quantize, "model.onnx", preset="XINT8", data=data,
           extra_options={"ConvertInstanceNormToDPUVersion": True})  # fmt: skip
    raises(score, ValueError, "op_types: unknown key 'activatoin'", quantize, "model.onnx", preset="A8W8",
           data=data, op_types={"Conv": {"activatoin": "int16"}})  # fmt: skip
    raises(score, errors.InputError, "cannot be opened", quantize, "none.onnx", preset="XINT8", data=data)
    raises(score, TypeError, "model is a int", quantize, 3, preset="XINT8", data=data)
    raises(score, TypeError, "samples are a int", quantize, "model.onnx", preset="XINT8", data=3)

    class Huge:
        def SerializeToString(self):
            raise RuntimeError("Failed to serialize proto")

    raises(score, ValueError, "external data", quantize, Huge(), preset="XINT8", data=data)
    raises(score, ValueError, "NUL character", quantize, "a\0b", preset="XINT8", data=data)
    raises(score, ValueError, "NUL character", quantize, "model.onnx", "a\0b", preset="XINT8", data=data)
    raises(score, ValueError, "NUL character", quantize, "model.onnx", preset="XINT8", data=data, exclude="fc1\0")
    raises(score, AttributeError, "did you mean 'quantize'", lambda: baryon.quantise)
    raises(score, errors.InputError, "", baryon.quantize, b"no model", preset="XINT8", data=data)
    raises(score, errors.InputError, "must be an ONNX model", baryon.check, b"no model")
    score.check(baryon.check("model.onnx") == baryon.check(onnx.load("model.onnx")) == [], "a good model")


def check_lists(score):
    score.check("XINT8_ADAROUND" in baryon.presets() and "minmse" in baryon.methods(), "lists")
    score.check(baryon.version().count(".") == 2 and "ssim" in baryon.metrics(), "version")


def main():
    score = Score()
    data = samples()
    with workplace():
        os.mkdir("data")
        for i, sample in enumerate(data):
            np.save(f"data/s{i}.npy", sample["image"])
        check_quantize(score, data)
        check_overwrite(score)
        check_program(score)
        check_statistics(score, data)
        check_running(score, data)
        check_evaluate(score, data)
        check_compare(score, data)
        check_auto(score, data)
        check_interrupted_auto(score, data)
        check_formats(score)
        check_refused(score, data)
        check_lists(score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
