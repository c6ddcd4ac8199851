/* Calibration methods on small tensors whose answers are known. */
#include "calib/bins.h"
#include "calib/methods.h"
#include "calib/votes.h"
#include "config/value.h"
#include "ir/tensor.h"

#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const struct by_calib_target
    s8 = {.qmin = -128, .qmax = 127},
    s16 = {.qmin = -32768, .qmax = 32767}, s4 = {.qmin = -8, .qmax = 7},
    s8_middle = {.qmin = -127, .qmax = 127, .symmetric = true},
    s8_power = {.qmin = -127, .qmax = 127, .symmetric = true, .power_of_two = true},
    u8_power = {.qmax = 255, .symmetric = true, .power_of_two = true},
    e4m3 = {.is_float = true, .symmetric = true, .value_max = 448};

static struct by_sketch sketch;
static const struct by_calibrator *asked; /* whose options are in `own` */
static union {
    max_align_t align;
    char bytes[256];
} own;
static struct by_calib_options options;
static struct by_range range;
static struct by_arena arena;

static int enter(void **state)
{
    (void)state;
    by_sketch_init(&sketch);
    by_arena_init(&arena, 0);
    return 0;
}

static int leave(void **state)
{
    (void)state;
    by_sketch_release(&sketch);
    by_arena_release(&arena);
    return 0;
}

/* A sample, which votes. */
static void look_into(struct by_sketch *into, const float *values, size_t count)
{
    size_t levels;
    const struct by_vote_levels *all = by_vote_all_levels(&levels);
    struct by_sketch alone;
    by_sketch_init(&alone);
    assert_ok(by_sketch_look_ref(&alone, values, BY_ELEM_FLOAT, count, into->samples, &err));
    assert_ok(by_votes_cast(&alone, all, levels, &err));
    assert_ok(by_sketch_merge(into, &alone, &err));
    by_sketch_release(&alone);
}

static void look(const float *values, size_t count)
{
    look_into(&sketch, values, count);
}

static void look_at_line(size_t count, double from, double step)
{
    float values[4000];
    assert_true(count <= COUNT(values));
    for (size_t i = 0; i < count; i++)
        values[i] = (float)(from + (double)i * step);
    look(values, count);
}

static void find(const char *name, const struct by_calib_target *target)
{
    const struct by_calibrator *method = by_calibrator_find(name);
    assert_non_null(method);
    assert_true(!method->suits || method->suits(target));
    assert_ok(method->range(&sketch, target, &options, &range, &err));
    assert_true(range.low <= 0 && range.high >= 0);
}

static void defaults(const char *name)
{
    asked = by_calibrator_find(name);
    by_calib_defaults(asked, &options);
    if (!asked->options)
        return;
    assert_true(asked->options->size <= sizeof own);
    memcpy(own.bytes, asked->options->defaults, asked->options->size);
    options.own = own.bytes;
}

static const struct by_option *row_of(const char *name)
{
    for (size_t i = 0; i < asked->options->count; i++)
        if (!strcmp(asked->options->rows[i].row.name, name))
            return &asked->options->rows[i].row;
    fail_msg("%s has no option %s", asked->name, name);
    return NULL;
}

static void *value_of(const char *name)
{
    return own.bytes + row_of(name)->offset;
}

/* As the command line does. */
static void give(const char *name, const char *text)
{
    by_value_clear(row_of(name), value_of(name));
    assert_ok(by_value_parse(&arena, row_of(name), text, NULL, value_of(name), &err));
}

static void give_number(const char *name, double number)
{
    *(double *)value_of(name) = number;
}

static void give_numbers(const char *name, double *numbers, size_t count)
{
    *(struct by_setting_numbers *)value_of(name) =
        (struct by_setting_numbers){.at = numbers, .count = count};
}

static int find_range(const struct by_calib_target *target)
{
    return asked->range(&sketch, target, &options, &range, &err);
}

static void assert_near(double found, double wanted, double most)
{
    if (!(fabs(found - wanted) <= most))
        fail_msg("%.17g, wanted %.17g, at most %g apart", found, wanted, most);
}

