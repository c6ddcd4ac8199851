/* Tests what is read as a Gram matrix, at the margin below zero that rounded sums are given. */
#include "graph_build.h"

#include "stats/stats.h"

#include <math.h>

#define ROWS 64

/* A layer that has seen rows of one column, all of them 3. */
static struct by_layer_stats seen_threes(void)
{
    struct by_layer_stats layer = {.layer = {.kind = BY_LAYER_MATMUL,
                                             .name = "steady",
                                             .input = "x",
                                             .weight = "w",
                                             .groups = 1,
                                             .columns = 1}};
    struct by_moments_scratch *scratch;
    float values[ROWS];
    const struct by_array rows = {.name = "x",
                                  .elem = BY_ELEM_FLOAT,
                                  .rank = 2,
                                  .dims = {ROWS, 1},
                                  .data = values,
                                  .size = sizeof values};
    for (size_t i = 0; i < ROWS; i++)
        values[i] = 3;
    assert_int_equal(by_moments_scratch_open(&scratch, 1, &err), 0);
    assert_int_equal(by_moments_init(&layer.moments, &layer.layer, 0, 1, &err), 0);
    assert_int_equal(by_moments_look(&layer.moments, &layer.layer, scratch, &rows, 0, NULL, &err),
                     0);
    by_moments_scratch_close(scratch);
    return layer;
}

static void test_margin_below_zero(void **state)
{
    static const struct {
        double mean; /* of 3, with an error that leaves so much of its square */
        int status;
    } cases[] = {{1, 0}, {1.00002, 0}, {1.000045, 0}, {1.000055, -1}, {1.01, -1}};
    struct by_layer_stats layer = seen_threes();
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double mean = 3 * cases[i].mean;
        float gram = NAN;
        assert_int_equal(by_stats_gram(&layer, 0, &mean, NULL, &gram, &err), cases[i].status);
        assert_float_equal(gram, (float)(9 - mean * mean), 1e-5f);
    }
    assert_string_equal(err.message,
                        "layer 'steady': its sums are no Gram matrix, the file is damaged");
    assert_string_equal(err.hint, "create it again with 'baryon calibrate'");
    by_moments_release(&layer.moments);
}

static void test_squares_without_a_mean(void **state)
{
    struct by_layer_stats layer = seen_threes();
    float gram = NAN;
    (void)state;
    assert_int_equal(by_stats_gram(&layer, 0, NULL, NULL, &gram, &err), 0);
    assert_float_equal(gram, 9, 0);
    by_moments_release(&layer.moments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_margin_below_zero),
                                       cmocka_unit_test(test_squares_without_a_mean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
