/* Sketches and channels of a .stats file. */
#include "array/elem.h"
#include "stats/sketch_part.h"
#include "stats/store.h"

#include <inttypes.h>
#include <string.h>

/* How many, then each from the top down: exponents left out since the one before, counts. */
static void put_rows(struct by_str *out, const struct by_sketch *sketch, int sign)
{
    uint64_t count = 0, buffer[BY_SKETCH_ROW];
    for (int e = 0; e <= sketch->top; e++)
        count += sketch->rows[sign][e] != NULL;
    by_store_put_varint(out, count);
    for (int e = sketch->top, next = e; e >= 0; e--) {
        const uint64_t *row = by_sketch_row(sketch, sign, e, buffer);
        if (!row)
            continue;
        by_store_put_varint(out, (uint64_t)(next - e));
        by_store_put_counts(out, row, (size_t)1 << by_sketch_bits(sketch->top - e));
        next = e - 1;
    }
}

void by_store_put_sketch(struct by_str *out, const struct by_sketch *sketch)
{
    by_store_put_varint(out, sketch->count);
    by_store_put_varint(out, sketch->samples);
    by_store_put_varint(out, sketch->finite_samples);
    by_store_put_varint(out, sketch->zeros);
    by_store_put_varint(out, sketch->nans);
    by_store_put_varint(out, sketch->infinities);
    by_store_put_varint(out, sketch->nonfinite_sample + 1); /* none: 0 */
    by_store_put_float(out, sketch->min + 0.0f);            /* -0 is written as 0 */
    by_store_put_float(out, sketch->max + 0.0f);
    by_store_put_exact(out, &sketch->sum);
    by_store_put_exact(out, &sketch->squares);
    by_store_put_exact(out, &sketch->sample_min);
    by_store_put_exact(out, &sketch->sample_max);
    by_store_put_varint(out, (uint64_t)(sketch->top + 1));
    put_rows(out, sketch, 0);
    put_rows(out, sketch, 1);
}

/* --- Reading --- */

static uint64_t row_sum(const uint64_t *row, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(sum, row[i], &sum))
            return UINT64_MAX;
    return sum;
}

static uint64_t take_row(struct by_store_in *in, struct by_sketch *sketch, int sign, int e)
{
    uint64_t counts[BY_SKETCH_ROW];
    size_t count = (size_t)1 << by_sketch_bits(sketch->top - e);
    if (in->failed || !by_store_allow(in, count, by_sketch_count_size(sketch)))
        return 0;
    void *row = by_alloc_zero(count, by_sketch_count_size(sketch), in->err);
    in->failed |= !row;
    sketch->rows[sign][e] = row;
    if (!row)
        return 0;
    by_store_take_counts(in, counts, count);
    if (in->failed)
        return 0;
    uint64_t sum = row_sum(counts, count);
    if (!sum)
        by_store_fail(in, "a row of the histogram is empty");
    /* Where a sum is beyond 32 bits and the count of all values is not, they do not add up. */
    for (size_t i = 0; i < count; i++)
        by_sketch_count(sketch, row, i, counts[i]);
    return sum;
}

/* Returns the sum of all counts. */
static uint64_t take_rows(struct by_store_in *in, struct by_sketch *sketch, int sign)
{
    uint64_t sum = 0, count = by_store_take_varint(in, (uint64_t)(sketch->top + 1), "rows");
    int e = sketch->top + 1;
    for (; count && !in->failed; count--) {
        uint64_t room = e > 0 ? (uint64_t)e - 1 : 0;
        if (!e)
            by_store_fail(in, "more rows than exponents are left");
        e -= (int)by_store_take_varint(in, room, "the skipped exponents") + 1;
        if (__builtin_add_overflow(sum, take_row(in, sketch, sign, e), &sum))
            sum = UINT64_MAX;
    }
    return sum;
}

/* Biased exponent of a float's magnitude. */
static int exponent(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)(bits >> 23 & 0xff);
}