static void assert_range(double low, double high, double most)
{
    assert_near(range.low, low, most);
    assert_near(range.high, high, most);
}

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *alias;
    } known[] = {{"minmax", "MinMax"},
                 {"nonoverflow", "PowerOfTwoMethod.NonOverflow"},
                 {"percentile", "CalibMethod.Percentile"},
                 {"layerwise-percentile", "LayerwisePercentile"},
                 {"layerwise-percentile", "layerwise_percentile"},
                 {"layerwise-percentile", "LayerWiseMethod.LayerWisePercentile"},
                 {"minmse", "MinMSE"},
                 {"minmse", "ExtendedCalibrationMethod.MinMSE"},
                 {"minmse-pow2", "PowerOfTwoMethod.MinMSE"},
                 {"minmse-pow2", "minmse_pow2"},
                 {"entropy", "ENTROPY"},
                 {"minmse-pow2-percentile", "PowerOfTwoMethod.MinMSE.Percentile"},
                 {"distribution", "Distribution"},
                 {"distribution-p3", "Distribution.p3"},
                 {"minmse-pow2-common", "PowerOfTwoMethod.MinMSE.MostCommon"}};
    for (size_t i = 0; i < COUNT(known); i++)
        assert_ptr_equal(by_calibrator_find(known[i].alias), by_calibrator_find(known[i].name));
    assert_null(by_calibrator_find("min"));
    assert_null(by_calibrator_find(""));
    assert_null(by_calibrator_find("CalibMethod."));
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(by_calibrator_find(methods[i]->name), methods[i]);
        assert_ptr_equal(by_calibrator_find(methods[i]->alias), methods[i]);
    }
}

static void minmax_takes_all(void **state)
{
    (void)state;
    const float first[] = {-1, 2, 0.5f}, second[] = {1, 4};
    look(first, COUNT(first));
    look(second, COUNT(second));
    defaults("minmax");
    find("minmax", &s8);
    assert_range(-1, 4, 0);
    assert_true(isnan(range.error));
    give("moving-average", "true");
    find("minmax", &s8);
    assert_range(0, 3, 0); /* means of -1 and 1, 2 and 4 */
    find("nonoverflow", &s8_power);
    assert_range(-3, 3, 0);
    give("moving-average", "false");
    find("nonoverflow", &s8_power);
    assert_range(-4, 4, 0);
}

/* 1000 values from 1 to 1000: the rank is the value. */
static void percentile_is_the_rank(void **state)
{
    (void)state;
    look_at_line(1000, 1, 1);
    defaults("percentile");
    find("percentile", &s8);
    assert_range(0, 1000, 0);
    give("percentile", "99");
    find("percentile", &s8);
    assert_range(0, 990, 0.5);
    give("percentile", "50");
    find("percentile", &s8);
    assert_range(0, 500, 0.5);
    give("percentile-symmetric", "false");
    give("percentile", "98");
    find("percentile", &s8);
    assert_range(0, 990, 0.5);
}

static void percentile_of_tails(void **state)
{
    (void)state;
    look_at_line(1000, -300, 1); /* to 699 */
    defaults("percentile");
    give("percentile", "90");
    find("percentile", &s8); /* of magnitudes: 900 of 1000 are up to 599 */
    assert_range(-300, 599, 1);
    give("percentile-symmetric", "false");
    find("percentile", &s8);
    assert_range(-250, 649, 1);
    give("percentile", "100");
    find("percentile", &s8);
    assert_range(-300, 699, 0);
}

/* A great value among many small ones: four bits win by cutting it, sixteen lose. */
static void percentile_guards_what_it_cuts(void **state)
{
    (void)state;
    static float values[20000];
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = (float)i / COUNT(values);
    values[77] = 3;
    look(values, COUNT(values));
    defaults("percentile");
    give("percentile", "99.99");
    find("percentile", &s16);
    assert_range(0, 1, 0.01);
    give("percentile-guard", "true");
    find("percentile", &s16);
    assert_range(0, 3, 0);
    find("percentile", &s4);
    assert_range(0, 1, 0.01);
    find("percentile", &e4m3);
    assert_range(0, 1, 0.01);
}

static void percentile_keeps_rare_values(void **state)
{
    (void)state;
    float values[1000] = {0};
    values[17] = 3;
    look(values, COUNT(values));
    defaults("percentile");
    give("percentile", "99");
    find("percentile", &s8);
    assert_range(0, 3, 0);
    assert_false(range.constant_zero);
}

static void percentile_out_of_range(void **state)
{
    (void)state;
    double wrong[] = {0, -1, 100.5, NAN, 101};
    look_at_line(3, 1, 1);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        defaults("percentile");
        give_number("percentile", wrong[i]);
        assert_int_equal(find_range(&s8), -1);
        assert_int_equal(err.code, BARYON_ERR_USAGE);
        defaults("layerwise-percentile");
        give_numbers("percentile-candidates", &wrong[i], 1);
        assert_int_equal(find_range(&s8), -1);
    }
    assert_string_equal(err.message, "percentile (101) is not above 0 and at most 100");
    give_numbers("percentile-candidates", NULL, 0);
    assert_error(find_range(&s8), BARYON_ERR_USAGE, "no percentile to choose from");
}

