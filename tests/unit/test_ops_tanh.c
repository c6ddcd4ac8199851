/*
 * tanh of floats beside the C library's: a value in 997, or every float there is with LONG=1.
 */
#include "ops/tanh_path.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CHUNK  65536u
#define STRIDE 997u

static float in[CHUNK], wanted[CHUNK], got[CHUNK];

/* The floats of these bits, one in `stride`, and a number of them that is no whole vector. */
static size_t fill(uint64_t first, uint64_t stride)
{
    size_t count = 0;
    for (uint64_t bits = first; count < CHUNK - 1 && bits <= UINT32_MAX; bits += stride, count++) {
        const uint32_t low = (uint32_t)bits;
        memcpy(&wanted[count], &low, sizeof low);
    }
    memcpy(got, wanted, sizeof got);
    return count;
}

static uint64_t stride(void)
{
    return getenv("LONG") ? 1 : STRIDE;
}

/* Whatever path is chosen, the bits are those of tanhf. */
static void as_the_c_library(void **state)
{
    (void)state;
    size_t count;
    for (uint64_t first = 0; first <= UINT32_MAX; first += count * stride()) {
        count = fill(first, stride());
        by_tanh(got, count);
        for (size_t i = 0; i < count; i++)
            wanted[i] = tanhf(wanted[i]);
        assert_memory_equal(got, wanted, count * sizeof *got);
    }
}

static void compare_paths(size_t count)
{
    size_t paths_count;
    const struct by_tanh_path *const *paths = by_tanh_paths(&paths_count);
    memcpy(in, wanted, sizeof in);
    by_tanh_vector.tanh(wanted, count);
    for (size_t i = 0; i + 1 < paths_count; i++) {
        if (!paths[i]->supported() || paths[i] == &by_tanh_vector)
            continue;
        memcpy(got, in, sizeof got);
        paths[i]->tanh(got, count);
        assert_memory_equal(got, wanted, count * sizeof *got);
    }
}

/* All vectors give the same, also where the C library gives something else. */
static void all_paths_agree(void **state)
{
    (void)state;
    size_t count;
    for (uint64_t first = 0; first <= UINT32_MAX; first += count * stride()) {
        count = fill(first, stride());
        compare_paths(count);
    }
}

/* Vectors are as near to tanh as the method is, wherever they run. */
static void vectors_are_near(void **state)
{
    (void)state;
    for (float x = -12; x < 12; x += 0x1p-9f) {
        float y = x;
        by_tanh_vector.tanh(&y, 1);
        const double exact = tanh((double)x);
        assert_true(fabs((double)y - exact) <= fabs(exact) * 0x1.5p-23);
    }
}

static void shifted(float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = nextafterf(tanhf(values[i]), values[i]);
}

static bool always(void)
{
    return true;
}

/* What gives other bits is found out, and what is chosen agrees. */
static void others_are_not_chosen(void **state)
{
    (void)state;
    const struct by_tanh_path other = {"other", always, shifted};
    size_t count;
    const struct by_tanh_path *const *paths = by_tanh_paths(&count);
    assert_false(by_tanh_agrees(&other));
    assert_true(by_tanh_agrees(paths[count - 1]));
    assert_string_equal(paths[count - 1]->name, "plain");
    assert_true(by_tanh_agrees(by_tanh_path_chosen()));
    assert_true(by_tanh_path_chosen()->supported());
}

static void few_values(void **state)
{
    (void)state;
    for (size_t count = 0; count < 40; count++) {
        for (size_t i = 0; i < 40; i++)
            got[i] = wanted[i] = (float)i / 8 - 2;
        for (size_t i = 0; i < count; i++)
            wanted[i] = tanhf(wanted[i]);
        by_tanh(got, count);
        assert_memory_equal(got, wanted, 40 * sizeof *got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_c_library), cmocka_unit_test(all_paths_agree),
        cmocka_unit_test(vectors_are_near), cmocka_unit_test(others_are_not_chosen),
        cmocka_unit_test(few_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
