/* Verdicts at their margins: gains and errors just under and over a threshold, ties, one sample,
 * NaN. */
#include "graph_build.h"

#include "trial/verdict.h"

#include <math.h>
#include <string.h>

#define SAMPLES 8

static bool says(enum by_verdict_rule rule, bool exponents, double decibels, double error)
{
    const struct by_gain gain = {decibels, error}, none = {-1, 0};
    const struct by_threshold *of = by_threshold(rule, exponents);
    return by_verdict(of, &gain, of->measure == BY_MEASURE_BOTH ? &gain : &none);
}

static const struct {
    enum by_verdict_rule rule;
    bool exponents;
    double least, errors;
} rows[] = {
    {BY_VERDICT_LEADS, false, 1, 3},
    {BY_VERDICT_LEADS, true, 1, 3},
    {BY_VERDICT_EQUALIZED, false, 0.1, 0},
    {BY_VERDICT_EQUALIZED, true, 0.1, 2},
    {BY_VERDICT_UNEQUALIZED, false, 0.1, 0.5},
    {BY_VERDICT_UNEQUALIZED, true, 0.1, 0.5},
    {BY_VERDICT_PAYS, false, 0.1, 0},
    {BY_VERDICT_PAYS, true, 0.1, 0},
    {BY_VERDICT_OTHER_WAY, false, 0.1, 1},
    {BY_VERDICT_OTHER_WAY, true, 0.1, 2},
    {BY_VERDICT_CLE_RANGE, false, 0.1, 1},
    {BY_VERDICT_CLE_RANGE, true, 0.1, 2},
    {BY_VERDICT_EQUALIZED_SOLVED, false, 1.5, 0.5},
    {BY_VERDICT_EQUALIZED_ALONE, false, 0.1, 0.5},
    {BY_VERDICT_EQUALIZED_ALONE, true, 0.1, 0.5},
    {BY_VERDICT_EQUALIZED_SOLVED, true, 1.5, 2},
    {BY_VERDICT_ROTATED, false, 0.25, 2},
    {BY_VERDICT_ROTATED, true, 0.25, 2},
    {BY_VERDICT_SMOOTHED, false, 0.25, 2},
    {BY_VERDICT_SMOOTHED, true, 0.25, 2},
    {BY_VERDICT_SPLIT, false, 0.25, 2},
    {BY_VERDICT_SPLIT, true, 0.25, 2},
    {BY_VERDICT_BIASES, false, 0.1, 0.5},
    {BY_VERDICT_BIASES, true, 0.1, 2},
    {BY_VERDICT_LOGARITHMS, false, 0.1, 1},
    {BY_VERDICT_LOGARITHMS, true, 0.1, 1},
    {BY_VERDICT_FRONT_END, false, 1, 2},
    {BY_VERDICT_FRONT_END, true, 1, 2},
    {BY_VERDICT_JOINS, false, 1, 2},
    {BY_VERDICT_JOINS, true, 1, 2},
    {BY_VERDICT_HEADROOM, false, 0.5, 2},
    {BY_VERDICT_HEADROOM, true, 0.5, 2},
    {BY_VERDICT_WEIGHT_ROWS, false, 0.5, 2},
    {BY_VERDICT_WEIGHT_ROWS, true, 0.5, 2},
    {BY_VERDICT_WEIGHT_METHOD, false, 0.5, 2},
    {BY_VERDICT_WEIGHT_METHOD, true, 0.5, 2},
    {BY_VERDICT_ACTIVATION_METHOD, false, 0.25, 0.25},
    {BY_VERDICT_ACTIVATION_METHOD, true, 0.25, 0.25},
    {BY_VERDICT_METHOD_SEEN, false, 1, 2},
    {BY_VERDICT_METHOD_SEEN, true, 1, 2},
    {BY_VERDICT_WIDE, false, 1, 2},
    {BY_VERDICT_WIDE, true, 1, 2},
    {BY_VERDICT_WIDER, false, 1, 1},
    {BY_VERDICT_WIDER, true, 1, 1},
    {BY_VERDICT_WIDEST, false, 6, 2},
    {BY_VERDICT_WIDEST, true, 6, 2},
    {BY_VERDICT_RANGES, false, 0.1, 0.5},
    {BY_VERDICT_RANGES, true, 0.1, 0.5},
    {BY_VERDICT_PAIRS, false, 0.1, 1},
    {BY_VERDICT_PAIRS, true, 0.1, 1},
    {BY_VERDICT_SOLVED, false, 0, 0},
    {BY_VERDICT_SOLVED, true, 0, 1},
    {BY_VERDICT_UNSOLVED, false, 0.1, 1},
    {BY_VERDICT_UNSOLVED, true, 0.1, 1},
};