/* One value far out: cutting it makes the steps of all others smaller. */
static void layerwise_cuts_what_pays(void **state)
{
    (void)state;
    look_at_line(3999, -2, 0.001);
    look_at_line(1, 6, 1);
    defaults("layerwise-percentile");
    give("percentile-candidates", "99.9,100");
    find("layerwise-percentile", &s8_middle);
    assert_range(-2, 2, 0.01);
    assert_near(range.error, (4 / 254.0) / 4 + 4 / 4000.0, 2e-4);
    give("layerwise-metric", "mse");
    find("layerwise-percentile", &s8_middle); /* the lost one costs 16 / 4000 */
    assert_range(-2, 6, 0);
    assert_near(range.error, (12 / 254.0) * (12 / 254.0) / 12, 1e-5);
}

/* Sums of errors over a bin, against many values in it. */
static void errors_are_integrals(void **state)
{
    (void)state;
    static const struct by_sketch_bin bins[] = {{-9.3, -2.1, 7}, {-1.7, -1.69, 3}, {-0.5, 0.5, 5},
                                                {0, 0, 11},      {1.4, 1.6, 2},    {3.25, 3.25, 4},
                                                {2.5, 9.7, 6},   {-20, 30, 1},     {12, 13, 9}};
    struct by_calib_target target = {.qmin = -3, .qmax = 4};
    const struct by_scale scale = {.scale = 1.25, .zero_point = -1};
    for (size_t i = 0; i < COUNT(bins); i++)
        for (int metric = BY_CALIB_MAE; metric <= BY_CALIB_MSE; metric++) {
            struct by_sketch_bin bin = bins[i];
            const struct by_bins one = {.at = &bin, .count = 1, .total = bin.count};
            const int steps = 200000;
            double sum = 0;
            for (int k = 0; k < steps; k++) {
                double x = bin.low + (bin.high - bin.low) * (k + 0.5) / steps;
                double level = fmin(fmax(nearbyint(x / 1.25) - 1, -3), 4);
                double error = fabs((level + 1) * 1.25 - x);
                sum += metric == BY_CALIB_MSE ? error * error : error;
            }
            const double found = by_bins_error(&one, &scale, &target, (enum by_calib_metric)metric);
            assert_near(found, sum / steps, 1e-6 * (1 + found));
        }
}

static void minmse_leaves_out_what_costs(void **state)
{
    (void)state;
    for (int i = 0; i < 10; i++)
        look_at_line(3999, -2, 0.001);
    look_at_line(1, 2.3, 1);
    defaults("minmse");
    find("minmse", &s8_middle);
    assert_range(-2, 2, 0.03);
    assert_near(range.error, (4 / 254.0) * (4 / 254.0) / 12 + 0.09 / 39991, 1e-6);
    by_sketch_release(&sketch);
    look_at_line(4000, 0, 0.001); /* nothing to gain: everything stays */
    find("minmse", &s8);
    assert_range(0, 4, 0.03);
}

/* The least error of all ranges whose ends are so many tenths in from what was seen. */
static double least_of_grid(const struct by_calib_target *target)
{
    struct by_bins bins;
    double least = INFINITY, low_share = 1;
    assert_ok(by_bins_load(&bins, &sketch, &err));
    for (int low = 0; low < 60; low++, low_share *= 0.9) {
        double high_share = 1;
        for (int high = 0; high < 60; high++, high_share *= 0.9) {
            struct by_scale scale;
            const struct by_range one = {.low = (double)sketch.min * low_share,
                                         .high = (double)sketch.max * high_share};
            assert_ok(by_scale_of_range(&one, target, &scale, &err));
            least = fmin(least, by_bins_error(&bins, &scale, target, BY_CALIB_MSE));
        }
    }
    by_bins_release(&bins);
    return least;
}

