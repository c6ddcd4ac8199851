"""What becomes of each option, class, preset, tool and block of code of Quark's documents: all are run, and
docs/quark-compatibility.md has what happened. Nothing may pass without an effect or a word.

    test_compatibility.py           compares every tenth row with the table
    LONG=1 test_compatibility.py    compares all
    test_compatibility.py --write   writes it
"""

import contextlib
import io
import json
import logging
import os
import pathlib
import sys
from functools import partial

from world import ROOT, Again, Score, samples, workplace

import numpy as np
import onnx
from onnx import TensorProto, helper

import baryon
from baryon import onnx as bo
from baryon import shapeshifter
from baryon.onnx import Config, ModelQuantizer, QConfig, QLayerConfig
from baryon.onnx.quantization.config import get_default_config
from baryon.onnx.tools._table import ABSENT, TOOLS
from rich_model import rich
from seed_blocks import BLOCKS

TABLE = ROOT / "docs/quark-compatibility.md"
XINT8, A8W8, S8S8, BF16, MX6 = "XINT8", "A8W8", "S8S8_AAWS", "BF16", "MX6"
MINMSE = "XINT8_ADAROUND"
NBITS = "MATMUL_NBITS"
SAME = "changes nothing on the models of this test"

# What one would say, and beside which preset; an option may stand with others that it needs.
OPTIONS = {
    "The float graph": {
        "ShapeShifterYaml": ("passes.json", A8W8), "PreprocessYAML": ("passes.json", A8W8),
        "SkipPreprocess": (True, A8W8), "SimplifyModel": (False, A8W8), "SimplifyModelOptions": ({"a": 1}, A8W8),
        "RemoveInputInit": (False, A8W8), "CopySharedInit": ([], A8W8), "CopyBiasInit": (["Conv"], A8W8),
        "ConvertOpsetVersion": (21, A8W8), "FoldBatchNorm": (False, A8W8), "FuseInstanceNorm": (False, A8W8),
        "FuseL2Norm": (False, A8W8), "FuseGelu": (False, A8W8), "FuseLayerNorm": (False, A8W8),
        "ConvertClipToRelu": (True, A8W8), "ConvertSplitToSlice": (False, XINT8), "ConvertBNToConv": (False, XINT8),
        "ConvertReduceMeanToGlobalAvgPool": (False, XINT8), "SplitLargeKernelPool": (False, XINT8),
        "ReplaceClip6Relu": (True, XINT8), "FixShapes": ("image:[1,3,8,8]", A8W8), "FillAllValueInfo": (True, A8W8),
        "OptimizeModel": (False, A8W8), "ConvertFP16ToFP32": (True, A8W8), "ConvertNCHWToNHWC": (True, A8W8),
    },
    "What is quantized": {
        "InputNodes": (["fc1"], A8W8), "OutputNodes": (["relu1"], A8W8), "OpTypesToQuantize": (["Conv"], A8W8),
        "ExtraOpTypesToQuantize": (["Flatten"], A8W8), "NodesToQuantize": (["fc1"], A8W8),
        "QuantizeAllOpTypes": (True, A8W8), "WeightsOnly": (True, A8W8), "MatMulConstBOnly": (True, A8W8),
        "EnableSubgraph": (True, A8W8), "ForceQuantizeNoInputCheck": (False, XINT8), "AddQDQPairToWeight": (True, A8W8),
        "DedicatedQDQPair": (True, A8W8), "DedicateDQNode": (True, A8W8),
        "OpTypesToExcludeOutputQuantization": (["Gemm"], A8W8), "NodesToExcludeOutputQuantization": (["fc1"], A8W8),
        "QDQOpTypePerChannelSupportToAxis": ({"MatMul": 1}, A8W8), "QDQKeepRemovableActivations": (True, S8S8),
        "RemoveQDQConvClip": (False, A8W8), "RemoveQDQConvRelu": (False, A8W8), "RemoveQDQConvLeakyRelu": (False, A8W8),
        "RemoveQDQConvPRelu": (False, A8W8), "RemoveQDQConvGelu": (True, A8W8), "RemoveQDQInstanceNorm": (True, A8W8),
        "RemoveFusedQDQ": (True, MX6), "RemoveQDQMulAdd": (True, A8W8), "RemoveQDQBetweenOps": ([("Conv", "Relu")], A8W8),
        "EnableDualQuantNodePairs": (True, A8W8),
        "TensorQuantOverrides": ({"image": [{"quant_type": "QInt16", "convert": {"quant_type": "QInt8", "recv_nodes": {"conv1"}}}]}, A8W8),
        "MixedPrecisionTensor": ({"QInt16": ["image"]}, A8W8), "AlignEltwiseQuantType": (True, A8W8),
        "FoldRelu": (True, S8S8), "UseUnsignedReLU": (True, A8W8), "NodesWithMixedPrecision": (["conv1"], A8W8),
    },
    "Types, biases and scales": {
        "ActivationSymmetric": (False, A8W8), "WeightSymmetric": (False, A8W8), "QuantizeBias": (False, A8W8),
        "Int32Bias": (False, A8W8), "Int16Bias": (True, A8W8), "AdjustBiasScale": (False, A8W8),
        "AdjustWeightScaleForInt32Bias": (True, A8W8), "UsePowerOf2Scale": (False, "S16S8_ASWS"),
        "Int16Scale": (True, A8W8), "ActivationScaled": (True, BF16), "WeightScaled": (True, BF16),
        "WeightCalibrateMethod": ("MinMSE", "S8S8_AAWS"), "MinMSEModeFloatScale": ("All", A8W8),
        "QuantizeFP16": (True, A8W8), "UseFP32Scale": (False, A8W8), "BF16QDQToCast": (True, BF16),
        "BF16WithClip": (True, BF16), "EnableVaimlBF16": (True, BF16), "BFPAttributes": ({"block_size": 32}, MX6),
        "MXAttributes": ({"block_size": 16}, "MXINT8"), "RefineBlockAxis": (False, MX6),
        "UseMatMulNBits": (True, NBITS), "MatMulNBitsParams": ({"GroupSize": 32}, NBITS), "UseQDQContribOps": (True, S8S8),
    },
    "Calibration": {
        "CalibTensorRangeSymmetric": (False, S8S8), "CalibMovingAverage": (True, "INT8_CNN_DEFAULT"),
        "CalibMovingAverageConstant": (0.1, "INT8_CNN_DEFAULT"), "NumBins": (64, XINT8), "NumQuantizedBins": (64, XINT8),
        "Percentile": (90.0, S8S8), "PercentileCandidates": ([90.0, 99.0], XINT8), "LWPMetric": ("mse", XINT8),
        "LWPUseHistogram": (False, XINT8), "Scenario": ("p3", XINT8), "MinMSEModePof2Scale": ("MostCommon", XINT8),
        "CalibDataSize": (2, A8W8), "CalibOptimizeMem": (False, A8W8), "CalibWorkerNum": (4, A8W8),
        "CalibPassthroughOpTypes": (["Relu"], A8W8), "SaveTensorHistFig": (True, A8W8),
        "SaveAndRestore": ("ranges.json", A8W8), "TensorsRangeFile": ("ranges2.json", A8W8), "UseRandomData": (True, A8W8),
        "RandomDataReaderInputShape": ({"image": [1, 3, 8, 8]}, A8W8),
        "RandomDataReaderInputDataRange": ({"image": [0, 1]}, A8W8), "QuantizationPreference": ("speed", A8W8),
    },
    "Hardware": {
        "EnableNPUCnn": (False, XINT8), "SimulateDPU": (False, XINT8), "ConvertLeakyReluToDPUVersion": (False, XINT8),
        "ConvertSigmoidToHardSigmoid": (False, XINT8), "ConvertHardSigmoidToDPUVersion": (False, XINT8),
        "ConvertAvgPoolToDPUVersion": (False, XINT8), "ConvertReduceMeanToDPUVersion": (False, XINT8),
        "ConvertSoftmaxToDPUVersion": (True, XINT8), "ConvertInstanceNormToDPUVersion": (True, XINT8),
        "ConvertClipToDPUVersion": (True, XINT8), "NPULimitationCheck": (False, XINT8), "MaxLoopNum": (1, XINT8),
        "AdjustShiftCut": (False, XINT8), "AdjustShiftBias": (False, XINT8), "AdjustShiftRead": (False, XINT8),
        "AdjustShiftWrite": (False, XINT8), "AdjustHardSigmoid": (False, XINT8), "AdjustShiftSwish": (False, XINT8),
        "AlignConcat": (False, XINT8), "AlignPool": (False, XINT8), "AlignPad": (False, XINT8), "AlignSlice": (False, XINT8),
        "AlignTranspose": (True, A8W8), "AlignReshape": (True, A8W8),
    },
    "Algorithms and the rest": {
        "CLESteps": (2, XINT8), "CLEWeightThreshold": (0.1, XINT8), "CLEBalanceMethod": ("max", XINT8),
        "CLEScaleAppendBias": (True, XINT8), "CLEScaleUseThreshold": (False, XINT8),
        "CLETotalLayerDiffThreshold": (1e-6, XINT8), "FastFinetune": ({"DataSize": 4}, MINMSE), "SmoothAlpha": (0.5, A8W8),
        "RMatrixDim": (64, A8W8), "UseRandomHad": (True, A8W8), "RConfigPath": ("r.json", A8W8), "UseGPTQ": (True, A8W8),
        "GPTQParams": ({"BlockSize": 64}, A8W8), "BiasCorrection": (True, A8W8), "AutoMixprecision": ({"TargetLayerConfig": "Int8"}, "A16W8"),
        "EncryptionAlgorithm": ("AES-256", A8W8), "EvalMetrics": (True, A8W8), "EvalDataReader": (None, A8W8),
        "TmpDir": ("tmp", A8W8), "UserCustomOpLibPath": ("ops.so", A8W8), "DebugMode": (True, A8W8),
        "CryptoMode": (True, A8W8), "PrintSummary": (False, A8W8), "IgnoreWarnings": (False, A8W8),
        "UseExternalDataFormat": (True, A8W8),
    },
}  # fmt: skip
FIELDS = {
    "calibrate_method": bo.CalibrationMethod.Percentile, "quant_format": bo.QuantFormat.QOperator,
    "activation_type": bo.QuantType.QInt16, "weight_type": bo.QuantType.QUInt8, "input_nodes": ["fc1"],
    "output_nodes": ["relu1"], "op_types_to_quantize": ["Conv"], "extra_op_types_to_quantize": ["Flatten"],
    "nodes_to_quantize": ["fc1"], "nodes_to_exclude": ["fc1"], "exclude_nodes": ["fc1"],
    "subgraphs_to_exclude": [(["pool1"], ["flat1"])], "specific_tensor_precision": True,
    "execution_providers": ["CPUExecutionProvider"], "per_channel": True, "reduce_range": True, "optimize_model": False,
    "use_dynamic_quant": True, "use_external_data_format": True, "convert_fp16_to_fp32": True,
    "convert_nchw_to_nhwc": True, "include_sq": True, "include_rotation": True, "include_cle": False,
    "include_auto_mp": True, "include_fast_ft": True, "enable_npu_cnn": True, "enable_npu_transformer": True,
    "debug_mode": True, "crypto_mode": True, "print_summary": False, "ignore_warnings": False, "log_severity_level": 3,
}  # fmt: skip
PRESETS = """UINT8_DYNAMIC_QUANT XINT8 XINT8_ADAROUND XINT8_ADAQUANT VINT8 S8S8_AAWS S8S8_AAWS_ADAROUND S8S8_AAWS_ADAQUANT
U8S8_AAWS U8S8_AAWS_ADAROUND U8S8_AAWS_ADAQUANT U8U8_AAWA S16S8_ASWS S16S8_ASWS_ADAROUND S16S8_ASWS_ADAQUANT A8W8
A8W8_ADAROUND A8W8_ADAQUANT A16W8 A16W8_ADAROUND A16W8_ADAQUANT U16S8_AAWS U16S8_AAWS_ADAROUND U16S8_AAWS_ADAQUANT FP16
FP16_ADAQUANT BF16 BF16_ADAQUANT BFP16 BFP16_ADAQUANT MX4 MX4_ADAQUANT MX6 MX6_ADAQUANT MX9 MX9_ADAQUANT MXFP8E5M2
MXFP8E5M2_ADAQUANT MXFP8E4M3 MXFP8E4M3_ADAQUANT MXFP6E3M2 MXFP6E3M2_ADAQUANT MXFP6E2M3 MXFP6E2M3_ADAQUANT MXFP4E2M1
MXFP4E2M1_ADAQUANT MXINT8 MXINT8_ADAQUANT S16S16_MIXED_S8S8 BF16_MIXED_BFP16 BF16_MIXED_BFP16_ADAQUANT BF16_MIXED_MXINT8
BF16_MIXED_MXINT8_ADAQUANT BF16_BFP16 BF16_MXINT8 MX9_INT8 INT8_CNN_DEFAULT INT16_CNN_DEFAULT INT8_TRANSFORMER_DEFAULT
INT16_TRANSFORMER_DEFAULT INT8_CNN_ACCURATE INT16_CNN_ACCURATE INT8_TRANSFORMER_ACCURATE INT16_TRANSFORMER_ACCURATE
MATMUL_NBITS""".split()
CLASSES = """ModelQuantizer Config QConfig QLayerConfig QuantizationConfig QTensorConfig CalibMethod ScaleType QuantGranularity
Int4Spec UInt4Spec Int8Spec UInt8Spec XInt8Spec Int16Spec UInt16Spec Int32Spec UInt32Spec Float16Spec BFloat16Spec BFP16Spec
MX4Spec MX6Spec MX9Spec MXFP4E2M1Spec MXFP6E3M2Spec MXFP6E2M3Spec MXFP8E5M2Spec MXFP8E4M3Spec MXInt8Spec CLEConfig
BiasCorrectionConfig GPTQConfig AdaRoundConfig AdaQuantConfig SmoothQuantConfig QuarotConfig AutoMixprecisionConfig
XINT8_QCONFIG XINT8_ADAROUND_QCONFIG XINT8_ADAQUANT_QCONFIG VINT8_QCONFIG A8W8_QCONFIG A16W8_QCONFIG BF16_QCONFIG
BFP16_QCONFIG CalibrationMethod PowerOfTwoMethod LayerWiseMethod Int16Method QuantType QuantFormat ExtendedQuantType
ExtendedQuantFormat CalibrationDataReader RandomDataReader PathDataReader CachedDataReader quantize_static quantize_dynamic
dump_model get_library_path AutoSearch AutoSearchPro get_auto_search_config SearchSpace
generate_all_configs""".split()
SHAPESHIFTER = "Engine LoadConfigFromFileOrDict shapeshifter RunConfig ONNXModelConfig PytorchModelConfig ONNXPass".split()
PASSES = {
    "onnx_convert_fp16_to_fp32": {"convert_fp16_to_fp32": True}, "onnx_convert_opset_version": {"target_opset_version": 21},
    "onnx_simplify": {"simplify": True}, "onnx_optimize_with_ort": {"optimize_with_ort": True},
    "onnx_remove_input_init": {"remove_input_init": True}, "onnx_copy_shared_init": {"shared_init_op_types": ["Conv"]},
    "onnx_copy_bias_init": {"shared_bias_op_types": ["Conv"]}, "onnx_fold_batch_norm": {"fold_batch_norm": True},
    "onnx_fold_batch_norm_after_concat": {"fold_batch_norm_after_concat": True},
    "onnx_fold_div_into_matmul": {"fold_div_into_matmul": True}, "onnx_fuse_instance_norm": {"fuse_instance_norm": True},
    "onnx_fuse_l2_norm": {"fuse_l2_norm": True}, "onnx_fuse_gelu": {"fuse_gelu": True},
    "onnx_fuse_layer_norm": {"fuse_layer_norm": True}, "onnx_convert_bn_to_conv": {"convert_bn_to_conv": True},
    "onnx_convert_reduce_mean_to_global_avg_pool": {"convert_reduce_mean_to_global_avg_pool": True},
    "onnx_convert_split_to_slice": {"convert_split_to_slice": True},
    "onnx_convert_clip_to_relu": {"convert_clip_to_relu": True},
    "onnx_split_large_kernel_pool": {"split_large_kernel_pool": True},
    "onnx_convert_nchw_to_nhwc": {"convert_nchw_to_nhwc": True},
    "onnx_fix_shapes": {"input_output_name_shapes": {"image": [1, 3, 8, 8]}},
    "onnx_cross_layer_equalization": {"cross_layer_equalization": True}, "onnx_align_scale": {"align_scale": ["Concat"]},
    "onnx_adjust_bias_scale": {"adjust_bias_scale": True},
    "onnx_constrain_per_channel_weight_scale": {"constrain_per_channel_weight_scale": True},
    "onnx_xint8_adjust": {"xint8_adjust": True}, "onnx_xint8_simulate": {"xint8_simulate": True},
    "onnx_insert_clip_before_bfloat16_qdq": {"insert_clip_before_bfloat16_qdq": True},
    "onnx_replace_bfloat16_qdq_with_cast": {"replace_bfloat16_qdq_with_cast": True},
    "onnx_remove_bfloat16_cast": {"remove_bfloat16_cast": True},
    "onnx_remove_qdq_between_op_types": {"remove_qdq_between_op_types": [["Conv", "Relu"]]},
    "onnx_set_node_attributes": {"node_attribute_updates": [{"node_name": "fc1", "attributes": {"alpha": 1.0}}]},
    "pytorch_remove_dropout": {"remove_dropout": True}, "pytorch_trace_model": {"input_shapes": {}},
}  # fmt: skip

