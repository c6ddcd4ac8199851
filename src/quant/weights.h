/*
 * Constants: parameters for their values, and their integers.
 *
 * A constant is seen as channels x groups of values: dims with the channel axis (-1: one
 * channel) and, of BY_PER_GROUP, groups of spec->group values along group_axis (the axis that is
 * summed over; the last group may be shorter). Integers are limited to by_spec_levels(): symmetric
 * signed types lose their lowest level. Values that are not finite are refused. Everything has a
 * plain and a vector path with the same bits, and gives the same for any number of threads.
 */
#ifndef BY_WEIGHTS_H
#define BY_WEIGHTS_H

#include "base/par.h"
#include "quant/affine.h"
#include "quant/recipe.h"

struct by_weight_view {
    const float *values;
    size_t rank;
    const int64_t *dims;
    int axis, group_axis; /* -1: none */
    const char *name;     /* for messages; may be NULL */
};

/*
 * By spec->method, in the way that its row says (enum by_calib_search): extremes, MSE (float
 * scales: the peer's percentile candidates and the whole range too; powers of two: positions p-1 to
 * p+3), percentile, or a sketch; facts 4.3 to 4.6. Scales are rounded to what spec->scale says
 * before anything is judged by them. error: mean squared error of the nearest integers.
 */
int by_weight_params(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                     struct by_pool *pool, struct by_arena *arena, struct by_params *params,
                     double *error, struct baryon_error *err);
/* Nearest integers, ties to even, limited to the spec's levels, packed as ONNX stores them. */
int by_weight_quantize(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                       const struct by_params *params, struct by_pool *pool, uint8_t *out,
                       size_t size, struct baryon_error *err);
/* What the integers mean. */
int by_weight_dequantize(const uint8_t *integers, const struct by_weight_view *view,
                         const struct by_tensor_spec *spec, const struct by_params *params,
                         float *out, struct baryon_error *err);
/* The values as their nearest integers mean them; out may be where they stand. */
int by_weight_round(const struct by_weight_view *view, const struct by_tensor_spec *spec,
                    const struct by_params *params, struct by_pool *pool, float *out,
                    struct baryon_error *err);

#endif
