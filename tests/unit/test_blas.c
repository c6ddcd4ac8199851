/* Tests the search for a BLAS, begun anew for each test. */
#include "src/base/blas.c" /* takes the place of the library's own */

#include "base/par.h"
#include "base/rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

#include "scratch.h"

#define ROWS    200
#define COLUMNS 70

static char first_named[PATH_MAX];

static int enter(void **state)
{
    is_open = false;
    return unsetenv("BARYON_CBLAS") == 0 ? scratch_enter(state) : -1;
}

/* With the library that whoever runs the test names, if so. */
static int given(void **state)
{
    const char *name = first_named[0] ? first_named : NULL;
    int failed = enter(state);
    return failed || !name ? failed : setenv("BARYON_CBLAS", name, 1);
}

/* Where BARYON_CBLAS=own is given, the system may have none. */
static bool has_own_loops_alone(void)
{
    return !strcmp(first_named, "own");
}

static void it_is_found_once(void **state)
{
    (void)state;
    const struct by_blas *first, *second;
    if (has_own_loops_alone())
        skip();
    assert_ok(by_blas_open(&first, &err));
    assert_true(first->name[0] && first->path[0] == '/');
    assert_int_equal(setenv("BARYON_CBLAS", "nowhere.so", 1), 0);
    assert_ok(by_blas_open(&second, &err));
    assert_ptr_equal(first, second);
}

static void kernels_suit_the_processor(void **state)
{
    (void)state;
    const struct by_blas *blas;
    const char *(*core)(void) = NULL;
    assert_ok(by_blas_open(&blas, &err));
    void *handle = dlopen(blas->path, RTLD_NOW | RTLD_NOLOAD);
    if (!handle || !find_symbol(handle, "openblas_get_corename", &core) || getenv(CORE) ||
        !by_cpu_openblas_core())
        skip();
    assert_string_not_equal(core(), "Prescott");
    assert_null(getenv(CORE)); /* programs that are started later find it as it was */
}

static void a_named_one_is_taken_or_refused(void **state)
{
    (void)state;
    const struct by_blas *blas;
    if (has_own_loops_alone())
        skip();
    assert_ok(by_blas_open(&blas, &err));
    assert_int_equal(setenv("BARYON_CBLAS", found_path, 1), 0);
    is_open = false;
    assert_ok(by_blas_open(&blas, &err));
    is_open = false;
    assert_int_equal(setenv("BARYON_CBLAS", "./none.so", 1), 0);
    assert_int_equal(by_blas_open(&blas, &err), -1);
    assert_null(blas);
    assert_int_equal(err.code, BARYON_ERR_DEPENDENCY);
    assert_memory_equal(err.message, "$BARYON_CBLAS is './none.so', which cannot be loaded: ", 54);
    assert_int_equal(setenv("BARYON_CBLAS", "libm.so.6", 1), 0);
    assert_error(by_blas_open(&blas, &err), BARYON_ERR_DEPENDENCY,
                 "$BARYON_CBLAS is 'libm.so.6', which has no cblas_sgemm and cblas_ssyrk");
}

static float value_at(uint64_t row, uint64_t column)
{
    return (float)by_rng_normal(1, row, column);
}

struct products {
    const struct by_blas *blas;
    float values[ROWS][COLUMNS];
    float wanted[COLUMNS][COLUMNS];
    atomic_int differing;
};

static void multiply(const struct products *products, float *out)
{
    products->blas->sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_TRANS, BY_BLAS_NO_TRANS, COLUMNS, COLUMNS,
                          ROWS, 1, products->values[0], COLUMNS, products->values[0], COLUMNS, 0,
                          out, COLUMNS);
}

static int multiply_piece(void *context, size_t begin, size_t end, unsigned worker,
                          struct baryon_error *error)
{
    struct products *products = context;
    float out[COLUMNS][COLUMNS];
    (void)worker, (void)error;
    for (; begin < end; begin++) {
        multiply(products, out[0]);
        if (memcmp(out, products->wanted, sizeof out) != 0)
            atomic_fetch_add(&products->differing, 1);
    }
    return 0;
}

static void fill(struct products *products)
{
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLUMNS; c++)
            products->values[r][c] = value_at(r, c);
}

/* What two callers share shows only now and then: many rounds, but in valgrind, which is a hundred
 * times as slow and has one thread run at a time. */
static void call_from_many_threads(struct products *products)
{
    const bool slow = getenv("VALGRIND");
    struct by_pool *pool;
    multiply(products, products->wanted[0]);
    for (int round = 0; round < (slow ? 1 : 8); round++) {
        assert_ok(by_pool_open(&pool, 16, &err));
        assert_ok(by_par_for(pool, slow ? 64 : 2000, 1, multiply_piece, products, &err));
        by_pool_close(pool);
    }
    assert_int_equal(products->differing, 0);
}

static void many_threads_may_call_it(void **state)
{
    (void)state;
    static struct products products;
    assert_ok(by_blas_open(&products.blas, &err));
    fill(&products);
    call_from_many_threads(&products);
    struct by_blas in_turn = *products.blas;
    if (in_turn.sgemm != sgemm_in_turn)
        take_turns(&in_turn);
    products.blas = &in_turn;
    call_from_many_threads(&products);
}