OF_FINISHED = ("onnx_align_scale", "onnx_adjust_bias_scale", "onnx_constrain_per_channel_weight_scale", "onnx_xint8_adjust")


class Notices(logging.Handler):
    def __init__(self):
        super().__init__()
        self.texts = []

    def emit(self, record):
        self.texts.append(record.getMessage())


@contextlib.contextmanager
def told():
    handler, log = Notices(), logging.getLogger("baryon")
    log.addHandler(handler)
    try:
        yield handler.texts
    finally:
        log.removeHandler(handler)


def make_product():
    """A product with constants, for what is about MatMul alone."""
    weights = np.random.default_rng(1).normal(size=(64, 16)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["image", "w"], ["y"], "product")], "g",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 64])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16])], [onnx.numpy_helper.from_array(weights, "w")],
    )  # fmt: skip
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "product.onnx")


def quantize(config, data, model="model.onnx"):
    """Bytes of the model, with those of its data file, and what was told of effects that there are none of."""
    quantizer = ModelQuantizer(config)
    with told() as texts, contextlib.redirect_stdout(io.StringIO()):
        quantizer.quantize_model(model, "out.onnx", data)
    made = b"".join(pathlib.Path(name).read_bytes() for name in ("out.onnx", "out.onnx.data") if os.path.exists(name))
    with contextlib.suppress(FileNotFoundError):
        os.unlink("out.onnx.data")
    return made, [text for text in texts if "no effect" in text and not text.startswith("the samples have no effect")]


