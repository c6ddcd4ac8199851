/* Quark's options, one row each. */
#include "settings/quark/alias.h"

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
#define SPECIAL(peer, function)                                                                    \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_SPECIAL, .take = (function)                               \
    }
#define LATER(peer)                                                                                \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_LATER                                                     \
    }
#define NEVER(peer, why)                                                                           \
    {                                                                                              \
        .name = (peer), .kind = BY_ALIAS_NEVER, .on = (why)                                        \
    }
#define PASS(peer, name) FLAG(peer, "pass=" name, "pass=-" name)
/* Rules of hardware know the peer's names as well: which rule it is depends on the hardware. */
#define REFINE(peer) FLAG(peer, "refine=" peer, "refine=-" peer)

static const struct by_alias_word methods[] = {
    {"MinMax", "activation-method=minmax"},
    {"Percentile", "activation-method=percentile"},
    {"Entropy", "activation-method=entropy"},
    {"Distribution", "activation-method=distribution"},
    {"LayerWisePercentile", "activation-method=layerwise-percentile"},
    {"LayerwisePercentile", "activation-method=layerwise-percentile"},
    {"MinMSE", "activation-method=minmse-pow2;activation-scale=pow2;weight-method=minmse-pow2;"
               "weight-scale=pow2"},
    {"NonOverflow", "activation-method=nonoverflow;activation-scale=pow2;"
                    "weight-method=nonoverflow;weight-scale=pow2"},
    {"Int16Method", "activation-scale=int16;weight-scale=int16"},
    {0},
};

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

static const struct by_alias_word weight_methods[] = {
    {"MinMSE", "weight-method=minmse"},
    {"MinMax", "weight-method=minmax"},
    {0},
};

static const struct by_alias_word metrics[] = {
    {"mae", "layerwise-metric=mae"},
    {"mse", "layerwise-metric=mse"},
    {0},
};

static const struct by_alias_word minmse_modes[] = {
    {"All", NULL},
    {"Percentile", "activation-method=minmse-pow2-percentile"},
    {"MostCommon", "activation-method=minmse-pow2-common"},
    {0},
};

#define NPU     "hardware=xint8;?operators=npu;?simulate-dpu=true"
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
    FIXED("specific_tensor_precision", "True"),
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
    WORDS("calibrate_method", methods),
    WORDS("quant_format", formats),
    WORDS("activation_type", activations),
    WORDS("weight_type", weights),
    LATER("include_sq"),
    LATER("include_rotation"),
    LATER("include_auto_mp"),
    FLAG("include_fast_ft", "rounding=descent", "rounding=nearest"),
    NEVER("use_external_data_format", "models of more than 2 GiB get a data file by themselves"),
    NEVER("UseExternalDataFormat", "models of more than 2 GiB get a data file by themselves"),
    NEVER("debug_mode", "--dump-passes and --verbose show what happens"),
    NEVER("DebugMode", "--dump-passes and --verbose show what happens"),
    NEVER("crypto_mode", "nothing is written but the result"),
    NEVER("CryptoMode", "nothing is written but the result"),
    NEVER("print_summary", "--quiet leaves the tables out"),
    NEVER("PrintSummary", "--quiet leaves the tables out"),
    NEVER("ignore_warnings", "warnings are few and always told"),
    NEVER("IgnoreWarnings", "warnings are few and always told"),

    /* --- The float graph --- */
    SPECIAL("ShapeShifterYaml", by_alias_passes),
    SPECIAL("PreprocessYAML", by_alias_passes),
    FLAG("SkipPreprocess", "optimize=false", NULL),
    FLAG("SimplifyModel", "optimize=true", "optimize=false"),
    LATER("SimplifyModelOptions"),
    PASS("RemoveInputInit", "remove-input-init"),
    SPECIAL("CopySharedInit", by_alias_copies),
    SPECIAL("CopyBiasInit", by_alias_copies),
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
    NEVER("FixShapes", "'baryon copy --shape' gives a model fixed sizes"),
    FLAG("FillAllValueInfo", "all-value-info=true", "all-value-info=false"),

    /* --- What is quantized --- */
    FLAG("QuantizeAllOpTypes", "all-op-types=true", "all-op-types=false"),
    FLAG("WeightsOnly", "approach=weights", NULL),
    FLAG("MatMulConstBOnly", "matmul-constant-only=true", "matmul-constant-only=false"),
    NEVER("EnableSubgraph", "nested graphs stay as they are, float and whole"),
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
    LATER("EnableDualQuantNodePairs"),
    SPECIAL("TensorQuantOverrides", by_alias_overrides),
    FLAG("AlignEltwiseQuantType", "align-elementwise=true", "align-elementwise=false"),
    FLAG("FoldRelu", "fold-relu=true", "fold-relu=false"),
    NEVER("UseUnsignedReLU", "nothing reads it, there neither"),

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
    WORDS("WeightCalibrateMethod", weight_methods),
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
    FLAG("CalibTensorRangeSymmetric", "percentile-symmetric=true", "percentile-symmetric=false"),
    FLAG("CalibMovingAverage", "moving-average=true", "moving-average=false"),
    NEVER("CalibMovingAverageConstant", "the mean over all samples is taken"),
    VALUE("NumBins", "entropy-bins"),
    VALUE("NumQuantizedBins", "entropy-levels"),
    VALUE("Percentile", "percentile"),
    VALUE("PercentileCandidates", "percentile-candidates"),
    WORDS("LWPMetric", metrics),
    NEVER("LWPUseHistogram", "statistics are fine enough to choose by"),
    SPECIAL("Scenario", by_alias_scenario),
    WORDS("MinMSEModePof2Scale", minmse_modes),
    VALUE("CalibDataSize", "limit"),
    NEVER("CalibOptimizeMem", "calibration keeps no activations"),
    NEVER("CalibWorkerNum", "--threads says how many threads work"),
    VALUE("CalibPassthroughOpTypes", "passthrough"),
    NEVER("SaveTensorHistFig", "'baryon stats' shows the histogram of a tensor"),
    NEVER("SaveAndRestore", "'baryon calibrate' writes statistics, --stats reads them"),
    NEVER("TensorsRangeFile", "'baryon calibrate' writes statistics, --stats reads them"),
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
    LATER("SmoothAlpha"),
    LATER("RMatrixDim"),
    LATER("UseRandomHad"),
    LATER("RConfigPath"),
    FLAG("UseGPTQ", "?approach=weights;rounding=gptq", NULL),
    SPECIAL("GPTQParams", by_alias_gptq),
    FLAG("BiasCorrection", "bias-correction=true", "bias-correction=false"),
    LATER("AutoMixprecision"),
    LATER("NodesWithMixedPrecision"),
    NEVER("EncryptionAlgorithm",
          "models are not encrypted: only the result is written, to the file "
          "that you name; encrypt that"),
    NEVER("EvalMetrics", "'baryon evaluate' compares the two models"),
    NEVER("EvalDataReader", "'baryon evaluate' compares the two models"),
    NEVER("TmpDir", "nothing is written to a temporary folder"),
    VALUE("UserCustomOpLibPath", "ops-library"),
};

const struct by_alias *by_aliases(size_t *count)
{
    *count = sizeof rows / sizeof *rows;
    return rows;
}
