"""The classes of Quark's flow: every preset, specification and algorithm does what it says, what is not
there is named, and nothing passes silently."""

import copy
import logging
import os
import pathlib

from world import Again, Reader, Score, raised, raises, samples, workplace

import numpy as np
import onnx
from onnx import helper, numpy_helper

import baryon
import baryon.onnx as bo
from baryon.onnx import (
    AdaRoundConfig, BiasCorrectionConfig, CalibMethod, CLEConfig, Config, GPTQConfig, Int8Spec, Int16Spec, ModelQuantizer,
    SmoothQuantConfig,
    PowerOfTwoMethod, QConfig, QLayerConfig, QuantGranularity, QuantizationConfig, ScaleType, UInt8Spec, XInt8Spec,
)  # fmt: skip
from baryon.onnx.quantization.config import get_default_config
from baryon.onnx.quantization.config.legacy import plain
from baryon.quantization import quantize_with, settings_of


def quantize(config, data):
    quantizer = ModelQuantizer(config)
    quantizer.quantize_model("model.onnx", "out.onnx", Reader(data))
    return quantizer.result


def types(config, data):
    """{tensor: (type, scale, method, ...)} of the plan."""
    return {row.name: row.type for row in quantize(config, data).plan.tensors}


def check_presets(score, data):
    known = baryon.presets()
    score.check(len(known) > 40, "presets")
    for name in known:
        if name == "MATMUL_NBITS":
            continue  # the model has no MatMul
        config = QConfig.get_default_config(name if "A8W8" in name else f"{name}_CONFIG")
        result = quantize(config, data)
        score.check(result.quantized_nodes > 0 and pathlib.Path("out.onnx").exists(), f"{name}: nothing is quantized")
    same = baryon.quantize("model.onnx", preset="A8W8", data=data).model
    made = ModelQuantizer(Config(global_quant_config=get_default_config("A8W8")))
    proto = made.quantize_model("model.onnx", None, Again(data))
    score.check(made.result.model == same and isinstance(proto, onnx.ModelProto), "a preset is the preset")
    for name in (name for name in bo.__all__ if name.endswith("_QCONFIG")):
        score.check(quantize(getattr(bo, name), data).quantized_nodes == 5, name)


def check_specs(score, data):
    def one(spec, weight=None):
        return types(QConfig(QLayerConfig(input_tensors=spec, weight=weight or spec)), data)

    for name in (name for name in bo.__all__ if name.endswith("Spec")):
        spec = getattr(bo, name)()
        if "nt32" in name:
            raises(score, NotImplementedError, "32 bits", one, spec)
        else:
            score.check(one(spec)["image"].startswith(spec.data_type.name), f"{name}: {one(spec)['image']}")
    told = one(XInt8Spec(), XInt8Spec())
    score.check("power of two" in told["image"] and "minmse-pow2" in told["conv.weight"], f"{told}")
    told = one(UInt8Spec(calibration_method=CalibMethod.Entropy), Int8Spec(quant_granularity=QuantGranularity.Channel))
    score.check(told["image"] == "uint8, asymmetric, per tensor, entropy" and "per channel" in told["conv.weight"], f"{told}")
    told = one(Int8Spec(scale_type=ScaleType.PowerOf2, calibration_method=CalibMethod.Percentile), Int8Spec())
    score.check("power of two" in told["image"] and "percentile" in told["image"], f"scales are what is asked for: {told}")
    raises(score, TypeError, "no ScaleType", Int8Spec, scale_type="PowerOf2")
    told = one(Int8Spec(calibration_method=CalibMethod.Entropy))
    score.check("entropy" in told["image"] and "minmax" in told["conv.weight"], f"weights take MinMax: {told}")