static void thresholds_are_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const enum by_verdict_rule rule = rows[i].rule;
        const bool of = rows[i].exponents;
        const double over = rows[i].least + 0.01, far = rows[i].least + 10;
        assert_false(says(rule, of, rows[i].least, 0));
        assert_false(says(rule, of, rows[i].least - 0.01, 0));
        assert_true(says(rule, of, over, 0));
        if (rows[i].errors == 0) {
            assert_true(says(rule, of, over, INFINITY));
            continue;
        }
        assert_true(says(rule, of, far, far / (rows[i].errors * 1.01)));
        assert_false(says(rule, of, far, far / (rows[i].errors * 0.99)));
        assert_false(says(rule, of, far, INFINITY));
    }
    for (enum by_verdict_rule rule = 0; rule < BY_VERDICT_RULES; rule++)
        assert_true(strlen(by_threshold(rule, false)->from) &&
                    strlen(by_threshold(rule, true)->from));
    assert_int_equal(sizeof rows / sizeof *rows, 2 * BY_VERDICT_RULES);
}

static void nothing_that_is_no_number_wins(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_false(says(rows[i].rule, rows[i].exponents, NAN, 0));
        assert_false(says(rows[i].rule, rows[i].exponents, NAN, NAN));
        if (rows[i].errors > 0)
            assert_false(says(rows[i].rule, rows[i].exponents, 100, NAN));
    }
}

static void either_measure_suffices_where_it_says_so(void **state)
{
    (void)state;
    const struct by_gain gains = {2, 1}, loses = {-3, 1}, unsure = {2, 10};
    for (enum by_verdict_rule rule = 0; rule < BY_VERDICT_RULES; rule++) {
        const struct by_threshold *of = by_threshold(rule, true);
        const bool either = rule == BY_VERDICT_SOLVED, certain = of->errors == 0;
        assert_int_equal(by_verdict(of, &loses, &gains), either);
        assert_int_equal(by_verdict(of, &unsure, &gains), either || certain);
        assert_false(by_verdict(of, &loses, &unsure));
    }
}

static void both_measures_have_to_agree_where_it_says_so(void **state)
{
    (void)state;
    const struct by_gain gains = {2, 0.9}, unsure = {2, 2.1}, little = {0.05, 0};
    for (int exponents = 0; exponents < 2; exponents++) {
        const struct by_threshold *of = by_threshold(BY_VERDICT_CLE_RANGE, exponents);
        assert_true(by_verdict(of, &gains, &gains));
        assert_false(by_verdict(of, &gains, &unsure) || by_verdict(of, &unsure, &gains));
        assert_false(by_verdict(of, &gains, &little) || by_verdict(of, &little, &gains));
    }
}

/* --- What samples say --- */

static void judge_alike(struct by_judgement *each, double noise)
{
    for (size_t i = 0; i < SAMPLES; i++) {
        each[i] = (struct by_judgement){.count = 1};
        each[i].outputs[0] = (struct by_judged_output){.signal = 100, .noise = noise};
    }
}

static bool replaces(enum by_verdict_rule rule, const struct by_judgement *one,
                     const struct by_judgement *other, size_t samples)
{
    return by_verdict_of(by_threshold(rule, false), one, other, samples);
}

