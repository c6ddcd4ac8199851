/* Lists the operators that compute in 16-bit floats, and the opset from which they do. */
#include "ir/opfloat.h"

#include <stdlib.h>
#include <string.h>

struct row {
    const char *op_type;
    int float16, bfloat16;
};

/* clang-format off */
static const struct row rows[] = {
    {"Abs", 1, 13}, {"Acos", 7, 22}, {"Acosh", 9, 22}, {"Add", 1, 13}, {"AffineGrid", 20, 20},
    {"ArgMax", 1, 13}, {"ArgMin", 1, 13}, {"Asin", 7, 22}, {"Asinh", 9, 22}, {"Atan", 7, 22},
    {"Atanh", 9, 22}, {"Attention", 23, 23}, {"AveragePool", 1, 22}, {"BatchNormalization", 1, 14},
    {"Bernoulli", 15, 22}, {"BitCast", 26, 26}, {"BlackmanWindow", 17, 17}, {"Cast", 1, 13},
    {"CastLike", 15, 15}, {"CausalConvWithState", 27, 27}, {"Ceil", 1, 13}, {"Celu", 28, 28},
    {"CenterCropPad", 18, 18}, {"Clip", 1, 13}, {"Col2Im", 18, 18}, {"Compress", 9, 28},
    {"Concat", 1, 13}, {"ConcatFromSequence", 11, 0}, {"Constant", 1, 13},
    {"ConstantOfShape", 9, 20}, {"Conv", 1, 22}, {"ConvTranspose", 1, 22}, {"Cos", 7, 22},
    {"Cosh", 9, 22}, {"CumProd", 26, 26}, {"CumSum", 14, 14}, {"DFT", 17, 17},
    {"DeformConv", 19, 22}, {"DepthToSpace", 1, 13}, {"DequantizeLinear", 19, 19}, {"Det", 11, 22},
    {"Div", 1, 13}, {"Dropout", 1, 22}, {"Einsum", 12, 28}, {"Elu", 1, 22}, {"Erf", 9, 13},
    {"Exp", 1, 13}, {"Expand", 8, 13}, {"EyeLike", 9, 22}, {"Flatten", 1, 13}, {"Floor", 1, 13},
    {"GRU", 1, 22}, {"Gather", 1, 13}, {"GatherElements", 11, 13}, {"GatherND", 11, 13},
    {"Gelu", 20, 20}, {"Gemm", 1, 13}, {"GlobalAveragePool", 1, 22}, {"GlobalLpPool", 1, 22},
    {"GlobalMaxPool", 1, 22}, {"Greater", 1, 13}, {"GreaterOrEqual", 12, 16},
    {"GridSample", 16, 22}, {"GroupNormalization", 21, 21}, {"HammingWindow", 17, 17},
    {"HannWindow", 17, 17}, {"HardSigmoid", 1, 22}, {"HardSwish", 14, 22}, {"Hardmax", 1, 13},
    {"Identity", 1, 13}, {"If", 1, 16}, {"InstanceNormalization", 1, 22}, {"IsInf", 20, 20},
    {"IsNaN", 9, 13}, {"LRN", 1, 13}, {"LSTM", 1, 22}, {"LayerNormalization", 17, 17},
    {"LeakyRelu", 1, 16}, {"Less", 1, 13}, {"LessOrEqual", 12, 16}, {"LinearAttention", 27, 27},
    {"Log", 1, 13}, {"LogSoftmax", 1, 13}, {"Loop", 1, 16}, {"LpNormalization", 1, 22},
    {"LpPool", 1, 22}, {"MatMul", 1, 13}, {"Max", 1, 13}, {"MaxPool", 1, 22}, {"MaxRoiPool", 1, 22},
    {"MaxUnpool", 9, 22}, {"Mean", 1, 13}, {"MeanVarianceNormalization", 9, 13},
    {"MelWeightMatrix", 17, 17}, {"Min", 1, 13}, {"Mish", 18, 22}, {"Mod", 10, 13}, {"Mul", 1, 13},
    {"Multinomial", 7, 22}, {"Neg", 1, 13}, {"NegativeLogLikelihoodLoss", 12, 22},
    {"NonZero", 9, 13}, {"OneHot", 9, 0}, {"Optional", 15, 28}, {"OptionalGetElement", 15, 28},
    {"OptionalHasElement", 15, 28}, {"PRelu", 1, 16}, {"Pad", 1, 13}, {"Pow", 1, 15},
    {"QLinearMatMul", 21, 21}, {"QuantizeLinear", 19, 19}, {"RMSNormalization", 23, 23},
    {"RNN", 1, 22}, {"RandomNormal", 1, 22}, {"RandomNormalLike", 1, 22}, {"RandomUniform", 1, 22},
    {"RandomUniformLike", 1, 22}, {"Range", 27, 27}, {"Reciprocal", 1, 13}, {"ReduceL1", 1, 13},
    {"ReduceL2", 1, 13}, {"ReduceLogSum", 1, 13}, {"ReduceLogSumExp", 1, 13}, {"ReduceMax", 1, 13},
    {"ReduceMean", 1, 13}, {"ReduceMin", 1, 13}, {"ReduceProd", 1, 13}, {"ReduceSum", 1, 13},
    {"ReduceSumSquare", 1, 13}, {"Relu", 1, 13}, {"Reshape", 1, 13}, {"Resize", 10, 13},
    {"ReverseSequence", 10, 28}, {"RoiAlign", 10, 22}, {"RotaryEmbedding", 23, 23},
    {"Round", 11, 22}, {"STFT", 17, 17}, {"Scan", 8, 16}, {"Scatter", 9, 0},
    {"ScatterElements", 11, 13}, {"ScatterND", 11, 13}, {"Selu", 1, 22}, {"SequenceAt", 11, 0},
    {"SequenceConstruct", 11, 0}, {"SequenceEmpty", 11, 0}, {"SequenceErase", 11, 0},
    {"SequenceInsert", 11, 0}, {"SequenceLength", 11, 0}, {"SequenceMap", 17, 0}, {"Shape", 1, 13},
    {"Shrink", 9, 0}, {"Sigmoid", 1, 13}, {"Sign", 9, 13}, {"Sin", 7, 22}, {"Sinh", 9, 22},
    {"Size", 1, 13}, {"Slice", 1, 13}, {"Softmax", 1, 13}, {"SoftmaxCrossEntropyLoss", 12, 13},
    {"Softplus", 1, 22}, {"Softsign", 1, 22}, {"SpaceToDepth", 1, 13}, {"Split", 1, 13},
    {"SplitToSequence", 11, 24}, {"Sqrt", 1, 13}, {"Squeeze", 1, 13}, {"Sub", 1, 13},
    {"Sum", 1, 13}, {"SwiGLU", 28, 28}, {"Swish", 24, 24}, {"Tan", 7, 22}, {"Tanh", 1, 13},
    {"TensorScatter", 24, 24}, {"ThresholdedRelu", 10, 22}, {"Tile", 1, 13}, {"TopK", 1, 24},
    {"Transpose", 1, 13}, {"Trilu", 14, 14}, {"Unique", 11, 28}, {"Unsqueeze", 1, 13},
    {"Upsample", 1, 0}, {"Where", 9, 16},
};
/* clang-format on */

static int compare_opfloat_row(const void *key, const void *row)
{
    return strcmp(key, ((const struct row *)row)->op_type);
}

int64_t by_op_float_opset(const char *op_type, int64_t elem)
{
    const struct row *row =
        bsearch(op_type, rows, sizeof rows / sizeof *rows, sizeof *rows, compare_opfloat_row);
    return !row ? 0 : elem == BY_ELEM_FLOAT16 ? row->float16 : row->bfloat16;
}