/* Few values far out on one side, on the other, on both, unevenly. */
static void minmse_finds_both_ends(void **state)
{
    static const float outliers[][2] = {{-1, 40}, {-9, 30}, {-50, 5}, {-200, 3}, {-2, 100}};
    static const struct by_calib_target u4 = {.qmax = 15};
    const struct by_calib_target *const targets[] = {&s8, &s4, &u4};
    (void)state;
    for (size_t i = 0; i < COUNT(outliers); i++) {
        by_sketch_release(&sketch);
        by_sketch_init(&sketch);
        for (int k = 0; k < 5; k++)
            look_at_line(4000, -1, 0.0005);
        look(outliers[i], 2);
        defaults("minmse");
        for (size_t t = 0; t < COUNT(targets); t++) {
            find("minmse", targets[t]);
            /* Of 8 bits steps finer than the grid's pay. */
            const double share = targets[t] == &s8 && sketch.max < 100 ? 0.99 : 1.0005;
            assert_true(range.error <= least_of_grid(targets[t]) * share);
            assert_true(range.low >= (double)sketch.min * 1.1 &&
                        range.high <= (double)sketch.max * 1.1);
        }
    }
}

/* A step of 1/32 reaches 3.97, of 1/64 only 1.98. */
static void powers_of_two(void **state)
{
    (void)state;
    look_at_line(3001, -1.5, 0.001);
    defaults("minmse-pow2");
    find("minmse-pow2", &s8_power);
    assert_range(-127 / 64.0, 127 / 64.0, 0);
    assert_near(range.error, 1 / 4096.0 / 12, 1e-6);
    find("minmse", &s8_power); /* the same by the other name */
    assert_range(-127 / 64.0, 127 / 64.0, 0);
    find("minmse-pow2", &u8_power);
    assert_range(-2, 127 / 64.0, 0);
    look_at_line(1, 2.2, 1); /* one in 3002 is worth less than a finer step for all others */
    find("minmse-pow2", &s8_power);
    assert_range(-127 / 64.0, 127 / 64.0, 0);
    look_at_line(1, 3.5, 1);
    look_at_line(1, 3.6, 1);
    find("minmse-pow2", &s8_power);
    assert_range(-127 / 32.0, 127 / 32.0, 0);
}

/* Three steps finer than the greatest value asks for, since that is one in 8001. */
static void powers_of_two_go_three_steps_down(void **state)
{
    static const struct by_calib_target s4_power = {
        .qmin = -7, .qmax = 7, .symmetric = true, .power_of_two = true};
    (void)state;
    for (int i = 0; i < 2; i++)
        look_at_line(4000, -0.8, 0.0004);
    look_at_line(1, 6.9, 1);
    defaults("minmse-pow2");
    find("minmse-pow2", &s4_power);
    assert_range(-7 / 8.0, 7 / 8.0, 0);
}

/* Values of bins are spread evenly: what is cut off from both sides goes. */
static void bins_are_cut(void **state)
{
    (void)state;
    struct by_sketch_bin at[] = {{.low = -4, .high = -2, .count = 10},
                                 {.low = 0, .high = 4, .count = 100},
                                 {.low = 4, .high = 8, .count = 40}};
    struct by_bins bins = {.at = at, .count = 3, .total = 150};
    by_bins_cut(&bins, 1, 7);
    assert_int_equal(bins.count, 2);
    assert_int_equal(bins.at[0].count, 75);
    assert_true(bins.at[0].low == 1 && bins.at[0].high == 4);
    assert_int_equal(bins.at[1].count, 30);
    assert_true(bins.at[1].low == 4 && bins.at[1].high == 7);
    assert_int_equal(bins.total, 105);
    by_bins_cut(&bins, 1.5, 2);
    assert_int_equal(bins.total, 13); /* 12.5: half to even, of what is below each end */
}

static void powers_of_two_prefer_the_coarser(void **state)
{
    (void)state;
    const float values[] = {-3, -2, -1, 0, 1, 2, 3}; /* no error with any of the five */
    look(values, COUNT(values));
    defaults("minmse-pow2");
    find("minmse-pow2", &s8_power); /* 3 / 127 is nearest to 2^-5 */
    assert_range(-127 / 16.0, 127 / 16.0, 0);
}

static void entropy_of_two_samples(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++)
        look_at_line(2001, -1, 0.001);
    look_at_line(1, 8, 1);
    defaults("entropy");
    find("entropy", &s8);
    assert_true(range.high < 2); /* the eight is not worth it */
    assert_range(-1, range.high, 0);
    assert_true(range.error >= 0);
    give("entropy-levels", "3");
    assert_error(find_range(&s8), BARYON_ERR_USAGE, "quantized bins (3) are not an even number");
    give("entropy-levels", "128");
    give("entropy-bins", "64");
    assert_error(find_range(&s8), BARYON_ERR_USAGE,
                 "bins (64) are not an even number from 128, the quantized bins, to 2048");
}

