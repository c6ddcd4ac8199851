/* What the shifters of the hardware reach, in positions of power-of-two scales. */
#include "quant/refine_around.h"
#include "quant/refine_rules.h"

#define READ_MOST  7
#define WRITE_LOW  (-7)
#define WRITE_HIGH 25
#define MUL_HIGH   32
#define CUT_HIGH   16
#define BIAS_HIGH  15

/* Positions of both operands and their rows. */
struct operands {
    size_t row[2];
    int position[2];
};

static bool find_operands(const struct by_refining *at, struct operands *operands)
{
    for (size_t i = 0; i < 2; i++) {
        operands->row[i] = by_row_in(at, i);
        if (!by_row_position(at->plan, operands->row[i], &operands->position[i]))
            return false;
    }
    return true;
}

static int least_position(const struct operands *operands)
{
    return operands->position[0] < operands->position[1] ? operands->position[0]
                                                         : operands->position[1];
}

static int shift_read(struct by_refining *at, struct baryon_error *err)
{
    struct operands operands;
    if (!find_operands(at, &operands))
        return 0;
    const size_t greater = operands.position[1] > operands.position[0];
    return by_row_clamp(at, operands.row[greater], operands.position[greater], INT32_MIN,
                        least_position(&operands) + READ_MOST, err,
                        "inputs are at most 7 positions apart");
}

static int shift_write(struct by_refining *at, struct baryon_error *err)
{
    struct operands operands;
    const size_t out = by_row_out(at);
    int position;
    if (!find_operands(at, &operands) || !by_row_position(at->plan, out, &position))
        return 0;
    const int low = least_position(&operands);
    return by_row_clamp(at, out, position, low - WRITE_HIGH, low - WRITE_LOW, err,
                        "-7 <= least input - output <= 25");
}

static int shift_write_mul(struct by_refining *at, struct baryon_error *err)
{
    struct operands operands;
    const size_t out = by_row_out(at);
    int position;
    if (!find_operands(at, &operands) || !by_row_position(at->plan, out, &position))
        return 0;
    const int sum = operands.position[0] + operands.position[1];
    return by_row_clamp(at, out, position, sum - MUL_HIGH, sum, err,
                        "0 <= sum of inputs - output <= 32");
}

/* Of a Conv or Gemm: input, weight, output. */
struct layer {
    struct operands in;
    size_t out;
    int out_position;
};

static bool find_layer(const struct by_refining *at, struct layer *layer)
{
    layer->out = by_row_out(at);
    return find_operands(at, &layer->in) &&
           by_row_position(at->plan, layer->out, &layer->out_position);
}

static int shift_cut(struct by_refining *at, struct baryon_error *err)
{
    struct layer layer;
    if (!find_layer(at, &layer))
        return 0;
    const int base = layer.out_position - layer.in.position[0];
    return by_row_clamp(at, layer.in.row[1], layer.in.position[1], base, base + CUT_HIGH, err,
                        "0 <= weight + input - output <= 16");
}

static int shift_bias(struct by_refining *at, struct baryon_error *err)
{
    struct layer layer;
    const size_t bias = by_row_in(at, 2);
    int position;
    if (!find_layer(at, &layer) || !by_row_position(at->plan, bias, &position))
        return 0;
    const int sum = layer.in.position[0] + layer.in.position[1];
    const int cut = sum - layer.out_position;
    const struct baryon_node *next = by_next_node(at->node);
    int low = cut - 16 < 0 ? cut - 16 : 0; /* 24 bits less 8 and the cut */
    if (next && by_node_is(next, "LeakyRelu"))
        low = 0;
    return by_row_clamp(at, bias, position, sum - BIAS_HIGH, sum - low, err,
                        "min(0, cut - 16) <= weight + input - bias <= 15");
}

const struct by_refine_rule by_refine_shift_read = {
    .name = "shift-read",
    .alias = "AdjustShiftRead",
    .help = "Inputs of Add and Sub are at most 7 positions apart (position p: scale 2^-p)",
    .op_types = "Add Sub",
    .pow2 = true,
    .apply = shift_read,
};
const struct by_refine_rule by_refine_shift_write = {
    .name = "shift-write",
    .alias = "AdjustShiftWrite",
    .help = "The output of Add and Sub is 25 positions below to 7 above the lowest input",
    .op_types = "Add",
    .pow2 = true,
    .apply = shift_write,
};
const struct by_refine_rule by_refine_shift_write_mul = {
    .name = "shift-write-mul",
    .alias = "AdjustShiftWrite",
    .help = "The output of Mul is up to 32 positions below the sum of its inputs",
    .op_types = "Mul",
    .pow2 = true,
    .quiet = true,
    .apply = shift_write_mul,
};
const struct by_refine_rule by_refine_shift_cut = {
    .name = "shift-cut",
    .alias = "AdjustShiftCut",
    .help = "The output of Conv and Gemm is up to 16 positions below the sum of input and weight",
    .op_types = "Conv Gemm",
    .pow2 = true,
    .apply = shift_cut,
};
const struct by_refine_rule by_refine_shift_bias = {
    .name = "shift-bias",
    .alias = "AdjustShiftBias",
    .help = "The bias of Conv and Gemm is at most 15 positions below the sum of input and weight, "
            "and not far above",
    .op_types = "Conv Gemm",
    .pow2 = true,
    .apply = shift_bias,
};