static void ties_change_nothing(void **state)
{
    (void)state;
    struct by_judgement one[SAMPLES];
    judge_alike(one, 1);
    for (enum by_verdict_rule rule = 0; rule < BY_VERDICT_RULES; rule++)
        for (size_t samples = 1; samples <= SAMPLES; samples++)
            for (int of = 0; of < 2; of++)
                assert_false(by_verdict_of(by_threshold(rule, of), one, one, samples));
}

/* 10 log10(1.0471) is 0.2 dB, of 1.02 less than 0.1. */
static void small_gains_are_none(void **state)
{
    (void)state;
    struct by_judgement better[SAMPLES], worse[SAMPLES];
    judge_alike(better, 1);
    judge_alike(worse, 1.02);
    assert_false(replaces(BY_VERDICT_UNEQUALIZED, better, worse, SAMPLES));
    assert_true(replaces(BY_VERDICT_SOLVED, better, worse, SAMPLES));
    judge_alike(worse, 1.0471);
    assert_true(replaces(BY_VERDICT_UNEQUALIZED, better, worse, SAMPLES));
    assert_false(replaces(BY_VERDICT_UNEQUALIZED, worse, better, SAMPLES));
    assert_false(replaces(BY_VERDICT_LEADS, better, worse, SAMPLES));
}

static void one_sample_is_not_certain(void **state)
{
    (void)state;
    struct by_judgement better[SAMPLES], worse[SAMPLES];
    judge_alike(better, 1);
    judge_alike(worse, 1000);
    assert_false(replaces(BY_VERDICT_UNEQUALIZED, better, worse, 1));
    assert_false(replaces(BY_VERDICT_LEADS, better, worse, 1));
    assert_true(replaces(BY_VERDICT_UNEQUALIZED, better, worse, 2));
    assert_true(replaces(BY_VERDICT_SOLVED, better, worse, 1));
}

/* All of the gain is that of one sample: it is within the error. */
static void gains_of_one_sample_are_noise(void **state)
{
    (void)state;
    struct by_judgement better[SAMPLES], worse[SAMPLES];
    judge_alike(better, 1);
    judge_alike(worse, 1);
    worse[3].outputs[0].noise = 20;
    assert_false(replaces(BY_VERDICT_LEADS, better, worse, SAMPLES));
    assert_false(by_verdict_of(by_threshold(BY_VERDICT_BIASES, true), better, worse, SAMPLES));
}

static void lost_outputs_lose(void **state)
{
    (void)state;
    struct by_judgement lost[SAMPLES], good[SAMPLES];
    judge_alike(lost, INFINITY);
    judge_alike(good, 1);
    for (enum by_verdict_rule rule = 0; rule < BY_VERDICT_RULES; rule++)
        assert_false(replaces(rule, lost, good, SAMPLES));
    judge_alike(lost, NAN);
    for (enum by_verdict_rule rule = 0; rule < BY_VERDICT_RULES; rule++)
        assert_false(replaces(rule, lost, good, SAMPLES));
}

/* --- Moves of one scale --- */

static bool moves(double all, double all_error, double usual, double usual_error, size_t count)
{
    const struct by_gain one = {all, all_error}, other = {usual, usual_error};
    return by_verdict_move(&one, &other, count, 24);
}

static void few_samples_only_rule_out_losses(void **state)
{
    (void)state;
    assert_true(moves(-0.19, 9, -0.3, 9, 2));
    assert_true(moves(-0.3, 9, -0.19, 9, 2));
    assert_false(moves(-0.21, 0, -0.21, 0, 2));
    assert_false(moves(NAN, 0, NAN, 0, 2));
}

static void more_samples_require_more(void **state)
{
    (void)state;
    assert_true(moves(0.021, 9, 0.001, 9, 4));
    assert_false(moves(0.02, 0, 1, 0, 4));
    assert_false(moves(1, 0, -0.001, 0, 4));
    /* sqrt(8 / 24) * 2 * 2 / 3 = 0.77 errors, at the end two */
    assert_true(moves(0.78, 1, 0.78, 1, 8));
    assert_false(moves(0.76, 1, 0.78, 1, 8));
    assert_false(moves(0.78, 1, 0.76, 1, 8));
    assert_true(moves(2.01, 1, 2.01, 1, 24));
    assert_false(moves(1.99, 1, 2.01, 1, 24));
    assert_false(moves(2.01, 1, 1.99, 1, 24));
    assert_false(moves(INFINITY, INFINITY, 2.01, 1, 24));
}

