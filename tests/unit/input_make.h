/*
 * Small sources of samples for tests: a log that keeps what it is told, arrays in files, and a
 * function that counts. Include cmocka.h first.
 */
#ifndef BY_TEST_INPUT_MAKE_H
#define BY_TEST_INPUT_MAKE_H

#include "input/input.h"
#include "input/npy.h"

#include <sys/stat.h>
#include <time.h>

#include "tests/unit/scratch.h"

static char notices[8192];

static inline void take_notice(void *context, enum by_log_level level, const char *text)
{
    (void)context;
    const size_t used = strlen(notices);
    snprintf(notices + used, sizeof notices - used, "%s%s\n",
             level == BY_LOG_WARNING ? "warning: " : "", text);
}

static const struct by_log logger = {.write = take_notice, .level = BY_LOG_NOTICE};

/* Rows of three: row r has 3 r, 3 r + 1, 3 r + 2, counted from `first`. */
static inline void save_rows(const char *path, size_t first, size_t rows)
{
    const int64_t dims[2] = {(int64_t)rows, 3};
    float values[3 * 64];
    for (size_t i = 0; i < 3 * rows; i++)
        values[i] = (float)(3 * first + i);
    assert_ok(
        by_npy_save(path, BY_ELEM_FLOAT, dims, 2, values, 12 * rows, BY_WRITER_NO_SYNC, &err));
}

/* The same rows, counted from `first`, in an array. */
static inline void assert_rows(const struct by_array *array, size_t first, size_t rows)
{
    assert_int_equal(array->rank, 2);
    assert_int_equal(array->dims[0], rows);
    assert_int_equal(array->dims[1], 3);
    assert_int_equal(array->size, 12 * rows);
    for (size_t i = 0; i < 3 * rows; i++)
        assert_true(((const float *)array->data)[i] == (float)(3 * first + i));
}

/* A callback that gives such rows, one a call. */
struct counter {
    size_t given, count; /* calls so far, and when it ends */
    size_t fail_at;      /* number of the call that fails, from 1 */
    size_t wrong_at;     /* ... that gives another shape */
    size_t rewinds;
    long nanoseconds; /* that a call takes */
    bool nameless;
    float values[3];
    char name[32];
    struct by_array array;
};

static inline int count_next(void *context, const struct by_array **arrays, size_t *count,
                             const char **name, struct baryon_error *problem)
{
    struct counter *counter = context;
    const struct timespec pause = {0, counter->nanoseconds};
    if (pause.tv_nsec)
        nanosleep(&pause, NULL);
    if (counter->given == counter->count)
        return 0;
    if (counter->fail_at && counter->given + 1 == counter->fail_at)
        return by_fail(problem, BARYON_ERR_IO, "no line to the camera");
    for (size_t i = 0; i < 3; i++)
        counter->values[i] = (float)(3 * counter->given + i);
    counter->array = (struct by_array){.name = counter->nameless ? NULL : "x",
                                       .elem = BY_ELEM_FLOAT,
                                       .rank = 2,
                                       .dims = {1, 3},
                                       .data = counter->values,
                                       .size = 12};
    if (counter->wrong_at && counter->given + 1 == counter->wrong_at)
        counter->array.dims[0] = 3, counter->array.dims[1] = 1;
    if (!counter->nameless) {
        snprintf(counter->name, sizeof counter->name, "row%zu", counter->given);
        *name = counter->name;
    }
    __atomic_add_fetch(&counter->given, 1, __ATOMIC_SEQ_CST);
    *arrays = &counter->array;
    *count = 1;
    return 0;
}

static inline int count_again(void *context, struct baryon_error *problem)
{
    struct counter *counter = context;
    (void)problem;
    counter->given = 0;
    counter->rewinds++;
    return 0;
}

static inline struct by_input_callback counting(struct counter *counter, size_t count)
{
    return (struct by_input_callback){
        .next = count_next, .rewind = count_again, .context = counter, .count = count};
}

#endif
