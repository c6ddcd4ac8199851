/*
 * The range with the least squared error, all errors exact. Tried are the whole range, the peer's
 * percentiles, the whole range made smaller step by step; then, around the best, ever smaller
 * moves of both ends together and of each. Of many values a histogram finds the range.
 */
#include "calib/methods.h"
#include "ir/tensor.h"
#include "quant/weights_search.h"
#include "stats/sketch.h"

#include <math.h>

#define BATCH      8 /* ranges that are judged in one pass over the values */
#define SHRINK     0.94
#define SHRINK_MAX 64  /* 0.94^64 is a fiftieth */
#define GIVE_UP    2.0 /* times the least error: what follows is worse still */
#define MOVES      16  /* at most, at each size of step */

struct ends {
    double low, high;
};

struct batch {
    const struct by_weight_search *search;
    const struct by_weight_unit *unit;
    struct by_weight_choice choices[BATCH], best;
    struct ends ends[BATCH], best_ends;
    size_t count;
    double last; /* error of the last one judged */
    struct baryon_error *err;
};

static int judge_batch(struct batch *batch)
{
    int status =
        by_weight_errors(batch->search, batch->unit, batch->choices, batch->count, batch->err);
    for (size_t i = 0; i < batch->count && status == 0; i++) {
        batch->last = batch->choices[i].error;
        if (batch->last < batch->best.error) {
            batch->best = batch->choices[i];
            batch->best_ends = batch->ends[i];
        }
    }
    batch->count = 0;
    return status;
}

static int try_range(struct batch *batch, double low, double high)
{
    if (low >= 0 && high <= 0)
        return 0;
    batch->ends[batch->count] = (struct ends){low, high};
    by_weight_scale(batch->search, low, high, &batch->choices[batch->count]);
    batch->count++;
    return batch->count == BATCH ? judge_batch(batch) : 0;
}

/* 99.9 %, 99.99 %, ... of the values, cut at both ends alike. */
static int try_percentiles(struct batch *batch)
{
    static const double beyond[] = {1e-3, 1e-4, 1e-5, 1e-6};
    enum { COUNT = sizeof beyond / sizeof *beyond };
    double ends[2 * COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        ends[2 * i] = beyond[i] / 2;
        ends[2 * i + 1] = 1 - beyond[i] / 2;
    }
    if (by_weight_quantiles(batch->unit, false, ends, 2 * COUNT, ends, batch->err) < 0)
        return -1;
    for (size_t i = 0; i < COUNT; i++)
        if (try_range(batch, ends[2 * i], ends[2 * i + 1]) < 0)
            return -1;
    return 0;
}

static int shrink(struct batch *batch)
{
    const struct ends whole = {(double)batch->unit->min, (double)batch->unit->max};
    double factor = 1;
    for (int i = 0; i < SHRINK_MAX; i++) {
        factor *= SHRINK;
        if (try_range(batch, whole.low * factor, whole.high * factor) < 0)
            return -1;
        if (!batch->count && batch->last > GIVE_UP * batch->best.error)
            break;
    }
    return judge_batch(batch);
}

/* Moves of a size around the best, as long as they make it better. */
static int move_ends(struct batch *batch, double step, bool apart)
{
    for (int moves = 0; moves < MOVES; moves++) {
        const struct ends from = batch->best_ends;
        const double before = batch->best.error;
        for (int way = -2; way <= 2; way++)
            if (way &&
                try_range(batch, from.low * (1 + way * step), from.high * (1 + way * step)) < 0)
                return -1;
        for (int way = -1; way <= 1 && apart; way += 2)
            if (try_range(batch, from.low * (1 + way * step), from.high) < 0 ||
                try_range(batch, from.low, from.high * (1 + way * step)) < 0)
                return -1;
        if (judge_batch(batch) < 0)
            return -1;
        if (!(batch->best.error < before))
            break;
    }
    return 0;
}

static int look_around(struct batch *batch)
{
    static const double together[] = {0.02, 0.006, 0.002};
    static const double each[] = {0.25, 0.08, 0.025, 0.008, 0.0025};
    const bool one_end =
        batch->search->target.symmetric || batch->unit->min >= 0 || batch->unit->max <= 0;
    const size_t count = one_end ? sizeof together / sizeof *together : sizeof each / sizeof *each;
    for (size_t i = 0; i < count; i++)
        if (move_ends(batch, one_end ? together[i] : each[i], !one_end) < 0)
            return -1;
    return 0;
}

/* --- Many values --- */

/* From here on a histogram costs a tenth of the exact search, and is as good. */
#define MANY 16384

static int range_of_many(const struct by_weight_search *search, const struct by_weight_unit *unit,
                         struct by_range *range, struct baryon_error *err)
{
    struct by_sketch_scratch *scratch;
    struct by_sketch sketch;
    if (by_sketch_scratch_open(&scratch, 1, err) < 0)
        return -1;
    by_sketch_init(&sketch);
    int status =
        by_sketch_look(&sketch, scratch, unit->values, BY_ELEM_FLOAT, unit->count, 0, NULL, err);
    if (status == 0)
        status = by_calib_minmse.range(&sketch, &search->target, &search->spec->calib, range, err);
    by_sketch_release(&sketch);
    by_sketch_scratch_close(scratch);
    return status;
}

static int choose_of_many(struct batch *batch)
{
    struct by_range range;
    if (range_of_many(batch->search, batch->unit, &range, batch->err) < 0 ||
        try_range(batch, range.low, range.high) < 0)
        return -1;
    return judge_batch(batch);
}

static int choose_exactly(struct batch *batch)
{
    if (try_percentiles(batch) < 0 || judge_batch(batch) < 0)
        return -1;
    return batch->best.error > 0 && (shrink(batch) < 0 || look_around(batch) < 0) ? -1 : 0;
}

int by_weight_minmse(const struct by_weight_search *search, const struct by_weight_unit *unit,
                     struct by_weight_choice *best, struct baryon_error *err)
{
    struct batch batch = {
        .search = search, .unit = unit, .best = {.scale = 1, .error = INFINITY}, .err = err};
    if (try_range(&batch, (double)unit->min, (double)unit->max) < 0 ||
        (unit->count < MANY || search->wide ? choose_exactly : choose_of_many)(&batch) < 0)
        return -1;
    *best = batch.best;
    return 0;
}