def short(text):
    """A message as a cell of the table."""
    text = " ".join(str(text).split()).replace("|", "\\|")
    return text if len(text) < 170 else text[:167] + "..."


def outcome(run, base=None):
    """The state and its reason."""
    try:
        made, texts = run()
    except NotImplementedError as failure:
        return "refused", short(failure)
    except (baryon.Error, ValueError, TypeError, AttributeError) as failure:
        return "refused", short(failure)
    if texts:
        return "no effect", short(texts[0])
    return ("done", "") if base is None or made != base else ("done", SAME)


class World:
    def __init__(self):
        onnx.save(rich(), "rich.onnx")
        onnx.save(rich(half=True), "half.onnx")
        self.data = samples()
        self.bases = {}
        wide = samples(shape=(1, 3, 16, 16))
        self.readers = {"model.onnx": self.data, "product.onnx": samples(shape=(1, 64)), "rich.onnx": wide, "half.onnx": wide}

    def base(self, preset, model):
        if (preset, model) not in self.bases:
            made = quantize(Config(get_default_config(preset)), Again(self.readers[model]), model)[0]
            self.bases[preset, model] = made
        return self.bases[preset, model]

    def option(self, name, value, preset):
        """On the first model where it changes something."""
        for model in ("product.onnx",) if preset == NBITS else ("model.onnx", "rich.onnx", "half.onnx"):
            found = self.option_of(model, name, value, preset)
            if found[1] != SAME:
                break
        return found

    def option_of(self, model, name, value, preset):
        config = get_default_config(preset)
        data = self.readers[model]
        if name in ("SaveAndRestore", "TensorsRangeFile"):
            value = model + value
        if name == "EvalDataReader":
            value = Again(data)
            config.extra_options["EvalMetrics"] = True
        config.extra_options[name] = value
        reader = None if name.startswith(("RandomData", "UseRandomData")) else Again(data)
        if name.startswith("RandomData"):
            config.extra_options["UseRandomData"] = True
        if name == "TensorsRangeFile":
            config.extra_options["SaveAndRestore"] = None
        return outcome(lambda: quantize(Config(config), reader, model), self.base(preset, model))

    def field(self, name, value):
        for model in ("model.onnx", "rich.onnx", "half.onnx"):
            found = self.field_of(model, name, value)
            if found[1] != SAME:
                break
        return found

    def field_of(self, model, name, value):
        config = get_default_config(A8W8)
        setattr(config, name, value)
        if name == "specific_tensor_precision":
            config.extra_options["MixedPrecisionTensor"] = {"QInt16": ["image"]}
        return outcome(lambda: quantize(Config(config), Again(self.readers[model]), model), self.base(A8W8, model))


