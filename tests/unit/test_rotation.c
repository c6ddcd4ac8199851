/* Rotations: orthogonal, flat, and those for norms keep the mean. */
#include "solve/rotation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

static struct baryon_error err;

#define assert_ok(call) assert_int_equal(call, 0)

static const size_t sizes[] = {1,  2,  4,  5,  6,   7,   8,   12,  15,  20,  24, 28,
                               36, 44, 60, 76, 128, 192, 300, 384, 512, 640, 768};

static double *matrix_of(size_t size, enum by_rotation_kind kind, uint64_t seed)
{
    struct by_rotation rotation;
    assert_ok(by_rotation_make(&rotation, size, kind, seed, &err));
    double *matrix = by_rotation_matrix(&rotation, &err);
    assert_non_null(matrix);
    by_rotation_free(&rotation);
    return matrix;
}

static void check_orthogonal(const double *matrix, size_t size)
{
    for (size_t i = 0; i < size; i++)
        for (size_t k = 0; k <= i; k++) {
            double sum = 0;
            for (size_t n = 0; n < size; n++)
                sum += matrix[i * size + n] * matrix[k * size + n];
            assert_true(fabs(sum - (i == k ? 1 : 0)) < 1e-12);
        }
}

/* 1: all elements have the same size. */
static double peak_of(const double *matrix, size_t size)
{
    double peak = 0;
    for (size_t i = 0; i < size * size; i++)
        peak = fmax(peak, fabs(matrix[i]));
    return peak * sqrt((double)size);
}

static void both_kinds_are_orthogonal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int kind = 0; kind < 2; kind++) {
            double *matrix = matrix_of(sizes[i], (enum by_rotation_kind)kind, 3);
            check_orthogonal(matrix, sizes[i]);
            by_free(matrix);
        }
}

static void equal_values_stay_equal(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const size_t size = sizes[i];
        double *matrix = matrix_of(size, BY_ROTATION_KEEPS_MEAN, 3);
        for (size_t k = 0; k < size; k++) {
            double row = 0, column = 0;
            for (size_t n = 0; n < size; n++) {
                row += matrix[k * size + n];
                column += matrix[n * size + k];
            }
            assert_true(fabs(row - 1) < 1e-12 && fabs(column - 1) < 1e-12);
        }
        by_free(matrix);
    }
}

static void hadamard_matrices_are_flat(void **state)
{
    static const size_t flat[] = {2, 4, 8, 12, 20, 24, 28, 36, 44, 60, 76, 128, 192, 300, 384, 640};
    (void)state;
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++) {
        double *matrix = matrix_of(flat[i], BY_ROTATION_HADAMARD, 3);
        assert_true(fabs(peak_of(matrix, flat[i]) - 1) < 1e-9);
        by_free(matrix);
    }
}

/* Those that keep the mean are flat for orders 4^k and nearly so for the sizes of models. */
static void peaks_spread_where_the_mean_stays(void **state)
{
    static const struct {
        size_t size;
        double most;
    } rows[] = {{4, 1.001},  {64, 1.001}, {256, 1.001}, {1024, 1.001},
                {192, 1.16}, {768, 1.16}, {384, 1.64},  {512, 2.13}};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        double *matrix = matrix_of(rows[i].size, BY_ROTATION_KEEPS_MEAN, 3);
        assert_true(peak_of(matrix, rows[i].size) < rows[i].most);
        by_free(matrix);
    }
}

static void seeds_decide(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        double *one = matrix_of(96, (enum by_rotation_kind)kind, 1);
        double *same = matrix_of(96, (enum by_rotation_kind)kind, 1);
        double *other = matrix_of(96, (enum by_rotation_kind)kind, 2);
        assert_memory_equal(one, same, 96 * 96 * sizeof *one);
        assert_memory_not_equal(one, other, 96 * 96 * sizeof *one);
        by_free(one);
        by_free(same);
        by_free(other);
    }
}

static void sizes_without_a_matrix_are_refused(void **state)
{
    struct by_rotation rotation;
    (void)state;
    assert_int_equal(by_rotation_make(&rotation, 0, BY_ROTATION_HADAMARD, 1, &err), -1);
    assert_int_equal(by_rotation_make(&rotation, 1021, BY_ROTATION_HADAMARD, 1, &err), -1);
    assert_non_null(strstr(err.message, "1021 channels"));
    assert_int_equal(by_rotation_make(&rotation, 1021, BY_ROTATION_KEEPS_MEAN, 1, &err), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_kinds_are_orthogonal),
        cmocka_unit_test(equal_values_stay_equal),
        cmocka_unit_test(hadamard_matrices_are_flat),
        cmocka_unit_test(peaks_spread_where_the_mean_stays),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(sizes_without_a_matrix_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
