/* Follows the channels of a tensor through reshapes and transpositions. */
#include "adjust/smooth_internal.h"

#include <string.h>

#define ELEMENTS_MOST ((size_t)1 << 22)

/* --- Coordinates --- */

static size_t elements(const struct by_smooth_spread *spread)
{
    size_t count = 1;
    for (size_t axis = 0; axis < spread->rank; axis++)
        if (spread->on[axis]) {
            if (spread->dims[axis] <= 0 || count > ELEMENTS_MOST / (size_t)spread->dims[axis])
                return 0;
            count *= (size_t)spread->dims[axis];
        }
    return count;
}

static int make_room(struct by_arena *arena, struct by_smooth_spread *spread,
                     struct baryon_error *err)
{
    spread->count = elements(spread);
    spread->map =
        by_arena_alloc(arena, spread->count ? spread->count : 1, sizeof *spread->map, err);
    return spread->map ? 0 : -1;
}

/* Place in the map of an element; its coordinates on axes that are not on do not matter. */
static size_t place_of(const struct by_smooth_spread *spread, const int64_t *at)
{
    size_t place = 0;
    for (size_t axis = 0; axis < spread->rank; axis++)
        if (spread->on[axis])
            place = place * (size_t)spread->dims[axis] + (size_t)at[axis];
    return place;
}

/* The next element of the axes that are on. */
static void step(const struct by_smooth_spread *spread, int64_t *at)
{
    for (size_t axis = spread->rank; axis-- > 0;) {
        if (!spread->on[axis])
            continue;
        if (++at[axis] < spread->dims[axis])
            return;
        at[axis] = 0;
    }
}

static bool differs_along(const struct by_smooth_spread *spread, size_t axis)
{
    size_t inner = 1;
    const size_t size = (size_t)spread->dims[axis];
    for (size_t i = axis + 1; i < spread->rank; i++)
        inner *= spread->on[i] ? (size_t)spread->dims[i] : 1;
    for (size_t i = 0; i < spread->count; i++)
        if (spread->map[i] != spread->map[i - i / inner % size * inner])
            return true;
    return false;
}

/* Axes along which nothing differs are off. */
static void simplify(struct by_smooth_spread *spread)
{
    for (size_t axis = 0; axis < spread->rank; axis++) {
        if (!spread->on[axis] || differs_along(spread, axis))
            continue;
        struct by_smooth_spread fewer = *spread;
        int64_t at[BY_RANK_MAX] = {0};
        fewer.on[axis] = false;
        fewer.count = elements(&fewer);
        for (size_t i = 0; i < fewer.count; i++, step(&fewer, at))
            fewer.map[i] = spread->map[place_of(spread, at)];
        *spread = fewer;
    }
}

int by_smooth_spread_axis(struct by_arena *arena, size_t rank, size_t axis, size_t channels,
                          struct by_smooth_spread *spread, struct baryon_error *err)
{
    *spread = (struct by_smooth_spread){.rank = rank};
    spread->on[axis] = true;
    spread->dims[axis] = (int64_t)channels;
    if (make_room(arena, spread, err) < 0)
        return -1;
    for (size_t i = 0; i < spread->count; i++)
        spread->map[i] = (int32_t)i;
    return 0;
}

/* --- Reshape --- */

/* Axes [out, out_end) of one shape hold the elements of [in, in_end) of the other. */
struct block {
    size_t out, out_end, in, in_end;
};

static int64_t size_at(const struct by_shape *shape, size_t end)
{
    return shape->dims[end - 1].size;
}

/* The block that ends there, from the right; false: sizes are not known. */
static bool find_block(const struct by_shape *out, size_t out_end, const struct by_shape *in,
                       size_t in_end, struct block *block)
{
    int64_t of_out = size_at(out, out_end), of_in = size_at(in, in_end);
    *block = (struct block){out_end - 1, out_end, in_end - 1, in_end};
    if (by_extent_equal(out->dims[out_end - 1], in->dims[in_end - 1]))
        return true;
    while (of_out > 0 && of_in > 0 && of_out != of_in) {
        int64_t *lesser = of_out < of_in ? &of_out : &of_in;
        size_t *at = of_out < of_in ? &block->out : &block->in;
        const struct by_shape *shape = of_out < of_in ? out : in;
        if (!*at || shape->dims[*at - 1].size <= 0 || shape->dims[*at - 1].size > INT32_MAX ||
            *lesser > INT32_MAX)
            return false;
        *lesser *= shape->dims[--*at].size;
    }
    return of_out > 0 && of_out == of_in;
}

static bool any_on(const struct by_smooth_spread *spread, size_t begin, size_t end)
{
    for (size_t axis = begin; axis < end; axis++)
        if (spread->on[axis])
            return true;
    return false;
}

/* All axes of a block are on, since elements of all of them lie side by side afterwards. */
static void take_block(const struct block *block, const struct by_shape *out,
                       const struct by_shape *in, struct by_smooth_spread *full,
                       struct by_smooth_spread *spread)
{
    for (size_t axis = block->out; axis < block->out_end; axis++) {
        full->on[axis] = true;
        full->dims[axis] = out->dims[axis].size;
    }
    for (size_t axis = block->in; axis < block->in_end; axis++) {
        spread->on[axis] = true;
        spread->dims[axis] = in->dims[axis].size;
    }
}