def rows_of_options(world):
    for group, options in OPTIONS.items():
        for name, (value, preset) in options.items():
            yield group, f"`{name}`", partial(world.option, name, value, preset)


def rows_of_fields(world):
    for name, value in FIELDS.items():
        yield "Fields of QuantizationConfig", f"`{name}`", partial(world.field, name, value)


def rows_of_presets(world):
    for name in PRESETS:
        model = "product.onnx" if name == NBITS else "model.onnx"
        config = Config(get_default_config(name))
        yield "Presets", f"`{name}`", partial(outcome, partial(quantize, config, Again(world.readers[model]), model))


def specification(name, data):
    spec = getattr(bo, name)()
    made = QConfig(QLayerConfig(input_tensors=spec, weight=spec))
    return lambda: quantize(made, Again(data))


def rows_of_classes(world):
    for name in CLASSES:
        def there(name=name):
            value = getattr(bo, name)
            if name.endswith("Config") and name not in ("Config", "QConfig", "QTensorConfig", "QLayerConfig"):
                value()
            return b"", []

        run = specification(name, world.data) if name.endswith("Spec") else there
        yield "Classes and functions", f"`{name}`", partial(outcome, run)
    for name in SHAPESHIFTER:
        yield "Classes and functions", f"`shapeshifter.{name}`", partial(outcome, lambda name=name: (getattr(shapeshifter, name), []))


