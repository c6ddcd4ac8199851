/* One choice for each item within a size, against all combinations. */
#include "solve/budget.h"

#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define ITEMS   7
#define CHOICES 4
#define LARGE   240

static struct baryon_error err;

struct problem {
    struct by_budget_choice choices[LARGE][CHOICES];
    struct by_budget_item items[LARGE];
    size_t count;
};

/* Larger choices often cost less, not always. */
static void make_problem(struct problem *p, size_t count, uint64_t seed)
{
    p->count = count;
    for (size_t i = 0; i < count; i++) {
        const double weight = 1 + 9 * by_rng_unit(seed, 0, i);
        p->items[i].choices = p->choices[i];
        p->items[i].count = 1 + (size_t)by_rng_range(seed, 1, i, 0, CHOICES - 1);
        for (size_t k = 0; k < CHOICES; k++) {
            const uint64_t size = (uint64_t)by_rng_range(seed, 2, i * CHOICES + k, 1, 40);
            p->choices[i][k] = (struct by_budget_choice){
                size, weight * (0.8 + 0.4 * by_rng_unit(seed, 3, i * CHOICES + k)) / (double)size};
        }
    }
}

/* The least cost of all combinations; infinite: none fits. */
static double try_all(const struct problem *p, uint64_t limit)
{
    size_t at[ITEMS] = {0};
    double least = INFINITY;
    for (;;) {
        uint64_t size = 0;
        double cost = 0;
        size_t i = 0;
        for (size_t k = 0; k < p->count; k++) {
            size += p->choices[k][at[k]].size;
            cost += p->choices[k][at[k]].cost;
        }
        if (size <= limit && cost < least)
            least = cost;
        while (i < p->count && ++at[i] == p->items[i].count)
            at[i++] = 0;
        if (i == p->count)
            return least;
    }
}

static void check_sums(const struct problem *p, const size_t *chosen,
                       const struct by_budget_found *found)
{
    uint64_t size = 0;
    double cost = 0;
    for (size_t i = 0; i < p->count; i++) {
        assert_true(chosen[i] < p->items[i].count);
        size += p->choices[i][chosen[i]].size;
        cost += p->choices[i][chosen[i]].cost;
    }
    assert_int_equal(size, found->size);
    assert_true(fabs(cost - found->cost) <= 1e-12 * cost);
}

static void test_is_the_best_of_all(void **state)
{
    static struct problem p;
    size_t chosen[ITEMS];
    struct by_budget_found found;
    size_t fitting = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        make_problem(&p, ITEMS, seed);
        const uint64_t limit = (uint64_t)by_rng_range(seed, 4, 0, 7, 280);
        const double least = try_all(&p, limit);
        assert_int_equal(by_budget_solve(p.items, p.count, limit, chosen, &found, &err), 0);
        check_sums(&p, chosen, &found);
        assert_int_equal(found.fits, isfinite(least));
        if (!found.fits)
            continue;
        fitting++;
        assert_true(found.exact);
        assert_true(found.size <= limit);
        assert_true(fabs(found.cost - least) <= 1e-9 * least);
    }
    assert_true(fitting > 100);
}

/* What does not fit at all is the smallest. */
static void test_least_size_when_nothing_fits(void **state)
{
    static const struct by_budget_choice choices[] = {{5, 1}, {3, 4}, {3, 2}, {9, 0}};
    const struct by_budget_item items[] = {{choices, 4}, {choices, 4}};
    size_t chosen[2];
    struct by_budget_found found;
    (void)state;
    assert_int_equal(by_budget_solve(items, 2, 5, chosen, &found, &err), 0);
    assert_false(found.fits);
    assert_int_equal(found.size, 6);
    assert_int_equal(chosen[0], 2);
    assert_int_equal(by_budget_solve(items, 2, 6, chosen, &found, &err), 0);
    assert_true(found.fits);
    assert_int_equal(chosen[1], 2);
    assert_int_equal(by_budget_solve(items, 2, 1000, chosen, &found, &err), 0);
    assert_int_equal(chosen[0], 3);
    assert_int_equal(found.size, 18);
}

/* Of many items more size is never worse, and the limit is used well. */
static void test_many_items(void **state)
{
    static struct problem p;
    static size_t chosen[LARGE], again[LARGE];
    struct by_budget_found found;
    double before = INFINITY;
    (void)state;
    make_problem(&p, LARGE, 77);
    for (uint64_t limit = 2400; limit <= 9600; limit += 600) {
        assert_int_equal(by_budget_solve(p.items, p.count, limit, chosen, &found, &err), 0);
        check_sums(&p, chosen, &found);
        if (!found.fits)
            continue;
        assert_true(found.size <= limit);
        assert_true(found.cost <= before * (1 + 1e-12));
        before = found.cost;
        assert_int_equal(by_budget_solve(p.items, p.count, limit, again, &found, &err), 0);
        assert_memory_equal(chosen, again, sizeof chosen);
    }
    assert_true(isfinite(before));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_the_best_of_all),
        cmocka_unit_test(test_least_size_when_nothing_fits),
        cmocka_unit_test(test_many_items),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
