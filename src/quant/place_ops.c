/* Lists how each operator is quantized, one row per operator. */
#include "quant/place_ops.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define C  BY_LIST_CNN
#define N  BY_LIST_NPU
#define T  BY_LIST_TRANSFORMER
#define D  BY_LIST_DYNAMIC
#define B  BY_LIST_NBITS
#define O  BY_LIST_OURS
#define W  BY_LIST_WEIGHTS
#define CN (C | N)

#define PLAIN      BY_PLACE_PLAIN
#define MOVE       BY_PLACE_MOVE
#define ACTIVATION BY_PLACE_ACTIVATION

#define BEHIND      BY_PLACE_BEHIND
#define ONLY_BEHIND BY_PLACE_ONLY_BEHIND
#define PEER_PLAIN  BY_PLACE_PEER_PLAIN
#define ALL_INPUTS  BY_PLACE_ALL_INPUTS
#define RECURRENT   (ALL_INPUTS | BY_PLACE_RECURRENT)
#define MS          "com.microsoft"

/* Sorted by name. Rows without a list say how to do it when it is asked for. */
static const struct by_place_op rows[] = {
    {"Add", "", CN, PLAIN, 0, 0},
    {"ArgMax", "", CN, PLAIN, 0, 0},
    {"Attention", MS, D, PLAIN, 0, 0},
    {"AveragePool", "", CN, PLAIN, BY_PLACE_PEER_MOVES, 0},
    {"BatchNormalization", "", 0, PLAIN, BY_PLACE_DATA_ONLY, 0},
    {"Clip", "", CN, ACTIVATION, 0, 0},
    {"Compress", "", 0, MOVE, PEER_PLAIN, 0},
    {"Concat", "", CN, PLAIN, BY_PLACE_JOINS, 0},
    {"Conv", "", CN | D, PLAIN, 0, 0},
    {"ConvTranspose", "", CN, PLAIN, 0, 0},
    {"DepthToSpace", "", N, MOVE, PEER_PLAIN, 0},
    {"Div", "", N, PLAIN, 0, 0},
    {"Dropout", "", O, MOVE, ONLY_BEHIND | PEER_PLAIN, 0},
    {"EmbedLayerNormalization", MS, CN, PLAIN, ALL_INPUTS, 0},
    {"Erf", "", N, PLAIN, 0, 0},
    {"Expand", "", 0, MOVE, PEER_PLAIN, 0},
    {"Flatten", "", O, MOVE, ONLY_BEHIND | PEER_PLAIN, 0},
    {"GRU", "", W, PLAIN, RECURRENT, 0},
    {"Gather", "", CN | D, MOVE, BEHIND | BY_PLACE_TABLE, 0},
    {"GatherElements", "", 0, MOVE, PEER_PLAIN, 0},
    {"GatherND", "", 0, MOVE, PEER_PLAIN, 0},
    {"Gelu", "", CN, PLAIN, 0, 0},
    {"Gemm", "", CN | T | D, PLAIN, 0, 0},
    {"GlobalAveragePool", "", CN, PLAIN, 0, 0},
    {"GlobalMaxPool", "", 0, MOVE, PEER_PLAIN, 0},
    {"HardSigmoid", "", N, PLAIN, BY_PLACE_HARD_SIGMOID, 0},
    {"Identity", "", O, MOVE, ONLY_BEHIND | PEER_PLAIN, 0},
    {"InstanceNormalization", "", CN, PLAIN, 0, 0},
    {"LSTM", "", D | W, PLAIN, RECURRENT, 0},
    {"LayerNormalization", "", CN, PLAIN, BEHIND | BY_PLACE_BIAS_WEIGHT, 0},
    {"LeakyRelu", "", CN, PLAIN, 0, 0},
    {"LpNormalization", "", N, PLAIN, 0, 0},
    {"MatMul", "", CN | T | D | B, PLAIN, 0, 0},
    {"Max", "", N, PLAIN, 0, 0},
    {"MaxPool", "", CN, MOVE, BEHIND, 12},
    {"Min", "", N, PLAIN, 0, 0},
    {"Mul", "", CN, PLAIN, 0, 0},
    {"PRelu", "", N, PLAIN, 0, 0},
    {"Pad", "", CN, PLAIN, BY_PLACE_PAD_MOVES, 0},
    {"RNN", "", W, PLAIN, RECURRENT, 0},
    {"ReduceMax", "", 0, MOVE, PEER_PLAIN, 0},
    {"ReduceMean", "", N, PLAIN, 0, 0},
    {"ReduceMin", "", 0, MOVE, PEER_PLAIN, 0},
    {"Relu", "", CN, ACTIVATION, 0, 0},
    {"Reshape", "", CN, MOVE, BEHIND, 0},
    {"Resize", "", CN, MOVE, BEHIND | BY_PLACE_LINEAR_MOVES, 11},
    {"ReverseSequence", "", 0, MOVE, PEER_PLAIN, 0},
    {"Sigmoid", "", CN, PLAIN, 0, 0},
    {"Slice", "", N, MOVE, PEER_PLAIN, 0},
    {"Softmax", "", CN, PLAIN, BY_PLACE_UNIT, 0},
    {"SpaceToDepth", "", N, MOVE, PEER_PLAIN, 0},
    {"Split", "", CN, MOVE, 0, 0},
    {"Squeeze", "", CN, MOVE, BEHIND, 0},
    {"Sub", "", N, PLAIN, 0, 0},
    {"Tanh", "", CN, PLAIN, 0, 0},
    {"Tile", "", 0, MOVE, PEER_PLAIN, 0},
    {"TopK", "", 0, MOVE, PEER_PLAIN, 0},
    {"Transpose", "", CN, MOVE, BEHIND, 0},
    {"Unsqueeze", "", CN, MOVE, BEHIND, 0},
    {"Where", "", CN, PLAIN, BY_PLACE_JOINS, 0},
};

#define ROWS (sizeof rows / sizeof *rows)

static int compare_place_op(const void *key, const void *row)
{
    return strcmp(key, ((const struct by_place_op *)row)->op_type);
}

const struct by_place_op *by_place_op(const struct baryon_node *node)
{
    static const struct by_place_op other = {"", "", 0, PLAIN, 0, 0};
    const struct by_place_op *row =
        node->op_type ? bsearch(node->op_type, rows, ROWS, sizeof *rows, compare_place_op) : NULL;
    return row && strcmp(row->domain, by_domain(node->domain)) == 0 ? row : &other;
}

const struct by_place_op *by_place_ops(size_t *count)
{
    *count = ROWS;
    return rows;
}
