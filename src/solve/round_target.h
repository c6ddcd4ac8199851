/*
 * A layer as its solver sees it, made of arrays alone: groups of outputs, each the product of a row
 * of columns (moments/moments.h) with weights of its own, and a bias; and what its weights and
 * biases may become. It knows neither graph nor plan: whoever has a layer fills one in
 * (rounding/target.h does for the plan of an ONNX model) and writes the choice that comes out back.
 *
 * Everything a target points to is the caller's, has to live as long as the target is used, and is
 * not changed. Arrays are in the order [group][out][column], whatever order the model's tensor has.
 */
#ifndef BY_ROUND_TARGET_H
#define BY_ROUND_TARGET_H

#include "moments/moments.h"

#include <math.h>

/* What weights may become: (integer - zero) * scale. */
struct by_round_grid {
    size_t spans, span;   /* of columns with a scale each, and columns in one; the last may be
                             shorter. One span: all columns */
    const float *scales;  /* [groups][outs][spans] */
    const int32_t *zeros; /* as scales; NULL: all 0 */
    int32_t low, high;    /* integers, less than 2^22 from each other and from the zeros */

    /* Of floats of fewer bits and of blocks, whose weights have a step each (span 1), else NULL:
     * the weights within what the format holds, which integers come to be next to, and what the
     * format makes of the weights. */
    const float *held, *nearest;

    /* Where scales may be solved as well: by output, which of them have the same scales; numbers
     * below groups * outs. NULL: scales stay as they are. */
    const size_t *units;
    bool pow2; /* they stay powers of two */
};

struct by_round_target {
    struct by_moments_layer rows; /* how columns come out of the input, and the name; groups and
                                     columns as here */
    size_t groups, outs, columns; /* outs, columns: of a group */
    const float *weights;         /* [groups][outs][columns], of the float model */
    const float *biases;          /* [groups][outs]; NULL: it has none */
    struct by_round_grid grid;
    /* What the activation after it sees (solve/round_behind.h): -INFINITY, INFINITY where that is
     * everything. */
    float low, high;

    /* Biases become those that the quantized model is going to have; NULL: they stay floats.
     * Called by one thread at a time. */
    int (*round_biases)(void *context, float *biases, struct baryon_error *err);
    void *context;
    bool coarse_biases; /* they have a scale of their own, and may move far by it */
};

/* The activation after does not see all that it gives. */
static inline bool by_round_hides(const struct by_round_target *target)
{
    return target->low > -INFINITY || target->high < INFINITY;
}
/* Scales of all outputs. */
static inline size_t by_round_scale_count(const struct by_round_target *target)
{
    return target->groups * target->outs * target->grid.spans;
}

#endif
