"""Quark's AutoSearch and AutoSearchPro, which call baryon.auto(): the same call gives the cheapest model that
meets the metric, files say how, and what has no effect is named."""

import contextlib
import json
import logging
import math
import os
import pathlib

from world import Again, Reader, Score, raises, samples, workplace

import numpy as np

import baryon
import baryon.onnx as bo
from baryon.onnx.quantization import auto_search
from baryon.onnx.quantization.auto_search import target
from baryon.onnx.quantization.auto_search.metrics import METRICS, METRICS_PRO

FACTS = {"config_index", "name", "difference", "cost", "size", "model_path", "config"}
SPACE = {"calibrate_method": [bo.PowerOfTwoMethod.MinMSE], "activation_type": [bo.QuantType.QInt8],
         "weight_type": [bo.QuantType.QInt8], "include_cle": [True, False]}  # fmt: skip


@contextlib.contextmanager
def told():
    """Notices, without what the search says of its steps."""
    texts, handler, log = [], logging.Handler(), logging.getLogger("baryon")
    handler.emit = lambda record: texts.append(record.getMessage())
    log.addHandler(handler)
    yield texts
    log.removeHandler(handler)
    texts[:] = [text for text in texts if "effect" in text or "in place of" in text or "missed" in text or "in Quark" in text]


def pro(data, **keys):
    return auto_search.AutoSearchPro({"model_input": "model.onnx", "calib_data_reader": Reader(data), **keys})


def first(data, config=None, more=None, **members):
    """An AutoSearch whose configuration is a class of the caller's."""
    given = type("MyConfig", (), {"search_output_dir": "out", **members})()
    return auto_search.AutoSearch("model.onnx", config or bo.Config(bo.get_default_config("A8W8")), given,
                                  calibration_data_reader=Reader(data), **(more or {}))  # fmt: skip


def again(data, folder):
    """Whether the config that was left gives the model that was left."""
    folder = pathlib.Path(folder)
    made = baryon.quantize("model.onnx", data=data, config=str(folder / "quantized_model.yaml")).model
    return made == (folder / "quantized_model.onnx").read_bytes()


def outputs(model, data):
    return [np.concatenate([value.ravel() for value in baryon.run(model, sample).values()]) for sample in data]


def check_metrics(score):
    base, other = np.array([1.0, 2, 2]), np.array([1.0, 0, 2])
    cosine, error = 5 / (3 * math.sqrt(5)), 4 / 3
    wanted = {"L2": (error, 2), "L1": (2 / 3, 2), "cos": (0.5 + 0.5 * cosine, cosine),
              "psnr": (20 * math.log10(255) - 10 * math.log10(error), 20 * math.log10(2) - 10 * math.log10(error))}  # fmt: skip
    for name, values in wanted.items():
        for metrics, value in zip((METRICS, METRICS_PRO), values):
            score.check(math.isclose(metrics[name](base, other), value), f"{name}: {metrics[name](base, other)}")
    small, smaller = 2.55**2, 7.65**2
    ssim = ((2 * 5 / 3 + small) * (2 * math.sqrt(2 / 9 * 2 / 3) + smaller)
            / ((25 / 9 + 1 + small) * (2 / 9 + 2 / 3 + smaller)))  # fmt: skip
    score.check(math.isclose(METRICS["ssim"](base, other), ssim), f"ssim: {METRICS['ssim'](base, other)}")
    score.check(METRICS["psnr"](base, base) == 100 and METRICS["ssim"](base, base) == 1, "of equal outputs")
    score.check(METRICS_PRO["psnr"](base, base) == 20 * math.log10(2) + 100, "of equal outputs, with their peak")
    score.check(METRICS["cos"](base, base * 0) == METRICS_PRO["cos"](base, base * 0) == 0, "of zeros")