/* One sample with so many values in each bin of width 1 around zero; it reaches both ends. */
static void look_at_bins(const int *counts, int bins)
{
    float values[256];
    size_t count = 0;
    for (int bin = 0; bin < bins; bin++)
        for (int i = 0; i < counts[bin]; i++)
            values[count++] = (float)(bin - bins / 2) + 0.5f;
    values[0] = -(float)bins / 2;
    values[count - 1] = (float)bins / 2;
    look(values, count);
}

/* Divergences and ranges as numpy finds them, with 1e-4 in empty bins. */
static void entropy_of_known_bins(void **state)
{
    static const struct {
        int bins, counts[12];
        double low, high, divergence;
    } rows[] = {
        {8, {1, 0, 2, 9, 5, 0, 0, 3}, -4, 4, 0.12045588452171226},
        {10, {2, 4, 12, 0, 0, 38, 26, 12, 4, 2}, -4, 5, 0.06749613536522486},
        {12, {2, 1, 0, 12, 26, 38, 38, 26, 0, 4, 1, 2}, -4, 5, 0.03895635073129185},
        {12, {1, 0, 0, 3, 9, 7, 2, 0, 5, 1, 0, 2}, -2, 3, 0.018978712384150928},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char bins[8];
        by_sketch_release(&sketch);
        by_sketch_init(&sketch);
        look_at_bins(rows[i].counts, rows[i].bins);
        defaults("entropy");
        snprintf(bins, sizeof bins, "%d", rows[i].bins);
        give("entropy-bins", bins);
        give("entropy-levels", "4");
        find("entropy", &s8);
        assert_range(rows[i].low, rows[i].high, 0);
        assert_near(range.error, rows[i].divergence, 1e-12);
    }
}

/* The greater magnitude reaches to both sides, of whichever sign it is. */
static void nonoverflow_is_even(void **state)
{
    (void)state;
    look((const float[]){-3, 0.5f, 1}, 3);
    defaults("nonoverflow");
    find("nonoverflow", &s8_power);
    assert_range(-3, 3, 0);
    look((const float[]){-1, 5}, 2);
    find("nonoverflow", &s8_power);
    assert_range(-5, 5, 0);
}

/* 0 and 2 alternate, so that the mean is 1 and so is the deviation; beside them one 9. */
static void stddev_counts_from_the_mean(void **state)
{
    (void)state;
    float values[4000];
    for (size_t i = 0; i < COUNT(values); i++)
        values[i] = i % 2 ? 2.0f : 0.0f;
    look(values, COUNT(values));
    look_at_line(1, 9, 1);
    defaults("stddev");
    find("stddev", &s8);
    assert_range(0, 5, 0.05); /* none is below 0 */
    give("stddev-count", "2.5");
    find("stddev", &s8);
    assert_range(0, 3.5, 0.03);
    give("stddev-count", "100");
    find("stddev", &s8);
    assert_range(0, 9, 0);
}

/* The 254 finite numbers of E4M3 have a standard deviation of 117.3. */
static void distribution_of_float8(void **state)
{
    (void)state;
    float values[2 * 127];
    size_t count = 0;
    for (int code = 0; code < 127; code++) {
        const double digits = code < 8 ? code : ldexp(8 + code % 8, code / 8 - 1);
        values[count++] = (float)ldexp(digits, -9);
        values[count++] = -(float)ldexp(digits, -9);
    }
    assert_near((double)values[252], 448, 0);
    look(values, count);
    defaults("distribution");
    find("distribution", &e4m3); /* the format itself has scale 1 */
    assert_range(-448, 448, 1e-4);
    assert_false(by_calib_distribution.suits(&s8));
    assert_error(by_calib_distribution.range(&sketch, &s8, &options, &range, &err),
                 BARYON_ERR_USAGE, "distribution is a method for 8-bit floats alone");
    struct by_calib_target e5m2 = {.is_float = true, .symmetric = true, .value_max = 57344};
    assert_true(by_calib_distribution.suits(&e5m2));
    struct by_calib_target half = {.is_float = true, .symmetric = true, .value_max = 65504};
    assert_false(by_calib_distribution.suits(&half));
}

