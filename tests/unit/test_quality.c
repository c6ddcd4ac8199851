/* Measuring: which samples, when they suffice, sums of outputs, what to try next. */
#include "graph_build.h"

#include "preset/preset.h"
#include "quality/quality_internal.h"

#include <string.h>

static void check_choice(uint64_t total, uint64_t calibrated, uint64_t good, uint64_t first,
                         uint64_t count, bool seen)
{
    const struct by_quality_choice found = by_quality_choose(total, calibrated, good);
    assert_int_equal(found.first, first);
    assert_int_equal(found.count, count);
    assert_int_equal(found.seen, seen);
}

/* Of fewer than four samples all, else the last quarter. */
static void last_quarter_is_chosen(void **state)
{
    (void)state;
    check_choice(1, 1, 1, 0, 1, true);
    check_choice(2, 2, 2, 0, 2, true);
    check_choice(3, 3, 3, 0, 3, true);
    check_choice(4, 4, 4, 3, 1, true);
    check_choice(7, 7, 7, 6, 1, true);
    check_choice(8, 8, 8, 6, 2, true);
    check_choice(95, 95, 95, 72, 23, true);
    check_choice(96, 96, 96, 72, 24, true);
    check_choice(1000, 1000, 1000, 976, 24, true);
}

/* Rounding reconstruction holds out a quarter of those that are good. */
static void bad_samples_do_not_shift_it(void **state)
{
    (void)state;
    check_choice(32, 32, 27, 26, 6, true);
    check_choice(4, 4, 3, 0, 4, true);
    check_choice(32, 32, 0, 24, 8, true);
}

static void samples_behind_are_preferred(void **state)
{
    (void)state;
    check_choice(9, 8, 8, 8, 1, false);
    check_choice(100, 8, 8, 8, 4, false);
    check_choice(100, 32, 32, 32, 8, false);
    check_choice(1000, 500, 500, 500, 24, false);
    check_choice(3, 0, 0, 0, 3, false);
    check_choice(100, 0, 0, 0, 24, false);
}

static void batches_double(void **state)
{
    (void)state;
    assert_int_equal(by_quality_batch(0, 24), 4);
    assert_int_equal(by_quality_batch(0, 2), 2);
    assert_int_equal(by_quality_batch(4, 24), 8);
    assert_int_equal(by_quality_batch(8, 24), 16);
    assert_int_equal(by_quality_batch(16, 24), 24);
    assert_int_equal(by_quality_batch(4, 5), 5);
}

static bool is_sure(double decibels, double error)
{
    const struct by_gain gain = {decibels, error};
    return by_quality_is_sure(&gain);
}

static void small_errors_suffice(void **state)
{
    (void)state;
    assert_true(is_sure(10, 0.24));
    assert_false(is_sure(10, 0.26));
    assert_true(is_sure(-5, 0.24));
    assert_false(is_sure(-5, 0.26));
    assert_true(is_sure(50, 0.99));
    assert_false(is_sure(50, 1.01));
    assert_false(is_sure(10, INFINITY));
    assert_false(is_sure(10, (double)NAN));
}

/* --- Sums --- */

static struct by_array floats(const float *values, size_t rows, size_t columns)
{
    return (struct by_array){.name = "y",
                             .elem = BY_ELEM_FLOAT,
                             .rank = 2,
                             .dims = {(int64_t)rows, (int64_t)columns},
                             .data = values,
                             .size = rows * columns * sizeof *values};
}

static struct by_quality_sums compare(const float *want, const float *got, size_t rows,
                                      size_t columns)
{
    const struct by_array one = floats(want, rows, columns), other = floats(got, rows, columns);
    struct by_quality_sums sums;
    assert_ok(by_quality_compare(&one, &other, &sums, &err));
    return sums;
}

static struct by_quality_output add_up(const struct by_quality_sums *sums, size_t samples)
{
    struct by_quality_output output = {.name = "y"};
    by_quality_add_up(sums, samples, 1, &output);
    return output;
}

static void signal_and_noise_are_summed(void **state)
{
    (void)state;
    const float want[] = {3, 0, 0, 4}, got[] = {3, 0, 1, 4}, other[] = {0, 3, 0, 4};
    struct by_quality_sums sums[2];
    sums[0] = compare(want, got, 2, 2);
    assert_true(sums[0].signal == 25 && sums[0].noise == 1);
    assert_true(sums[0].rows == 2 && sums[0].same == 2);
    assert_true(fabs(add_up(sums, 1).sqnr - 10 * log10(25)) < 1e-9);
    assert_true(isinf(add_up(sums, 1).error));
    sums[1] = compare(want, other, 2, 2);
    assert_true(sums[1].same == 1 && sums[1].noise == 18);
    const struct by_quality_output both = add_up(sums, 2);
    assert_true(fabs(both.sqnr - 10 * log10(50.0 / 19)) < 1e-9);
    /* Half of the difference of what each says alone. */
    assert_true(fabs(both.error - 5 * log10(18)) < 1e-9);
    assert_true(both.rows == 4 && both.same == 3);
}