def check_targets(score):
    of = target.of_specifications
    score.check(of({}) == of({"activation": ["XInt8Spec"]}) == "any", "8 bits with any scale")
    score.check(of({"activation": ["XInt8Spec"], "weight": ["XInt8Spec"]}) == "xint8", "powers of two")
    powers = {"scale_type": ["PowerOf2"], "only_if": "activation"}
    narrow = {"activation": ["Int8Spec"], "activation_params": powers, "weight": ["XInt8Spec"]}
    score.check(of(narrow) == "xint8", "powers of two by their name")
    score.check(of({**narrow, "activation_params": {"scale_type": ["PowerOf2", "Float32"]}}) == "any", "both scales")
    score.check(of({**narrow, "activation_params": {**powers, "data_type": ["Int16"]}}) == "any", "another type")
    score.check(of({**narrow, "weight": ["XInt8Spec", "Int8Spec"]}) == "any", "both types")
    raises(score, ValueError, "did you mean 'XInt8Spec'", of, {"weight": ["XInt8Spek"]})
    flat = bo.Config(bo.get_default_config("XINT8"))
    score.check(target.of_fields({}, flat) == "xint8", "a preset")
    score.check(target.of_fields({"activation_type": [bo.QuantType.QInt16]}, flat) == "any", "16 bits")
    score.check(target.of_fields({"calibrate_method": [*SPACE["calibrate_method"], bo.CalibrationMethod.MinMax]}, flat) == "any", "methods")
    wide = bo.Config(bo.get_default_config("A16W8"))
    score.check(target.of_fields(SPACE, wide) == "xint8" and target.of_fields({}, wide) == "any", "lists instead")
    score.check(target.of_fields({}, bo.XINT8_QCONFIG) == "xint8" and target.of_fields({}, bo.A8W8_QCONFIG) == "any", "specifications")


def check_templates(score, data):
    for name, wanted in (("XINT8_SEARCH", "xint8"), ("A8W8_SEARCH", "any"), ("A16W8", "any"), ("ADVANCED_SEARCH", "any")):
        config = bo.get_auto_search_config(name)
        score.check(target.of_specifications(config["search_space"]) == wanted, name)
    config["search_space"]["adaround_params"]["num_iterations"] = {"type": "int", "low": 1, "high": 2}
    score.check(not bo.get_auto_search_config("ADVANCED_SEARCH")["search_space"]["adaround_params"], "a dict of its own")
    raises(score, ValueError, "did you mean 'XINT8_SEARCH'", bo.get_auto_search_config, "XINT_SEARCH")
    config = bo.get_auto_search_config("XINT8_SEARCH")
    config.update(model_input="model.onnx", calib_data_reader=Again(data), search_metric="L2")
    with told() as texts:
        best = bo.AutoSearchPro(config).run()
    score.check(best["met"] and best["goal"] == "sqnr>=20" and best["difference"] >= 20 and best["target"] == "xint8", f"{best}")
    score.check(len(texts) == 1 and "search_metric has no effect without search_metric_tolerance" in texts[0], f"{texts}")
    score.check(best["model_path"] == os.path.join("./output", "quantized_model.onnx") and again(data, "output"), "where Quark writes")


def check_pro_metric(score, data):
    """A bound, other samples to evaluate with, and one notice for each key without an effect."""
    other = samples(5, seed=9)
    search = pro(data, output_dir="pro", eval_data_reader=Reader(other), search_metric="L2", search_metric_tolerance=100,
                 search_space={"activation": ["Int8Spec"], "algorithms": ["adaround", None], "exclude": [None], "FoldRelu": [True]},
                 n_jobs=2, n_trials=4, search_algo="TPE", study_storage_db="x.db", two_stage_search=True, direction="maximize")  # fmt: skip
    with told() as texts:
        best = search.run()
    score.check(set(best) == {*FACTS, "target", "goal", "met", "outcome"} and best["met"], f"{best}")
    score.check(json.loads(pathlib.Path("pro/best_params.json").read_text("utf-8")) == best, "best_params.json")
    left = {"quantized_model.onnx", "quantized_model.yaml", "best_params.json", "auto_search.log"}
    score.check(set(os.listdir("pro")) == left, f"{os.listdir('pro')}")
    score.check(pathlib.Path("pro/quantized_model.yaml").read_text("utf-8") == best["config"] and again(data, "pro"), "its config")
    score.check(best["size"] == pathlib.Path(best["model_path"]).stat().st_size and best["cost"] == 1, "size and cost")
    pairs = zip(outputs("model.onnx", other), outputs(best["model_path"], other))
    score.check(math.isclose(best["difference"], np.mean([np.linalg.norm(a - b) for a, b in pairs]), rel_tol=1e-4), "the metric's value")
    log = pathlib.Path("pro/auto_search.log").read_text("utf-8")
    score.check("goal     L2<=100" in log and f"*  {best['name']}" in log and search.search.met, f"the log: {log}")
    for name in ("n_jobs", "n_trials", "search_algo", "study_storage_db", "two_stage_search", "direction"):
        score.check(sum(text.startswith(f"{name} has no effect: ") for text in texts) == 1, f"{name}: {texts}")
    score.check(len(texts) == 7 and "in place of 'algorithms', 'FoldRelu' (" in texts[-1], f"the space: {texts}")


