/* Every allocation of the moments fails in turn, once and from then on. */
#include "moments/moments.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "tests/unit/scratch.h"

#include "sweep.h"

#define COLUMNS 40
#define ROWS    60

static struct by_moments_scratch *shared;
static const float values[COLUMNS * ROWS] = {1, 2, 3};

static const struct by_moments_layer layer = {.kind = BY_LAYER_CONV,
                                              .name = "y",
                                              .input = "x",
                                              .weight = "w",
                                              .groups = 4,
                                              .columns = COLUMNS * 3 / 4,
                                              .channels = COLUMNS,
                                              .spatial = 1,
                                              .kernel = {3},
                                              .stride = {1},
                                              .dilation = {1}};

static int look(struct by_moments_scratch *scratch, int64_t elem, struct by_moments *moments)
{
    const struct by_array input = {"x", elem, 3, {1, COLUMNS, ROWS}, values, sizeof values};
    return by_moments_look(moments, &layer, scratch, &input, 0, NULL, &err);
}

static int call_all(void)
{
    struct by_moments_scratch *scratch;
    struct by_moments moments;
    if (by_moments_scratch_open(&scratch, 2, &err))
        return -1;
    int failed = by_moments_init(&moments, &layer, 0, 4, &err);
    if (!failed) {
        failed = look(scratch, BY_ELEM_FLOAT, &moments) || look(scratch, BY_ELEM_FLOAT16, &moments);
        by_moments_release(&moments);
    }
    by_moments_scratch_close(scratch);
    return failed ? -1 : 0;
}

static void everything(void **state)
{
    (void)state;
    sweep_memory(call_all);
}

/* A look that fails has added nothing, and one after it works. */
static void looks(void **state)
{
    (void)state;
    for (uint64_t k = 1; k < 5; k++) {
        struct by_moments moments;
        assert_ok(by_moments_scratch_open(&shared, 1, &err));
        assert_ok(by_moments_init(&moments, &layer, 0, 4, &err));
        by_fault_arm(BY_FAULT_ALLOC, k, false);
        const int failed = look(shared, BY_ELEM_FLOAT16, &moments);
        by_fault_arm(BY_FAULT_ALLOC, 0, false);
        if (failed) {
            assert_int_equal(moments.rows, 0);
            assert_int_equal(moments.samples, 0);
            assert_int_equal(moments.mean.cell, BY_FOLD_NONE);
        }
        assert_ok(look(shared, BY_ELEM_FLOAT, &moments));
        assert_true(moments.rows > 0);
        by_moments_release(&moments);
        by_moments_scratch_close(shared);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything),
        cmocka_unit_test(looks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
