/* What a search does next, by figures at the margins of each rule. */
#include "search/halving.h"
#include "search/ladder.h"
#include "search/worth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

/* Weights have to be the cause; where single ones may be wider, all of it. */
static void solving(void **state)
{
    (void)state;
    struct by_worth_solving of = {.gain = 1, .sqnr = 10, .goal = 20, .widens = false};
    assert_true(by_worth_solving(&of));
    of.gain = 0.999;
    assert_false(by_worth_solving(&of));
    of = (struct by_worth_solving){.gain = 10, .sqnr = 10, .goal = 20, .widens = true};
    assert_true(by_worth_solving(&of));
    of.gain = 9.99;
    assert_false(by_worth_solving(&of));
    of.goal = (double)NAN;
    assert_true(by_worth_solving(&of));
}

/* Of a model of 100 bytes, 60 of which narrow weights save, half may go back: with a sixteenth of
 * the noise left if they had four times their share. */
static void going_back(void **state)
{
    (void)state;
    struct by_worth_back of = {.goal = 20, .wide = 100, .narrow = 40, .smallest = 70};
    of.sqnr = 20 + 10 * log10(1.0 / 16) + 0.01;
    assert_true(by_worth_going_back(&of));
    of.sqnr -= 0.02;
    assert_false(by_worth_going_back(&of));
    of.smallest = 40; /* none may go back */
    of.sqnr = 19.9;
    assert_false(by_worth_going_back(&of));
    of.needed = true;
    assert_true(by_worth_going_back(&of));
    of.late = true;
    assert_true(by_worth_going_back(&of));
    of.needed = false;
    of.smallest = 100; /* all may */
    of.sqnr = -40;
    assert_false(by_worth_going_back(&of));
    of.late = false;
    assert_true(by_worth_going_back(&of));
    of.smallest = 40;
    of.goal = (double)NAN;
    assert_true(by_worth_going_back(&of));
}

static void wide_activations(void **state)
{
    (void)state;
    assert_true(by_worth_wide_activations(17, 20));
    assert_false(by_worth_wide_activations(16.99, 20));
    assert_true(by_worth_wide_activations((double)NAN, 20));
    assert_true(by_worth_wide_activations(-60, (double)NAN));
}

static void deciding(void **state)
{
    (void)state;
    assert_true(by_worth_deciding(20, 20));
    assert_false(by_worth_deciding(19.99, 20));
    assert_true(by_worth_deciding(INFINITY, 20));
    assert_true(by_worth_deciding(3, (double)NAN));
    assert_true(by_worth_few_changes(1.01, 1));
    assert_false(by_worth_few_changes(1.011, 1));
}

/* A set that costs about what the best one does lies above cheaper ones, so it goes down from it.
 */
static void halving(void **state)
{
    static const struct {
        enum by_halved outcome;
        double low, high;
    } rows[] = {
        {BY_HALVED_MET, 0, 8},
        {BY_HALVED_DEAR, 0, 4},
        {BY_HALVED_MISSED, 2, 4},
        {BY_HALVED_MISSED, 3, 4},
    };
    struct by_halving halving = {.low = 0, .high = 16, .near = 1, .left = 5};
    double goal;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(by_halving_next(&halving, &goal));
        assert_true(goal == (halving.low + halving.high) / 2);
        by_halving_take(&halving, goal, rows[i].outcome);
        assert_true(halving.low == rows[i].low && halving.high == rows[i].high);
    }
    assert_false(by_halving_next(&halving, &goal)); /* near enough */
    halving.high = 16;
    assert_true(by_halving_next(&halving, &goal));
    assert_false(by_halving_next(&halving, &goal)); /* no more may be tried */
}

/* A set that is the one before it has met or missed as that one did. */
static void outcomes(void **state)
{
    bool met = false;
    (void)state;
    const struct by_halved_set same = {0}, dear = {.dear = true},
                               good = {.verified = true, .meets = true}, bad = {.verified = true};
    assert_int_equal(by_halving_outcome(&same, &met), BY_HALVED_MISSED);
    assert_int_equal(by_halving_outcome(&good, &met), BY_HALVED_MET);
    assert_int_equal(by_halving_outcome(&same, &met), BY_HALVED_MET);
    assert_int_equal(by_halving_outcome(&dear, &met), BY_HALVED_DEAR);
    assert_true(met);
    assert_int_equal(by_halving_outcome(&bad, &met), BY_HALVED_MISSED);
    assert_int_equal(by_halving_outcome(&dear, &met), BY_HALVED_DEAR);
    assert_int_equal(by_halving_outcome(&same, &met), BY_HALVED_MISSED);
}

/* A rung replaces an operator, and one of the same time leaves it as it is. */
static void sparing(void **state)
{
    size_t count, found = 0;
    const struct by_ladder *const *ladders = by_ladders(&count);
    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < ladders[i]->rung_count; k++) {
            const struct by_rung *rung = &ladders[i]->rungs[k];
            const struct by_rung *other = by_ladder_sparing(ladders[i], rung);
            found += other != NULL;
            if (other)
                assert_true(other->when == rung->when && strstr(other->name, "float Sigmoid") &&
                            !strcmp(rung->name, "XINT8"));
        }
    assert_int_equal(found, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solving),  cmocka_unit_test(going_back),
        cmocka_unit_test(deciding), cmocka_unit_test(wide_activations),
        cmocka_unit_test(halving),  cmocka_unit_test(outcomes),
        cmocka_unit_test(sparing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
