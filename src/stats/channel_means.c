/* Sums the values of each channel, so that the result does not depend on threads. */
#include "stats/channel_means.h"

#include "stats/sketch_part.h"

#include <math.h>
#include <string.h>

#define LANES   16u
#define RUN     32u /* values of a lane */
#define PIECE   4096u
#define COLUMNS 64u

#define QUAD  4u
#define QUADS (LANES / QUAD)

/* Of the width that every processor has in a register. */
typedef float quad __attribute__((vector_size(QUAD * sizeof(float))));

int by_channel_means_init(struct by_channel_means *means, size_t count, struct baryon_error *err)
{
    *means = (struct by_channel_means){.sums.cell = BY_FOLD_NONE};
    return count ? by_fold_init(&means->sums, count, err) : 0;
}

void by_channel_means_release(struct by_channel_means *means)
{
    by_fold_release(&means->sums);
    *means = (struct by_channel_means){.sums.cell = BY_FOLD_NONE};
}

/* --- Sums of one look --- */

struct look {
    const struct by_channel_values *values;
    float *sums;
};

static quad load_quad(const float *values)
{
    quad out;
    memcpy(&out, values, sizeof out);
    return out;
}

/* Adds values[i] to the lane i % LANES. Four names, since an array would not stay in registers. */
static void add_run(const float *values, size_t count, double sums[LANES])
{
    quad a = {0}, b = {0}, c = {0}, d = {0};
    float run[LANES];
    size_t i = 0;
    for (; i + LANES <= count; i += LANES) {
        a += load_quad(values + i);
        b += load_quad(values + i + QUAD);
        c += load_quad(values + i + 2 * QUAD);
        d += load_quad(values + i + 3 * QUAD);
    }
    memcpy(run, (quad[]){a, b, c, d}, sizeof run);
    for (size_t lane = 0; i < count; i++, lane++)
        run[lane] += values[i];
    for (size_t lane = 0; lane < LANES; lane++)
        sums[lane] += (double)run[lane];
}

static void add_values(const float *values, size_t count, double sums[LANES])
{
    for (size_t begin = 0; begin < count; begin += LANES * RUN)
        add_run(values + begin, count - begin < LANES * RUN ? count - begin : LANES * RUN, sums);
}

static double join_channel_sums(double sums[LANES])
{
    for (size_t half = LANES / 2; half; half /= 2)
        for (size_t i = 0; i < half; i++)
            sums[i] += sums[i + half];
    return sums[0];
}

/* Values of a channel, piece by piece. */
static double sum_channel(const struct by_channel_values *values, size_t channel, bool singles)
{
    float buffer[PIECE];
    double sums[LANES] = {0};
    for (size_t o = 0; o < values->outer; o++) {
        const size_t begin = (o * values->channels + channel) * values->inner;
        for (size_t at = 0, step; at < values->inner; at += step) {
            step = values->inner - at < PIECE ? values->inner - at : PIECE;
            const float *floats =
                by_sketch_floats(values->at, values->elem, begin + at, step, buffer);
            if (singles)
                add_values(floats, step, sums);
            else
                for (size_t i = 0; i < step; i++)
                    sums[i % LANES] += (double)floats[i];
        }
    }
    return join_channel_sums(sums);
}

static int sum_channels(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct look *look = context;
    (void)worker;
    (void)err;
    for (size_t c = begin; c < end; c++) {
        const double sum = sum_channel(look->values, c, true);
        look->sums[c] = (float)(isfinite(sum) ? sum : sum_channel(look->values, c, false));
    }
    return 0;
}

/* --- In blocks: a place is a value of each of the block's channels --- */

/* Blocks of 8 have two places in the lanes. */
static void sum_block(const struct by_channel_values *values, size_t block, double sums[LANES])
{
    const struct by_blocks *blocks = values->blocks;
    double all[LANES] = {0};
    for (size_t item = 0; item < values->outer; item++)
        add_values(by_block_at(blocks, values->at, item, block), by_block_size(blocks), all);
    for (size_t i = 0; i < LANES; i++)
        sums[i % blocks->block] += all[i];
}

