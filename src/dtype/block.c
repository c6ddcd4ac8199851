/* Arrays in blocks: where the blocks lie, and all of them on all threads. */
#include "dtype/block.h"

#include "dtype/block_fast.h"
#include "dtype/block_plain.h"
#include "ir/tensor.h"

#include <math.h>
#include <string.h>

#define GRAIN   16384 /* values of a piece, about */
#define COLUMNS 512

#define TENSOR_SCALE_MAX 0x1p100f

struct work {
    const struct by_dtype *dtype;
    const struct by_block_cast *cast;
    struct by_block_extent extent;
    struct by_block_grid grid;
    size_t chunks; /* of columns, each of the blocks that begin in one row */
    const float *in;
    float *out, *steps;
    uint8_t *codes, *scales;
    const uint8_t *from_codes, *from_scales;
};

static int check(const struct by_dtype *dtype, const struct by_block_cast *cast,
                 struct baryon_error *err)
{
    const int64_t rank = (int64_t)cast->rank;
    if (!dtype->block.size)
        return by_fail(err, BARYON_ERR_INTERNAL,
                       "%s has no blocks, it goes through by_dtype_round()", dtype->name);
    if (rank > 1 && (cast->axis < -rank || cast->axis >= rank))
        return by_fail(err, BARYON_ERR_INPUT, "axis %d of blocks, the array has %lld dimensions",
                       cast->axis, (long long)rank);
    if (!(cast->tensor_scale >= 0) || cast->tensor_scale > TENSOR_SCALE_MAX)
        return by_fail(err, BARYON_ERR_INPUT,
                       "the scale of the tensor is %g, it must be above 0 and at most 2^100",
                       (double)cast->tensor_scale);
    if (cast->tensor_scale > 0 && !dtype->block.scaled)
        return by_fail(err, BARYON_ERR_INPUT, "%s has no scale of the tensor", dtype->name);
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
    if (check(dtype, cast, err) || by_dims_count(cast->dims, cast->rank, &e.values, err))
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
    if (by_mul_overflow(e.blocks, e.size, &e.codes) ||
        by_mul_overflow(e.blocks, e.block_bytes, &e.scale_bytes))
        return by_fail(err, BARYON_ERR_INPUT, "%zu blocks of %zu elements overflow", e.blocks,
                       e.size);
    *extent = e;
    return 0;
}

/* Block number `index` in the order of codes: what there is of it, and where in the array. */
static size_t locate(const struct by_block_extent *extent, size_t index,
                     struct by_block_place *place)
{
    const size_t line = index / extent->per_line, begin = index % extent->per_line * extent->size;
    const size_t left = extent->length - begin;
    place->count = left < extent->size ? left : extent->size;
    place->stride = extent->inner;
    place->size = extent->size;
    place->first = (uint64_t)index * extent->size;
    return (line / extent->inner * extent->length + begin) * extent->inner + line % extent->inner;
}

static int run(struct work *work, by_piece_fn *piece, const struct by_team *team,
               struct baryon_error *err)
{
    const size_t size = work->extent.size;
    return by_team_for(team, work->extent.blocks, size < GRAIN ? GRAIN / size : 1, piece, work,
                       err);
}

/* --- Block by block, the plain way --- */

/* Of block `index`, which begins at element `at`. */
typedef void do_block(const struct work *work, const struct by_block_place *place, size_t index,
                      size_t at);

static int each_block(const struct work *work, size_t begin, size_t end, do_block *act)
{
    struct by_block_place place;
    for (size_t i = begin; i < end; i++) {
        const size_t at = locate(&work->extent, i, &place);
        act(work, &place, i, at);
    }
    return 0;
}

static void round_block(const struct work *work, const struct by_block_place *place, size_t index,
                        size_t at)
{
    (void)index;
    by_block_plain_round(work->dtype, work->cast, place, work->in + at, work->out + at);
}

static void encode_block(const struct work *work, const struct by_block_place *place, size_t index,
                         size_t at)
{
    uint8_t *scale = work->scales + index * work->extent.block_bytes;
    memset(scale, 0, work->extent.block_bytes);
    by_block_plain_encode(work->dtype, work->cast, place, work->in + at,
                          work->codes + index * work->extent.size, scale);
}

static void decode_block(const struct work *work, const struct by_block_place *place, size_t index,
                         size_t at)
{
    by_block_plain_decode(work->dtype, work->cast, place,
                          work->from_codes + index * work->extent.size,
                          work->from_scales + index * work->extent.block_bytes, work->out + at);
}

static int round_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    (void)worker, (void)err;
    return each_block(context, begin, end, round_block);
}

static int encode_piece(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    (void)worker, (void)err;
    return each_block(context, begin, end, encode_block);
}

static int decode_piece(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    (void)worker, (void)err;
    return each_block(context, begin, end, decode_block);
}

