/* Sessions whose results do not depend on the number of threads. */
#include "engine_build.h"

#include <dirent.h>

#define ROWS    100
#define INNER   768
#define COLUMNS 1024

static float a[ROWS * INNER], b[INNER * COLUMNS];

static void fill(float *values, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        values[i] = (float)(int32_t)seed / 2147483648.0f;
    }
}

/* A product of two computed matrices: its kernel sums up in another order for other cuts. */
static struct by_session *open_product(unsigned threads, unsigned cuts)
{
    struct baryon_model *model = new_model();
    takes(model, "a", BY_ELEM_FLOAT, "100,768");
    takes(model, "b", BY_ELEM_FLOAT, "768,1024");
    put_node(model->graph, "product", "MatMul", "a,b", "y");
    gives(model, "y", BY_ELEM_FLOAT, "100,1024");
    const struct by_session_options options = {
        .threads = threads, .cuts = cuts, .optimization = -1};
    return open_model(model, &options);
}

static void run_product(struct by_session *session, float *y)
{
    const struct by_array inputs[] = {
        FLOATS("a", 2, ((const int64_t[]){ROWS, INNER}), a),
        FLOATS("b", 2, ((const int64_t[]){INNER, COLUMNS}), b),
    };
    struct by_run *run = run_ok(session, inputs, 2);
    memcpy(y, output(run, 0)->data, ROWS * COLUMNS * sizeof *y);
    by_run_free(run);
}

static float wanted[ROWS * COLUMNS], found[ROWS * COLUMNS];

static size_t alone; /* how many threads there are without a session */

static size_t count_threads(void)
{
    size_t count = 0;
    DIR *folder = opendir("/proc/self/task");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void same_bits_for_any_number(void **state)
{
    (void)state;
    static const unsigned numbers[] = {1, 2, 3, 8, 16, 40, 0};
    fill(a, ROWS * INNER, 1);
    fill(b, INNER * COLUMNS, 2);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct by_session *session = open_product(numbers[i], 16);
        run_product(session, i ? found : wanted);
        run_product(session, i ? found : wanted);
        by_session_close(session);
        if (i)
            assert_memory_equal(found, wanted, sizeof wanted);
    }
}

/* A thread that was joined still stands in the list for as long as the kernel takes to end it. */
static void wait_for_at_most(size_t threads)
{
    for (int i = 0; i < 100000 && count_threads() > threads; i++)
        usleep(1000);
    assert_true(count_threads() <= threads);
}

static void threads_end_with_the_session(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) {
        struct by_session *session = open_product(2, 8);
        assert_true(count_threads() >= alone + 7);
        run_product(session, found);
        by_session_close(session);
        wait_for_at_most(alone + 1);
    }
}

static void unused_sessions_end_too(void **state)
{
    (void)state;
    by_session_close(open_product(1, 32));
    by_session_close(open_product(4, 32));
}

static void a_model_that_does_not_open(void **state)
{
    (void)state;
    struct by_session *session = NULL;
    struct baryon_model *model = add_model();
    node_at(model->graph, 0)->op_type = name_of(model, "NoSuchOperator");
    const struct by_session_options options = {.threads = 2, .cuts = 8, .optimization = -1};
    assert_int_equal(by_session_open_model(&session, model, 0, &options, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    by_model_free(model);
}

static int count_before(void **state)
{
    (void)state;
    alone = count_threads();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_bits_for_any_number),
        cmocka_unit_test(threads_end_with_the_session),
        cmocka_unit_test(unused_sessions_end_too),
        cmocka_unit_test(a_model_that_does_not_open),
    };
    return cmocka_run_group_tests(tests, count_before, NULL);
}
