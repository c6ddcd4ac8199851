"""More of Quark's flow: configurations as dicts, layers between nodes, readers, ranges that are kept, tools,
random samples, what is printed, and samples that make no sense."""

import contextlib
import importlib
import io
import json
import logging
import os
import pathlib
import subprocess
import sys

from world import Again, Reader, Score, raises, samples, workplace

import numpy as np
import onnx

import baryon
from baryon import onnx as bo
from baryon import shapeshifter
from baryon.onnx import (
    AdaRoundConfig, CLEConfig, Config, Int4Spec, Int8Spec, Int16Spec, ModelQuantizer, PathDataReader, QConfig,
    QLayerConfig, RandomDataReader, ScaleType, UInt4Spec,
)  # fmt: skip

BASE = QLayerConfig(input_tensors=Int8Spec(), weight=Int8Spec())
FINE = QLayerConfig(input_tensors=Int16Spec(), weight=Int16Spec())


def quantize(config, data, model="model.onnx", **options):
    """The result and what was printed."""
    quantizer = ModelQuantizer(config)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        quantizer.quantize_model(model, "out.onnx", data, **options)
    return quantizer.result, printed.getvalue()


def types(config, data):
    return {row.name: row.type for row in quantize(config, Again(data))[0].plan.tensors}


def preset(name, **extra):
    config = QConfig.get_default_config(name)
    config.global_quant_config.extra_options.update(extra)
    return config


@contextlib.contextmanager
def notices():
    """A list of what goes to the log meanwhile."""
    found = []
    handler = logging.Handler()
    handler.emit = lambda record: found.append(record.getMessage())
    log = logging.getLogger("baryon")
    log.addHandler(handler)
    try:
        yield found
    finally:
        log.removeHandler(handler)


def check_dicts(score, data):
    whole = QConfig(
        BASE, specific_layer_config={FINE: ["conv1", (["relu1"], ["flat1"])], None: ["fc1"]},
        layer_type_config={FINE: ["Gemm"], None: ["Softmax"]}, exclude=["^x.*", (["a"], ["b"])],
        algo_config=[AdaRoundConfig(num_iterations=4), CLEConfig()], Percentile=99.9)  # fmt: skip
    values = json.loads(json.dumps(whole.to_dict()))
    again = QConfig.from_dict(values)
    score.check(again.to_dict() == whole.to_dict() and again.options() == whole.options(), f"a dict and back: {values}")
    score.check(values["global_config"]["weight"]["scale_type"] == "ScaleType.Float32", "enums are texts")
    score.check("AdaRoundConfig(num_iterations=4)" in repr(whole) and "data_type=Int16" in repr(whole), f"{whole!r}")
    score.check(repr(bo.Int8) == "Int8" and repr(bo.get_default_config("XINT8")) == "QuantizationConfig(preset='XINT8')", "reprs")
    for wrong, text in (({"global_confg": {}}, "did you mean 'global_config'"), ({"global_config": {"weigth": {}}}, "'weight'"),
                        ({"global_config": {"weight": {"name": "Int9Spec"}}}, "Int8Spec"),
                        ({"algo_config": [{"name": "AdaRound"}], **values}, "")):  # fmt: skip
        raises(score, ValueError, text, QConfig.from_dict, wrong) if text else None
    made = [quantize(config, Again(data))[0] for config in (QConfig(BASE), QConfig.from_dict(QConfig(BASE).to_dict()))]
    score.check(repr(made[0].plan.tensors) == repr(made[1].plan.tensors), "the configuration of a dict quantizes alike")