def check_pro_evaluator(score, data):
    paths = []

    def value(path):
        paths.append(path)
        return 50.0 if path == "model.onnx" else 49.6

    best = pro(data, output_dir="own", temp_dir="tmp", search_evaluator=value).run()
    score.check(best["met"] and math.isclose(best["difference"], 0.4), f"1 % may be lost: {best}")
    score.check(paths[0] == "model.onnx" and paths[1].startswith("tmp") and not os.listdir("tmp"), f"{paths}")
    with told() as texts:
        best = pro(data, output_dir="own", search_evaluator=value, search_metric_tolerance=0.3, search_metric="L1").run()
    score.check(not best["met"] and pathlib.Path(best["model_path"]).exists() and again(data, "own"), f"the best anyway: {best}")
    score.check("search_metric has no effect beside search_evaluator" in texts and "is missed" in texts[-1], f"{texts}")
    best = pro(data, output_dir="own", search_evaluator=value, search_metric_tolerance=0, direction="maximize").run()
    score.check(best["met"] and math.isclose(best["difference"], -0.4), f"a value that is better when it is lower: {best}")
    best = pro(data, output_dir="own", search_evaluator=value, goal="sqnr>=200").run()
    score.check(not best["met"] and best["goal"].endswith("; sqnr>=200"), f"both goals: {best}")
    raises(score, ZeroDivisionError, "", pro(data, output_dir="own", search_evaluator=lambda path: 1 / (len(path) - 10)).run)
    raises(score, TypeError, "a function of a model's path", pro(data, output_dir="own", search_evaluator="f").run)


def check_first(score, data):
    """AutoSearch with a class as configuration, on the samples that calibrate."""
    search = first(data, search_space=SPACE, search_metric="psnr", search_metric_tolerance=40, n_jobs=2, search_devices="cuda:0",
                   search_stop_condition={"time_limit": 1000, "iteration_limit": 5, "find_n_candidates": -1},
                   two_stage_search=False, search_log_path="here.log", helper=lambda self: 1)  # fmt: skip
    with told() as texts:
        found = search.search_model()
    best = found[0]
    score.check(set(best) == FACTS and best["model_path"] == os.path.join("out", "quantized_model.onnx"), f"{best}")
    score.check([row["model_path"] for row in found[1:]] == [None] * (len(found) - 1), "one is written")
    values = [20 * math.log10(255) - 10 * math.log10(np.mean(np.square(a - b)))
              for a, b in zip(outputs("model.onnx", data), outputs(best["model_path"], data))]  # fmt: skip
    score.check(best["difference"] >= 40 and math.isclose(best["difference"], np.mean(values), rel_tol=1e-3), f"{best} {values}")
    score.check(again(data, "out") and "target   xint8" in pathlib.Path("here.log").read_text("utf-8"), "files")
    score.check(not pathlib.Path("out/auto_search.log").exists(), "the log is where it is asked for")
    starts = {text.split(" ")[0] for text in texts}
    score.check(len(texts) == 4 and starts == {"n_jobs", "search_devices", "iteration_limit", "search_space:"}, f"{texts}")


