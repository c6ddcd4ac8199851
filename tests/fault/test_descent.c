/* Every allocation of rounding by descent fails in turn, once and from then on. */
#include "solve/descent_rows.h"
#include "solve/gptq.h"
#include "solve/relaxation.h"
#include "solve/starts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/unit/descent_case.h"

#include "sweep.h"

static struct descent_case layer;

static int descend(void)
{
    memcpy(layer.integers, layer.start, 140 * 40 * sizeof *layer.start);
    return by_descent_run(&layer.problem, NULL, layer.integers, layer.errors, &err);
}

static int find_error(void)
{
    return by_descent_error(&layer.problem, layer.integers, layer.errors, &err) ||
                   by_descent_distance(&layer.problem, layer.integers, layer.errors, &err)
               ? -1
               : 0;
}

/* On rows that stand for gram. */
static int descend_on_rows(void)
{
    const struct by_descent_rows rows = {100, 140, layer.gram, 0.1f};
    struct by_descent problem = layer.problem;
    float *products = layer.cross;
    problem.gram = NULL;
    problem.rows = &rows;
    memcpy(layer.integers, layer.start, 140 * 40 * sizeof *layer.start);
    return by_descent_run(&problem, NULL, layer.integers, layer.errors, &err) ||
                   by_descent_error(&problem, layer.integers, layer.errors, &err) ||
                   by_descent_rows_product(&rows, 140, 40, layer.weights, NULL, products, &err)
               ? -1
               : 0;
}

static int feed_back(void)
{
    return by_gptq_run(&layer.problem, NULL, layer.integers, &err);
}

static int relax(void)
{
    return by_relaxation_run(&layer.problem, 3, NULL, layer.integers, &err);
}

static int descend_often(void)
{
    memcpy(layer.integers, layer.start, 140 * 40 * sizeof *layer.start);
    return by_starts_run(&layer.problem, 3, 1, NULL, layer.integers, &err);
}

static void everything(void **state)
{
    const struct descent_shape shape = {
        .columns = 140, .outs = 40, .rows = 150, .low = -8, .high = 7};
    (void)state;
    descent_open(&layer, &shape);
    sweep_memory(descend);
    sweep_memory(find_error);
    sweep_memory(descend_on_rows);
    sweep_memory(feed_back);
    sweep_memory(relax);
    sweep_memory(descend_often);
    descent_close(&layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