def check_layers(score, data):
    told = types(QConfig(BASE, specific_layer_config={FINE: [(["conv1"], ["relu1"])]}), data)
    score.check(told["conv.weight"].startswith("int16") and told["fc.weight"].startswith("int8"), f"a span: {told}")
    told = types(QConfig(BASE, specific_layer_config={None: [(["conv1"], ["relu1"])]}), data)
    score.check("conv.weight" not in told and "fc.weight" in told, f"a span that stays float: {told}")
    told = types(QConfig(BASE, specific_layer_config={None: ["fc1"]}), data)
    score.check("fc.weight" not in told, f"a name that stays float: {told}")
    raises(score, ValueError, "no path leads", quantize, QConfig(BASE, specific_layer_config={FINE: [(["fc1"], ["conv1"])]}), Again(data))
    raises(score, ValueError, "'nope' matches no node", quantize, QConfig(BASE, specific_layer_config={FINE: [(["nope"], ["fc1"])]}), Again(data))
    raises(score, TypeError, "pair of lists", quantize, QConfig(BASE, exclude=[5]), Again(data))
    raises(score, TypeError, "as a key", QConfig, BASE, {"conv1": FINE})
    told = types(QConfig(QLayerConfig(Int8Spec(scale_type=ScaleType.Float16), weight=Int4Spec())), data)
    score.check("float16" in told["image"] and told["conv.weight"].startswith("int4"), f"{told}")
    told = types(QConfig(QLayerConfig(Int8Spec(), weight=UInt4Spec())), data)
    score.check(told["conv.weight"].startswith("uint4"), f"{told}")


def check_options(score, data):
    """Options of Quark that change nothing say so, the others do what they say."""
    fields = CLEConfig(cle_balance_method="mean", cle_steps=-1, cle_scale_append_bias=False, cle_scale_use_threshold=False,
                       cle_total_layer_diff_threshold=1e-3)  # fmt: skip
    with notices() as found:
        quantize(QConfig(BASE, algo_config=[fields]), Again(data))
    for name in ("CLEBalanceMethod", "CLEScaleAppendBias", "CLETotalLayerDiffThreshold"):
        score.check(any(text.startswith(f"{name}: no effect") for text in found), f"{name} is told: {found}")
    for word, told in (("accuracy", False), ("speed", True), ("resource_efficiency", True)):
        with notices() as found:
            quantize(QConfig(BASE, QuantizationPreference=word), Again(data))
        score.check(any("no effect" in text for text in found) == told, f"{word}: {found}")
    raises(score, ValueError, "accuracy, speed", quantize, QConfig(BASE, QuantizationPreference="best"), Again(data))
    quantize(QConfig(BASE, QDQOpTypePerChannelSupportToAxis={"Conv": 0, "MatMul": 1}), Again(data))
    raises(score, ValueError, "output channels", quantize, QConfig(BASE, QDQOpTypePerChannelSupportToAxis={"Conv": 1}), Again(data))
    raises(score, NotImplementedError, "not encrypted", quantize, QConfig(BASE, EncryptionAlgorithm="AES-256"), Again(data))
    with notices() as found:
        quantize(QConfig(BASE, EvalMetrics=False), Again(data))
        quantize(QConfig(BASE, EvalMetrics=True, EvalDataReader=Reader(data[:2])), Again(data))
    score.check(sum("Mean Cosine Similarity" in text for text in found) == 2, f"EvalMetrics: {found}")


class Noted(Exception):
    """Ends a quantization with its options."""


class Noting(ModelQuantizer):
    @staticmethod
    def _quantize(model, output, data, external, options):
        raise Noted(options)


def check_precedence(score):
    """What a configuration says stands above what its algorithms ask for, wherever these are given."""
    algorithm = bo.BiasCorrectionConfig()
    for given in ({}, {"BiasCorrection": False}):
        wanted = given.get("BiasCorrection", True)
        config = QConfig(BASE, algo_config=[algorithm], **given)
        score.check(config.options()[0]["extra_options"]["BiasCorrection"] is wanted, f"algo_config and {given}")
        config = QConfig(BASE, extra_options={"BiasCorrection": not wanted}, BiasCorrection=wanted)
        score.check(config.options()[0]["extra_options"]["BiasCorrection"] is wanted, f"extra_options and {given}")
        try:
            Noting(QConfig(BASE, **given)).quantize_model("model.onnx", algorithms=[algorithm])
        except Noted as noted:
            found = noted.args[0]["extra_options"]["BiasCorrection"]
            score.check(found is wanted, f"algorithms and {given}: {found}")


