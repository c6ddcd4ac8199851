/* What blocks leave of values, and the grid around them. */
#include "dtype/block_fast.h"
#include "dtype/block_work.h"

#include <math.h>

static void round_plain(const struct by_block_work *work, const struct by_block_at *at)
{
    by_block_plain_round(work->dtype, work->cast, &at->place, work->in + at->value,
                         work->out + at->value);
}

static void round_line(const struct by_block_work *work, size_t value, size_t count, size_t block)
{
    (void)block;
    by_block_fast_line(work->dtype, work->cast, &work->grid, work->in + value, count,
                       work->out + value);
}

static void round_columns(const struct by_block_work *work, size_t value, size_t rows,
                          size_t columns, size_t block)
{
    (void)block;
    by_block_fast_columns(work->dtype, work->cast, &work->grid, work->in + value, rows,
                          work->extent.inner, columns, work->out + value);
}

static const struct by_block_acts rounds = {round_plain, round_line, round_columns};

int by_block_round_team(const struct by_dtype *dtype, const float *in,
                        const struct by_block_cast *cast, const struct by_team *team, float *out,
                        struct baryon_error *err)
{
    struct by_block_work work = {.dtype = dtype, .cast = cast, .in = in, .out = out};
    if (by_block_extent(dtype, cast, &work.extent, err))
        return -1;
    if (work.extent.values == 1) {
        *out = by_block_plain_value(cast, *in);
        return 0;
    }
    return by_block_run(&work, &rounds, by_block_fast_grid(dtype, cast, &work.grid), team, err);
}

int by_block_round(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                   struct by_pool *pool, float *out, struct baryon_error *err)
{
    struct by_pool_team team;
    by_pool_team(&team, pool);
    return by_block_round_team(dtype, in, cast, &team.team, out, err);
}

/* --- The grid --- */

static void step_plain(const struct by_block_work *work, const struct by_block_at *at)
{
    by_block_plain_steps(work->dtype, work->cast, &at->place, work->in + at->value,
                         work->steps + at->value, work->out + at->value);
}

int by_block_steps(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                   struct by_pool *pool, float *steps, float *held, struct baryon_error *err)
{
    static const struct by_block_acts acts = {.plain = step_plain};
    struct by_block_work work = {
        .dtype = dtype, .cast = cast, .in = in, .out = held, .steps = steps};
    struct by_pool_team team;
    if (dtype->block.scaled)
        return by_fail(err, BARYON_ERR_INTERNAL, "blocks of %s do not share a power of two",
                       dtype->name);
    if (by_block_extent(dtype, cast, &work.extent, err))
        return -1;
    if (work.extent.values == 1) { /* stays as it is */
        *held = by_block_plain_value(cast, *in);
        *steps = *held != 0 ? fabsf(*held) : 1;
        return 0;
    }
    by_pool_team(&team, pool);
    return by_block_run(&work, &acts, false, &team.team, err);
}
