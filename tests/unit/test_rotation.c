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

/* Of a power of two: the parity of common bits. */
static void plain_powers_of_two_are_sylvesters(void **state)
{
    double *matrix = matrix_of(64, BY_ROTATION_PLAIN, 5);
    (void)state;
    for (unsigned i = 0; i < 64; i++)
        for (unsigned k = 0; k < 64; k++)
            assert_true(fabs(8 * matrix[i * 64 + k] - (__builtin_popcount(i & k) % 2 ? -1 : 1)) <
                        1e-12);
    by_free(matrix);
}

/* Q of the signs of Q is Q, and Q Q' is 1. */
static void matrices_of_files_are_read(void **state)
{
    static const size_t plain[] = {1, 2, 12, 32, 76, 96, 640};
    struct by_rotation rotation;
    int8_t signs[640 * 640];
    double vector[640];
    (void)state;
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        const size_t size = plain[i];
        double *matrix = matrix_of(size, BY_ROTATION_PLAIN, 5);
        for (size_t k = 0; k < size * size; k++)
            signs[k] = matrix[k] < 0 ? -1 : 1;
        assert_ok(by_rotation_of_matrix(&rotation, signs, size, &err));
        double *again = by_rotation_matrix(&rotation, &err);
        assert_non_null(again);
        for (size_t k = 0; k < size * size; k++)
            assert_true(fabs(again[k] - matrix[k]) < 1e-12);
        memcpy(vector, matrix, size * sizeof *vector); /* the first row */
        by_rotation_transpose(&rotation);
        by_rotation_apply(&rotation, vector);
        for (size_t k = 0; k < size; k++)
            assert_true(fabs(vector[k] - (k ? 0 : 1)) < 1e-12);
        by_rotation_free(&rotation);
        by_free(again);
        by_free(matrix);
    }
}

static void matrices_that_rotate_nothing_are_refused(void **state)
{
    struct by_rotation rotation;
    int8_t signs[36];
    (void)state;
    memset(signs, 1, sizeof signs);
    assert_int_equal(by_rotation_of_matrix(&rotation, signs, 6, &err), -1);
    assert_non_null(strstr(err.message, "is not orthogonal"));
    assert_int_equal(by_rotation_make(&rotation, 3 * 2, BY_ROTATION_PLAIN, 1, &err), -1);
    assert_non_null(strstr(err.message, "no Hadamard matrix of order 6 is known"));
    assert_true(by_rotation_is_plain(24) && by_rotation_is_plain(1));
    assert_false(by_rotation_is_plain(172 * 64) || by_rotation_is_plain(3) ||
                 by_rotation_is_plain(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_powers_of_two_are_sylvesters),
        cmocka_unit_test(matrices_of_files_are_read),
        cmocka_unit_test(matrices_that_rotate_nothing_are_refused),
        cmocka_unit_test(both_kinds_are_orthogonal),
        cmocka_unit_test(equal_values_stay_equal),
        cmocka_unit_test(hadamard_matrices_are_flat),
        cmocka_unit_test(peaks_spread_where_the_mean_stays),
        cmocka_unit_test(seeds_decide),
        cmocka_unit_test(sizes_without_a_matrix_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
