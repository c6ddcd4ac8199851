/* Arrays in blocks: where the blocks lie, and all of them on all threads. */
#include "dtype/block_work.h"

#include "array/array.h"

#define GRAIN   16384 /* values of a piece, about */
#define COLUMNS 512

#define TENSOR_SCALE_MAX 0x1p100f

static int check_block_cast(const struct by_dtype *dtype, const struct by_block_cast *cast,
                            struct baryon_error *err)
{
    const int64_t rank = (int64_t)cast->rank;
    if (!dtype->block.size)
        return by_fail(err, BARYON_ERR_INTERNAL,
                       "%s is not a block format, must use by_dtype_round()", dtype->name);
    if (rank > 1 && (cast->axis < -rank || cast->axis >= rank))
        return by_fail(err, BARYON_ERR_INPUT,
                       "block axis %d, must be an axis of the %lld dimensions of the array",
                       cast->axis, (long long)rank);
    if (!(cast->tensor_scale >= 0) || cast->tensor_scale > TENSOR_SCALE_MAX)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the tensor scale is %g, must be greater than 0 and at most 2^100",
                       (double)cast->tensor_scale);
    if (cast->tensor_scale > 0 && !dtype->block.scaled)
        return by_fail(err, BARYON_ERR_INPUT, "%s has no tensor scale", dtype->name);
    return 0;
}

static size_t product(const int64_t *dims, size_t begin, size_t end)
{
    size_t count = 1;
    for (size_t i = begin; i < end; i++)
        count *= (size_t)dims[i];
    return count;
}

static size_t bytes_of_shared(const struct by_dtype *dtype, size_t size)
{
    const struct by_block_layout *layout = &dtype->block;
    const size_t subs = layout->sub ? size / layout->sub + (size % layout->sub > 0) : 0;
    return 1 + (subs * layout->shifts + 7) / 8;
}

int by_block_extent(const struct by_dtype *dtype, const struct by_block_cast *cast,
                    struct by_block_extent *extent, struct baryon_error *err)
{
    struct by_block_extent e = {.size = cast->size ? cast->size : dtype->block.size};
    size_t whole;
    if (check_block_cast(dtype, cast, err) || by_dims_count(cast->dims, cast->rank, &e.values, err))
        return -1;
    const size_t axis = cast->rank < 2   ? 0
                        : cast->axis < 0 ? (size_t)(cast->axis + (int)cast->rank)
                                         : (size_t)cast->axis;
    if (e.values) {
        e.outer = product(cast->dims, 0, axis);
        e.length = cast->rank ? (size_t)cast->dims[axis] : 1;
        e.inner = cast->rank ? product(cast->dims, axis + 1, cast->rank) : 1;
        e.per_line = e.length / e.size + (e.length % e.size > 0);
    }
    e.blocks = e.outer * e.inner * e.per_line; /* no more than values */
    e.block_bytes = bytes_of_shared(dtype, e.size);
    if (by_mul_overflow(e.blocks, e.size, &whole) ||
        by_mul_overflow(e.blocks, e.block_bytes, &e.scale_bytes))
        return by_fail(err, BARYON_ERR_INPUT, "%zu blocks of %zu elements overflow", e.blocks,
                       e.size);
    *extent = e;
    return 0;
}

/* --- Block by block, the plain way --- */

/* Block number `index`, the array's axis moved to the end. */
static void locate(const struct by_block_extent *extent, size_t index, struct by_block_at *at)
{
    const size_t line = index / extent->per_line, block = index % extent->per_line;
    const size_t outer = line / extent->inner, column = line % extent->inner;
    const size_t begin = block * extent->size, left = extent->length - begin;
    at->place.count = left < extent->size ? left : extent->size;
    at->place.stride = extent->inner;
    at->place.size = extent->size;
    at->place.first = (uint64_t)index * extent->size;
    at->value = (outer * extent->length + begin) * extent->inner + column;
    at->block = (outer * extent->per_line + block) * extent->inner + column;
}

static int plain_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct by_block_work *work = context;
    struct by_block_at at;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++) {
        locate(&work->extent, i, &at);
        work->acts->plain(work, &at);
    }
    return 0;
}

/* --- In vectors --- */

/* Where the axis is the last one: lines, or all of them as one where blocks fill them. */
static int line_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct by_block_work *work = context;
    const size_t length = work->extent.length, per_line = work->extent.per_line;
    (void)worker, (void)err;
    while (begin < end) {
        const size_t line = begin / per_line, first = begin % per_line * work->extent.size;
        size_t count = (end - begin) * work->extent.size;
        if (length % work->extent.size && count > length - first)
            count = length - first;
        work->acts->line(work, line * length + first, count, begin);
        begin += (count + work->extent.size - 1) / work->extent.size;
    }
    return 0;
}

/* Elsewhere: rows of blocks side by side, some columns at a time. */
static int columns_piece(void *context, size_t begin, size_t end, unsigned worker,
                         struct baryon_error *err)
{
    const struct by_block_work *work = context;
    const struct by_block_extent *extent = &work->extent;
    (void)worker, (void)err;
    for (size_t i = begin; i < end; i++) {
        const size_t column = i % work->chunks * COLUMNS, slab = i / work->chunks;
        const size_t first = slab % extent->per_line * extent->size;
        const size_t rows =
            extent->length - first < extent->size ? extent->length - first : extent->size;
        const size_t columns = extent->inner - column < COLUMNS ? extent->inner - column : COLUMNS;
        const size_t at =
            (slab / extent->per_line * extent->length + first) * extent->inner + column;
        work->acts->columns(work, at, rows, columns, slab * extent->inner + column);
    }
    return 0;
}

static int run_columns(struct by_block_work *work, const struct by_team *team,
                       struct baryon_error *err)
{
    const struct by_block_extent *extent = &work->extent;
    work->chunks = extent->inner / COLUMNS + (extent->inner % COLUMNS > 0);
    const size_t wide = extent->inner < COLUMNS ? extent->inner : COLUMNS;
    const size_t each = wide * extent->size;
    return by_team_for(team, extent->outer * extent->per_line * work->chunks,
                       each < GRAIN ? GRAIN / each : 1, columns_piece, work, err);
}

int by_block_run(struct by_block_work *work, const struct by_block_acts *acts, bool fast,
                 const struct by_team *team, struct baryon_error *err)
{
    const size_t size = work->extent.size;
    work->acts = acts;
    if (!work->extent.values)
        return 0;
    if (fast && work->extent.inner > 1)
        return run_columns(work, team, err);
    return by_team_for(team, work->extent.blocks, size < GRAIN ? GRAIN / size : 1,
                       fast ? line_piece : plain_piece, work, err);
}
