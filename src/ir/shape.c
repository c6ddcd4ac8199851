/* Makes, compares and prints shapes with symbolic dimensions. */
#include "ir/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define COUNT_MAX ((int64_t)1 << 48)

bool by_extent_equal(struct by_extent a, struct by_extent b)
{
    if (by_extent_is_number(a) || by_extent_is_number(b))
        return a.size == b.size;
    return a.symbol && a.symbol == b.symbol;
}

struct by_shape *by_shape_new(struct by_arena *arena, size_t rank, struct baryon_error *err)
{
    if (rank > BY_RANK_MAX) {
        by_fail(err, BARYON_ERR_UNSUPPORTED, "rank is %zu, must be at most %d", rank, BY_RANK_MAX);
        return NULL;
    }
    struct by_shape *shape =
        by_arena_alloc(arena, 1, sizeof *shape + rank * sizeof *shape->dims, err);
    if (!shape)
        return NULL;
    shape->rank = rank;
    for (size_t i = 0; i < rank; i++)
        shape->dims[i] = by_extent_unknown();
    return shape;
}

struct by_shape *by_shape_copy(struct by_arena *arena, const struct by_shape *shape,
                               struct baryon_error *err)
{
    struct by_shape *copy = by_shape_new(arena, shape->rank, err);
    if (copy)
        memcpy(copy->dims, shape->dims, shape->rank * sizeof *shape->dims);
    return copy;
}

static struct by_extent extent_from_dim(const struct by_dim *dim)
{
    if (by_dim_is_number(dim))
        return by_extent_of(dim->value);
    return (struct by_extent){-1, dim->param && *dim->param ? dim->param : NULL};
}

int by_shape_from_msg(struct by_arena *arena, const struct by_shape_msg *msg,
                      const struct by_shape **shape, struct baryon_error *err)
{
    *shape = NULL;
    if (!msg)
        return 0;
    struct by_shape *made = by_shape_new(arena, msg->dims.count, err);
    if (!made)
        return -1;
    for (size_t i = 0; i < made->rank; i++)
        if (msg->dims.at[i])
            made->dims[i] = extent_from_dim(msg->dims.at[i]);
    *shape = made;
    return 0;
}

int by_shape_from_dims(struct by_arena *arena, const int64_t *dims, size_t rank,
                       const struct by_shape **shape, struct baryon_error *err)
{
    struct by_shape *made = by_shape_new(arena, rank, err);
    if (!made)
        return -1;
    for (size_t i = 0; i < rank; i++)
        made->dims[i] = by_extent_of(dims[i]);
    *shape = made;
    return 0;
}

bool by_shape_same(const struct by_shape *a, const struct by_shape *b)
{
    if (!a || !b || a->rank != b->rank)
        return a == b;
    for (size_t i = 0; i < a->rank; i++)
        if (a->dims[i].size != b->dims[i].size || a->dims[i].symbol != b->dims[i].symbol)
            return false;
    return true;
}

bool by_shape_is_static(const struct by_shape *shape)
{
    if (!shape)
        return false;
    for (size_t i = 0; i < shape->rank; i++)
        if (!by_extent_is_number(shape->dims[i]))
            return false;
    return true;
}

bool by_shape_count(const struct by_shape *shape, int64_t *count)
{
    if (!by_shape_is_static(shape))
        return false;
    *count = 1;
    for (size_t i = 0; i < shape->rank; i++)
        if (__builtin_mul_overflow(*count, shape->dims[i].size, count) || *count > COUNT_MAX)
            return false;
    return true;
}

/* Appends at *used, which stays below size. */
static void put_shape_text(char *buf, size_t size, size_t *used, const char *text)
{
    const size_t length = strlen(text), room = size - *used - 1;
    const size_t taken = length < room ? length : room;
    memcpy(buf + *used, text, taken);
    *used += taken;
    buf[*used] = '\0';
}

const char *by_shape_text(const struct by_shape *shape, char *buf, size_t size)
{
    size_t used = 0;
    if (!size)
        return buf;
    buf[0] = '\0';
    put_shape_text(buf, size, &used, shape ? "[" : "[...]");
    for (size_t i = 0; shape && i < shape->rank; i++) {
        char number[24];
        const struct by_extent dim = shape->dims[i];
        snprintf(number, sizeof number, "%" PRId64, dim.size);
        put_shape_text(buf, size, &used, i ? "," : "");
        put_shape_text(buf, size, &used,
                       by_extent_is_number(dim) ? number
                       : dim.symbol             ? dim.symbol
                                                : "?");
    }
    put_shape_text(buf, size, &used, shape ? "]" : "");
    return buf;
}