static bool is_range(const struct by_sketch *sketch, const uint64_t sums[2])
{
    int low = exponent(sketch->min), high = exponent(sketch->max);
    if (sketch->min > sketch->max || (sums[0] > 0) != (sketch->max > 0) ||
        (sums[1] > 0) != (sketch->min < 0))
        return false;
    if (sketch->zeros && (sketch->min > 0 || sketch->max < 0))
        return false;
    if (sketch->top < 0)
        return sketch->min == 0 && sketch->max == 0;
    return (low > high ? low : high) == sketch->top;
}

/* What the numbers have to do with each other; whoever reads a sketch builds on it. */
static void check_sketch(struct by_store_in *in, const struct by_sketch *sketch,
                         const uint64_t sums[2])
{
    uint64_t strange, finite, rows, all;
    if (__builtin_add_overflow(sketch->nans, sketch->infinities, &strange) ||
        __builtin_add_overflow(sums[0], sums[1], &rows) ||
        __builtin_add_overflow(rows, sketch->zeros, &finite) ||
        __builtin_add_overflow(finite, strange, &all) || all != sketch->count)
        by_store_fail(in, "the counts do not add up to the number of values");
    else if (sketch->samples > sketch->count || sketch->finite_samples > sketch->samples ||
             sketch->finite_samples > finite || (finite && !sketch->finite_samples) ||
             (sketch->count && !sketch->samples))
        by_store_fail(in, "the number of samples contradicts the number of values");
    else if ((strange > 0) != (sketch->nonfinite_sample != BY_SKETCH_NO_SAMPLE))
        by_store_fail(in, "the sample with values that are not finite contradicts their number");
    else if (!is_range(sketch, sums))
        by_store_fail(in, "the least and the greatest value contradict the histogram");
}

void by_store_take_sketch(struct by_store_in *in, struct by_sketch *sketch)
{
    uint64_t sums[2] = {0};
    by_sketch_init(sketch);
    sketch->count = by_store_take_varint(in, UINT64_MAX, "the number of values");
    sketch->wide = sketch->count > UINT32_MAX;
    sketch->samples = by_store_take_varint(in, UINT64_MAX, "the number of samples");
    sketch->finite_samples = by_store_take_varint(in, UINT64_MAX, "the number of samples");
    sketch->zeros = by_store_take_varint(in, UINT64_MAX, "the number of zeros");
    sketch->nans = by_store_take_varint(in, UINT64_MAX, "the number of NaN");
    sketch->infinities = by_store_take_varint(in, UINT64_MAX, "the number of infinities");
    sketch->nonfinite_sample = by_store_take_varint(in, UINT64_MAX, "a sample's number") - 1;
    sketch->min = by_store_take_float(in);
    sketch->max = by_store_take_float(in);
    by_store_take_exact(in, &sketch->sum);
    by_store_take_exact(in, &sketch->squares);
    by_store_take_exact(in, &sketch->sample_min);
    by_store_take_exact(in, &sketch->sample_max);
    sketch->top = (int)by_store_take_varint(in, BY_SKETCH_EXPONENTS, "the top of a histogram") - 1;
    sums[0] = take_rows(in, sketch, 0);
    sums[1] = take_rows(in, sketch, 1);
    if (!in->failed)
        check_sketch(in, sketch, sums);
}

/* --- Channels --- */

void by_store_put_channels(struct by_str *out, const struct by_channels *channels)
{
    by_store_put_varint(out, channels->count);
    for (size_t i = 0; i < channels->count; i++) {
        by_store_put_byte(out, channels->seen[i]);
        if (!channels->seen[i])
            continue;
        by_store_put_float(out, channels->min[i] + 0.0f);
        by_store_put_float(out, channels->max[i] + 0.0f);
    }
}

static void take_channel(struct by_store_in *in, struct by_channels *channels, size_t index)
{
    channels->seen[index] = by_store_take_byte(in, 1);
    if (!channels->seen[index])
        return;
    channels->min[index] = by_store_take_float(in);
    channels->max[index] = by_store_take_float(in);
    if (channels->min[index] > channels->max[index])
        by_store_fail(in, "channel %zu: the least value is above the greatest", index);
}

