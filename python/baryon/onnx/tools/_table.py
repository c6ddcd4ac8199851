"""Quark's tools that rewrite or quantize models, and those that there are not."""

from ._tool import Quantizer, Tool, on, shapes, spans

_PLACES = ("--input_model", "--output_model")
_SHORT = ("--input", "--output")
_SHAPES = {"--fix_shapes": {"required": True, "metavar": "NAME:[SIZES];...", "help": "sizes of inputs"}}


def _fix_shapes(options):
    return {"onnx_fix_shapes": {"input_output_name_shapes": shapes(options.fix_shapes)}}


def _to_fp32(options):
    parts = [span for text in options.subgraphs_to_include or [] for span in spans(text)]
    return {"onnx_convert_fp16_to_fp32": {"convert_fp16_to_fp32": True, **({"subgraphs_to_include": parts} if parts else {})}}


def _copy_shared(options):
    names = [name.strip() for name in (options.op_types or "").strip("[]").split(",") if name.strip(" '\"")]
    return {"onnx_copy_shared_init": {"shared_init_op_types": [name.strip(" '\"") for name in names]}}


def _preset(name, **extra):
    from ..quantization.config.config import QConfig

    config = QConfig.get_default_config(name)
    config.global_quant_config.extra_options.update(extra)
    return config


def _bf16(options):
    return _preset("BF16", **({"BF16QDQToCast": True} if options.format == "with_cast" else {}))


def _random(options):
    config = _preset(options.config, UseRandomData=True)
    fields = config.global_quant_config
    if options.exclude_nodes:
        fields.nodes_to_exclude = [name.strip() for name in options.exclude_nodes.split(";") if name.strip()]
    if options.exclude_subgraphs:
        fields.subgraphs_to_exclude = spans(options.exclude_subgraphs)
    return config


def _between(options):
    if options.between_ops is None:
        raise ValueError("--between_ops: pairs of operators are needed, such as Mul,Add;Conv,Relu")
    pairs = [[name.strip(" '\"()[]") for name in pair.split(",")] for pair in options.between_ops.split(";")]
    return {"onnx_remove_qdq_between_op_types": {"remove_qdq_between_op_types": pairs}}


_FORMAT = {"--format": {"default": "with_cast", "choices": ("with_cast", "vitisqdq"),
                        "help": "Casts, or Quark's operators"}}  # fmt: skip
_FP16 = {"--keep_io_types": {"action": "store_true"}, "--disable_shape_infer": {"action": "store_true"},
         "--all_tensors_to_one_file": {"action": "store_true"}, "--not_simplify": {"action": "store_true"}}  # fmt: skip
TOOLS = {
    "convert_dynamic_to_fixed": Tool("Gives inputs fixed sizes.", ("input", "output"), _fix_shapes, _SHAPES),
    "fix_shapes": Tool("Gives inputs fixed sizes.", ("--input_model_path", "--output_model_path"), _fix_shapes, _SHAPES),
    "convert_fp16_to_fp32": Tool(
        "Makes float32 of float16, everywhere or between nodes.", _SHORT, _to_fp32,
        {"--subgraphs_to_include": {"nargs": "*", "metavar": "[STARTS],[ENDS]"}}),
    "convert_fp32_to_fp16": Tool(
        "Makes float16 of float32.", ("input", "output"),
        lambda options: {"fp32-to-fp16": {"keep_io": options.keep_io_types, "clamp": True}}, _FP16),
    "convert_fp32_to_bf16": Quantizer("Makes bfloat16 of float32.", _SHORT, _bf16, _FORMAT),
    "convert_fp16_to_bf16": Quantizer("Makes bfloat16 of float16.", _SHORT, _bf16, _FORMAT),
    "convert_fp32_to_bfp16": Quantizer("Makes blocks of BFP16 of float32.", _SHORT, lambda _: _preset("BFP16")),
    "convert_fp16_to_bfp16": Quantizer("Makes blocks of BFP16 of float16.", _SHORT, lambda _: _preset("BFP16")),
    "convert_nchw_to_nhwc": Tool("Makes inputs NHWC.", ("input", "output"), on("onnx_convert_nchw_to_nhwc")),
    "convert_opset_version": Tool(
        "Converts to another opset.", ("input", "target_opset", "output"),
        lambda options: {"onnx_convert_opset_version": {"target_opset_version": options.target_opset}}),
    "convert_shared_initializer_to_unique": Tool(
        "Copies constants that several nodes share.", _SHORT, _copy_shared, {"--op_types": {"metavar": "TYPE,..."}}),
    "insert_clip_bfloat16_qdq": Tool(
        "Puts a Clip before what quantizes to bfloat16.", _PLACES, on("onnx_insert_clip_before_bfloat16_qdq")),
    "remove_bf16_cast": Tool("Removes pairs of Casts.", ("input", "output"), on("onnx_remove_bfloat16_cast")),
    "remove_initializer_from_input": Tool("Removes constants from the inputs.", _SHORT, on("onnx_remove_input_init")),
    "remove_qdq_between_ops": Tool(
        "Removes Q/DQ pairs between operators.", _PLACES, _between, {"--between_ops": {"metavar": "FROM,TO;..."}}),
    "remove_qdq_mul_add": Tool(
        "Removes Q/DQ pairs between Mul and Add.", _PLACES,
        lambda _: {"onnx_remove_qdq_between_op_types": {"remove_qdq_between_op_types": [["Mul", "Add"]]}}),
    "replace_bfloat16_qdq_cast": Tool(
        "Makes Casts of pairs of bfloat16.", _PLACES, on("onnx_replace_bfloat16_qdq_with_cast")),
    "random_quantize": Quantizer(
        "Quantizes with random samples, to try a model out.", ("--input_model_path", "--quantized_model_path"), _random,
        {"--config": {"default": "XINT8"}, "--exclude_nodes": {"metavar": "NAME;..."},
         "--exclude_subgraphs": {"metavar": "([STARTS],[ENDS]);..."}}),
}  # fmt: skip
ABSENT = {
    "convert_a8w8_npu_to_a8w8_cpu": "quantize with Int32Bias=True, which gives such biases",
    "convert_bias_int32_to_int16": "quantize with Int16Bias=True, which makes scales that 16 bits suffice for",
    "convert_custom_ops": "the library of operators has both domains, com.amd.quark and com.vai.quantize",
    "convert_customqdq_to_qdq": "quantize with UseQDQContribOps=True, which writes com.microsoft's operators",
    "convert_lstm_to_customlstm": "LSTM stays one of ai.onnx",
    "convert_onnx_to_onnxtxt": "onnx.printer, or protobuf's text_format, shows a model as text",
    "convert_onnxtxt_to_onnx": "onnx.parser, or protobuf's text_format, reads a model from text",
    "convert_qdq_to_qop": "quantize with QuantFormat.QOperator",
    "convert_quant_to_float": "the float model is what it was made from",
    "convert_resize_fs_to_pof2s": "quantize with scales that are powers of two",
    "convert_s8s8_to_u8s8": "quantize with activations of UInt8Spec",
    "convert_u16s8_to_s16s8": "quantize with activations of Int16Spec",
    "convert_u16u8_to_u8u8": "quantize with activations of UInt8Spec",
    "print_a16w8_a8w8_nodes": "baryon.quantize(...).plan says the type of each tensor",
    "remove_qdq": "the float model is what it was made from",
    "replace_inf_weights": "layers with weights that are infinite stay float by themselves",
    "save_tensor_hist": "baryon.calibrate(...).histogram() has the bins",
    "save_weights_hist": "'baryon inspect' shows the constants of a model",
}  # fmt: skip
