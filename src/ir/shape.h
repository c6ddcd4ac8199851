/*
 * Shapes with symbolic dimensions, immutable once made.
 *
 * A dimension is a number, a symbol (interned name), or unknown. Two dimensions
 * with the same symbol are equal; two unknown ones are not known to be.
 */
#ifndef BY_SHAPE_H
#define BY_SHAPE_H

#include "ir/tensor.h"

struct by_extent {
    int64_t size;       /* -1: not a number */
    const char *symbol; /* NULL: unknown, when size is -1 */
};

struct by_shape {
    size_t rank;
    struct by_extent dims[];
};

struct by_shape *by_shape_new(struct by_arena *arena, size_t rank, struct baryon_error *err);
/* NULL message gives NULL: unknown rank. */
int by_shape_from_msg(struct by_arena *arena, const struct by_shape_msg *msg,
                      const struct by_shape **shape, struct baryon_error *err);
bool by_extent_equal(struct by_extent a, struct by_extent b);
/* All dimensions are numbers. */
bool by_shape_is_static(const struct by_shape *shape);
/* "[N,3,224,224]", "?" for unknown dimensions, "[...]" for unknown rank; returns buf. */
const char *by_shape_text(const struct by_shape *shape, char *buf, size_t size);

#endif