def check_layers(score, data):
    base = QLayerConfig(input_tensors=Int8Spec(), weight=Int8Spec())
    fine = QLayerConfig(input_tensors=Int16Spec(), weight=Int16Spec())
    told = types(QConfig(base, specific_layer_config={fine: ["conv1"]}), data)
    score.check(told["conv.weight"].startswith("int16") and told["fc.weight"].startswith("int8"), f"a node: {told}")
    told = types(QConfig(base, specific_layer_config={fine: ["^conv.*"]}), data)
    score.check(told["conv.weight"].startswith("int16"), f"an expression: {told}")
    told = types(QConfig(base, layer_type_config={fine: ["Gemm"], None: ["Conv"]}), data)
    score.check(told["fc.weight"].startswith("int16") and "conv.weight" not in told, f"operators: {told}")
    told = types(QConfig(base, exclude=["^fc.*", (["relu1"], ["flat1"])]), data)
    score.check("fc.weight" not in told and "pool" not in told and "conv.weight" in told, f"left out: {told}")
    raises(score, ValueError, "two names", QLayerConfig, Int8Spec(), Int8Spec())
    raises(score, ValueError, "needs", QConfig, QLayerConfig(input_tensors=Int8Spec()))
    raises(score, ValueError, "noode", quantize, QConfig(base, exclude=["noode"]), data)
    raises(score, ValueError, "did you mean 'Int32Bias'", quantize, QConfig(base, Int32Bia=False), data)


def check_algorithms(score, data):
    base = QLayerConfig(input_tensors=Int8Spec(), weight=Int8Spec())
    quantize(QConfig(base), data)
    plain = pathlib.Path("out.onnx").read_bytes()
    rounded = quantize(QConfig(base, algo_config=[AdaRoundConfig(num_iterations=10)]), data)
    score.check(rounded.samples == len(data) and pathlib.Path("out.onnx").read_bytes() != plain, "rounding is solved")
    score.check(quantize(QConfig(base, algo_config=[CLEConfig(cle_steps=2), BiasCorrectionConfig()]), data).samples == 8, "cle")
    raises(score, TypeError, "did you mean 'num_iterations'", AdaRoundConfig, num_iteration=3)
    smoothed = SmoothQuantConfig(alpha=0.6).options()
    score.check(smoothed == {"include_sq": True, "extra_options": {"SmoothAlpha": 0.6}}, f"{smoothed}")
    score.check(quantize(QConfig(base, algo_config=[SmoothQuantConfig()]), data).samples == 8, "smoothing")
    turned = bo.QuarotConfig(r_matrix_dim=64).options()
    score.check(turned == {"include_rotation": True, "extra_options": {"RMatrixDim": 64}}, f"{turned}")
    given = bo.AutoMixprecisionConfig(metric_default="sqnr", metric_threshold=-30).options()
    keys = {"metric_default": "sqnr", "metric_threshold": -30}
    score.check(given == {"extra_options": {"AutoMixprecision": keys}}, f"{given}")


def check_flat(score, data):
    config = QuantizationConfig(calibrate_method=PowerOfTwoMethod.MinMSE, activation_type=bo.QuantType.QUInt8,
                                weight_type=bo.QuantType.QInt8, enable_npu_cnn=True)  # fmt: skip
    config.extra_options["ActivationSymmetric"] = True
    told = types(Config(config), data)
    score.check(told["image"].startswith("uint8, symmetric, power of two"), f"{told}")
    config = get_default_config("A8W8")
    config.nodes_to_exclude.append("fc1")
    other = copy.deepcopy(config)
    other.nodes_to_exclude.append("conv1")
    score.check("fc.weight" not in types(Config(config), data) and "conv.weight" in types(Config(config), data), "lists")
    score.check("conv.weight" not in types(Config(other), data), "a copy of its own")
    raises(score, AttributeError, "did you mean 'per_channel'", setattr, config, "per_chanel", True)
    later = get_default_config("XINT8")
    later.include_auto_mp = True
    raises(score, ValueError, "are int8 already", quantize, Config(later), data)
    external = get_default_config("A8W8")
    external.use_external_data_format = True
    quantize(Config(external), data)
    stored = {tensor.data_location for tensor in onnx.load("out.onnx", load_external_data=False).graph.initializer}
    score.check(pathlib.Path("out.onnx.data").exists() or stored == {0}, "weights in a file of their own")