def run_pass(name, parameters):
    finished = "qdq" in name or name in OF_FINISHED
    with told() as texts:
        made = shapeshifter.Engine({"passes": {name: parameters}}).run("static.onnx" if finished else "model.onnx")
    return made.SerializeToString(), [text for text in texts if "does nothing" in text]


def rows_of_passes():
    for name, parameters in PASSES.items():
        yield "Passes", f"`{name}`", partial(outcome, partial(run_pass, name, parameters))


def rows_of_tools():
    for name in sorted({*TOOLS, *ABSENT, "evaluate"}):
        state = ("refused", short(ABSENT[name])) if name in ABSENT else ("done", "")
        yield "Tools", f"`{name}`", lambda state=state: state


def rows_of_blocks():
    """tests/python/test_seeds.py runs them."""
    for name, (_, waits) in BLOCKS.items():
        state = ("refused", f"waits for {waits}") if waits else ("done", "")
        yield "Blocks of code", name, lambda state=state: state


def all_rows(world):
    for rows in (rows_of_options(world), rows_of_fields(world), rows_of_presets(world), rows_of_classes(world),
                 rows_of_passes(), rows_of_tools(), rows_of_blocks()):  # fmt: skip
        yield from rows


def line_of(name, found):
    return "| " + " | ".join((name, *found)) + " |"