void by_store_take_channels(struct by_store_in *in, struct by_channels *channels)
{
    size_t count = by_store_take_count(in, 1, "the number of channels");
    *channels = (struct by_channels){0};
    if (!count || in->failed || !by_store_allow(in, count, 2 * sizeof(float) + sizeof(bool)))
        return;
    if (by_channels_init(channels, count, in->err))
        in->failed = true;
    for (size_t i = 0; i < count && !in->failed; i++)
        take_channel(in, channels, i);
}

void by_store_put_means(struct by_str *out, const struct by_channel_means *means)
{
    by_store_put_varint(out, means->sums.count);
    if (!means->sums.count)
        return;
    by_store_put_varint(out, means->values);
    by_store_put_fold(out, &means->sums);
}

void by_store_take_means(struct by_store_in *in, struct by_channel_means *means)
{
    const uint64_t count = by_store_take_varint(in, BY_ELEMENTS_MAX, "the number of channels");
    if (!count || in->failed || !by_store_allow(in, (size_t)count, 2 * sizeof(int64_t)))
        return;
    if (by_channel_means_init(means, (size_t)count, in->err)) {
        in->failed = true;
        return;
    }
    means->values = by_store_take_varint(in, UINT64_MAX, "the number of values");
    by_store_take_fold(in, &means->sums);
}

/* --- Votes --- */

void by_store_put_votes(struct by_str *out, const struct by_votes *votes)
{
    by_store_put_varint(out, votes->count);
    for (size_t i = 0; i < votes->count; i++) {
        by_store_put_signed(out, votes->at[i].levels.least);
        by_store_put_signed(out, votes->at[i].levels.most);
        by_store_put_signed(out, votes->at[i].position);
        by_store_put_varint(out, votes->at[i].samples);
    }
}

#define VOTE_LEAST 4u /* bytes */

static void take_vote(struct by_store_in *in, struct by_vote *vote)
{
    vote->levels.least = by_store_take_signed(in);
    vote->levels.most = by_store_take_signed(in);
    const int64_t position = by_store_take_signed(in);
    vote->samples = by_store_take_varint(in, UINT64_MAX, "the number of samples that vote for it");
    if (in->failed)
        return;
    if (vote->levels.least >= 0 || vote->levels.most <= 0)
        by_store_fail(in, "levels of votes must reach to both sides of 0");
    else if (position < -BY_VOTE_POSITIONS || position > BY_VOTE_POSITIONS)
        by_store_fail(in, "votes for position %" PRId64 ", must be from %d to %d", position,
                      -BY_VOTE_POSITIONS, BY_VOTE_POSITIONS);
    else if (!vote->samples)
        by_store_fail(in, "a position without votes");
    else
        vote->position = (int)position;
}

static bool same_levels(const struct by_vote *a, const struct by_vote *b)
{
    return a->levels.least == b->levels.least && a->levels.most == b->levels.most;
}

/* Each sample with a value votes once for the same levels, or not at all. */
static void check_votes(struct by_store_in *in, const struct by_sketch *sketch)
{
    const struct by_vote *at = sketch->votes.at;
    uint64_t left = 0;
    for (size_t i = 0; i < sketch->votes.count && !in->failed; i++) {
        if (!i || !same_levels(&at[i - 1], &at[i]))
            left = sketch->finite_samples;
        if (i && by_vote_compare(&at[i - 1], &at[i]) >= 0)
            by_store_fail(in, "votes are not in order");
        else if (at[i].samples > left)
            by_store_fail(in, "there are more votes than samples");
        left -= at[i].samples;
    }
}

void by_store_take_votes(struct by_store_in *in, struct by_sketch *sketch)
{
    struct by_votes *votes = &sketch->votes;
    const size_t count = by_store_take_count(in, VOTE_LEAST, "the number of votes");
    if (!count)
        by_store_fail(in, "a table of votes that is empty");
    if (in->failed || !by_store_allow(in, count, sizeof *votes->at))
        return;
    votes->at = by_alloc(count, sizeof *votes->at, in->err);
    in->failed |= !votes->at;
    while (votes->count < count && !in->failed)
        take_vote(in, &votes->at[votes->count++]);
    if (!in->failed)
        check_votes(in, sketch);
}