static double sum_lane(const struct by_channel_values *values, size_t channel)
{
    const struct by_blocks *blocks = values->blocks;
    double sum = 0;
    for (size_t item = 0; item < values->outer; item++) {
        const float *at = by_block_at(blocks, values->at, item, channel / blocks->block);
        for (size_t i = channel % blocks->block; i < by_block_size(blocks); i += blocks->block)
            sum += (double)at[i];
    }
    return sum;
}

static int sum_blocks(void *context, size_t begin, size_t end, unsigned worker,
                      struct baryon_error *err)
{
    const struct look *look = context;
    const size_t each = look->values->blocks->block;
    (void)worker;
    (void)err;
    for (size_t block = begin; block < end; block++) {
        double sums[LANES] = {0};
        sum_block(look->values, block, sums);
        for (size_t c = block * each; c < (block + 1) * each && c < look->values->channels; c++)
            look->sums[c] =
                (float)(isfinite(sums[c % each]) ? sums[c % each] : sum_lane(look->values, c));
    }
    return 0;
}

/* Blocks that do not fill the lanes evenly are summed lane by lane. */
static int sum_odd_blocks(void *context, size_t begin, size_t end, unsigned worker,
                          struct baryon_error *err)
{
    const struct look *look = context;
    (void)worker;
    (void)err;
    for (size_t c = begin; c < end; c++)
        look->sums[c] = (float)sum_lane(look->values, c);
    return 0;
}

/* Channels that lie side by side, in rows: [begin, end) of each. */
static int sum_columns(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    const struct look *look = context;
    const struct by_channel_values *values = look->values;
    float buffer[COLUMNS];
    double sums[COLUMNS] = {0};
    (void)worker;
    (void)err;
    for (size_t o = 0; o < values->outer; o++) {
        const float *floats = by_sketch_floats(values->at, values->elem,
                                               o * values->channels + begin, end - begin, buffer);
        for (size_t i = 0; i < end - begin; i++)
            sums[i] += (double)floats[i];
    }
    for (size_t i = 0; i < end - begin; i++)
        look->sums[begin + i] = (float)sums[i];
    return 0;
}

int by_channel_sums(const struct by_channel_values *values, const struct by_team *team, float *sums,
                    struct baryon_error *err)
{
    struct look look = {values, sums};
    const struct by_blocks *blocks = values->blocks;
    const size_t each = values->outer * values->inner;
    if (by_sketch_check(values->elem, err))
        return -1;
    if (blocks && LANES % blocks->block)
        return by_team_for(team, values->channels, by_sketch_grain(each), sum_odd_blocks, &look,
                           err);
    if (blocks)
        return by_team_for(team, by_block_count(blocks), by_sketch_grain(each * blocks->block),
                           sum_blocks, &look, err);
    if (values->inner == 1)
        return by_team_for(team, values->channels, COLUMNS, sum_columns, &look, err);
    return by_team_for(team, values->channels, by_sketch_grain(each), sum_channels, &look, err);
}

/* --- Many looks --- */

void by_channel_means_add(struct by_channel_means *means, float *sums, size_t values)
{
    means->values += values;
    for (size_t i = 0; i < means->sums.count; i++)
        if (!isfinite(sums[i]))
            sums[i] = 0;
    by_fold_add(&means->sums, sums);
}

void by_channel_means_merge(struct by_channel_means *means, const struct by_channel_means *other)
{
    means->values += other->values;
    by_fold_merge(&means->sums, &other->sums);
}

double by_channel_mean(const struct by_channel_means *means, size_t channel)
{
    return means->values ? by_fold_value(&means->sums, channel) / (double)means->values : 0;
}
