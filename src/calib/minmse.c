/*
 * The range with the least mean squared error. It is looked for from the whole range inwards: both
 * ends together by steps of a tenth, then each end alone; then in ever smaller steps of the
 * scale, and of the zero point. Symmetric types have no ends of their own. Where scales are powers
 * of two, those are tried.
 */
#include "calib/bins_squares.h"
#include "calib/methods.h"

#include <math.h>

#define COARSE_STEP  0.9
#define COARSE_COUNT 64 /* down to a thousandth */
#define FINE_FROM    0.05
#define FINE_TO      0.0005
#define FINE_MOVES   64 /* at most, at each size of step */

enum ends { LOW = 1, HIGH = 2, BOTH = LOW | HIGH };

struct search {
    const struct by_bins_squares *bins;
    const struct by_calib_target *target;
    struct by_range seen, best;
};

static bool try_range(struct search *search, const struct by_range *range)
{
    struct by_scale scale;
    if (by_scale_of_range(range, search->target, &scale, NULL) < 0)
        return false;
    const double error =
        by_bins_squares_error(search->bins, &scale, search->target, search->best.error);
    if (!(error < search->best.error * BY_BINS_TIE))
        return false;
    search->best = *range;
    search->best.error = error;
    return true;
}

/* Ends of a range moved, but not beyond what was seen. */
static void try_ends(struct search *search, const struct by_range *from, int ends, double factor)
{
    struct by_range range = *from;
    if (ends & LOW)
        range.low = fmax(range.low * factor, search->seen.low);
    if (ends & HIGH)
        range.high = fmin(range.high * factor, search->seen.high);
    try_range(search, &range);
}

static void coarse(struct search *search, int ends)
{
    const struct by_range from = search->best;
    double factor = 1;
    for (int i = 0; i < COARSE_COUNT; i++) {
        try_ends(search, &from, ends, factor *= COARSE_STEP);
        if (ends != BOTH) /* an end that went too far in the first search comes back */
            try_ends(search, &from, ends, 1 / factor);
    }
}

static bool try_scale(struct search *search, struct by_scale scale)
{
    struct by_range range;
    if (scale.zero_point < search->target->qmin || scale.zero_point > search->target->qmax)
        return false;
    by_range_of_scale(&scale, search->target, &range);
    return try_range(search, &range);
}

/* Scales a little smaller and greater, with the zero point here and to both sides. */
static bool fine(struct search *search, bool one_end, double step)
{
    const double levels = (double)(search->target->qmax - search->target->qmin);
    const int sides = one_end ? 0 : 1;
    const int64_t aside = (int64_t)fmax(1, nearbyint(levels * step / 2));
    struct by_scale from, scale;
    bool better = false;
    if (by_scale_of_range(&search->best, search->target, &from, NULL) < 0)
        return false;
    for (int side = -sides; side <= sides; side++)
        for (int way = -1; way <= 1; way++) {
            scale = from;
            scale.scale *= 1 + way * step;
            scale.zero_point += side * aside;
            better |= try_scale(search, scale);
        }
    return better;
}

static void look_for_best(struct search *search)
{
    const bool one_end =
        search->target->symmetric || search->seen.low == 0 || search->seen.high == 0;
    coarse(search, BOTH);
    if (!one_end) {
        coarse(search, HIGH);
        coarse(search, LOW);
    }
    for (double step = FINE_FROM; step > FINE_TO; step /= 2)
        for (int moves = FINE_MOVES; moves && fine(search, one_end, step);)
            moves--;
}

static int minmse_float(const struct by_sketch *sketch, const struct by_calib_target *target,
                        struct by_range *range, struct baryon_error *err)
{
    struct by_bins_squares squares;
    struct search search = {.bins = &squares, .target = target, .best.error = INFINITY};
    by_range_seen(sketch, &search.seen);
    if (target->symmetric) { /* so that both ends shrink at once */
        search.seen.high = fmax(-search.seen.low, search.seen.high);
        search.seen.low = -search.seen.high;
    }
    if (by_bins_squares_of(&squares, sketch, err) < 0)
        return -1;
    try_range(&search, &search.seen);
    if (search.best.error > 0)
        look_for_best(&search);
    *range = search.best;
    by_bins_squares_release(&squares);
    return 0;
}

static int minmse(const struct by_sketch *sketch, const struct by_calib_target *target,
                  const struct by_calib_options *options, struct by_range *range,
                  struct baryon_error *err)
{
    (void)options;
    if (target->power_of_two)
        return by_range_minmse_pow2(sketch, target, NULL, range, err);
    return minmse_float(sketch, target, range, err);
}

static bool suits_minmse(const struct by_calib_target *target)
{
    return !target->is_float;
}

const struct by_calibrator by_calib_minmse = {
    .name = "minmse",
    .alias = "MinMSE",
    .help = "The range with the least mean squared error",
    .quark = {{BY_QUARK_WEIGHT_METHOD, "MinMSE"}},
    .uses = BY_FOR_ALL,
    .search = BY_SEARCH_MSE,
    .range = minmse,
    .suits = suits_minmse,
};
