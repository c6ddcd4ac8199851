/* Names that files have for passes: those of Quark's Shapeshifter, and ours with parameters. Passes
 * of ours without parameters need no row. */
#include "convert/params.h"

#include "config/config.h"

#define PASSES(...)                                                                                \
    (const char *const[])                                                                          \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }
/* clang-format off */
/* One of theirs that a parameter of nearly the same name switches on. */
#define SWITCHED(peer, on, ...)                                                                    \
    {.name = (peer), .passes = PASSES(__VA_ARGS__), .switched = true, .params = {{(on), by_take_on}}}
#define NOT_HERE(peer, what) {.name = (peer), .instead = (what)}
#define OF_TYPES                                                                                   \
    {"subgraphs_to_include", by_take_regions}, {"keep_io", by_take_keep_io},                       \
    {"clamp", by_take_clamp}, {"exclude", by_take_exclude},                                        \
    {"exclude_op_types", by_take_exclude_ops}, {"subgraphs_to_exclude", by_take_exclude_spans}
#define OF_BOUNDING                                                                                \
    {"min_w_scale", by_take_least_scale}, {"adaptive_min_w_scale", by_take_adaptive},              \
    {"maxmin_scale_ratio", by_take_ratio}, {"adjust_bias", by_take_follow}
#define OF_EQUALIZING                                                                              \
    {"op_types_to_quantize", by_take_only_ops}, {"nodes_to_quantize", by_take_only_nodes},         \
    {"nodes_to_exclude", by_take_exclude}, {"replace_clip6_relu", by_take_replace},                \
    {"cle_steps", by_take_cle_steps}, {"cle_balance_method", by_take_cle_balance},                 \
    {"cle_weight_threshold", by_take_cle_threshold},                                               \
    {"cle_scale_append_bias", by_take_cle_bias}, {"cle_scale_use_threshold", by_take_cle_uses},    \
    {"cle_total_layer_diff_threshold", by_take_cle_difference}
/* clang-format on */

/* Constants are folded, what does nothing goes, and what layers can take in they do. */
#define SIMPLER                                                                                    \
    "lift-constants", "fold-shapes", "fold-reshape", "fold-constants", "remove-noops",             \
        "merge-moves", "merge-activations", "remove-dead", "fold-scale", "fold-batch-norm",        \
        "matmul-add-to-gemm", "fold-pad"

#define OF_PYTORCH "it is a pass of PyTorch models; export the model to ONNX"

