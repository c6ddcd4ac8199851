/* Errors by columns: every path gives the bits of the reference, and the value of by_bins_error().
 */
#include "base/rng.h"
#include "calib/bins_squares.h"
#include "calib/bins_squares_path.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define BINS 1000

static struct by_sketch_bin made[BINS];
static struct by_bins bins = {made, BINS, 0};

/* Ascending, apart, some of a single value. */
static int make_bins(void **state)
{
    (void)state;
    double at = -20;
    bins.total = 0;
    for (size_t i = 0; i < BINS; i++) {
        const double width = i % 7 ? 0.04 * by_rng_unit(7, 0, i) : 0;
        made[i] = (struct by_sketch_bin){at, at + width, 1 + i * i % 97};
        at += width + 0.02 * by_rng_unit(7, 1, i);
        bins.total += made[i].count;
    }
    return 0;
}

/* Every path that runs here against the plain one, which is the last. */
static void compare_paths(const struct by_squares_block *of, const struct by_squares_grid *grid)
{
    size_t count;
    const struct by_squares_path *const *paths = by_squares_paths(&count);
    const double wanted = paths[count - 1]->sum(of, grid);
    assert_true(isfinite(wanted) && wanted >= 0);
    for (size_t i = 0; i + 1 < count; i++) {
        if (!paths[i]->supported())
            continue;
        const double found = paths[i]->sum(of, grid);
        assert_memory_equal(&found, &wanted, sizeof found);
    }
}

static void paths_agree(void **state)
{
    static const double levels[][2] = {{-120, 135}, {0, 15}, {-32768, 32767}};
    (void)state;
    struct by_bins_squares squares;
    assert_int_equal(by_bins_squares_load(&squares, &bins, NULL), 0);
    for (double scale = 0.003; scale < 3; scale *= 1.37)
        for (size_t block = 0; block < squares.blocks; block++) {
            const size_t at = block * BY_SQUARES_BLOCK;
            const struct by_squares_block of = {squares.low + at, squares.high + at,
                                                squares.count + at, squares.per_width + at};
            for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
                compare_paths(
                    &of, &(struct by_squares_grid){scale, 1 / scale, levels[i][0], levels[i][1]});
        }
    by_bins_squares_release(&squares);
}

static void errors_are_those_of_the_bins(void **state)
{
    (void)state;
    struct by_bins_squares squares;
    struct by_calib_target target = {.qmin = -128, .qmax = 127};
    assert_int_equal(by_bins_squares_load(&squares, &bins, NULL), 0);
    for (double step = 0.003; step < 3; step *= 1.21)
        for (int64_t zero = -128; zero <= 127; zero += 51) {
            const struct by_scale scale = {.scale = step, .zero_point = zero};
            const double wanted = by_bins_error(&bins, &scale, &target, BY_CALIB_MSE);
            const double found = by_bins_squares_error(&squares, &scale, &target, INFINITY);
            assert_true(fabs(found - wanted) <= 1e-9 * wanted);
            assert_true(by_bins_squares_error(&squares, &scale, &target, found) == found);
            assert_true(isinf(by_bins_squares_error(&squares, &scale, &target, found * 0.99)));
        }
    by_bins_squares_release(&squares);
}

static void nothing_is_no_error(void **state)
{
    (void)state;
    const struct by_bins none = {.count = 0};
    const struct by_calib_target target = {.qmin = -128, .qmax = 127};
    const struct by_scale scale = {.scale = 1};
    struct by_bins_squares squares;
    assert_int_equal(by_bins_squares_load(&squares, &none, NULL), 0);
    assert_true(by_bins_squares_error(&squares, &scale, &target, INFINITY) == 0);
    by_bins_squares_release(&squares);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_agree),
        cmocka_unit_test(errors_are_those_of_the_bins),
        cmocka_unit_test(nothing_is_no_error),
    };
    return cmocka_run_group_tests(tests, make_bins, NULL);
}
