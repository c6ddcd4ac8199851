/* Every allocation of rounding by descent fails in turn, once and from then on. */
#include "solve/gptq.h"
#include "solve/relaxation.h"

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
    return by_descent_error(&layer.problem, layer.integers, layer.errors, &err);
}

static int feed_back(void)
{
    return by_gptq_run(&layer.problem, NULL, layer.integers, &err);
}

<<<<<<< HEAD
=======
static int relax(void)
{
    return by_relaxation_run(&layer.problem, 3, NULL, layer.integers, &err);
}

static void fail_each(int call(void))
{
    assert_int_equal(call(), 0); /* the first one opens the BLAS, for all that follow */
    const uint64_t before = by_fault_count(BY_FAULT_ALLOC);
    assert_int_equal(call(), 0);
    const uint64_t calls = by_fault_count(BY_FAULT_ALLOC) - before;
    assert_true(calls > 0);
    for (uint64_t k = 1; k <= calls; k++)
        for (int forever = 0; forever < 2; forever++) {
            by_fault_arm(BY_FAULT_ALLOC, k, forever);
            by_err_clear(&err);
            const int status = call();
            by_fault_arm(BY_FAULT_ALLOC, 0, false);
            assert_int_equal(status, -1);
            assert_int_equal(err.code, BARYON_ERR_NOMEM);
        }
}

>>>>>>> c88672b (wip)
static void everything(void **state)
{
    const struct descent_shape shape = {
        .columns = 140, .outs = 40, .rows = 150, .low = -8, .high = 7};
    (void)state;
    descent_open(&layer, &shape);
<<<<<<< HEAD
    sweep_memory(descend);
    sweep_memory(find_error);
    sweep_memory(feed_back);
=======
    fail_each(descend);
    fail_each(find_error);
    fail_each(feed_back);
    fail_each(relax);
>>>>>>> c88672b (wip)
    descent_close(&layer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(everything)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
