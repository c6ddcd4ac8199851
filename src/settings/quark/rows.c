/* Quark's options, one row each. */
#include "settings/quark/alias.h"

#include <pthread.h>

#define FLAG(peer, yes, no)                                                                        \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_FLAG, .on = (yes), .off = (no)                            \
    }
#define VALUE(peer, option)                                                                        \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_VALUE, .on = (option)                                     \
    }
#define WORDS(peer, list)                                                                          \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_WORDS, .words = (list)                                    \
    }
#define FIXED(peer, value)                                                                         \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_FIXED, .on = (value)                                      \
    }
/* Words and options of calibration methods, which their rows have. */
#define METHODS(peer) WORDS(peer, NULL)
#define METHOD_OPTIONS                                                                             \
    {                                                                                              \
        .name = NULL                                                                               \
    }
#define SPECIAL(peer, function)                                                                    \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_SPECIAL, .take = (function)                               \
    }
#define LATER(peer)                                                                                \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_LATER                                                     \
    }
/* usual: the default of Quark; NULL: none or False. */
#define IDLE(peer, usual, why)                                                                     \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_IDLE, .on = (why), .off = (usual)                         \
    }
#define NEVER(peer, why)                                                                           \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_NEVER, .on = (why)                                        \
    }
#define PASS(peer, name) FLAG(peer, "pass=" name, "pass=-" name)
/* Rules of hardware know the peer's names as well: which rule it is depends on the hardware. */
#define REFINE(peer) FLAG(peer, "refine=" peer, "refine=-" peer)

static const struct by_alias_word formats[] = {
    {"QDQ", "format=qdq"},
    {"QOperator", "format=qoperator"},
    {"ExtendedQuantFormat.QDQ", "format=qdq;?domain=microsoft;hardware=extended;?operators=npu"},
    {0},
};

static const struct by_alias_word activations[] = {
    {"QInt8", "activation=int8"},
    {"QUInt8", "activation=uint8"},
    {"QInt16", "activation=int16"},
    {"QUInt16", "activation=uint16"},
    {"QInt4", "activation=int4"},
    {"QUInt4", "activation=uint4"},
    {"Int8", "activation=int8"},
    {"UInt8", "activation=uint8"},
    {"Int16", "activation=int16"},
    {"UInt16", "activation=uint16"},
    {"QFLOAT8E4M3FN", "activation=fp8_e4m3"},
    {"QFLOAT8E5M2", "activation=fp8_e5m2"},
    {"QBFloat16", "activation=bf16"},
    {"QFloat16", "activation=fp16"},
    {"QBFP", "activation=bfp16"},
    {"QMX", "activation=mxint8"},
    {"BFloat16", "activation=bf16"},
    {"Float16", "activation=fp16"},
    {"BFP16", "activation=bfp16"},
    {"MX4", "activation=mx4"},
    {"MX6", "activation=mx6"},
    {"MX9", "activation=mx9"},
    {"MXINT8", "activation=mxint8"},
    {"MXFP8E5M2", "activation=mxfp8_e5m2"},
    {"MXFP8E4M3", "activation=mxfp8_e4m3"},
    {"MXFP6E3M2", "activation=mxfp6_e3m2"},
    {"MXFP6E2M3", "activation=mxfp6_e2m3"},
    {"MXFP4E2M1", "activation=mxfp4_e2m1"},
    {0},
};

static const struct by_alias_word weights[] = {
    {"QInt8", "weight=int8"},
    {"QUInt8", "weight=uint8"},
    {"QInt16", "weight=int16"},
    {"QUInt16", "weight=uint16"},
    {"QInt4", "weight=int4"},
    {"QUInt4", "weight=uint4"},
    {"QInt32", "weight=int32"},
    {"Int8", "weight=int8"},
    {"UInt8", "weight=uint8"},
    {"Int16", "weight=int16"},
    {"UInt16", "weight=uint16"},
    {"Int32", "weight=int32"},
    {"QFLOAT8E4M3FN", "weight=fp8_e4m3"},
    {"QFLOAT8E5M2", "weight=fp8_e5m2"},
    {"QBFloat16", "weight=bf16"},
    {"QFloat16", "weight=fp16"},
    {"QBFP", "weight=bfp16"},
    {"QMX", "weight=mxint8"},
    {"BFloat16", "weight=bf16"},
    {"Float16", "weight=fp16"},
    {"BFP16", "weight=bfp16"},
    {"MX4", "weight=mx4"},
    {"MX6", "weight=mx6"},
    {"MX9", "weight=mx9"},
    {"MXINT8", "weight=mxint8"},
    {"MXFP8E5M2", "weight=mxfp8_e5m2"},
    {"MXFP8E4M3", "weight=mxfp8_e4m3"},
    {"MXFP6E3M2", "weight=mxfp6_e3m2"},
    {"MXFP6E2M3", "weight=mxfp6_e2m3"},
    {"MXFP4E2M1", "weight=mxfp4_e2m1"},
    {0},
};