def check_first_evaluator(score, data):
    with told() as texts:
        search = first(data, search_evaluator=staticmethod(lambda path: len(path)), more={"eval_dataloader": data},
                       config=bo.QConfig(bo.QLayerConfig(bo.XInt8Spec(), weight=bo.XInt8Spec()), exclude=["fc1"]))  # fmt: skip
        found = search.search_model()
    score.check(len(found) == 1 and found[0]["name"].startswith("XINT8"), f"{found}")
    kinds = ("20000 where none is given, as in Quark", "eval_dataloader has no effect", "config: ")
    score.check(all(any(kind in text for text in texts) for kind in kinds) and "nodes_to_exclude" in " ".join(texts), f"{texts}")
    os.makedirs("folder", exist_ok=True)
    for place, sample in enumerate(data):
        np.save(f"folder/{place}.npy", sample["image"])
    by_path = auto_search.AutoSearch("model.onnx", bo.A8W8_QCONFIG, {"search_output_dir": "folders", "search_metric_tolerance": 1},
                                     calibration_data_path="folder")  # fmt: skip
    score.check(by_path.search_model()[0]["difference"] <= 1 and again("folder", "folders"), "samples of a folder")


def check_missed(score, data):
    with told() as texts:
        found = first(data, search_metric="L2", search_metric_tolerance=-1).search_model()
    log = pathlib.Path("out/auto_search.log").read_text("utf-8")
    score.check(found == [] and "needs    " in log and "L2<=-1 is missed: " in texts[-1], f"{found} {log} {texts}")
    score.check(pathlib.Path("out/quantized_model.onnx").exists() and again(data, "out"), "the best is written")


def check_refusals(score, data):
    raises(score, ValueError, "did you mean 'search_metric'", pro, data, search_metrik="L2")
    raises(score, ValueError, "did you mean 'activation'", pro, data, search_space={"activations": ["Int8Spec"]})
    raises(score, ValueError, "did you mean 'minimize'", pro, data, direction="minimise")
    raises(score, ValueError, "base_framework", pro, data, base_framework="torch")
    raises(score, ValueError, "calib_data_reader is required", auto_search.AutoSearchPro, {"model_input": "model.onnx"})
    raises(score, ValueError, "cos is at most 1", pro(data, search_metric="cos", search_metric_tolerance=2).run)
    raises(score, ValueError, "did you mean 'psnr'", pro(data, search_metric="psnrr", search_metric_tolerance=2).run)
    raises(score, ValueError, "no samples to evaluate", pro(data, search_metric_tolerance=2, eval_data_reader=[]).run)
    raises(score, ValueError, "did you mean 'search_metric_tolerance'", first, data, search_metric_tolerence=1)
    raises(score, ValueError, "did you mean 'time_limit'", first, data, search_stop_condition={"time_limits": 1})
    raises(score, ValueError, "did you mean 'include_cle'", first, data, search_space={"include_cles": [True]})
    raises(score, ValueError, "requires search_metric_tolerance", first(data, search_metric="ssim").search_model)
    raises(score, TypeError, "a Config or a QConfig", first, data, config={"a": 1})
    raises(score, ValueError, "only one of them", auto_search.AutoSearch, "model.onnx", bo.A8W8_QCONFIG)
    for module in (bo, auto_search):
        raises(score, NotImplementedError, "baryon.auto()", lambda module=module: module.SearchSpace)
        raises(score, AttributeError, "did you mean 'AutoSearch", lambda module=module: module.AutoSerch)


def main():
    score = Score()
    data = samples(12)
    log = logging.getLogger("baryon")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    with workplace():
        check_metrics(score)
        check_targets(score)
        check_templates(score, data)
        check_pro_metric(score, data)
        check_pro_evaluator(score, data)
        check_first(score, data)
        check_first_evaluator(score, data)
        check_missed(score, data)
        check_refusals(score, data)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