static void equal_and_silent_outputs(void **state)
{
    (void)state;
    const float zeros[2] = {0}, some[] = {0.5F, 0};
    struct by_quality_sums sums = compare(some, some, 1, 2);
    assert_true(add_up(&sums, 1).sqnr == BY_SQNR_MAX);
    sums = compare(zeros, zeros, 1, 2);
    assert_true(add_up(&sums, 1).sqnr == BY_SQNR_MAX);
    sums = compare(zeros, some, 1, 2);
    assert_true(isnan(add_up(&sums, 1).sqnr));
}

static void nonfinite_values_are_counted(void **state)
{
    (void)state;
    const float want[] = {1, 2, INFINITY, 4}, got[] = {1, NAN, 3, INFINITY};
    struct by_quality_sums sums = compare(want, got, 1, 4);
    assert_int_equal(sums.nonfinite, 2);
    assert_true(sums.signal == 21 && isinf(sums.noise));
    assert_true(add_up(&sums, 1).sqnr == 0);
    sums = compare(got, got, 1, 4);
    assert_int_equal(sums.nonfinite, 0);
}

static void other_shapes_are_lost(void **state)
{
    (void)state;
    const float values[4] = {1, 2, 3, 4};
    const struct by_array one = floats(values, 1, 4), other = floats(values, 2, 2);
    struct by_quality_sums sums;
    assert_ok(by_quality_compare(&one, &other, &sums, &err));
    assert_true(sums.reshaped && add_up(&sums, 1).sqnr == 0);
    assert_int_equal(add_up(&sums, 1).reshaped, 1);
}

/* Longer than what is compared at once, and of another type. */
static void long_outputs_are_compared_whole(void **state)
{
    static float want[2500];
    static double got[2500];
    (void)state;
    for (size_t i = 0; i < 2500; i++) {
        want[i] = 1;
        got[i] = i < 2400 ? 1 : 3;
    }
    struct by_array one = floats(want, 2500, 1), other = floats(want, 2500, 1);
    other.elem = BY_ELEM_DOUBLE;
    other.data = got;
    other.size = sizeof got;
    struct by_quality_sums sums;
    assert_ok(by_quality_compare(&one, &other, &sums, &err));
    assert_true(sums.signal == 2500 && sums.noise == 400 && sums.rows == 1);
}

/* --- What to try --- */

static const char *next_at(double sqnr, struct by_recipe recipe, enum by_blame blame, bool samples)
{
    static char kept[160];
    struct by_arena arena;
    by_arena_init(&arena, 0);
    const char *next = by_quality_next(&recipe, blame, sqnr, samples, &arena);
    snprintf(kept, sizeof kept, "%s", next ? next : "nothing");
    by_arena_release(&arena);
    return kept;
}

static const char *next_of(struct by_recipe recipe, enum by_blame blame, bool samples)
{
    return next_at(BY_QUALITY_USABLE, recipe, blame, samples);
}

static struct by_recipe eight_bits(const char *preset)
{
    struct by_recipe recipe = {.preset = preset};
    by_spec_set_type(&recipe.activation, BY_ELEM_INT8);
    by_spec_set_type(&recipe.weight, BY_ELEM_INT8);
    return recipe;
}

static void weights_are_solved_or_finer(void **state)
{
    (void)state;
    struct by_recipe recipe = eight_bits("XINT8");
    recipe.hardware = BY_HARDWARE_XINT8;
    assert_string_equal(next_of(recipe, BY_BLAME_WEIGHTS, true), "--preset XINT8_ADAROUND");
    recipe.preset = "INT8_CNN_DEFAULT";
    assert_string_equal(next_of(recipe, BY_BLAME_WEIGHTS, true), "--preset INT8_CNN_ACCURATE");
    recipe.preset = "MX6";
    assert_string_equal(next_of(recipe, BY_BLAME_BOTH, true), "--preset MX6_ADAQUANT");
    recipe.preset = NULL;
    assert_string_equal(next_of(recipe, BY_BLAME_WEIGHTS, true), "--rounding descent");
    recipe.rounding = BY_ROUNDING_DESCENT;
    assert_non_null(strstr(next_of(recipe, BY_BLAME_WEIGHTS, true), "baryon sensitivity"));
    recipe.hardware = BY_HARDWARE_NONE;
    assert_string_equal(next_of(recipe, BY_BLAME_WEIGHTS, true), "--weight-granularity channel");
    recipe.weight.granularity = BY_PER_CHANNEL;
    assert_non_null(strstr(next_of(recipe, BY_BLAME_WEIGHTS, true), "baryon sensitivity"));
}

/* But scales of activations are solved on samples alone. */
static void statistics_solve_weights(void **state)
{
    (void)state;
    struct by_recipe recipe = eight_bits("A8W8");
    assert_string_equal(next_of(recipe, BY_BLAME_WEIGHTS, false), "--preset A8W8_ADAROUND");
    recipe.hardware = BY_HARDWARE_XINT8;
    assert_non_null(strstr(next_of(recipe, BY_BLAME_ACTIVATIONS, false), "baryon sensitivity"));
}