# What presets say and would be so without them.
AT_DEFAULT = {"ForceQuantizeNoInputCheck", "UseGPTQ", "UseMatMulNBits", "WeightsOnly", "Int16Scale"}


def check_preset_fields(score, data):
    """A configuration shows what its preset says, and saying it again changes nothing."""
    config = get_default_config("XINT8_ADAROUND_CONFIG")
    told = (config.activation_type, config.calibrate_method, config.quant_format, config.enable_npu_cnn,
            config.include_fast_ft, config.per_channel)  # fmt: skip
    wanted = (bo.QuantType.QInt8, PowerOfTwoMethod.MinMSE, bo.QuantFormat.QDQ, True, True, False)
    score.check(told == wanted, f"fields of a preset: {told}")
    score.check(config.extra_options["ActivationSymmetric"] is True, "extra options of a preset")
    score.check(get_default_config("MX6").weight_type is bo.MX6, "a type that is no enum's")
    score.check(QuantizationConfig().activation_type is bo.QuantType.QInt8, "a field without a preset")
    score.check(Config(config).options()[0] == {"preset": "XINT8_ADAROUND_CONFIG"}, f"unchanged: {config.options()}")
    config.extra_options["FastFinetune"]["DataSize"] = 100
    config.extra_options["Int32Bias"] = True
    other = copy.deepcopy(config)
    wanted = {"FastFinetune": {"OptimAlgorithm": "adaround", "DataSize": 100}, "Int32Bias": True}
    score.check(other.options()[0]["extra_options"] == wanted, f"changed: {other.options()}")
    del other.extra_options["ActivationSymmetric"]
    options = other.options()[0]
    score.check("preset" not in options and "ActivationSymmetric" not in options["extra_options"], f"deleted: {options}")
    other.extra_options = {"Int32Bias": True}
    score.check(other.options()[0]["extra_options"] == {"Int32Bias": True}, "another dict is put on top")
    for name in set(baryon.presets()) - {"MATMUL_NBITS"}:
        config = get_default_config(name)
        again = {field: plain(value) for field, value in config.shown.items() if not isinstance(value, str)}
        rows = baryon.preset(name)
        needs = data if {"activation_method", "mixed"} & set(rows) or rows.get("rounding", "nearest") != "nearest" else None
        for field in set(config.extra_options) & AT_DEFAULT:
            del config.extra_options[field]
        # Samples choose a method where none is said.
        fixed = {"activation_method_auto": False}
        made = [quantize_with(settings_of(None, needs, {**options, **fixed}, in_file=True), "model.onnx", None, needs).model
                for options in ({"preset": name}, {"preset": name, **again}, config.options()[0])]  # fmt: skip
        score.check(made[0] == made[1], f"{name}: saying it again gives another model")
        score.check(made[0] == made[2], f"{name}: deleting what is a default gives another model")
    config = get_default_config("A8W8")
    del config.extra_options["ActivationSymmetric"]
    deleted = quantize_with(settings_of(None, data, config.options()[0], in_file=True), "model.onnx", None, data).model
    wanted = baryon.quantize("model.onnx", preset="A8W8", data=data, activation_symmetric=False).model
    score.check(deleted == wanted, "a deleted option is at its default")


def check_names(score):
    raises(score, AttributeError, "did you mean 'QConfig'", lambda: bo.QConfg)
    raises(score, NotImplementedError, "generate_all_configs", lambda: bo.generate_all_configs)
    raises(score, ValueError, "did you mean 'XINT8'", get_default_config, "XINT")
    raises(score, TypeError, "a Config or a QConfig", ModelQuantizer, {})
    for name in bo.__all__:
        score.check(getattr(bo, name) is not None, name)
    score.check(os.path.exists(bo.get_library_path()), "the library of operators")


IDLE = {"TmpDir": "x", "CalibWorkerNum": 2, "CalibOptimizeMem": True, "PrintSummary": False, "IgnoreWarnings": False,
        "DebugMode": True, "CryptoMode": False, "SaveTensorHistFig": False, "Percentile": 99.9, "NumBins": 64}  # fmt: skip


