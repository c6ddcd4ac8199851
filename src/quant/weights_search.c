/* Finds the scale of one run of values by all methods but minmse. */
#include "quant/weights_search.h"

#include "base/text.h"
#include "calib/methods.h"
#include "ir/tensor.h"

#include <float.h>
#include <math.h>

#define FINER   3 /* powers of two that minmse_pow2 tries: one coarser to three finer */
#define COARSER 1

/* Methods for constants, those that need powers of two apart; "minmax, percentile". */
static void list_methods(enum by_calib_need need, char *buf, size_t size)
{
    static const struct by_calib_target target = {.qmin = -127, .qmax = 127, .symmetric = true};
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    struct by_text text;
    by_text_init(&text, buf, size);
    for (size_t i = 0; i < count; i++)
        if ((methods[i]->uses & BY_FOR_WEIGHTS) && by_calib_needs(methods[i], &target) == need)
            by_text_add(&text, "%s%s", text.used ? ", " : "", methods[i]->name);
}

static int find_method(struct by_weight_search *search, struct baryon_error *err)
{
    const struct by_tensor_spec *spec = search->spec;
    char all[256], pow2[256];
    search->method = spec->method ? spec->method : by_calibrator_find("minmax");
    if ((search->method->uses & (BY_FOR_WEIGHTS | BY_FOR_BIASES)) &&
        by_calib_needs(search->method, &search->target) == BY_NEEDS_NOTHING)
        return 0;
    list_methods(BY_NEEDS_NOTHING, all, sizeof all);
    list_methods(BY_NEEDS_POW2, pow2, sizeof pow2);
    by_fail(err, BARYON_ERR_USAGE, "method %s with %s scales is not valid for constants",
            search->method->name, search->target.power_of_two ? "power-of-two" : "float");
    return by_err_hint(
        err, "methods of constants are %s; with scales that are powers of two %s too", all, pow2);
}

int by_weight_search_open(struct by_weight_search *search, const struct by_tensor_spec *spec,
                          struct by_pool *pool, struct baryon_error *err)
{
    *search =
        (struct by_weight_search){.path = by_weight_path_chosen(), .spec = spec, .pool = pool};
    by_spec_target(spec, &search->target);
    if (search->target.qmin >= search->target.qmax)
        return by_fail(err, BARYON_ERR_USAGE, "constants cannot be quantized to %s",
                       by_elem_name(spec->elem));
    search->wide = search->target.qmax - search->target.qmin > UINT16_MAX;
    return find_method(search, err);
}

/* --- Extremes --- */

struct extremes {
    const struct by_weight_search *search;
    const struct by_weight_unit *unit;
    struct piece {
        float min, max;
        bool finite;
    } * pieces;
};

static int extremes_of_piece(void *context, size_t begin, size_t end, unsigned worker,
                             struct baryon_error *err)
{
    const struct extremes *job = context;
    struct piece *piece = &job->pieces[begin / BY_WEIGHT_PIECE];
    piece->finite = job->search->path->extremes(job->unit->values + begin, end - begin, &piece->min,
                                                &piece->max);
    (void)worker;
    (void)err;
    return 0;
}

int by_weight_extremes(const struct by_weight_search *search, struct by_weight_unit *unit,
                       bool *finite, struct baryon_error *err)
{
    struct piece one = {.finite = true};
    struct extremes job = {search, unit, &one};
    const size_t count = (unit->count + BY_WEIGHT_PIECE - 1) / BY_WEIGHT_PIECE;
    if (count > 1 && !(job.pieces = by_alloc(count, sizeof *job.pieces, err)))
        return -1;
    int failed = by_par_for(count > 1 ? search->pool : NULL, unit->count, BY_WEIGHT_PIECE,
                            extremes_of_piece, &job, err);
    unit->min = job.pieces->min;
    unit->max = job.pieces->max;
    *finite = true;
    for (size_t i = 0; i < count && !failed; i++) {
        unit->min = fminf(unit->min, job.pieces[i].min);
        unit->max = fmaxf(unit->max, job.pieces[i].max);
        *finite = *finite && job.pieces[i].finite;
    }
    if (job.pieces != &one)
        by_free(job.pieces);
    return failed;
}

/* --- Errors --- */

double by_weight_level(float value, float scale, int64_t zero, int64_t qmin, int64_t qmax)
{
    const double level = nearbyint((double)(value / scale));
    return fmin(fmax(level, (double)(qmin - zero)), (double)(qmax - zero));
}

static double error_wide(const struct by_weight_search *search, const float *values, size_t count,
                         const struct by_weight_choice *choice)
{
    double lanes[BY_WEIGHT_LANES] = {0};
    for (size_t i = 0; i < count; i++) {
        double level = by_weight_level(values[i], choice->scale, choice->zero, search->target.qmin,
                                       search->target.qmax);
        double off = (double)((float)level * choice->scale - values[i]);
        lanes[i % BY_WEIGHT_LANES] += off * off;
    }
    return by_weight_join(lanes);
}

static double error_of(const struct by_weight_search *search, const float *values, size_t count,
                       const struct by_weight_choice *choice)
{
    if (search->wide)
        return error_wide(search, values, count, choice);
    const struct by_weight_grid grid = {.scale = choice->scale,
                                        .low = (float)(search->target.qmin - choice->zero),
                                        .high = (float)(search->target.qmax - choice->zero)};
    return search->path->error(values, count, &grid, INFINITY);
}

struct errors {
    const struct by_weight_search *search;
    const struct by_weight_unit *unit;
    const struct by_weight_choice *choices;
    size_t count;
    double *sums; /* [piece][choice] */
};