/* --- Rounding, in vectors --- */

/* Where the axis is the last one: lines, or all of them as one where blocks fill them. */
static int line_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct work *work = context;
    const size_t length = work->extent.length, per_line = work->extent.per_line;
    (void)worker, (void)err;
    while (begin < end) {
        const size_t line = begin / per_line, first = begin % per_line * work->extent.size;
        size_t count = (end - begin) * work->extent.size;
        if (length % work->extent.size && count > length - first)
            count = length - first;
        const size_t at = line * length + first;
        by_block_fast_line(work->dtype, work->cast, &work->grid, work->in + at, count,
                           work->out + at);
        begin += (count + work->extent.size - 1) / work->extent.size;
    }
    return 0;
}

/* Elsewhere: rows of blocks side by side, some columns at a time. */
static int columns_piece(void *context, size_t begin, size_t end, unsigned worker,
                         struct baryon_error *err)
{
    const struct work *work = context;
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
        by_block_fast_columns(work->dtype, work->cast, &work->grid, work->in + at, rows,
                              extent->inner, columns, work->out + at);
    }
    return 0;
}

static int run_columns(struct work *work, const struct by_team *team, struct baryon_error *err)
{
    const struct by_block_extent *extent = &work->extent;
    work->chunks = extent->inner / COLUMNS + (extent->inner % COLUMNS > 0);
    const size_t wide = extent->inner < COLUMNS ? extent->inner : COLUMNS;
    const size_t each = wide * extent->size;
    return by_team_for(team, extent->outer * extent->per_line * work->chunks,
                       each < GRAIN ? GRAIN / each : 1, columns_piece, work, err);
}

int by_block_round_team(const struct by_dtype *dtype, const float *in,
                        const struct by_block_cast *cast, const struct by_team *team, float *out,
                        struct baryon_error *err)
{
    struct work work = {.dtype = dtype, .cast = cast, .in = in, .out = out};
    if (by_block_extent(dtype, cast, &work.extent, err))
        return -1;
    if (work.extent.values == 1) {
        *out = by_block_plain_value(cast, *in);
        return 0;
    }
    if (!work.extent.values)
        return 0;
    if (!by_block_fast_grid(dtype, cast, &work.grid))
        return run(&work, round_piece, team, err);
    return work.extent.inner == 1 ? run(&work, line_piece, team, err)
                                  : run_columns(&work, team, err);
}

int by_block_round(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                   struct by_pool *pool, float *out, struct baryon_error *err)
{
    struct by_pool_team team;
    by_pool_team(&team, pool);
    return by_block_round_team(dtype, in, cast, &team.team, out, err);
}

/* --- The grid --- */

static void step_block(const struct work *work, const struct by_block_place *place, size_t index,
                       size_t at)
{
    (void)index;
    by_block_plain_steps(work->dtype, work->cast, place, work->in + at, work->steps + at,
                         work->out + at);
}

static int step_piece(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    (void)worker, (void)err;
    return each_block(context, begin, end, step_block);
}

int by_block_steps(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                   struct by_pool *pool, float *steps, float *held, struct baryon_error *err)
{
    struct work work = {.dtype = dtype, .cast = cast, .in = in, .out = held, .steps = steps};
    struct by_pool_team team;
    if (dtype->block.scaled)
        return by_fail(err, BARYON_ERR_INTERNAL, "blocks of %s share no power of two", dtype->name);
    if (by_block_extent(dtype, cast, &work.extent, err))
        return -1;
    if (work.extent.values == 1) { /* stays as it is */
        *held = by_block_plain_value(cast, *in);
        *steps = *held != 0 ? fabsf(*held) : 1;
        return 0;
    }
    by_pool_team(&team, pool);
    return work.extent.values ? run(&work, step_piece, &team.team, err) : 0;
}

/* --- In memory --- */

static int run_on_pool(struct work *work, by_piece_fn *piece, struct by_pool *pool,
                       struct baryon_error *err)
{
    struct by_pool_team team;
    if (by_block_extent(work->dtype, work->cast, &work->extent, err))
        return -1;
    by_pool_team(&team, pool);
    return run(work, piece, &team.team, err);
}

int by_block_encode(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                    struct by_pool *pool, uint8_t *codes, uint8_t *scales, struct baryon_error *err)
{
    struct work work = {.dtype = dtype, .cast = cast, .in = in, .codes = codes, .scales = scales};
    return run_on_pool(&work, encode_piece, pool, err);
}

int by_block_decode(const struct by_dtype *dtype, const uint8_t *codes, const uint8_t *scales,
                    const struct by_block_cast *cast, struct by_pool *pool, float *out,
                    struct baryon_error *err)
{
    struct work work = {
        .dtype = dtype, .cast = cast, .out = out, .from_codes = codes, .from_scales = scales};
    return run_on_pool(&work, decode_piece, pool, err);
}