def check_summary(score, data):
    printed = quantize(QConfig(BASE, exclude=["fc1"]), Again(data))[1]
    for text in ("Op Type", "Conv", "INT8", "stays float: Gemm 'fc1': excluded", "SQNR", "out.onnx"):
        score.check(text in printed, f"the summary has {text}: {printed}")
    config = bo.get_default_config("A8W8")
    config.print_summary = False
    for silent in (Config(config), QConfig(BASE, PrintSummary=False)):
        score.check(quantize(silent, Again(data))[1] == "", "silent on request")
    result = quantize(QConfig(BASE), Again(data))[0]
    row = next(row for row in result.plan.operators if row.op_type == "Conv")
    score.check(row.nodes == row.quantized_nodes == 1 and row.weights == "int8" and row.biases == "int32", f"{row}")


def check_quality(score, data):
    """The measurement of a result, in memory and in a file; what quantize_model() prints of it."""
    result, printed = quantize(QConfig(BASE), Again(data))[:2]
    quality = result.quality
    count = max(len(data) // 4, 1) if len(data) >= 4 else len(data)
    score.check(quality.which == "seen" and quality.first_sample == len(data) - count, f"{quality}: {vars(quality)}")
    score.check(quality.unmeasured is None and quality.worst == min(one.sqnr for one in quality.outputs), f"{quality}")
    score.check(quality.text.splitlines()[0] in printed, printed)
    other = baryon.quantize("model.onnx", preset="A8W8", data=(one for one in data), progress=False).quality
    again = baryon.quantize("model.onnx", "other.onnx", preset="A8W8", data=data, progress=False).quality
    score.check([one[:2] for one in other.outputs] == [one[:2] for one in again.outputs], f"{other} {again}")
    first = baryon.quantize("model.onnx", preset="A8W8", data=data, limit=len(data) - 1, progress=False).quality
    score.check(first.which == "unseen" and first.samples == 1, f"{first.text}")
    for without in ({"data": data, "no_judge": True}, {"approach": "weights"}):
        score.check(baryon.quantize("model.onnx", progress=False, **without).quality is None, f"{without}")
    result, printed = quantize(preset("A8W8_ADAROUND"), Again(data))[:2]
    rounding = result.rounding
    score.check(0 <= rounding.kept_layers <= rounding.layers and rounding.text in printed, f"{rounding} {printed}")
    score.check(rounding.held_out in (0, result.quality.samples), f"{rounding} {result.quality}")


def check_ranges(score, data):
    """SaveAndRestore writes ranges, which give the same model without calibration."""
    quantize(preset("XINT8", SaveAndRestore="ranges.json"), Again(data))
    first = pathlib.Path("out.onnx").read_bytes()
    ranges = json.loads(pathlib.Path("ranges.json").read_text("utf-8"))["tensors_range"]
    score.check(ranges["image"][0] < 0 < ranges["image"][1], f"{ranges}")
    with notices() as found:
        for reader in (Again(data), None):
            quantize(preset("XINT8", TensorsRangeFile="ranges.json"), reader)
            score.check(pathlib.Path("out.onnx").read_bytes() == first, "ranges that are kept give the same model")
    score.check(any("ranges.json" in text for text in found), f"{found}")
    pathlib.Path("ranges.json").write_text("{}", "utf-8")
    raises(score, ValueError, "no file of ranges", quantize, preset("XINT8", SaveAndRestore="ranges.json"), Again(data))


def check_random(score):
    """Open sizes become Quark's, with a notice; VINT8 needs no word of random data."""
    model = onnx.load("model.onnx")
    for value in (*model.graph.input, *model.graph.output):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    for axis, symbol in ((2, "H"), (3, "W")):
        model.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = symbol
    onnx.save(model, "open.onnx")
    for config in (preset("VINT8"), preset("XINT8", UseRandomData=True)):
        with notices() as found:
            result = quantize(config, None, "open.onnx")[0]
        chosen = [text for text in found if "'N'=1, 'H'=32, 'W'=32" in text]
        score.check(result.quantized_nodes == 5 and len(chosen) == 1, f"open sizes: {found}")
    raises(score, ValueError, "no samples", quantize, preset("VINT8", UseRandomData=False), None)
    raises(score, ValueError, "no samples", quantize, preset("XINT8"), None)
    given = preset("XINT8", UseRandomData=True, RandomDataReaderInputDataRange={"image": [2, 3]},
                   RandomDataReaderInputShape={"image": [-1, 3, 8, 16]})  # fmt: skip
    result = quantize(given, None, "open.onnx")[0]
    row = result.plan.tensor("image")
    score.check(3.0 > row.high >= 2.9 or row.high > 2.9, f"a range of values: {row}")
    raises(score, ValueError, "did you mean 'image'", quantize,
           preset("XINT8", UseRandomData=True, RandomDataReaderInputDataRange={"imag": [0, 1]}), None)  # fmt: skip
    values = RandomDataReader("open.onnx", {"image": [1, 3, 8, 8]}, {"image": [-2, -1]}).get_next()["image"]
    score.check(values.shape == (1, 3, 8, 8) and -2 <= values.min() < values.max() <= -1, "RandomDataReader")
    score.check(RandomDataReader("open.onnx").get_next()["image"].shape == (1, 3, 32, 32), "its sizes")
    raises(score, ValueError, "did you mean 'image'", RandomDataReader, "open.onnx", {"imag": [1]})


def check_readers(score, data):
    os.makedirs("calib", exist_ok=True)
    for i, sample in enumerate(data):
        np.save(f"calib/{i}.npy", sample["image"][0])
    reader = PathDataReader("model.onnx", "calib")
    score.check(len(reader) == 8 and np.array_equal(reader.get_next()["image"], data[0]["image"]), "PathDataReader")
    kept = bo.CachedDataReader(Reader(data), 3)
    score.check(len(kept) == 3 and len(list(iter(kept.get_next, None))) == 3 and kept.get_next() is None, "CachedDataReader")
    kept.rewind()
    score.check(kept.get_next() is data[0], "it begins again")
    raises(score, ValueError, "gives none", bo.CachedDataReader, Reader([]))


def check_nhwc(score, data):
    """Samples of the float model are turned as its inputs are."""
    plain = quantize(preset("XINT8"), Again(data))[0].plan.tensor("image")
    for config in (preset("XINT8", ConvertNCHWToNHWC=True), preset("XINT8")):
        if "ConvertNCHWToNHWC" not in config.extra_options:
            config.global_quant_config.convert_nchw_to_nhwc = True
        for source in ({"data": Again(data)}, {"data": None, "calibration_data_path": "calib"}):
            result, printed = quantize(config, **source)
            dims = onnx.load("out.onnx").graph.input[0].type.tensor_type.shape.dim
            score.check([dim.dim_value for dim in dims] == [1, 8, 8, 3], "the input is NHWC")
            score.check(result.plan.tensor("image").scale == plain.scale and "SQNR" in printed, f"samples are turned: {printed}")


def check_functions(score, data):
    with contextlib.redirect_stdout(io.StringIO()):
        bo.quantize_static("model.onnx", "static.onnx", Again(data), per_channel=True)
    kinds = {node.op_type for node in onnx.load("static.onnx").graph.node}
    score.check("QuantizeLinear" in kinds, "quantize_static")
    bo.dump_model("static.onnx", Again(data))
    names = set(os.listdir("dump_results"))
    score.check({"image_QuantizeLinear_Output.bin", "image_QuantizeLinear_Output.txt", "fc.weight_quantized.bin"} <= names, f"{names}")
    values = np.fromfile("dump_results/image_QuantizeLinear_Output.bin", np.int8)
    score.check(values.size == 192 and values.max() > 50, "what is dumped")
    bo.dump_model("static.onnx", dump_float=True, output_dir="floats")
    score.check(len(os.listdir("floats")) > len(names), "with floats")


PATHS = {
    "baryon.onnx.calibration": ("CachedDataReader", "PowerOfTwoMethod", "Int16Method"),
    "baryon.onnx.calibration.data_readers": ("PathDataReader", "RandomDataReader"),
    "baryon.onnx.calibration.methods": ("PowerOfTwoMethod",), "baryon.onnx.calibrate": ("PowerOfTwoMethod",),
    "baryon.onnx.operators.custom_ops": ("get_library_path",), "baryon.onnx.quant_utils": ("QuantType",),
    "baryon.onnx.quantization.quant_utils": ("ExtendedQuantType",), "baryon.onnx.quantize": ("quantize_static",),
    "baryon.onnx.quantization.api": ("ModelQuantizer",), "baryon.onnx.quantization.quantize": ("quantize_dynamic",),
    "baryon.onnx.quantization.config": ("Config", "QConfig", "get_default_config"),
    "baryon.onnx.quantization.config.algorithm": ("AdaQuantConfig",),
    "baryon.onnx.quantization.config.config": ("Config", "QConfig", "QuantizationConfig"),
    "baryon.onnx.quantization.config.custom_config": ("XINT8_QCONFIG", "DEFAULT_ADAROUND_PARAMS", "get_default_config"),
    "baryon.onnx.quantization.config.data_type": ("Int8", "UInt4"),
    "baryon.onnx.quantization.config.spec": ("CalibMethod", "Int8Spec", "QLayerConfig", "XInt8Spec"),
    "baryon.shapeshifter": ("Engine", "LoadConfigFromFileOrDict", "RunConfig", "ONNXModelConfig", "shapeshifter"),
    "baryon.shapeshifter.run_config": ("RunConfig",), "baryon.shapeshifter.model_config": ("ONNXModelConfig",),
}  # fmt: skip


def check_paths(score):
    for module, names in PATHS.items():
        for name in names:
            score.check(hasattr(importlib.import_module(module), name), f"{module}.{name}")
    score.check(baryon.__version__ == baryon.version(), "the version")


def check_shapeshifter(score):
    model = shapeshifter.ONNXModelConfig(input_model_path=pathlib.Path("model.onnx"))
    passes = {"onnx_convert_opset_version": {"target_opset_version": 18}}
    shapeshifter.shapeshifter(shapeshifter.RunConfig(input_model_config=model, passes=passes, output_model_path="new.onnx"))
    score.check(onnx.load("new.onnx").opset_import[0].version == 18, "to a file")
    made = shapeshifter.shapeshifter(shapeshifter.RunConfig(passes=passes), model=onnx.load("model.onnx"))
    score.check(made.opset_import[0].version == 18, "in memory")
    raises(score, NotImplementedError, "PyTorch", lambda: shapeshifter.PytorchModelConfig)
    raises(score, TypeError, "ONNXModelConfig is expected", shapeshifter.RunConfig, "model.onnx")


# Each needs what those before it wrote.
TOOLS = """
convert_opset_version model.onnx 17 t.onnx
convert_nchw_to_nhwc model.onnx t.onnx
convert_fp32_to_fp16 model.onnx half.onnx --keep_io_types
convert_fp16_to_fp32 --input half.onnx --output t.onnx
convert_fp16_to_fp32 --input half.onnx --output t.onnx --subgraphs_to_include [conv1],[relu1]
convert_fp32_to_bf16 --input model.onnx --output cast.onnx
convert_fp16_to_bf16 --input half.onnx --output t.onnx
remove_bf16_cast cast.onnx t.onnx
convert_fp32_to_bfp16 --input model.onnx --output t.onnx
convert_fp16_to_bfp16 --input half.onnx --output t.onnx
convert_fp32_to_bf16 --input model.onnx --output pairs.onnx --format vitisqdq
replace_bfloat16_qdq_cast --input_model pairs.onnx --output_model t.onnx
insert_clip_bfloat16_qdq --input_model pairs.onnx --output_model t.onnx
fix_shapes --input_model_path model.onnx --output_model_path t.onnx --fix_shapes image:[1,3,8,8]
convert_dynamic_to_fixed model.onnx t.onnx --fix_shapes image:[1,3,8,8] --save_as_external_data
convert_shared_initializer_to_unique --input model.onnx --output t.onnx --op_types Conv
remove_initializer_from_input --input model.onnx --output t.onnx
remove_qdq_between_ops --input_model static.onnx --output_model t.onnx --between_ops Conv,Relu
remove_qdq_mul_add --input_model static.onnx --output_model t.onnx
random_quantize --input_model_path model.onnx --quantized_model_path t.onnx --exclude_nodes fc1
"""


def check_tools(score):
    from baryon.onnx import tools
    from baryon.onnx.tools._table import ABSENT
    from baryon.onnx.tools._table import TOOLS as KNOWN

    lines = [line.split() for line in TOOLS.strip().splitlines()]
    score.check({line[0] for line in lines} == set(KNOWN), f"tools without a line: {set(KNOWN) - {line[0] for line in lines}}")
    for name, *arguments in lines:
        pathlib.Path("t.onnx").unlink(missing_ok=True)
        with contextlib.redirect_stdout(io.StringIO()):
            status = getattr(tools, name).main(arguments)
        made = next(word for word in reversed(arguments) if word.endswith(".onnx"))
        score.check(status == 0 and os.path.exists(made), f"{name}: {status}")
    done = subprocess.run([sys.executable, "-m", "baryon.onnx.tools.convert_opset_version", "none.onnx", "17", "t.onnx"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    score.check(done.returncode == 3 and "none.onnx" in done.stderr, f"an error: {done.stderr}")
    for name in ABSENT:
        raises(score, NotImplementedError, name, getattr, tools, name)


def check_samples(score):
    """Samples that make no sense are refused by what they are."""
    ones = np.ones((1, 3, 8, 8), np.float32)

    def run(data, **options):
        return baryon.quantize("model.onnx", preset="XINT8", data=data, **options)

    raises(score, ValueError, "character 0", run, [{"image\0x": ones}])
    for wrong in (b"abc", bytearray(b"abc"), memoryview(b"abc")):
        raises(score, TypeError, "samples cannot be", run, wrong)
    raises(score, TypeError, "1 is no name", run, {1: ones})
    for masked in (np.ma.masked_array(ones, mask=True), [{"image": np.ma.masked_array(ones, mask=True)}]):
        raises(score, ValueError, "masked values", run, masked)
    score.check(run(np.ma.masked_array(ones)).samples == 1, "an array without masked values")

    class Fewer(Again):
        def rewind(self):
            super().rewind()
            self.data = self.data[:-2]

    source = Fewer([{"image": ones * i} for i in range(1, 9)])
    from baryon._samples import open_source

    opened = open_source(source)
    opened.iterator, opened.whole = iter([]), 8
    raises(score, ValueError, "gives 0 when it is read again, 8 before", opened._end)


def check_messages(score, data):
    """What a user of Python reads is in his words."""
    failure = raises(score, ValueError, "give data=PATH", baryon.quantize, "model.onnx", preset="XINT8")
    score.check(failure is not None, "no options of the program")
    for options in ({"nodes": {"nope": "float"}}, {"nodes_between": [["nope", "fc1", {"weight": "int16"}]]}):
        try:
            baryon.quantize("model.onnx", preset="XINT8", data=data, **options)
        except ValueError as error:
            score.check("json" not in str(error) and str(error).startswith("'nope'"), f"{error}")
    raises(score, ValueError, "overwrite=True", baryon.quantize, "model.onnx", "model.onnx", approach="weights", force=True)
    pathlib.Path("not.stats").write_text("x", "utf-8")
    raises(score, ValueError, "overwrite=True", baryon.calibrate, "model.onnx", data, "not.stats")
    baryon.calibrate("model.onnx", data, "not.stats", overwrite=True)


def main():
    score = Score()
    data = samples()
    log = logging.getLogger("baryon")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    with workplace():
        check_dicts(score, data)
        check_layers(score, data)
        check_options(score, data)
        check_precedence(score)
        check_summary(score, data)
        check_quality(score, data)
        check_ranges(score, data)
        check_random(score)
        check_readers(score, data)
        check_nhwc(score, data)
        check_functions(score, data)
        check_paths(score)
        check_shapeshifter(score)
        check_tools(score)
        check_samples(score)
        check_messages(score, data)
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
