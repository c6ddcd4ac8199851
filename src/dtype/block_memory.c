/* Blocks in memory: to codes and what each shares, and back. */
#include "dtype/block_code.h"
#include "dtype/block_work.h"

#include <string.h>

/* --- To codes --- */

static void encode_plain(const struct by_block_work *work, const struct by_block_at *at)
{
    uint8_t *scale = work->scales + at->block * work->extent.block_bytes;
    memset(scale, 0, work->extent.block_bytes);
    by_block_plain_encode(work->dtype, work->cast, &at->place, work->in + at->value,
                          work->codes + at->value, scale);
}

static const struct by_block_acts encodes = {encode_plain, by_block_code_line,
                                             by_block_code_columns};

int by_block_encode(const struct by_dtype *dtype, const float *in, const struct by_block_cast *cast,
                    struct by_pool *pool, uint8_t *codes, uint8_t *scales, struct baryon_error *err)
{
    struct by_block_work work = {
        .dtype = dtype, .cast = cast, .in = in, .codes = codes, .scales = scales};
    struct by_pool_team team;
    if (by_block_extent(dtype, cast, &work.extent, err))
        return -1;
    by_pool_team(&team, pool);
    return by_block_run(&work, &encodes, by_block_code_grid(dtype, cast, &work.grid), &team.team,
                        err);
}

/* --- And back --- */

static void decode_plain(const struct by_block_work *work, const struct by_block_at *at)
{
    by_block_plain_decode(work->dtype, work->cast, &at->place, work->from_codes + at->value,
                          work->from_scales + at->block * work->extent.block_bytes,
                          work->out + at->value);
}

static const struct by_block_acts decodes = {decode_plain, by_block_decode_line,
                                             by_block_decode_columns};

int by_block_decode(const struct by_dtype *dtype, const uint8_t *codes, const uint8_t *scales,
                    const struct by_block_cast *cast, struct by_pool *pool, float *out,
                    struct baryon_error *err)
{
    struct by_block_meaning meaning;
    struct by_block_work work = {.dtype = dtype,
                                 .cast = cast,
                                 .meaning = &meaning,
                                 .out = out,
                                 .from_codes = codes,
                                 .from_scales = scales};
    struct by_pool_team team;
    if (by_block_extent(dtype, cast, &work.extent, err))
        return -1;
    by_pool_team(&team, pool);
    return by_block_run(&work, &decodes, by_block_meaning(dtype, cast, &meaning), &team.team, err);
}