static const struct by_convert_row rows[] = {
    {.name = "onnx_convert_fp16_to_fp32",
     .passes = PASSES("fp16-to-fp32"),
     .switched = true,
     .params = {{"convert_fp16_to_fp32", by_take_on}, {"subgraphs_to_include", by_take_regions}}},
    {.name = "onnx_convert_opset_version",
     .passes = PASSES("convert-opset"),
     .switched = true,
     .params = {{"target_opset_version", by_take_opset}}},
    {.name = "onnx_simplify",
     .passes = PASSES(SIMPLER),
     .switched = true,
     .params = {{"simplify", by_take_on}, {"options", by_take_no_options}}},
    SWITCHED("onnx_optimize_with_ort", "optimize_with_ort", SIMPLER),
    SWITCHED("onnx_remove_input_init", "remove_input_init", "remove-input-init"),
    {.name = "onnx_copy_shared_init",
     .passes = PASSES("copy-shared-init"),
     .params = {{"shared_init_op_types", by_take_shared}}},
    {.name = "onnx_copy_bias_init",
     .passes = PASSES("copy-bias-init"),
     .params = {{"shared_bias_op_types", by_take_biases}}},
    SWITCHED("onnx_fold_batch_norm", "fold_batch_norm", "fold-batch-norm"),
    SWITCHED("onnx_fold_batch_norm_after_concat", "fold_batch_norm_after_concat",
             "fold-batch-norm-concat"),
    SWITCHED("onnx_fold_div_into_matmul", "fold_div_into_matmul", "fold-div-matmul"),
    SWITCHED("onnx_fuse_instance_norm", "fuse_instance_norm", "fuse-instance-norm"),
    SWITCHED("onnx_fuse_l2_norm", "fuse_l2_norm", "fuse-l2-norm"),
    SWITCHED("onnx_fuse_gelu", "fuse_gelu", "fuse-gelu"),
    SWITCHED("onnx_fuse_layer_norm", "fuse_layer_norm", "fuse-layer-norm"),
    SWITCHED("onnx_convert_bn_to_conv", "convert_bn_to_conv", "batch-norm-to-conv"),
    SWITCHED("onnx_convert_reduce_mean_to_global_avg_pool",
             "convert_reduce_mean_to_global_avg_pool", "reduce-mean-to-global-average-pool"),
    SWITCHED("onnx_convert_split_to_slice", "convert_split_to_slice", "split-to-slice"),
    SWITCHED("onnx_convert_clip_to_relu", "convert_clip_to_relu", "clip-to-relu"),
    SWITCHED("onnx_split_large_kernel_pool", "split_large_kernel_pool", "split-large-pool"),
    {.name = "onnx_convert_nchw_to_nhwc",
     .passes = PASSES("nchw-to-nhwc"),
     .switched = true,
     .params = {{"convert_nchw_to_nhwc", by_take_nhwc}}},
    {.name = "onnx_fix_shapes",
     .passes = PASSES("fix-shapes"),
     .switched = true,
     .params = {{"input_output_name_shapes", by_take_shapes}}},
    {.name = "onnx_cross_layer_equalization",
     .work = by_convert_equalize,
     .switched = true,
     .params = {{"cross_layer_equalization", by_take_on}, OF_EQUALIZING}},
    {.name = "onnx_align_scale",
     .work = by_convert_align,
     .switched = true,
     .params = {{"align_scale", by_take_align}}},
    {.name = "onnx_adjust_bias_scale",
     .work = by_convert_bias_scales,
     .switched = true,
     .params = {{"adjust_bias_scale", by_take_on}}},
    {.name = "onnx_constrain_per_channel_weight_scale",
     .work = by_convert_bound,
     .switched = true,
     .params = {{"constrain_per_channel_weight_scale", by_take_on}, OF_BOUNDING}},
    {.name = "onnx_xint8_adjust",
     .work = by_convert_xint8,
     .switched = true,
     .params = {{"xint8_adjust", by_take_on}}},
    SWITCHED("onnx_xint8_simulate", "xint8_simulate", "leaky-relu-dpu", "sigmoid-to-hard-sigmoid",
             "hard-sigmoid-dpu", "average-pool-dpu", "reduce-mean-dpu", "softmax-dpu", "clip-dpu"),
    {.name = "onnx_insert_clip_before_bfloat16_qdq",
     .work = by_convert_clips,
     .switched = true,
     .params = {{"insert_clip_before_bfloat16_qdq", by_take_on}}},
    {.name = "onnx_replace_bfloat16_qdq_with_cast",
     .work = by_convert_casts,
     .switched = true,
     .params = {{"replace_bfloat16_qdq_with_cast", by_take_on}}},
    {.name = "onnx_remove_bfloat16_cast",
     .work = by_convert_no_casts,
     .switched = true,
     .params = {{"remove_bfloat16_cast", by_take_on}}},
    {.name = "onnx_remove_qdq_between_op_types",
     .work = by_convert_between,
     .switched = true,
     .params = {{"remove_qdq_between_op_types", by_take_between}}},
    {.name = "onnx_set_node_attributes",
     .work = by_convert_attributes,
     .switched = true,
     .params = {{"node_attribute_updates", by_take_updates}}},
    NOT_HERE("pytorch_remove_dropout", OF_PYTORCH),
    NOT_HERE("pytorch_trace_model", OF_PYTORCH),

    {.name = "set-attributes",
     .peer = "onnx_set_node_attributes",
     .help = "Set attributes of nodes that have them",
     .work = by_convert_attributes,
     .switched = true,
     .params = {{"nodes", by_take_updates}}},
    {.name = "equalize",
     .peer = "onnx_cross_layer_equalization",
     .help = "Equalize channels of consecutive layers of a float model",
     .work = by_convert_equalize,
     .params = {OF_EQUALIZING}},
    {.name = "align-scales",
     .peer = "onnx_align_scale",
     .help = "Give inputs and output of Concat, pools, Pad, Slice, Transpose and Reshape of a "
             "quantized model one scale",
     .work = by_convert_align,
     .params = {{"op_types", by_take_align}}},
    {.name = "bias-scales",
     .peer = "onnx_adjust_bias_scale",
     .help = "Give int32 biases of a quantized model the scale of input times weight",
     .work = by_convert_bias_scales},
    {.name = "bound-weight-scales",
     .peer = "onnx_constrain_per_channel_weight_scale",
     .help = "Enlarge the smallest scales of a quantized weight if those of its channels are too "
             "far apart",
     .work = by_convert_bound,
     .params = {OF_BOUNDING}},
    {.name = "refine-xint8",
     .peer = "onnx_xint8_adjust",
     .help = "Move power-of-two scales of a quantized model until the hardware rules of XINT8 hold",
     .work = by_convert_xint8},
    {.name = "fp16-to-fp32", .passes = PASSES("fp16-to-fp32"), .params = {OF_TYPES}},
    {.name = "bf16-to-fp32", .passes = PASSES("bf16-to-fp32"), .params = {OF_TYPES}},
    {.name = "fp32-to-fp16",
     .passes = PASSES("lift-constants", "fp32-to-fp16"),
     .params = {OF_TYPES}},
    {.name = "fp32-to-bf16",
     .passes = PASSES("lift-constants", "fp32-to-bf16"),
     .params = {OF_TYPES}},
    {.name = "convert-opset",
     .passes = PASSES("convert-opset"),
     .switched = true,
     .params = {{"opset", by_take_opset}}},
    {.name = "copy-shared-init",
     .passes = PASSES("copy-shared-init"),
     .params = {{"op_types", by_take_shared}}},
    {.name = "copy-bias-init",
     .passes = PASSES("copy-bias-init"),
     .params = {{"op_types", by_take_biases}}},
    {.name = "nchw-to-nhwc",
     .passes = PASSES("nchw-to-nhwc"),
     .params = {{"inputs", by_take_nhwc}}},
    {.name = "fix-shapes",
     .passes = PASSES("fix-shapes"),
     .switched = true,
     .params = {{"shapes", by_take_shapes}}},
};

const struct by_convert_row *by_convert_rows(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}

const struct by_convert_row *by_convert_row_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (by_config_same_name(name, rows[i].name))
            return &rows[i];
    return NULL;
}

const struct by_convert_row *by_convert_listed(size_t index)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].help && index-- == 0)
            return &rows[i];
    return NULL;
}
