/* Tests what is corrected of predictions once kinds of linears were measured, what of it stays, and
 * how many windows probe. */
#include "graph_build.h"

#include "llm/auto/copies.h"
#include "settings/llm_auto.h"

#include <math.h>

#define LAYERS 3
#define KINDS  2

/* A linear of each kind in each layer, each a unit with two types, of which the second is chosen.
 */
struct searched {
    struct by_bits_search s;
    struct by_bits_linear linears[LAYERS * KINDS];
    double factor[LAYERS * BY_BITS_KINDS], predicted[LAYERS * KINDS * 2];
    size_t chosen[LAYERS * KINDS];
};

static void fill(struct searched *searched)
{
    *searched = (struct searched){
        .s = {.linear_count = LAYERS * KINDS, .unit_count = LAYERS * KINDS, .type_count = 2}};
    struct by_bits_search *s = &searched->s;
    s->calibrated.decoder.layers = LAYERS;
    s->linears = searched->linears;
    s->factor = searched->factor;
    s->predicted = searched->predicted;
    s->chosen = searched->chosen;
    for (size_t i = 0; i < LAYERS * BY_BITS_KINDS; i++)
        searched->factor[i] = 1 + (double)i;
    for (size_t i = 0; i < LAYERS * KINDS; i++) {
        searched->linears[i] =
            (struct by_bits_linear){.layer = i / KINDS, .kind = i % KINDS, .unit = i};
        searched->chosen[i] = 1;
        searched->predicted[2 * i] = 1000; /* of the type that is not chosen */
        searched->predicted[2 * i + 1] = i % KINDS ? 3 : 1;
    }
}

/* The first kind is predicted to have a quarter of all and has half, the other a half of three
 * quarters; what all diverge together does not count, nor kinds without a linear. */
static void test_kinds_get_what_they_have(void **state)
{
    static const double kl[BY_BITS_KINDS] = {0.02, 0.02};
    struct searched searched;
    (void)state;
    fill(&searched);
    by_bits_correct_kinds(&searched.s, kl);
    for (size_t i = 0; i < LAYERS * BY_BITS_KINDS; i++) {
        const size_t kind = i % BY_BITS_KINDS;
        const double times = kind == 0 ? 2 : kind == 1 ? 2.0 / 3 : 1;
        assert_float_equal((float)searched.factor[i], (float)(times * (1 + (double)i)), 1e-4f);
    }
}

/* Nothing measured, or nothing predicted, is no reason to change a factor. */
static void test_nothing_known(void **state)
{
    static const double none[BY_BITS_KINDS] = {0}, one[BY_BITS_KINDS] = {0, 0.5};
    struct searched searched;
    (void)state;
    fill(&searched);
    by_bits_correct_kinds(&searched.s, none);
    for (size_t i = 0; i < LAYERS * BY_BITS_KINDS; i++)
        assert_true(searched.factor[i] == 1 + (double)i);
    by_bits_correct_kinds(&searched.s, one);
    assert_true(searched.factor[0] == 1);
    for (size_t i = 0; i < LAYERS * KINDS * 2; i++)
        searched.predicted[i] = 0;
    by_bits_correct_kinds(&searched.s, one);
    for (size_t i = 0; i < LAYERS * BY_BITS_KINDS; i++)
        assert_true(isfinite(searched.factor[i]));
}

static bool keeps(const double *corrected, const double *first, size_t windows)
{
    const struct by_llm_mean worse = by_bits_difference(corrected, first, windows);
    return by_bits_keeps(&worse);
}

/* Worse by up to the error of the mean difference is kept, by more is not, however much windows
 * differ from each other; one window has no error. */
static void test_corrected_choices_stay_unless_worse(void **state)
{
    static const double first[] = {0.02, 0.04}, unlike[] = {0.05, 0.03}, worse[] = {0.024, 0.046},
                        better[] = {0.019, 0.039};
    const double unknown[] = {0.02, (double)NAN};
    (void)state;
    assert_true(keeps(first, first, 2));
    assert_true(keeps(better, first, 2));
    assert_true(keeps(unlike, first, 2)); /* 0.01 worse, error 0.02 */
    assert_false(keeps(worse, first, 2)); /* 0.005 worse, error 0.001 */
    assert_true(keeps(better, first, 1));
    assert_false(keeps(worse, first, 1));
    assert_false(keeps(unknown, first, 2));
}

static uint64_t probes(int64_t length, double windows)
{
    static const char *text[] = {"text"};
    struct by_llm_auto_settings settings = {.layout = "quark", .method = "descent", .bits = 4};
    struct by_llm_auto_options options = {0};
    settings.writing.out = "nothing-here";
    settings.texts = (struct by_setting_texts){text, 1, 1};
    settings.length = length;
    settings.probe_windows = windows;
    assert_int_equal(by_llm_auto_take(&settings, &options, &err), 0);
    return options.probe_windows;
}

static void test_probes_have_tokens_enough(void **state)
{
    (void)state;
    assert_int_equal(probes(512, -1), 2);
    assert_int_equal(probes(2048, -1), 2);
    assert_int_equal(probes(511, -1), 3);
    assert_int_equal(probes(128, -1), 8);
    assert_int_equal(probes(128, 2), 2);
    assert_int_equal(probes(128, 0), 0); /* all that choose */
}

static void test_probes_are_spread(void **state)
{
    (void)state;
    assert_int_equal(by_bits_probe_window(0, 1, 1), 0);
    assert_int_equal(by_bits_probe_window(0, 2, 8), 2);
    assert_int_equal(by_bits_probe_window(1, 2, 8), 6);
    for (size_t windows = 1; windows < 20; windows++)
        for (size_t probes = 1; probes <= windows; probes++)
            for (size_t i = 0; i < probes; i++) {
                const size_t at = by_bits_probe_window(i, probes, windows);
                assert_true(at < windows);
                assert_true(i == 0 || at > by_bits_probe_window(i - 1, probes, windows));
                assert_true(probes < windows || at == i);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_probes_have_tokens_enough), cmocka_unit_test(test_probes_are_spread),
        cmocka_unit_test(test_kinds_get_what_they_have), cmocka_unit_test(test_nothing_known),
        cmocka_unit_test(test_corrected_choices_stay_unless_worse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