#define NPU     "hardware=xint8"
#define NOT_NPU "hardware=none;?operators=cnn;?simulate-dpu=false"

static const struct by_alias rows[] = {
    /* --- Fields of a configuration --- */
    VALUE("input_nodes", "input-nodes"),
    VALUE("InputNodes", "input-nodes"),
    VALUE("output_nodes", "output-nodes"),
    VALUE("OutputNodes", "output-nodes"),
    VALUE("op_types_to_quantize", "op-types"),
    VALUE("OpTypesToQuantize", "op-types"),
    VALUE("extra_op_types_to_quantize", "extra-op-types"),
    VALUE("ExtraOpTypesToQuantize", "extra-op-types"),
    VALUE("nodes_to_quantize", "nodes"),
    VALUE("NodesToQuantize", "nodes"),
    VALUE("nodes_to_exclude", "exclude"),
    VALUE("exclude_nodes", "exclude"),
    SPECIAL("subgraphs_to_exclude", by_alias_spans),
    FLAG("specific_tensor_precision", NULL, NULL),
    SPECIAL("MixedPrecisionTensor", by_alias_mixed),
    SPECIAL("execution_providers", by_alias_providers),
    SPECIAL("ExecutionProviders", by_alias_providers),
    FLAG("per_channel", "weight-granularity=channel", "weight-granularity=tensor"),
    FLAG("reduce_range", "activation-reduce-range=true;weight-reduce-range=true",
         "activation-reduce-range=false;weight-reduce-range=false"),
    FLAG("optimize_model", "optimize=true", "optimize=false"),
    FLAG("OptimizeModel", "optimize=true", "optimize=false"),
    PASS("ConvertFP16ToFP32", "fp16-to-fp32"),
    PASS("convert_fp16_to_fp32", "fp16-to-fp32"),
    PASS("ConvertNCHWToNHWC", "nchw-to-nhwc"),
    PASS("convert_nchw_to_nhwc", "nchw-to-nhwc"),
    FLAG("enable_npu_cnn", NPU, NOT_NPU),
    FLAG("EnableNPUCnn", NPU, NOT_NPU),
    FLAG("enable_npu_transformer", "operators=transformer;matmul-constant-only=true", NULL),
    FLAG("use_dynamic_quant", "approach=dynamic", NULL),
    FLAG("include_cle", "?cle=auto", "cle=off"),
    METHODS("calibrate_method"),
    WORDS("quant_format", formats),
    WORDS("activation_type", activations),
    WORDS("weight_type", weights),
    FLAG("include_sq", "?smooth=auto", "smooth=off"),
    FLAG("include_rotation", "rotate=on", "rotate=off"),
    FLAG("include_auto_mp", "?mixed=int8", NULL),
    FLAG("include_fast_ft", "rounding=descent", "rounding=nearest"),
    IDLE("use_external_data_format", NULL,
         "models of more than 2 GiB get a data file; --external gives one to others"),
    IDLE("UseExternalDataFormat", NULL,
         "models of more than 2 GiB get a data file; --external gives one to others"),
    IDLE("debug_mode", NULL, "--verbose and --dump-passes show what happens"),
    IDLE("DebugMode", NULL, "--verbose and --dump-passes show what happens"),
    IDLE("crypto_mode", NULL, "only the result is written, no intermediate model"),
    IDLE("CryptoMode", NULL, "only the result is written, no intermediate model"),
    IDLE("print_summary", "True", "--quiet leaves out the tables"),
    IDLE("PrintSummary", "True", "--quiet leaves out the tables"),
    IDLE("ignore_warnings", "True", "warnings are few and always reported"),
    IDLE("log_severity_level", "1", "--quiet and --verbose choose what is reported"),
    IDLE("IgnoreWarnings", "True", "warnings are few and always reported"),

    /* --- The float graph --- */
    SPECIAL("ShapeShifterYaml", by_alias_passes),
    SPECIAL("PreprocessYAML", by_alias_passes),
    FLAG("SkipPreprocess", "optimize=false", NULL),
    FLAG("SimplifyModel", "optimize=true", "optimize=false"),
    IDLE("SimplifyModelOptions", NULL, "the passes over the graph take no options of onnxslim"),
    PASS("RemoveInputInit", "remove-input-init"),
    IDLE("CopySharedInit", NULL, "shared constants are copied wherever that is required"),
    IDLE("CopyBiasInit", NULL, "shared constants are copied wherever that is required"),
    VALUE("ConvertOpsetVersion", "opset"),
    PASS("FoldBatchNorm", "fold-batch-norm"),
    PASS("FuseInstanceNorm", "fuse-instance-norm"),
    PASS("FuseL2Norm", "fuse-l2-norm"),
    PASS("FuseGelu", "fuse-gelu"),
    PASS("FuseLayerNorm", "fuse-layer-norm"),
    PASS("ConvertClipToRelu", "clip-to-relu"),
    PASS("ConvertSplitToSlice", "split-to-slice"),
    PASS("ConvertBNToConv", "batch-norm-to-conv"),
    PASS("ConvertReduceMeanToGlobalAvgPool", "reduce-mean-to-global-average-pool"),
    PASS("SplitLargeKernelPool", "split-large-pool"),
    FLAG("ReplaceClip6Relu", "cle=replace", "cle=keep"),
    NEVER("FixShapes", "use 'baryon copy --shape' to fix sizes of a model"),
    FLAG("FillAllValueInfo", "all-value-info=true", "all-value-info=false"),

    /* --- What is quantized --- */
    FLAG("QuantizeAllOpTypes", "all-op-types=true", "all-op-types=false"),
    FLAG("WeightsOnly", "approach=weights", NULL),
    FLAG("MatMulConstBOnly", "matmul-constant-only=true", "matmul-constant-only=false"),
    IDLE("EnableSubgraph", NULL, "nested graphs stay float"),
    FLAG("ForceQuantizeNoInputCheck", "keep-unquantized-chains=false",
         "keep-unquantized-chains=true"),
    FLAG("AddQDQPairToWeight", "keep-float-weights=true", "keep-float-weights=false"),
    FLAG("DedicatedQDQPair", "dedicated-pairs=true", "dedicated-pairs=false"),
    FLAG("DedicateDQNode", "dedicated-dq=true", "dedicated-dq=false"),
    VALUE("OpTypesToExcludeOutputQuantization", "no-output-op-types"),
    VALUE("NodesToExcludeOutputQuantization", "no-output-nodes"),
    SPECIAL("QDQOpTypePerChannelSupportToAxis", by_alias_channel_axis),
    FLAG("QDQKeepRemovableActivations", "fold-relu=false", NULL),
    FLAG("RemoveQDQConvClip", "fuse-clip=true", "fuse-clip=false"),
    FLAG("RemoveQDQConvRelu", "fuse-relu=true", "fuse-relu=false"),
    FLAG("RemoveQDQConvLeakyRelu", "fuse-leaky-relu=true", "fuse-leaky-relu=false"),
    FLAG("RemoveQDQConvPRelu", "fuse-prelu=true", "fuse-prelu=false"),
    FLAG("RemoveQDQConvGelu", "fuse-gelu=true", "fuse-gelu=false"),
    FLAG("RemoveQDQInstanceNorm", "fuse-instance-norm=true", "fuse-instance-norm=false"),
    FLAG("RemoveQDQMulAdd", "fuse-mul-add=true", "fuse-mul-add=false"),
    FLAG("RemoveFusedQDQ", "fuse-blocks=true", "fuse-blocks=false"),
    SPECIAL("RemoveQDQBetweenOps", by_alias_between_ops),
    FLAG("EnableDualQuantNodePairs", "dual-pairs=true", "dual-pairs=false"),
    SPECIAL("TensorQuantOverrides", by_alias_overrides),
    FLAG("AlignEltwiseQuantType", "align-elementwise=true", "align-elementwise=false"),
    FLAG("FoldRelu", "fold-relu=true", "fold-relu=false"),
    IDLE("UseUnsignedReLU", NULL, "Quark does not read it either"),

    /* --- Types --- */
    FLAG("ActivationSymmetric", "activation-symmetric=true", "activation-symmetric=false"),
    FLAG("WeightSymmetric", "weight-symmetric=true", "weight-symmetric=false"),
    FLAG("QuantizeBias", NULL, "bias=float"),
    FLAG("Int32Bias", "bias=int32", "bias=as-weight"),
    FLAG("Int16Bias", "bias-int16=true;?bias=int32", "bias-int16=false"),
    FIXED("AdjustBiasScale", "True"),
    FLAG("AdjustWeightScaleForInt32Bias", "adjust-weight-for-bias=true",
         "adjust-weight-for-bias=false"),
    FLAG("UsePowerOf2Scale", NULL, "activation-scale=float32;weight-scale=float32"),
    FLAG("Int16Scale", "activation-scale=int16;weight-scale=int16", NULL),
    METHODS("WeightCalibrateMethod"),
    FIXED("MinMSEModeFloatScale", "Percentile"),
    FLAG("UseMatMulNBits", "approach=nbits", NULL),
    SPECIAL("MatMulNBitsParams", by_alias_nbits),
    FLAG("UseQDQContribOps", "domain=microsoft", "domain=auto"),
    FLAG("ActivationScaled", "activation-scaled=true", "activation-scaled=false"),
    FLAG("WeightScaled", "weight-scaled=true", "weight-scaled=false"),
    FLAG("QuantizeFP16", "?half-floats=float32", NULL),
    FLAG("UseFP32Scale", "half-floats=float32", "half-floats=keep"),
    SPECIAL("BF16QDQToCast", by_alias_float_form),
    FLAG("BF16WithClip", "float-clip=true", "float-clip=false"),
    SPECIAL("EnableVaimlBF16", by_alias_float_form),
    SPECIAL("BFPAttributes", by_alias_bfp),
    SPECIAL("MXAttributes", by_alias_mx),
    FLAG("RefineBlockAxis", "block-axis-everywhere=false", "block-axis-everywhere=true"),

    /* --- Calibration --- */
    METHOD_OPTIONS,
    IDLE("CalibMovingAverageConstant", "0.01", "CalibMovingAverage uses the mean over all samples"),
    IDLE("LWPUseHistogram", "True", "histograms are always used"),
    SPECIAL("Scenario", by_alias_scenario),
    METHODS("MinMSEModePof2Scale"),
    VALUE("CalibDataSize", "limit"),
    IDLE("CalibOptimizeMem", "True", "calibration stores no activations"),
    IDLE("CalibWorkerNum", "1", "--threads is the number of threads"),
    VALUE("CalibPassthroughOpTypes", "passthrough"),
    IDLE("SaveTensorHistFig", NULL, "'baryon stats' shows the histogram of a tensor"),
    NEVER("SaveAndRestore", "use 'baryon calibrate' to write statistics and --stats to read them"),
    NEVER("TensorsRangeFile",
          "use 'baryon calibrate' to write statistics and --stats to read them"),
    {.name = "UseRandomData",
     .kind = BY_ALIAS_SPECIAL,
     .take = by_alias_random,
     .takes_false = true,
     .show = by_alias_show_random},
    SPECIAL("RandomDataReaderInputShape", by_alias_random_shape),
    SPECIAL("RandomDataReaderInputDataRange", by_alias_random_range),
    SPECIAL("QuantizationPreference", by_alias_preference),

    /* --- Hardware --- */
    FLAG("SimulateDPU", "simulate-dpu=true", "simulate-dpu=false"),
    PASS("ConvertLeakyReluToDPUVersion", "leaky-relu-dpu"),
    PASS("ConvertSigmoidToHardSigmoid", "sigmoid-to-hard-sigmoid"),
    PASS("ConvertHardSigmoidToDPUVersion", "hard-sigmoid-dpu"),
    PASS("ConvertAvgPoolToDPUVersion", "average-pool-dpu"),
    PASS("ConvertReduceMeanToDPUVersion", "reduce-mean-dpu"),
    PASS("ConvertSoftmaxToDPUVersion", "softmax-dpu"),
    LATER("ConvertInstanceNormToDPUVersion"),
    PASS("ConvertClipToDPUVersion", "clip-dpu"),
    FIXED("NPULimitationCheck", "True"),
    VALUE("MaxLoopNum", "refine-rounds"),
    REFINE("AdjustShiftCut"),
    REFINE("AdjustShiftBias"),
    REFINE("AdjustShiftRead"),
    REFINE("AdjustShiftWrite"),
    REFINE("AdjustHardSigmoid"),
    REFINE("AdjustShiftSwish"),
    REFINE("AlignConcat"),
    REFINE("AlignPool"),
    REFINE("AlignPad"),
    REFINE("AlignSlice"),
    REFINE("AlignTranspose"),
    REFINE("AlignReshape"),

    /* --- Solvers and the rest --- */
    SPECIAL("CLESteps", by_alias_cle_steps),
    SPECIAL("CLEBalanceMethod", by_alias_cle_balance),
    {.name = "CLEScaleAppendBias",
     .kind = BY_ALIAS_SPECIAL,
     .take = by_alias_cle_bias,
     .takes_false = true},
    {.name = "CLEScaleUseThreshold",
     .kind = BY_ALIAS_SPECIAL,
     .take = by_alias_cle_threshold,
     .takes_false = true},
    SPECIAL("CLETotalLayerDiffThreshold", by_alias_cle_difference),
    VALUE("CLEWeightThreshold", "cle-threshold"),
    {.name = "FastFinetune",
     .kind = BY_ALIAS_SPECIAL,
     .take = by_alias_finetune,
     .show = by_alias_show_finetune},
    VALUE("SmoothAlpha", "smooth"),
    IDLE("RMatrixDim", "4096",
         "each rotation has the size of the heads or the stream that it turns"),
    IDLE("UseRandomHad", NULL, "signs or the order of channels are random, by a fixed seed"),
    IDLE("RConfigPath", NULL, "what can turn is found in the graph"),
    FLAG("UseGPTQ", "?approach=weights;rounding=gptq", NULL),
    SPECIAL("GPTQParams", by_alias_gptq),
    FLAG("BiasCorrection", "bias-correction=true", "bias-correction=false"),
    {.name = "AutoMixprecision",
     .kind = BY_ALIAS_SPECIAL,
     .take = by_alias_mixprecision,
     .show = by_alias_show_mixed},
    NEVER("NodesWithMixedPrecision",
          "the search of AutoMixprecision finds the nodes; rules (nodes:) give them types"),
    NEVER("EncryptionAlgorithm",
          "models are not encrypted: only the result is written, to the file "
          "that you name; encrypt that"),
    NEVER("EvalMetrics", "use 'baryon evaluate' to compare the two models"),
    NEVER("EvalDataReader", "use 'baryon evaluate' to compare the two models"),
    IDLE("TmpDir", NULL, "no temporary files are written"),
    VALUE("UserCustomOpLibPath", "ops-library"),
};

/* --- The same with what methods have --- */

#define ROWS_MAX (sizeof rows / sizeof *rows + BY_METHOD_OPTIONS_MAX)

static struct by_alias all[ROWS_MAX];
static size_t all_count;

static void add_row(const struct by_alias *row)
{
    all[all_count] = *row;
    if (row->kind == BY_ALIAS_WORDS && !row->words)
        all[all_count].words = by_alias_method_words(row->name);
    all_count++;
}

static void fill(void)
{
    size_t options;
    const struct by_alias *of_methods = by_alias_method_options(&options);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].name)
            add_row(&rows[i]);
        else
            for (size_t k = 0; k < options; k++)
                add_row(&of_methods[k]);
}

const struct by_alias *by_aliases(size_t *count)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill);
    *count = all_count;
    return all;
}