static void products_are_right(void **state)
{
    (void)state;
    static struct products products;
    float half[COLUMNS][COLUMNS] = {{0}};
    assert_ok(by_blas_open(&products.blas, &err));
    fill(&products);
    multiply(&products, products.wanted[0]);
    products.blas->ssyrk(BY_BLAS_ROW_MAJOR, BY_BLAS_UPPER, BY_BLAS_TRANS, COLUMNS, ROWS, 1,
                         products.values[0], COLUMNS, 0, half[0], COLUMNS);
    for (size_t i = 0; i < COLUMNS; i++)
        for (size_t j = 0; j < COLUMNS; j++) {
            double sum = 0;
            for (size_t r = 0; r < ROWS; r++)
                sum += (double)products.values[r][i] * (double)products.values[r][j];
            assert_true(fabs((double)products.wanted[i][j] - sum) < 1e-3);
            assert_true(j < i ? half[i][j] == 0 : fabs((double)half[i][j] - sum) < 1e-3);
        }
}

/* op(A) [m][k] times op(B) [k][n], and what was there before. */
static void one_product(int m, int n, int k, bool turn_a, bool turn_b, bool half)
{
    static float a[64 * 700], b[64 * 700], c[64 * 64];
    const int lda = (turn_a ? m : k) + 3, ldb = half ? lda : (turn_b ? k : n) + 1, ldc = n + 2;
    turn_b = half ? !turn_a : turn_b;
    for (size_t i = 0; i < sizeof a / sizeof *a; i++) {
        a[i] = value_at(i, 1);
        b[i] = half ? a[i] : value_at(i, 2);
    }
    for (int i = 0; i < 64 * 64; i++)
        c[i] = (float)(i % 9);
    const int with_a = turn_a ? BY_BLAS_TRANS : BY_BLAS_NO_TRANS;
    const int with_b = turn_b ? BY_BLAS_TRANS : BY_BLAS_NO_TRANS;
    if (half)
        by_ssyrk(BY_BLAS_ROW_MAJOR, BY_BLAS_UPPER, with_a, n, k, -2, a, lda, 0.5F, c, ldc);
    else
        by_sgemm(BY_BLAS_ROW_MAJOR, with_a, with_b, m, n, k, -2, a, lda, b, ldb, 0.5F, c, ldc);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < ldc; j++) {
            const float before = (float)((i * ldc + j) % 9);
            double sum = 0;
            for (int r = 0; j < n && r < k; r++)
                sum += (double)a[turn_a ? r * lda + i : i * lda + r] *
                       (double)b[turn_b ? j * ldb + r : r * ldb + j];
            const bool stays = j >= n || (half && j < i);
            const double wanted = stays ? (double)before : 0.5 * (double)before - 2 * sum;
            assert_true(fabs((double)c[i * ldc + j] - wanted) <= (stays ? 0 : 1e-3));
        }
}

static void own_loops_are_right(void **state)
{
    (void)state;
    static const int sizes[][3] = {{1, 1, 1}, {4, 16, 256}, {5, 17, 257}, {37, 33, 600}, {3, 2, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int way = 0; way < 4; way++) {
            one_product(sizes[i][0], sizes[i][1], sizes[i][2], way & 1, way & 2, false);
            one_product(sizes[i][1], sizes[i][1], sizes[i][2], way & 1, false, true);
        }
}

/* What is there already may be NaN where nothing of it is asked for. */
static void own_loops_ignore_what_was_there(void **state)
{
    (void)state;
    const float a[] = {2, 3};
    float c[] = {NAN};
    by_sgemm(BY_BLAS_ROW_MAJOR, BY_BLAS_NO_TRANS, BY_BLAS_TRANS, 1, 1, 2, 1, a, 2, a, 2, 0, c, 1);
    assert_true(c[0] == 13);
}

static void own_loops_by_name(void **state)
{
    (void)state;
    const struct by_blas *blas;
    assert_int_equal(setenv("BARYON_CBLAS", "own", 1), 0);
    assert_ok(by_blas_open(&blas, &err));
    assert_ptr_equal(blas->sgemm, by_sgemm);
    assert_string_equal(blas->name, "none, built-in loops");
}

int main(void)
{
    const char *named = getenv("BARYON_CBLAS");
    snprintf(first_named, sizeof first_named, "%s", named ? named : "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_is_found_once, enter, scratch_leave),
        cmocka_unit_test_setup_teardown(kernels_suit_the_processor, enter, scratch_leave),
        cmocka_unit_test_setup_teardown(a_named_one_is_taken_or_refused, enter, scratch_leave),
        cmocka_unit_test(own_loops_are_right),
        cmocka_unit_test(own_loops_ignore_what_was_there),
        cmocka_unit_test_setup_teardown(own_loops_by_name, enter, scratch_leave),
        cmocka_unit_test_setup_teardown(products_are_right, enter, scratch_leave),
        cmocka_unit_test_setup_teardown(many_threads_may_call_it, given, scratch_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