static void every_method_on(const float *values, size_t count, bool zero, double low, double high)
{
    static const struct by_calib_target *const targets[] = {&s8, &s8_middle, &s8_power, &u8_power,
                                                            &e4m3};
    size_t method_count;
    const struct by_calibrator *const *methods = by_calibrators(&method_count);
    by_sketch_release(&sketch);
    if (count)
        look(values, count);
    for (size_t i = 0; i < method_count; i++)
        for (size_t t = 0; t < COUNT(targets); t++) {
            struct by_scale scale;
            if (methods[i]->suits && !methods[i]->suits(targets[t]))
                continue;
            by_calib_defaults(methods[i], &options);
            find(methods[i]->name, targets[t]);
            assert_ok(by_scale_of_range(&range, targets[t], &scale, &err));
            assert_int_equal(range.constant_zero, zero);
            assert_true(scale.scale >= (double)FLT_MIN && isfinite(scale.scale));
            assert_true(targets[t]->is_float || (scale.zero_point >= targets[t]->qmin &&
                                                 scale.zero_point <= targets[t]->qmax));
            if (low == high) {
                assert_true(scale.scale == 1);
                assert_int_equal(scale.zero_point, 0);
                assert_int_equal(scale.position, 0);
            }
        }
}

static void odd_tensors(void **state)
{
    (void)state;
    const float zeros[] = {0, -0.0f, 0}, five[] = {5, 5}, minus[] = {-7},
                tiny[] = {1e-40f, -1e-42f}, huge[] = {FLT_MAX, -FLT_MAX, 1},
                holes[] = {NAN, INFINITY, -INFINITY}, normal[] = {FLT_MIN, 0};
    every_method_on(zeros, 0, true, 0, 0);
    every_method_on(zeros, COUNT(zeros), true, 0, 0);
    every_method_on(holes, COUNT(holes), true, 0, 0);
    every_method_on(five, COUNT(five), false, 0, 5);
    every_method_on(minus, COUNT(minus), false, -7, 0);
    every_method_on(tiny, COUNT(tiny), false, 0, 0); /* scale 1, as if there were nothing */
    every_method_on(normal, COUNT(normal), false, 0, 0);
    every_method_on(huge, COUNT(huge), false, -1, 1);
}

/* Samples in any order, values in any order, and in parts that are merged. */
static void order_does_not_matter(void **state)
{
    (void)state;
    static const struct by_calib_target *const targets[] = {&s8, &s8_power, &e4m3};
    float values[3][500];
    struct by_sketch parts[2];
    uint32_t bits = 1;
    for (size_t i = 0; i < 1500; i++) {
        bits = bits * 1664525u + 1013904223u;
        values[i / 500][i % 500] = (float)(bits >> 8) / 1e6f - 5 + (float)(i % 500 == 3) * 50;
    }
    by_sketch_init(&parts[0]);
    by_sketch_init(&parts[1]);
    for (size_t i = 0; i < 3; i++) {
        look(values[i], 500);
        look_into(&parts[i != 1], values[2 - i], 500);
    }
    assert_ok(by_sketch_merge(&parts[0], &parts[1], &err));
    size_t count;
    const struct by_calibrator *const *methods = by_calibrators(&count);
    for (size_t i = 0; i < count; i++)
        for (size_t t = 0; t < COUNT(targets); t++) {
            struct by_range other;
            if (methods[i]->suits && !methods[i]->suits(targets[t]))
                continue;
            by_calib_defaults(methods[i], &options);
            find(methods[i]->name, targets[t]);
            assert_ok(methods[i]->range(&parts[0], targets[t], &options, &other, &err));
            assert_true(range.low == other.low && range.high == other.high);
            assert_true(range.error == other.error || isnan(range.error));
        }
    by_sketch_release(&parts[0]);
    by_sketch_release(&parts[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(names),
        TEST(minmax_takes_all),
        TEST(percentile_is_the_rank),
        TEST(percentile_of_tails),
        TEST(percentile_guards_what_it_cuts),
        TEST(percentile_keeps_rare_values),
        TEST(percentile_out_of_range),
        TEST(layerwise_cuts_what_pays),
        TEST(errors_are_integrals),
        TEST(minmse_leaves_out_what_costs),
        TEST(powers_of_two),
        TEST(powers_of_two_prefer_the_coarser),
        TEST(minmse_finds_both_ends),
        TEST(powers_of_two_go_three_steps_down),
        TEST(bins_are_cut),
        TEST(entropy_of_two_samples),
        TEST(entropy_of_known_bins),
        TEST(nonoverflow_is_even),
        TEST(stddev_counts_from_the_mean),
        TEST(distribution_of_float8),
        TEST(odd_tensors),
        TEST(order_does_not_matter),
    };
    return cmocka_run_group_tests_name("calib", tests, NULL, NULL);
}