static int errors_of_piece(void *context, size_t begin, size_t end, unsigned worker,
                           struct baryon_error *err)
{
    const struct errors *job = context;
    double *sums = job->sums + begin / BY_WEIGHT_PIECE * job->count;
    for (size_t i = 0; i < job->count; i++)
        sums[i] = error_of(job->search, job->unit->values + begin, end - begin, &job->choices[i]);
    (void)worker;
    (void)err;
    return 0;
}

static int errors_in_pieces(const struct by_weight_search *search,
                            const struct by_weight_unit *unit, struct by_weight_choice *choices,
                            size_t count, struct baryon_error *err)
{
    const size_t pieces = (unit->count + BY_WEIGHT_PIECE - 1) / BY_WEIGHT_PIECE;
    struct errors job = {search, unit, choices, count,
                         by_alloc(pieces * count, sizeof(double), err)};
    if (!job.sums)
        return -1;
    int failed = by_par_for(search->pool, unit->count, BY_WEIGHT_PIECE, errors_of_piece, &job, err);
    for (size_t i = 0; i < count && !failed; i++) {
        choices[i].error = 0;
        for (size_t p = 0; p < pieces; p++)
            choices[i].error += job.sums[p * count + i];
    }
    by_free(job.sums);
    return failed;
}

int by_weight_errors(const struct by_weight_search *search, const struct by_weight_unit *unit,
                     struct by_weight_choice *choices, size_t count, struct baryon_error *err)
{
    if (unit->count > BY_WEIGHT_PIECE)
        return errors_in_pieces(search, unit, choices, count, err);
    for (size_t i = 0; i < count; i++)
        choices[i].error = error_of(search, unit->values, unit->count, &choices[i]);
    return 0;
}

/* --- Methods --- */

static int choose_range(const struct by_weight_search *search, const struct by_weight_unit *unit,
                        double low, double high, struct by_weight_choice *best,
                        struct baryon_error *err)
{
    by_weight_scale(search, low, high, best);
    return by_weight_errors(search, unit, best, 1, err);
}

/* A range of mere zeros is none: what lies beyond would all be lost. */
static int choose_percentile(const struct by_weight_search *search,
                             const struct by_weight_unit *unit, struct by_weight_choice *best,
                             struct baryon_error *err)
{
    const struct by_percentile_options *own = search->spec->calib.own;
    const double beyond = 1 - own->percent / 100;
    double ends[2] = {0, 1 - beyond};
    if (!own->symmetric) {
        ends[0] = beyond / 2;
        ends[1] = 1 - beyond / 2;
    }
    if (by_weight_quantiles(unit, own->symmetric, ends, 2, ends, err) < 0)
        return -1;
    if (own->symmetric)
        ends[0] = -ends[1];
    double low = fmax(ends[0], (double)unit->min), high = fmin(ends[1], (double)unit->max);
    if (low >= 0 && high <= 0) {
        low = (double)unit->min;
        high = (double)unit->max;
    }
    return choose_range(search, unit, low, high, best, err);
}

/* No scale is small enough for these values: they stay at scale 1. */
static bool is_tiny(const struct by_weight_search *search, const struct by_weight_unit *unit)
{
    const double levels = (double)(search->target.qmax - search->target.qmin);
    const double reach = fmax(-(double)unit->min, (double)unit->max);
    const double span = fmax((double)unit->max, 0) - fmin((double)unit->min, 0);
    return (search->target.symmetric ? 2 * reach : span) / levels < (double)FLT_MIN;
}

/* Of equal errors the coarser one. */
static int choose_power(const struct by_weight_search *search, const struct by_weight_unit *unit,
                        struct by_weight_choice *best, struct baryon_error *err)
{
    struct by_weight_choice choices[COARSER + 1 + FINER];
    by_weight_scale(search, (double)unit->min, (double)unit->max, best);
    if (is_tiny(search, unit))
        return by_weight_errors(search, unit, best, 1, err);
    for (int i = 0; i <= COARSER + FINER; i++) {
        choices[i] = *best;
        choices[i].scale = ldexpf(best->scale, COARSER - i);
    }
    if (by_weight_errors(search, unit, choices, COARSER + 1 + FINER, err) < 0)
        return -1;
    best->error = INFINITY;
    for (size_t i = 0; i <= COARSER + FINER; i++)
        if (choices[i].scale > 0 && choices[i].error < best->error)
            *best = choices[i];
    return 0;
}

/* Any method, on a sketch of the values. */
static int choose_by_sketch(const struct by_weight_search *search,
                            const struct by_weight_unit *unit, struct by_weight_choice *best,
                            struct baryon_error *err)
{
    struct by_sketch sketch;
    struct by_range range;
    by_sketch_init(&sketch);
    int status = by_sketch_look_ref(&sketch, unit->values, BY_ELEM_FLOAT, unit->count, 0, err);
    if (status == 0)
        status = search->method->range(&sketch, &search->target, &search->spec->calib, &range, err);
    by_sketch_release(&sketch);
    return status ? status : choose_range(search, unit, range.low, range.high, best, err);
}

int by_weight_choose(const struct by_weight_search *search, const struct by_weight_unit *unit,
                     struct by_weight_choice *best, struct baryon_error *err)
{
    *best = (struct by_weight_choice){.scale = 1};
    if (!unit->count || (unit->min == 0 && unit->max == 0))
        return 0;
    switch (search->method->search) {
    case BY_SEARCH_SKETCH:
        return choose_by_sketch(search, unit, best, err);
    case BY_SEARCH_EXTREMES:
        return choose_range(search, unit, (double)unit->min, (double)unit->max, best, err);
    case BY_SEARCH_PERCENTILE:
        return choose_percentile(search, unit, best, err);
    case BY_SEARCH_MSE:
        return search->target.power_of_two ? choose_power(search, unit, best, err)
                                           : by_weight_minmse(search, unit, best, err);
    }
    return 0;
}
