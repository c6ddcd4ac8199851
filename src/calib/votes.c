/* Lets each sample vote for a power of two, and counts the votes. */
#include "calib/votes.h"

#include "base/mem.h"
#include "calib/bins_squares.h"
#include "calib/methods.h"

#include <math.h>

#define OF_BITS(bits)                                                                              \
    {-(INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1},                                 \
        {1 - (INT64_C(1) << (bits - 1)), (INT64_C(1) << (bits - 1)) - 1},                          \
        {-(INT64_C(1) << (bits - 2)), INT64_C(1) << (bits - 2)},                                   \
    {                                                                                              \
        -(INT64_C(1) << (bits - 2)), (INT64_C(1) << (bits - 2)) - 1                                \
    }

static const struct by_vote_levels all_levels[] = {OF_BITS(4), OF_BITS(8), OF_BITS(16)};

#define LEVELS_COUNT (sizeof all_levels / sizeof *all_levels)

const struct by_vote_levels *by_vote_all_levels(size_t *count)
{
    *count = LEVELS_COUNT;
    return all_levels;
}

void by_vote_levels_of(const struct by_calib_target *target, struct by_vote_levels *levels)
{
    const int64_t zero = (int64_t)nearbyint((double)(target->qmin + target->qmax) / 2);
    levels->least = target->qmin - zero;
    levels->most = target->qmax - zero;
}

/* Position of the sample's best scale; false: it has none. */
static bool choose(const struct by_sketch *sample, const struct by_bins_squares *squares,
                   const struct by_vote_levels *levels, int *position)
{
    const struct by_calib_target target = {
        .qmin = levels->least, .qmax = levels->most, .symmetric = true, .power_of_two = true};
    struct by_range range;
    struct by_scale scale;
    by_range_seen(sample, &range);
    if (by_range_is_tiny(&range, &target) || by_scale_of_range(&range, &target, &scale, NULL) < 0)
        return false;
    by_range_best_pow2(squares, &target, scale, &range);
    if (by_scale_of_range(&range, &target, &scale, NULL) < 0)
        return false;
    *position = scale.position;
    return true;
}

/* Into its place by levels; each has one vote of a sample. */
static void insert(struct by_votes *votes, const struct by_vote *vote)
{
    size_t place = votes->count++;
    for (; place && by_vote_compare(vote, &votes->at[place - 1]) < 0; place--)
        votes->at[place] = votes->at[place - 1];
    votes->at[place] = *vote;
}

int by_votes_cast(struct by_sketch *sample, const struct by_vote_levels *levels, size_t count,
                  struct baryon_error *err)
{
    struct by_bins_squares squares;
    if (!count || sample->top < 0)
        return 0;
    sample->votes.at = by_alloc(count, sizeof *sample->votes.at, err);
    if (!sample->votes.at || by_bins_squares_of(&squares, sample, err) < 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        struct by_vote vote = {.levels = levels[i], .samples = 1};
        if (choose(sample, &squares, &levels[i], &vote.position))
            insert(&sample->votes, &vote);
    }
    by_bins_squares_release(&squares);
    return 0;
}
