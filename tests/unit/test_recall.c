/* Judgements of models: found by hash, copied, no more than there is room for. */
#include "graph_build.h"

#include "trial/recall.h"

#define SAMPLES 5

static void make(struct by_judgement *judgements, double first)
{
    for (size_t i = 0; i < SAMPLES; i++)
        judgements[i] = (struct by_judgement){.sqnr = first + (double)i, .count = 1};
}

static void test_models_are_told_apart(void **state)
{
    (void)state;
    struct by_recall *recall = NULL;
    struct by_judgement given[SAMPLES], found[SAMPLES];
    const struct by_hash128 one = {1, 2}, other = {2, 1}, unknown = {1, 1};
    assert_int_equal(by_recall_find(recall, one, found, SAMPLES), 0);
    make(given, 10);
    assert_ok(by_recall_add(&recall, one, given, SAMPLES, &err));
    make(given, 20);
    assert_ok(by_recall_add(&recall, other, given, 2, &err));
    make(given, 30);
    assert_int_equal(by_recall_find(recall, one, found, SAMPLES), SAMPLES);
    assert_true(found[0].sqnr == 10 && found[SAMPLES - 1].sqnr == 10 + SAMPLES - 1);
    assert_int_equal(by_recall_find(recall, other, found, SAMPLES), 2);
    assert_true(found[1].sqnr == 21);
    assert_int_equal(by_recall_find(recall, unknown, found, SAMPLES), 0);
    by_recall_close(recall);
}

static void test_room_is_a_limit(void **state)
{
    (void)state;
    struct by_recall *recall = NULL;
    struct by_judgement given[SAMPLES], found[SAMPLES];
    const struct by_hash128 one = {1, 2};
    make(given, 10);
    make(found, 40);
    assert_ok(by_recall_add(&recall, one, given, SAMPLES, &err));
    assert_int_equal(by_recall_find(recall, one, found, 3), 3);
    assert_true(found[2].sqnr == 12 && found[3].sqnr == 43);
    by_recall_close(recall);
    by_recall_close(NULL);
}

/* More was judged later: that is found. */
static void test_latest_counts(void **state)
{
    (void)state;
    struct by_recall *recall = NULL;
    struct by_judgement given[SAMPLES], found[SAMPLES];
    const struct by_hash128 one = {1, 2};
    make(given, 10);
    assert_ok(by_recall_add(&recall, one, given, 2, &err));
    assert_ok(by_recall_add(&recall, one, given, SAMPLES, &err));
    assert_int_equal(by_recall_find(recall, one, found, SAMPLES), SAMPLES);
    by_recall_close(recall);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_are_told_apart),
        cmocka_unit_test(test_room_is_a_limit),
        cmocka_unit_test(test_latest_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