static void a_tensor_worse_than_the_model_is_not_moved_far(void **state)
{
    (void)state;
    assert_true(by_verdict_move_costs(14.4, 20, 15));
    assert_false(by_verdict_move_costs(14.6, 20, 15)); /* not far */
    assert_true(by_verdict_move_costs(10, 40, 10.1));
    assert_false(by_verdict_move_costs(10, 40, 10)); /* no worse than the model */
    assert_false(by_verdict_move_costs(0, 0, 15));   /* not known */
}

static void test_close_candidates_are_settled(void **state)
{
    (void)state;
    static const struct {
        struct by_gain gain;
        bool settled;
    } cases[] = {
        {{0.1, 0.07}, true},   {{0.1, 0.08}, false}, {{-0.1, 0.07}, true},
        {{-0.1, 0.08}, false}, {{0, 0.12}, true},    {{0, INFINITY}, false},
        {{NAN, 0}, false},     {{0, NAN}, false},    {{0.26, 0}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(by_verdict_settled(&cases[i].gain), cases[i].settled);
}

/* Of 8 of 32 samples an error of 1 becomes 0.5, and the rest moves the gain by sqrt(0.75); 2.625
 * times that is 2.27. No of a rule that asks for an error or more needs 1.25 times that, 1.08. */
static void test_far_gains_are_foretold(void **state)
{
    (void)state;
    static const struct by_threshold plain = {0.1, 0, BY_MEASURE_ALL, ""},
                                     sure = {0.1, 2, BY_MEASURE_ALL, ""},
                                     either = {0.1, 0, BY_MEASURE_EITHER, ""},
                                     both = {0.1, 0, BY_MEASURE_BOTH, ""};
    static const struct {
        const struct by_threshold *of;
        struct by_gain gain;
        size_t samples;
        bool foretold;
    } cases[] = {
        {&plain, {2.38, 1}, 8, true},     {&plain, {2.37, 1}, 8, false},
        {&plain, {-2.18, 1}, 8, true},    {&plain, {-2.17, 1}, 8, false},
        {&plain, {1.0, 0.01}, 8, true},   {&plain, {0.1, 0}, 8, false},
        {&plain, {0.11, 5}, 32, true},    {&plain, {NAN, 1}, 8, false},
        {&plain, {5, NAN}, 8, false},     {&plain, {5, INFINITY}, 8, false},
        {&plain, {INFINITY, 1}, 8, true}, {&sure, {3.28, 1}, 8, true},
        {&sure, {3.27, 1}, 8, false},     {&sure, {-0.09, 1}, 8, true},
        {&sure, {-0.08, 1}, 8, false},    {&sure, {1.9, 1}, 32, true},
        {&sure, {1.79, 1}, 31, false},    {&either, {9, 0.1}, 8, false},
        {&both, {9, 0.1}, 8, false},      {&both, {-9, 0.1}, 8, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(by_verdict_foretold(cases[i].of, &cases[i].gain, cases[i].samples, 32),
                         cases[i].foretold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thresholds_are_kept),
        cmocka_unit_test(nothing_that_is_no_number_wins),
        cmocka_unit_test(either_measure_suffices_where_it_says_so),
        cmocka_unit_test(both_measures_have_to_agree_where_it_says_so),
        cmocka_unit_test(ties_change_nothing),
        cmocka_unit_test(small_gains_are_none),
        cmocka_unit_test(one_sample_is_not_certain),
        cmocka_unit_test(gains_of_one_sample_are_noise),
        cmocka_unit_test(lost_outputs_lose),
        cmocka_unit_test(few_samples_only_rule_out_losses),
        cmocka_unit_test(more_samples_require_more),
        cmocka_unit_test(a_tensor_worse_than_the_model_is_not_moved_far),
        cmocka_unit_test(test_close_candidates_are_settled),
        cmocka_unit_test(test_far_gains_are_foretold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
