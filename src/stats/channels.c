/* Least and greatest finite value of each channel. */
#include "stats/sketch_path.h"

#include <float.h>
#include <math.h>

#define BLOCK 64u /* channels side by side that are done together */

int by_channels_init(struct by_channels *channels, size_t count, struct baryon_error *err)
{
    *channels = (struct by_channels){.count = count, .squares.cell = BY_FOLD_NONE};
    if (!count)
        return 0;
    channels->min = by_alloc_zero(count, sizeof *channels->min, err);
    channels->max = channels->min ? by_alloc_zero(count, sizeof *channels->max, err) : NULL;
    channels->seen = channels->max ? by_alloc_zero(count, sizeof *channels->seen, err) : NULL;
    if (channels->seen)
        return 0;
    by_channels_release(channels);
    return -1;
}

void by_channels_release(struct by_channels *channels)
{
    by_free(channels->min);
    by_free(channels->max);
    by_free(channels->seen);
    by_fold_release(&channels->squares);
    *channels = (struct by_channels){0};
}

/* Adding a positive zero makes a negative one positive, so that order does not matter. */
static void add_channel_range(struct by_channels *channels, size_t channel, float min, float max)
{
    if (!channels->seen[channel] || min < channels->min[channel])
        channels->min[channel] = min + 0.0f;
    if (!channels->seen[channel] || max > channels->max[channel])
        channels->max[channel] = max + 0.0f;
    channels->seen[channel] = true;
}

struct look {
    struct by_channels *channels;
    const struct by_sketch_path *path;
    const struct by_channel_values *values;
    size_t row;     /* values from a row of channels to the next, where they lie side by side */
    float *squares; /* of this look, by channel, there */
};

static void look_channel(const struct look *look, size_t channel, float *buffer)
{
    const struct by_channel_values *values = look->values;
    float min = INFINITY, max = -INFINITY;
    for (size_t o = 0; o < values->outer; o++) {
        size_t begin = (o * values->channels + channel) * values->inner;
        for (size_t at = 0, step; at < values->inner; at += step) {
            step = values->inner - at < BLOCK * BLOCK ? values->inner - at : BLOCK * BLOCK;
            const float *floats =
                by_sketch_floats(values->at, values->elem, begin + at, step, buffer);
            look->path->range(floats, step, &min, &max);
        }
    }
    if (min <= max)
        add_channel_range(look->channels, channel, min, max);
}

static int look_channels(void *context, size_t begin, size_t end, unsigned worker,
                         struct baryon_error *err)
{
    float buffer[BLOCK * BLOCK];
    (void)worker;
    (void)err;
    for (size_t channel = begin; channel < end; channel++)
        look_channel(context, channel, buffer);
    return 0;
}

/* --- In blocks: value i of a block is of its channel i % size --- */

static void begin_ranges(float *min, float *max)
{
    for (size_t i = 0; i < BLOCK; i++) {
        min[i] = INFINITY;
        max[i] = -INFINITY;
    }
}

static void look_block(const struct look *look, size_t block)
{
    const struct by_blocks *blocks = look->values->blocks;
    const size_t size = by_block_size(blocks), step = BLOCK - BLOCK % blocks->block;
    float min[BLOCK], max[BLOCK];
    begin_ranges(min, max);
    for (size_t item = 0; item < look->values->outer; item++) {
        const float *at = by_block_at(blocks, look->values->at, item, block);
        for (size_t i = 0; i < size; i += step)
            look->path->ranges(at + i, size - i < step ? size - i : step, min, max);
    }
    for (size_t i = 0; i < BLOCK; i++) {
        const size_t channel = block * blocks->block + i % blocks->block;
        if (channel < blocks->channels && min[i] <= max[i])
            add_channel_range(look->channels, channel, min[i], max[i]);
    }
}

static int look_blocks(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *err)
{
    (void)worker;
    (void)err;
    for (size_t block = begin; block < end; block++)
        look_block(context, block);
    return 0;
}

/* --- Side by side --- */

static void add_squares(const float *values, size_t count, double *squares)
{
    for (size_t i = 0; i < count; i++)
        squares[i] += (double)values[i] * values[i];
}

/* [begin, end) of each row. */
static int look_columns(void *context, size_t begin, size_t end, unsigned worker,
                        struct baryon_error *err)
{
    const struct look *look = context;
    float min[BLOCK], max[BLOCK], buffer[BLOCK];
    double squares[BLOCK] = {0};
    (void)worker;
    (void)err;
    begin_ranges(min, max);
    for (size_t o = 0; o < look->values->outer; o++) {
        const float *values = by_sketch_floats(look->values->at, look->values->elem,
                                               o * look->row + begin, end - begin, buffer);
        look->path->ranges(values, end - begin, min, max);
        add_squares(values, end - begin, squares);
    }
    for (size_t i = 0; i < end - begin; i++) {
        look->squares[begin + i] = squares[i] <= (double)FLT_MAX ? (float)squares[i] : 0;
        if (min[i] <= max[i])
            add_channel_range(look->channels, begin + i, min[i], max[i]);
    }
    return 0;
}

static int look_at_columns(struct look *look, const struct by_team *team, struct baryon_error *err)
{
    struct by_channels *channels = look->channels;
    if (!channels->squares.count && by_fold_init(&channels->squares, channels->count, err) < 0)
        return -1;
    look->squares = by_alloc(channels->count, sizeof *look->squares, err);
    const int status =
        look->squares ? by_team_for(team, channels->count, BLOCK, look_columns, look, err) : -1;
    if (status == 0)
        by_fold_add(&channels->squares, look->squares);
    by_free(look->squares);
    return status;
}

/* --- All of a sample --- */

int by_channels_look(struct by_channels *channels, const struct by_channel_values *values,
                     const struct by_team *team, struct baryon_error *err)
{
    const struct by_blocks *blocks = values->blocks;
    const size_t count = blocks ? by_block_count(blocks) : channels->count;
    struct look look = {.channels = channels,
                        .path = by_sketch_path_chosen(),
                        .values = values,
                        .row = blocks ? count * blocks->block : count};
    if (by_sketch_check(values->elem, err))
        return -1;
    if (values->inner == 1)
        return look_at_columns(&look, team, err);
    const size_t each = values->outer * (blocks ? by_block_size(blocks) : values->inner);
    return by_team_for(team, count, by_sketch_grain(each), blocks ? look_blocks : look_channels,
                       &look, err);
}

void by_channels_merge(struct by_channels *channels, const struct by_channels *other)
{
    if (channels->count != other->count) {
        by_channels_release(channels);
        return;
    }
    for (size_t i = 0; i < other->count; i++)
        if (other->seen[i])
            add_channel_range(channels, i, other->min[i], other->max[i]);
    if (channels->squares.count && other->squares.count)
        by_fold_merge(&channels->squares, &other->squares);
    else
        by_fold_release(&channels->squares);
}