def check_what_gives_way(score, data):
    """Defaults of one class never contradict what another asks for, and nothing without effect stops."""
    layer = QLayerConfig(input_tensors=Int8Spec(), weight=Int8Spec())
    wide = QLayerConfig(input_tensors=Int16Spec(), weight=Int8Spec())
    pow2 = QLayerConfig(input_tensors=XInt8Spec(), weight=XInt8Spec())
    configs = [QConfig(one, **extra) for one in (layer, wide) for extra in (
        {"WeightsOnly": True}, {"algo_config": [GPTQConfig()]})]  # fmt: skip
    configs += [QConfig(layer, **IDLE), QConfig(pow2, **IDLE)]
    for fields in ({}, {"include_cle": True, "activation_type": bo.QuantType.QUInt8, "include_fast_ft": True},
                   {"print_summary": False, "debug_mode": True, "log_severity_level": 0}):  # fmt: skip
        configs.append(Config(QuantizationConfig(use_dynamic_quant=True, extra_options=IDLE, **fields)))
    configs += [QConfig.get_default_config(name) for name in ("BF16", "BFP16", "FP16", "MX6", "MXINT8")]
    for place, config in enumerate(configs):
        failure = raised(quantize, config, data)
        score.check(failure is None, f"configuration {place}: {failure}")
    weight = numpy_helper.from_array(np.ones((64, 32), np.float32), "weight")
    rows = [helper.make_tensor_value_info(name, 1, [1, size]) for name, size in (("image", 64), ("out", 32))]
    graph = helper.make_graph([helper.make_node("MatMul", ["image", "weight"], ["out"])], "g", rows[:1], rows[1:], [weight])
    made = ModelQuantizer(QConfig(wide, UseMatMulNBits=True)).quantize_model(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), None, Reader(data))
    score.check([node.op_type for node in made.graph.node] == ["MatMulNBits"], "UseMatMulNBits beside specifications")
    raises(score, NotImplementedError, "models are not encrypted", quantize, QConfig(layer, EncryptionAlgorithm="AES-256"), data)


def check_libraries(score, data):
    """A caller may name libraries, a file may not."""
    layer = QLayerConfig(input_tensors=Int8Spec(), weight=Int8Spec())
    nodes = quantize(QConfig(layer), data).quantized_nodes
    for named in (bo.get_library_path(), [bo.get_library_path()]):
        score.check(quantize(QConfig(layer, UserCustomOpLibPath=named), data).quantized_nodes == nodes > 0, "a library")
    raises(score, Exception, "nowhere.so", quantize, QConfig(layer, UserCustomOpLibPath="nowhere.so"), data)
    raises(score, Exception, "nowhere.so", baryon.quantize, "model.onnx", data=data, ops_library=["nowhere.so"])
    pathlib.Path("c.yaml").write_text("ops-library: nowhere.so\n", encoding="utf-8")
    raises(score, ValueError, "cannot set 'ops-library'", baryon.quantize, "model.onnx", data=data, config="c.yaml")


def check_shapeshifter(score):
    from baryon.shapeshifter import Engine, LoadConfigFromFileOrDict

    config = LoadConfigFromFileOrDict({"passes": {"onnx_convert_opset_version": {"target_opset_version": 18}}})
    made = Engine(config.data).run(onnx.load("model.onnx"))
    score.check(made.opset_import[0].version == 18, "a model in memory")
    raises(score, FileNotFoundError, "none.yaml", LoadConfigFromFileOrDict, "none.yaml")
    raises(score, ValueError, "no model: set input_model_path", Engine(config.data).run)
    raises(score, ValueError, "", Engine({"passes": {"onnx_no_pass": {}}}).run, "model.onnx")


def main():
    score = Score()
    data = samples()
    logging.getLogger("baryon").setLevel(logging.ERROR)
    with workplace():
        check_presets(score, data)
        check_specs(score, data)
        check_layers(score, data)
        check_algorithms(score, data)
        check_flat(score, data)
        check_preset_fields(score, data)
        check_names(score)
        check_libraries(score, data)
        check_what_gives_way(score, data)
        check_shapeshifter(score)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
