/*
 * Sizes of inputs that a model leaves open and that all samples share. ONNX Runtime plans the
 * memory of a model with open sizes in the square of its nodes: a quantized recognizer of 600
 * nodes opens in 65 ms instead of 220 where they are known.
 */
#ifndef BY_COMMON_SHAPES_H
#define BY_COMMON_SHAPES_H

#include "engine/session.h"

struct by_common_shape {
    const char *name; /* of an input */
    size_t rank;
    int64_t dims[BY_RANK_MAX]; /* -1: samples differ */
};

/* Of the first sample. */
struct by_common_shape by_common_shape_begin(const struct by_array *input);
/* Of another one. */
void by_common_shape_add(struct by_common_shape *shape, const struct by_array *input);

/* by_session_open_model() with those sizes; the model is left as it was. The session takes only
 * inputs that have them. */
int by_session_open_shaped(struct by_session **session, struct baryon_model *model,
                           const struct by_common_shape *shapes, size_t count,
                           const struct by_session_options *options, struct baryon_error *err);

#endif
