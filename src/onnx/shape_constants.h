/*
 * Constants that ONNX Runtime reads while it finds shapes, and refuses to read from data files:
 * shapes, axes, sizes, scales.
 */
#ifndef BY_SHAPE_CONSTANTS_H
#define BY_SHAPE_CONSTANTS_H

#include "base/map.h"
#include "ir/model.h"

struct by_shape_constants {
    struct by_map floats; /* names that Resize, Upsample and Range have as inputs */
};

/* Whatever comes out, by_shape_constants_release() goes with it. */
int by_shape_constants_find(struct by_shape_constants *constants, struct baryon_model *model,
                            struct baryon_error *err);
bool by_is_shape_constant(const struct by_shape_constants *constants,
                          const struct baryon_tensor *tensor);
void by_shape_constants_release(struct by_shape_constants *constants);

#endif
