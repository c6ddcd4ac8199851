/* Operators that move values without computing: what goes in and out has one scale. */
#include "pass/edit.h"
#include "quant/refine_around.h"
#include "quant/refine_rules.h"

/* A cache that is empty at first, or a constant of zeros, follows the others; not for the peer. */
static int follows(const struct by_refining *at, size_t row, bool *zero, struct baryon_error *err)
{
    const struct by_quant_row *owner = &at->plan->rows.at[by_quant_owner(at->plan, row)];
    double element = 1;
    bool is_one;
    *zero = false;
    if (at->plan->recipe->compat)
        return 0;
    *zero = owner->is_zero;
    if (owner->role == BY_ROLE_ACTIVATION)
        return 0;
    const int status = by_pass_uniform(owner->value, &is_one, &element, err);
    *zero = is_one && element == 0;
    return status;
}

/* The least position of the node's rows; *all: each has one. */
static int least_position(const struct by_refining *at, size_t inputs, int *least, bool *all,
                          struct baryon_error *err)
{
    *all = by_row_position(at->plan, by_row_out(at), least);
    for (size_t i = 0; *all && i < inputs; i++) {
        int position;
        bool zero;
        const size_t row = by_row_in(at, i);
        if (row == BY_NO_ROW)
            continue;
        if (follows(at, row, &zero, err) < 0)
            return -1;
        *all = by_row_position(at->plan, row, &position);
        if (*all && !zero && position < *least)
            *least = position;
    }
    return 0;
}

static int align(struct by_refining *at, size_t inputs, struct baryon_error *err)
{
    int least, position;
    bool all;
    if (by_row_in(at, 0) == BY_NO_ROW)
        return 0;
    if (least_position(at, inputs, &least, &all, err) < 0)
        return -1;
    for (size_t i = 0; all && i <= inputs; i++) {
        const size_t row = i < inputs ? by_row_in(at, i) : by_row_out(at);
        if (!by_row_position(at->plan, row, &position) || position == least)
            continue;
        if (by_row_move(at, row, least, err, "all of its tensors share one scale") < 0)
            return -1;
    }
    return 0;
}

static int align_all(struct by_refining *at, struct baryon_error *err)
{
    return align(at, at->node->input.count, err);
}

static int align_first(struct by_refining *at, struct baryon_error *err)
{
    return align(at, 1, err);
}

/* --- Whole parameters, of scales that are no powers of two --- */

static int copy_to_input(struct by_refining *at, struct baryon_error *err)
{
    const size_t in = by_row_in(at, 0), out = by_row_out(at);
    if (in == BY_NO_ROW || out == BY_NO_ROW)
        return 0;
    return by_row_copy(at, in, out, err, "input and output share one scale");
}

static int copy_to_output(struct by_refining *at, struct baryon_error *err)
{
    const size_t in = by_row_in(at, 0), out = by_row_out(at);
    if (in == BY_NO_ROW || out == BY_NO_ROW)
        return 0;
    return by_row_copy(at, out, in, err, "input and output share one scale");
}

static int copy_to_inputs(struct by_refining *at, struct baryon_error *err)
{
    const size_t out = by_row_out(at);
    for (size_t i = 0; out != BY_NO_ROW && i < at->node->input.count; i++) {
        const size_t in = by_row_in(at, i);
        if (in != BY_NO_ROW &&
            by_row_copy(at, in, out, err, "inputs and output share one scale") < 0)
            return -1;
    }
    return 0;
}

#define ALIGN(symbol, text, peer, ops, what, function)                                             \
    const struct by_refine_rule symbol = {.name = (text),                                          \
                                          .alias = (peer),                                         \
                                          .help = (what),                                          \
                                          .op_types = (ops),                                       \
                                          .pow2 = true,                                            \
                                          .apply = (function)}
#define COPY(symbol, text, peer, ops, what, function)                                              \
    const struct by_refine_rule symbol = {                                                         \
        .name = (text), .alias = (peer), .help = (what), .op_types = (ops), .apply = (function)}

ALIGN(by_refine_align_concat, "align-concat", "AlignConcat", "Concat",
      "Inputs and output of Concat share their greatest scale", align_all);
ALIGN(by_refine_align_pool, "align-pool", "AlignPool", "MaxPool AveragePool GlobalAveragePool",
      "Input and output of a pool share the greater scale", align_first);
ALIGN(by_refine_align_pad, "align-pad", "AlignPad", "Pad",
      "Input and output of Pad share the greater scale", align_first);
ALIGN(by_refine_align_slice, "align-slice", "AlignSlice", "Slice",
      "Input and output of Slice share the greater scale", align_first);
COPY(by_refine_copy_concat, "copy-concat", "AlignConcat", "Concat",
     "Inputs of Concat use the scale of its output", copy_to_inputs);
COPY(by_refine_copy_pool, "copy-pool", "AlignPool", "MaxPool AveragePool GlobalAveragePool",
     "The output of a pool uses the scale of its input", copy_to_output);
COPY(by_refine_copy_pad, "copy-pad", "AlignPad", "Pad",
     "The input of Pad uses the scale of its output", copy_to_input);
COPY(by_refine_copy_slice, "copy-slice", "AlignSlice", "Slice",
     "The output of Slice uses the scale of its input", copy_to_output);
COPY(by_refine_copy_transpose, "copy-transpose", "AlignTranspose", "Transpose",
     "The input of Transpose uses the scale of its output", copy_to_input);
COPY(by_refine_copy_reshape, "copy-reshape", "AlignReshape", "Reshape",
     "The input of Reshape uses the scale of its output", copy_to_input);