def written(rows):
    lines = [
        "# What of Quark's documents is there",
        "",
        "Made by `tests/python/test_compatibility.py --write`, which runs each row on small models. *done*: it is acted on; "
        "*no effect*: it is accepted, and a notice says why it changes nothing; *refused*: an error says why.",
    ]
    last = None
    for group, name, run in rows:
        if group != last:
            last = group
            lines += ["", f"## {group}", "", "| | state | |", "|---|---|---|"]
        lines.append(line_of(name, run()))
    return "\n".join(lines) + "\n"


def compare_some(score, rows):
    """Every tenth row, and that there are no others; `make check-all` compares all."""
    kept = TABLE.read_text("utf-8").splitlines()
    for number, (_, name, run) in enumerate(rows):
        if number % 10 == 3:
            line = line_of(name, run())
            score.check(line in kept, f"docs/quark-compatibility.md has not: {line}")
        else:
            score.check(any(line.startswith(f"| {name} |") for line in kept), f"docs/quark-compatibility.md has no {name}")


def main():
    score = Score()
    log = logging.getLogger("baryon")
    log.addHandler(logging.NullHandler())
    log.propagate = False
    with workplace():
        make_product()
        pathlib.Path("passes.json").write_text(json.dumps({"passes": {"onnx_simplify": {"simplify": True}}}), "utf-8")
        world = World()
        with contextlib.redirect_stdout(io.StringIO()):
            bo.quantize_static("model.onnx", "static.onnx", Again(world.data))
        if "--write" in sys.argv:
            TABLE.write_text(written(all_rows(world)), "utf-8")
            return 0
        if not os.environ.get("LONG"):
            compare_some(score, all_rows(world))
            return score.finish()
        text, kept = written(all_rows(world)), TABLE.read_text("utf-8")
    for line in text.splitlines():
        score.check(line in kept.splitlines(), f"docs/quark-compatibility.md has not: {line}")
    score.check(kept == text, "docs/quark-compatibility.md has other rows; --write makes it anew")
    return score.finish()


if __name__ == "__main__":
    raise SystemExit(main())