static void activations_get_more_bits(void **state)
{
    (void)state;
    struct by_recipe recipe = eight_bits("A8W8_ADAROUND");
    assert_string_equal(next_of(recipe, BY_BLAME_ACTIVATIONS, true), "--preset A16W8_ADAROUND");
    recipe.preset = "U8S8_AAWS";
    by_spec_set_type(&recipe.activation, BY_ELEM_UINT8);
    assert_string_equal(next_of(recipe, BY_BLAME_ACTIVATIONS, true), "--preset U16S8_AAWS");
    recipe.preset = "INT8_CNN_DEFAULT";
    assert_string_equal(next_of(recipe, BY_BLAME_ACTIVATIONS, true), "--activation uint16");
    by_spec_set_type(&recipe.activation, BY_ELEM_INT16);
    recipe.preset = "A16W8";
    assert_string_equal(next_of(recipe, BY_BLAME_ACTIVATIONS, true), "--preset A16W8_ADAQUANT");
    /* A target with 8 bits alone keeps them. */
    recipe = eight_bits("XINT8_ADAROUND");
    recipe.hardware = BY_HARDWARE_XINT8;
    assert_string_equal(next_of(recipe, BY_BLAME_ACTIVATIONS, true), "--preset XINT8_ADAQUANT");
    recipe.rounding_scales = true;
    assert_non_null(strstr(next_of(recipe, BY_BLAME_ACTIVATIONS, true), "baryon sensitivity"));
}

/* One step does not mend what is hardly usable. */
static void what_is_hardly_usable_is_searched(void **state)
{
    (void)state;
    const double low = BY_QUALITY_USABLE - 0.01;
    struct by_recipe recipe = eight_bits("XINT8");
    recipe.hardware = BY_HARDWARE_XINT8;
    assert_string_equal(next_at(low, recipe, BY_BLAME_WEIGHTS, true),
                        "'baryon auto --target xint8'");
    assert_string_equal(next_at(low, recipe, BY_BLAME_WEIGHTS, false), "--preset XINT8_ADAROUND");
    recipe.hardware = BY_HARDWARE_EXTENDED;
    assert_string_equal(next_at(low, recipe, BY_BLAME_ACTIVATIONS, true),
                        "'baryon auto --target vitis-ai'");
    recipe.hardware = BY_HARDWARE_NONE;
    assert_string_equal(next_at(low, recipe, BY_BLAME_BOTH, true), "'baryon auto --target cpu'");
    recipe.approach = BY_APPROACH_WEIGHTS;
    assert_non_null(strstr(next_at(low, recipe, BY_BLAME_WEIGHTS, true), "--preset"));
}

static void blocks_of_matmul_get_more_bits(void **state)
{
    (void)state;
    struct by_recipe recipe = {.approach = BY_APPROACH_NBITS, .nbits = {.bits = 4}};
    assert_string_equal(next_of(recipe, BY_BLAME_WEIGHTS, false), "--nbits 8");
    recipe.nbits.bits = 8;
    assert_string_equal(next_of(recipe, BY_BLAME_WEIGHTS, false), "nothing");
}

/* --- Sentences --- */

static void sentences_say_what_was_measured(void **state)
{
    (void)state;
    struct by_quality_output output = {.name = "y", .sqnr = 12.34, .error = 0.5};
    struct by_quality quality = {.samples = 4,
                                 .first = 12,
                                 .which = BY_QUALITY_SEEN,
                                 .outputs = &output,
                                 .count = 1,
                                 .worst = 12.34};
    struct by_str text;
    by_str_init(&text);
    by_quality_text(&quality, &text);
    assert_string_equal(by_str_text(&text),
                        "quality: SQNR 12.3 dB on the last 4 samples, which calibration used "
                        "too\n");
    by_str_clear(&text);
    output.error = 1.5;
    output.rows = output.same = 1;
    quality.samples = 1;
    quality.next = "--nbits 8";
    by_quality_text(&quality, &text);
    assert_string_equal(by_str_text(&text),
                        "quality: SQNR 12.3 dB (standard error 1.5), top class equal in 1 of 1 "
                        "row on the last sample, which calibration used too\n"
                        "to improve it, try --nbits 8\n");
    by_str_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(last_quarter_is_chosen),
        cmocka_unit_test(bad_samples_do_not_shift_it),
        cmocka_unit_test(samples_behind_are_preferred),
        cmocka_unit_test(batches_double),
        cmocka_unit_test(small_errors_suffice),
        cmocka_unit_test(signal_and_noise_are_summed),
        cmocka_unit_test(equal_and_silent_outputs),
        cmocka_unit_test(nonfinite_values_are_counted),
        cmocka_unit_test(other_shapes_are_lost),
        cmocka_unit_test(long_outputs_are_compared_whole),
        cmocka_unit_test(weights_are_solved_or_finer),
        cmocka_unit_test(statistics_solve_weights),
        cmocka_unit_test(activations_get_more_bits),
        cmocka_unit_test(what_is_hardly_usable_is_searched),
        cmocka_unit_test(blocks_of_matmul_get_more_bits),
        cmocka_unit_test(sentences_say_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