static bool match_blocks(const struct by_smooth_spread *from, const struct by_shape *out,
                         const struct by_shape *in, struct by_smooth_spread *full,
                         struct by_smooth_spread *spread)
{
    size_t out_end = out->rank, in_end = in->rank;
    while (any_on(from, 0, out_end)) {
        struct block block;
        if (!in_end || !find_block(out, out_end, in, in_end, &block))
            return false;
        if (any_on(from, block.out, block.out_end)) {
            const bool same = block.out + 1 == block.out_end && block.in + 1 == block.in_end;
            take_block(&block, out, in, full, spread);
            if (same)
                spread->dims[block.in] = full->dims[block.out] = from->dims[block.out];
        }
        out_end = block.out;
        in_end = block.in;
    }
    return true;
}

/* The same with more axes on. */
static int fill(struct by_arena *arena, const struct by_smooth_spread *from,
                struct by_smooth_spread *full, struct baryon_error *err)
{
    int64_t at[BY_RANK_MAX] = {0};
    if (make_room(arena, full, err) < 0)
        return -1;
    for (size_t i = 0; i < full->count; i++, step(full, at))
        full->map[i] = from->map[place_of(from, at)];
    return 0;
}

int by_smooth_spread_reshape(struct by_arena *arena, const struct by_smooth_spread *from,
                             const struct by_shape *out, const struct by_shape *in,
                             struct by_smooth_spread *spread, bool *fits, struct baryon_error *err)
{
    struct by_smooth_spread full = {.rank = from->rank};
    *fits = false;
    if (!out || !in || out->rank != from->rank || in->rank > BY_RANK_MAX)
        return 0;
    *spread = (struct by_smooth_spread){.rank = in->rank};
    if (!match_blocks(from, out, in, &full, spread) || !elements(&full))
        return 0;
    if (fill(arena, from, &full, err) < 0)
        return -1;
    spread->map = full.map;
    spread->count = elements(spread);
    *fits = spread->count == full.count;
    if (*fits)
        simplify(spread);
    return 0;
}

/* --- Transpose --- */

int by_smooth_spread_transpose(struct by_arena *arena, const struct by_smooth_spread *from,
                               const size_t *perm, struct by_smooth_spread *spread,
                               struct baryon_error *err)
{
    int64_t at[BY_RANK_MAX] = {0}, there[BY_RANK_MAX] = {0};
    *spread = (struct by_smooth_spread){.rank = from->rank};
    for (size_t axis = 0; axis < from->rank; axis++) {
        spread->on[perm[axis]] = from->on[axis];
        spread->dims[perm[axis]] = from->dims[axis];
    }
    if (make_room(arena, spread, err) < 0)
        return -1;
    for (size_t i = 0; i < spread->count; i++, step(spread, at)) {
        for (size_t axis = 0; axis < from->rank; axis++)
            there[axis] = at[perm[axis]];
        spread->map[i] = from->map[place_of(from, there)];
    }
    return 0;
}

/* --- Parts --- */

/* Coordinates of an element of the whole in its part. */
static void to_part(const int64_t *at, size_t rank, size_t axis, int64_t begin, bool taken,
                    int64_t *there)
{
    for (size_t i = 0, k = 0; i < rank; i++) {
        if (i == axis && taken)
            continue;
        there[k++] = i == axis ? at[i] - begin : at[i];
    }
}

int by_smooth_spread_widen(struct by_arena *arena, const struct by_smooth_spread *from, size_t axis,
                           int64_t part, int64_t begin, int64_t size, bool taken,
                           struct by_smooth_spread *spread, struct baryon_error *err)
{
    int64_t at[BY_RANK_MAX] = {0}, there[BY_RANK_MAX];
    *spread = (struct by_smooth_spread){.rank = from->rank + taken};
    for (size_t i = 0, k = 0; i < spread->rank; i++) {
        if (i == axis && taken)
            continue;
        spread->on[i] = from->on[k];
        spread->dims[i] = from->dims[k++];
    }
    spread->on[axis] = true;
    spread->dims[axis] = size;
    if (make_room(arena, spread, err) < 0)
        return -1;
    for (size_t i = 0; i < spread->count; i++, step(spread, at)) {
        to_part(at, spread->rank, axis, begin, taken, there);
        spread->map[i] = at[axis] < begin || at[axis] >= begin + part
                             ? BY_SMOOTH_NONE
                             : from->map[place_of(from, there)];
    }
    return 0;
}

/* --- Constants --- */

int by_smooth_spread_constant(struct by_arena *arena, const struct by_smooth_spread *spread,
                              const struct baryon_value *constant, int32_t **map, size_t *count,
                              bool *fits, struct baryon_error *err)
{
    const struct by_ints *dims = &constant->initializer->dims;
    struct by_smooth_spread of = {.rank = spread->rank};
    int64_t at[BY_RANK_MAX] = {0};
    *fits = dims->count <= spread->rank;
    for (size_t axis = 0; *fits && axis < spread->rank; axis++) {
        const size_t missing = spread->rank - dims->count;
        of.on[axis] = true;
        of.dims[axis] = axis < missing ? 1 : dims->at[axis - missing];
        *fits = !spread->on[axis] || of.dims[axis] == spread->dims[axis];
    }
    if (!*fits || !elements(&of)) {
        *fits = false;
        return 0;
    }
    if (make_room(arena, &of, err) < 0)
        return -1;
    for (size_t i = 0; i < of.count; i++, step(&of, at))
        of.map[i] = spread->map[place_of(spread, at)];
    *map = of.map;
    *count = of.count;
    return 0;
}
