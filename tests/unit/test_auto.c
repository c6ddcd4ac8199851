/* Parts of samples and goals of a search. */
#include "search/auto_internal.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void parts_share_no_sample(void **state)
{
    (void)state;
    for (size_t total = 3; total < 5000; total += total < 40 ? 1 : 97)
        for (int effort = BY_EFFORT_QUICK; effort <= BY_EFFORT_THOROUGH; effort++) {
            struct by_auto_parts parts;
            assert_int_equal(by_auto_split(&parts, total, (enum by_auto_effort)effort, NULL, NULL),
                             0);
            size_t next = 0;
            for (size_t i = 0; i < BY_AUTO_PARTS; i++) {
                assert_true(parts.of[i].count > 0);
                assert_int_equal(parts.of[i].first, next);
                next += parts.of[i].count;
            }
            assert_true(next <= total);
            assert_false(parts.shared);
        }
}

static void few_samples_are_shared(void **state)
{
    struct by_auto_parts parts;
    struct baryon_error err;
    (void)state;
    assert_int_equal(by_auto_split(&parts, 2, BY_EFFORT_NORMAL, NULL, NULL), 0);
    assert_true(parts.shared);
    assert_int_equal(parts.of[BY_PART_CALIBRATE].first, 0);
    assert_int_equal(parts.of[BY_PART_CHOOSE].first, 1);
    assert_int_equal(by_auto_split(&parts, 0, BY_EFFORT_NORMAL, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
}

static void values_are_judged(void **state)
{
    struct by_arena arena;
    struct by_auto_goals goals;
    const char *texts[] = {"sqnr>=20", "max-error<=0.5"};
    const struct by_setting_texts list = {.at = texts, .count = 2};
    (void)state;
    by_arena_init(&arena, 0);
    assert_int_equal(by_auto_goals_read(&goals, &list, false, false, &arena, NULL), 0);
    assert_true(by_auto_goals_are_met(&goals, (double[]){20, 0.5}, NULL));
    assert_false(by_auto_goals_are_met(&goals, (double[]){19.9, 0.5}, NULL));
    assert_false(by_auto_goals_are_met(&goals, (double[]){(double)NAN, 0.5}, NULL));
    assert_true(fabs(by_auto_goals_lack(&goals, (double[]){15, 0.75}, NULL) - 0.5) < 1e-12);
    /* A margin is asked for on the side where the goal is missed. */
    assert_true(by_auto_goals_are_met(&goals, (double[]){21, 0.4}, (double[]){1, 0.1}));
    assert_false(by_auto_goals_are_met(&goals, (double[]){21, 0.4}, (double[]){1.1, 0.1}));
    assert_false(by_auto_goals_are_met(&goals, (double[]){21, 0.45}, (double[]){1, 0.1}));
    assert_true(isinf(by_auto_goals_lack(&goals, (double[]){(double)NAN, 0}, NULL)));
    assert_ptr_equal(by_auto_goals_sqnr(&goals), goals.at);
    by_arena_release(&arena);
}

/* What has the margin where candidates are chosen is doubted by the samples that calibrate alone;
 * what lacks the margin there was never measured on these. */
static void doubt_is_better_than_no_margin(void **state)
{
    struct by_arena arena;
    struct by_auto search = {0};
    const char *texts[] = {"sqnr>=20"};
    const struct by_setting_texts list = {.at = texts, .count = 1};
    (void)state;
    by_arena_init(&arena, 0);
    assert_int_equal(by_auto_goals_read(&search.goals, &list, false, false, &arena, NULL), 0);
    struct by_auto_point doubted = {.choose = (double[]){36},
                                    .margins = (double[]){20},
                                    .sqnr = 36,
                                    .met = true,
                                    .doubted = true,
                                    .allowed = true};
    struct by_auto_point tight = {.choose = (double[]){20.5},
                                  .margins = (double[]){3},
                                  .sqnr = 20.5,
                                  .met = true,
                                  .allowed = true};
    assert_true(by_auto_is_better(&search, &doubted, &tight));
    assert_false(by_auto_is_better(&search, &tight, &doubted));
    doubted.doubted = false; /* then what lacks less */
    assert_false(by_auto_is_better(&search, &doubted, &tight));
    tight.sure = doubted.doubted = true;
    assert_false(by_auto_is_better(&search, &doubted, &tight));
    by_arena_release(&arena);
}

static const struct by_mac_cost *cost_of(const struct by_ladder *ladder, const char *one,
                                         const char *other)
{
    for (size_t i = 0; i < ladder->decisions.mac_count; i++)
        if (by_glob(ladder->decisions.macs[i].activation, one) &&
            by_glob(ladder->decisions.macs[i].weight, other))
            return &ladder->decisions.macs[i];
    return NULL;
}

/* A product of two activations is no float one because neither is a weight. */
static void products_of_activations_are_integers(void **state)
{
    static const char *const rows[][2] = {{"any", "uint8"}, {"any", "int8"}, {"cpu", "uint8"}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct by_ladder *ladder = by_ladder_find(rows[i][0], NULL);
        const struct by_mac_cost *cost = cost_of(ladder, rows[i][1], rows[i][1]);
        assert_false(cost->wide);
        assert_true(cost->cost < cost_of(ladder, "float", "float")->cost);
    }
    const struct by_ladder *any = by_ladder_find("any", NULL);
    assert_true(cost_of(any, "uint16", "uint16")->cost == cost_of(any, "int16", "int8")->cost);
    assert_true(cost_of(any, "int16", "int16")->wide);
}

/* Rungs of a ladder stand in order of cost, and a solved one names the rung that it solves. */
static void ladders_are_in_order(void **state)
{
    size_t count;
    const struct by_ladder *const *ladders = by_ladders(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < ladders[i]->rung_count; k++) {
            const struct by_rung *rung = &ladders[i]->rungs[k];
            bool found = rung->when != BY_RUNG_SOLVED;
            assert_non_null(by_preset_find(rung->values[0].value, NULL));
            for (size_t other = 0; other < k; other++) {
                const struct by_rung *before = &ladders[i]->rungs[other];
                assert_true(before->cost <= rung->cost);
                found = found || !strncmp(rung->name, before->name, strlen(before->name));
            }
            assert_true(found);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_share_no_sample),
        cmocka_unit_test(few_samples_are_shared),
        cmocka_unit_test(values_are_judged),
        cmocka_unit_test(doubt_is_better_than_no_margin),
        cmocka_unit_test(products_of_activations_are_integers),
        cmocka_unit_test(ladders_are_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
