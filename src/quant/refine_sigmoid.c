/* HardSigmoid and what is made with it. */
#include "quant/refine_around.h"
#include "quant/refine_rules.h"

#include <math.h>

#define IN_HIGH  15
#define OUT_LOW  7
#define SUM      14 /* input - output + this stays above 0 */
#define SWISH    15
#define CLOSE_TO 1e-6f

static bool is_hard_sigmoid(const struct baryon_node *node)
{
    return node && by_node_is(node, "HardSigmoid") &&
           fabsf(by_node_float(node, "alpha", 0.2f) - 1 / 6.0f) < CLOSE_TO &&
           fabsf(by_node_float(node, "beta", 0.5f) - 0.5f) < CLOSE_TO;
}

static int hard_sigmoid(struct by_refining *at, struct baryon_error *err)
{
    const size_t in = by_row_in(at, 0), out = by_row_out(at);
    int in_position, out_position;
    if (!is_hard_sigmoid(at->node) || !by_row_position(at->plan, in, &in_position) ||
        !by_row_position(at->plan, out, &out_position))
        return 0;
    if (by_row_clamp(at, in, in_position, 0, IN_HIGH, err, "0 <= input <= 15") < 0)
        return -1;
    in_position = in_position < 0 ? 0 : in_position > IN_HIGH ? IN_HIGH : in_position;
    return by_row_clamp(at, out, out_position, OUT_LOW, SUM + in_position - 1, err,
                        "7 <= output < 14 + input");
}

/* The factor before a HardSigmoid's output may stand between. */
static bool comes_from_hard_sigmoid(const struct baryon_value *value)
{
    const struct baryon_node *node = value ? value->producer : NULL;
    if (node && by_node_is(node, "Mul") && by_node_in(node, 0))
        return is_hard_sigmoid(node) || is_hard_sigmoid(by_node_in(node, 0)->producer);
    return is_hard_sigmoid(node);
}

static int swish(struct by_refining *at, struct baryon_error *err)
{
    const size_t one = by_row_in(at, 0), other = by_row_in(at, 1), out = by_row_out(at);
    int positions[3];
    if ((!comes_from_hard_sigmoid(by_node_in(at->node, 0)) &&
         !comes_from_hard_sigmoid(by_node_in(at->node, 1))) ||
        !by_row_position(at->plan, one, &positions[0]) ||
        !by_row_position(at->plan, other, &positions[1]) ||
        !by_row_position(at->plan, out, &positions[2]))
        return 0;
    const int sum = positions[0] + positions[1];
    return by_row_clamp(at, out, positions[2], sum - SWISH, sum, err,
                        "0 <= sum of inputs - output <= 15");
}

const struct by_refine_rule by_refine_hard_sigmoid = {
    .name = "hard-sigmoid",
    .alias = "AdjustHardSigmoid",
    .help = "The input of HardSigmoid is at position 0 to 15, the output at 7 or above",
    .op_types = "HardSigmoid",
    .pow2 = true,
    .apply = hard_sigmoid,
};
const struct by_refine_rule by_refine_swish = {
    .name = "swish",
    .alias = "AdjustShiftSwish",
    .help = "The output of a swish is up to 15 positions below the sum of its inputs",
    .op_types = "Mul",
    .pow2 = true,
    .apply = swish,
};
