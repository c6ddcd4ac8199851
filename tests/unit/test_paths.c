/*
 * Which vector paths are taken: those of PATHS, or the best that this processor has. So a test of
 * paths that was to run on, or emulate, a processor of some kind cannot quietly test another's.
 */
#include "base/half.h"
#include "calib/bins_squares_path.h"
#include "dtype/path.h"
#include "dtype/weights_path.h"
#include "moments/fold.h"
#include "solve/descent_path.h"
#include "stats/sketch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* In the order of names_taken(); NULL where nothing is promised. */
static const char *names_expected(void)
{
    if (getenv("PATHS"))
        return getenv("PATHS");
#if defined(__aarch64__)
    return "neon neon vector vector portable vector vector";
#elif defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        return "avx512 avx512 avx512 avx512 avx512 avx512 avx512";
    if (!__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        return "avx2 avx2 avx2 avx2 avx2 avx2 avx2";
#endif
    return NULL;
}

static void names_taken(char *names, size_t room)
{
    size_t count;
    const struct by_squares_path *const *squares = by_squares_paths(&count);
    while (!(*squares)->supported())
        squares++;
    snprintf(names, room, "%s %s %s %s %s %s %s", by_half_path(), by_sketch_path(),
             (*squares)->name, by_weight_path_chosen()->name, by_fold_path(),
             by_descent_path_chosen()->name, by_dtype_path_chosen()->name);
}

static void the_paths_are_those_of_the_processor(void **state)
{
    (void)state;
    char names[128];
    names_taken(names, sizeof names);
    print_message("half, sketch, squares, weights, fold, descent, dtype: %s\n", names);
    if (!names_expected())
        skip();
    assert_string_equal(names, names_expected());
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_paths_are_those_of_the_processor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
