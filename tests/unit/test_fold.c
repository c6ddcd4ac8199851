/* Tests that sums of arrays do not depend on order and are near the exact ones. */
#include "moments/fold.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define COUNT  37 /* no multiple of a vector */
#define ARRAYS 40

static struct baryon_error err;

/* Numbers of one array are alike in size; arrays differ by many cells where `spread` is big. */
static void draw(float *values, size_t count, uint64_t seed, uint64_t array, int spread)
{
    const int64_t scale = by_rng_range(seed, 1, array, -spread, spread);
    for (size_t i = 0; i < count; i++) {
        const int64_t below = by_rng_range(seed + array, 2, i, 0, 30);
        values[i] = (float)ldexp(by_rng_normal(seed + array, 3, i), (int)(scale - below));
        if (by_rng_range(seed + array, 4, i, 0, 9) == 0)
            values[i] = 0;
    }
}

static void assert_same(const struct by_fold *a, const struct by_fold *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->cell, b->cell);
    assert_memory_equal(a->high, b->high, a->count * sizeof *a->high);
    assert_memory_equal(a->low, b->low, a->count * sizeof *a->low);
}

static void shuffle(size_t *order, size_t count, uint64_t seed)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i-- > 1;) {
        size_t k = (size_t)by_rng_range(seed, 9, i, 0, (int64_t)i), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

static void add_ref(struct by_fold *fold, uint64_t seed, int spread)
{
    float values[COUNT];
    assert_int_equal(by_fold_init(fold, COUNT, &err), 0);
    for (size_t i = 0; i < ARRAYS; i++) {
        draw(values, COUNT, seed, i, spread);
        by_fold_add_ref(fold, values);
    }
}

/* Any order, cut into any parts which are merged in any order. */
static void add_in_parts(struct by_fold *fold, uint64_t seed, int spread)
{
    enum { PARTS = 5 };
    struct by_fold parts[PARTS];
    size_t order[ARRAYS], turn[PARTS];
    float values[COUNT];
    shuffle(order, ARRAYS, seed + 77);
    shuffle(turn, PARTS, seed + 78);
    for (size_t p = 0; p < PARTS; p++)
        assert_int_equal(by_fold_init(&parts[p], COUNT, &err), 0);
    for (size_t i = 0; i < ARRAYS; i++) {
        const size_t part = (size_t)by_rng_range(seed, 10, i, 0, PARTS - 1);
        draw(values, COUNT, seed, order[i], spread);
        if (i % 3)
            by_fold_add(&parts[part], values);
        else {
            by_fold_add_part(&parts[part], 0, 11, values);
            by_fold_add_part(&parts[part], 11, COUNT - 11, values + 11);
        }
    }
    assert_int_equal(by_fold_init(fold, COUNT, &err), 0);
    for (size_t p = 0; p < PARTS; p++) {
        by_fold_merge(fold, &parts[turn[p]]);
        by_fold_release(&parts[turn[p]]);
    }
}

static void any_order_and_split_gives_the_same(void **state)
{
    static const int spreads[] = {0, 2, 20, 45, 60};
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct by_fold whole, parts;
        const int spread = spreads[seed % 5];
        add_ref(&whole, seed, spread);
        add_in_parts(&parts, seed, spread);
        assert_same(&whole, &parts);
        by_fold_release(&whole);
        by_fold_release(&parts);
    }
}

static void sums_are_near_the_exact_ones(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct by_fold fold;
        long double exact[COUNT] = {0};
        float values[COUNT], most = 0;
        add_in_parts(&fold, seed, 20);
        for (size_t i = 0; i < ARRAYS; i++) {
            draw(values, COUNT, seed, i, 20);
            for (size_t k = 0; k < COUNT; k++) {
                exact[k] += (long double)values[k];
                most = fmaxf(most, fabsf(values[k]));
            }
        }
        for (size_t k = 0; k < COUNT; k++) {
            const double wanted = (double)exact[k], got = by_fold_value(&fold, k);
            assert_true(fabs(got - wanted) <= ARRAYS * (double)most * 0x1p-40);
        }
        by_fold_release(&fold);
    }
}

static void values_of_few_bits_are_exact(void **state)
{
    (void)state;
    const float values[4] = {1, -0x1p-39f, 0x1.fffffep-16f, 0x1.8p8f};
    struct by_fold fold;
    assert_int_equal(by_fold_init(&fold, 4, &err), 0);
    assert_true(by_fold_value(&fold, 0) == 0);
    for (int i = 0; i < 1000; i++)
        by_fold_add(&fold, values);
    for (size_t k = 0; k < 4; k++)
        assert_true(by_fold_value(&fold, k) == 1000 * (double)values[k]);
    by_fold_release(&fold);
}

/* The worst value for the carry: just below the place where the next cell begins. */
static void very_many_additions_do_not_overflow(void **state)
{
    (void)state;
    const float top = 0x1.fffffep38f;
    const float values[2] = {top, -top};
    struct by_fold fold, doubled;
    assert_int_equal(by_fold_init(&fold, 2, &err), 0);
    for (int i = 0; i < 1 << 10; i++)
        by_fold_add(&fold, values);
    for (int i = 0; i < 13; i++) {
        assert_int_equal(by_fold_init(&doubled, 2, &err), 0);
        by_fold_merge(&doubled, &fold);
        by_fold_merge(&doubled, &fold);
        by_fold_release(&fold);
        fold = doubled;
    }
    assert_true(by_fold_value(&fold, 0) == 0x1p23 * (double)top);
    assert_true(by_fold_value(&fold, 1) == -0x1p23 * (double)top);
    by_fold_release(&fold);
}

static void extremes_of_float_have_cells(void **state)
{
    (void)state;
    const float extremes[3] = {0x1p-149f, 0x1.fffffep127f, 0x1p-126f};
    for (size_t k = 0; k < 3; k++) {
        struct by_fold fold, ref;
        assert_int_equal(by_fold_init(&fold, 1, &err), 0);
        assert_int_equal(by_fold_init(&ref, 1, &err), 0);
        by_fold_add(&fold, &extremes[k]);
        by_fold_add_ref(&ref, &extremes[k]);
        assert_same(&fold, &ref);
        assert_true(by_fold_value(&fold, 0) == (double)extremes[k]);
        by_fold_release(&fold);
        by_fold_release(&ref);
    }
}

static void zeros_leave_it_empty(void **state)
{
    (void)state;
    const float zeros[2] = {0.0f, -0.0f};
    struct by_fold fold;
    assert_int_equal(by_fold_init(&fold, 2, &err), 0);
    by_fold_add(&fold, zeros);
    by_fold_add_ref(&fold, zeros);
    assert_int_equal(fold.cell, BY_FOLD_NONE);
    by_fold_release(&fold);
}

static void sizes_are_checked(void **state)
{
    (void)state;
    struct by_fold fold;
    assert_int_equal(by_fold_init(&fold, SIZE_MAX / 2 + 1, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
    assert_int_equal(by_fold_init(&fold, SIZE_MAX / 4, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
    by_fold_release(&fold);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_and_split_gives_the_same),
        cmocka_unit_test(sums_are_near_the_exact_ones),
        cmocka_unit_test(values_of_few_bits_are_exact),
        cmocka_unit_test(very_many_additions_do_not_overflow),
        cmocka_unit_test(extremes_of_float_have_cells),
        cmocka_unit_test(zeros_leave_it_empty),
        cmocka_unit_test(sizes_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
