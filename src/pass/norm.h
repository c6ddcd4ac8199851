/*
 * Normalization written out: (x - mean) / sqrt(mean of (x - mean)^2 + epsilon) * scale + shift,
 * in the ways exporters write it:
 *
 *   Div(x - mean, root)                                          torch
 *   Mul(x - mean, Reciprocal(root))
 *   Add(Mul(x, k), Sub(shift, Mul(mean, k))), k = Reciprocal(root) * scale      TensorFlow
 *
 * with Pow(d, 2) or Mul(d, d), ReduceMean or GlobalAveragePool.
 */
#ifndef BY_NORM_H
#define BY_NORM_H

#include "pass/match.h"

struct by_norm {
    struct baryon_value *x;
    const int64_t *axes; /* that the mean is over, sorted, from the front */
    size_t axis_count;
    double epsilon;
    struct baryon_value *scale, *shift; /* constants; NULL: none */
    struct baryon_node *end;            /* gives the result */
    struct by_node_set set;             /* all nodes of the pattern */

    /* Set by the caller: axes of x that scale and shift may have; in others they are of size 1. */
    size_t first, last;
};

/* The mean, and x with axes, of the pattern that has this Sqrt; first and last may be set then. */
bool by_norm_begin(struct by_matcher *match, struct baryon_node *root, struct by_norm *norm);
/* The rest. False when it is no such pattern, or something else reads its inside. */
bool by_norm_finish(struct by_matcher *match, struct baryon_node *root, struct by_norm *norm);
/* Elements of axes first to last of x; 0 when they are not known. */
size_t by_norm_size(const struct by_norm *norm);
/* A constant of exactly those axes that says the same; value NULL: filled with `fill`. NULL
 * when it fails. */
struct baryon_value *by_norm_constant(struct by_matcher *match, const struct by_norm *norm,
                                      struct baryon_value *value, double fill, const char *suffix);

#endif
