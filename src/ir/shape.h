/*
 * Shapes with symbolic dimensions, immutable once they are a value's.
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

static inline struct by_extent by_extent_of(int64_t size)
{
    return (struct by_extent){size < 0 ? -1 : size, NULL};
}
static inline struct by_extent by_extent_unknown(void)
{
    return (struct by_extent){-1, NULL};
}
static inline bool by_extent_is_number(struct by_extent extent)
{
    return extent.size >= 0;
}
static inline bool by_extent_is_known(struct by_extent extent)
{
    return extent.size >= 0 || extent.symbol;
}
/* Known to be equal: the same number, or the same symbol. */
bool by_extent_equal(struct by_extent a, struct by_extent b);

/* All dimensions unknown; fails on a rank over BY_RANK_MAX. */
struct by_shape *by_shape_new(struct by_arena *arena, size_t rank, struct baryon_error *err);
struct by_shape *by_shape_copy(struct by_arena *arena, const struct by_shape *shape,
                               struct baryon_error *err);
/* NULL message gives NULL: unknown rank. A negative dimension is an unknown one. */
int by_shape_from_msg(struct by_arena *arena, const struct by_shape_msg *msg,
                      const struct by_shape **shape, struct baryon_error *err);
int by_shape_from_dims(struct by_arena *arena, const int64_t *dims, size_t rank,
                       const struct by_shape **shape, struct baryon_error *err);
/* Same rank, and every dimension the same number, the same symbol or unknown in both. */
bool by_shape_same(const struct by_shape *a, const struct by_shape *b);
/* All dimensions are numbers; false for NULL. */
bool by_shape_is_static(const struct by_shape *shape);
/* Elements of a static shape; false when it is not static or they are more than 2^48. */
bool by_shape_count(const struct by_shape *shape, int64_t *count);
/* "[N,3,224,224]", "?" for unknown dimensions, "[...]" for unknown rank; returns buf. */
const char *by_shape_text(const struct by_shape *shape, char *buf, size_t size);

#endif
