/*
 * Every allocation, every call on files and every start of a thread fails, once and for good,
 * while a model is calibrated: with samples from files and from a function, in several passes,
 * with a checkpoint after each sample. What is left is the file of an undisturbed run, or
 * nothing but checkpoints that can be taken up.
 */
#include "base/fault.h"
#include "base/file.h"
#include "stats/stats.h"
#include "tests/unit/engine_build.h"

#include "input/npy.h"
#include "onnx/save.h"

#include <dirent.h>
#include <sys/stat.h>

#define SAMPLES 3
#define WIDTH   8

static char folder[64], *whole;
static size_t whole_size;
static char where[64]; /* what fails, for messages */
static struct {
    uint64_t failed, succeeded;
} counts;

/* --- A model, and samples for it --- */

static void put_weights(struct baryon_model *model, const char *name, float factor)
{
    float values[WIDTH * WIDTH];
    for (size_t i = 0; i < WIDTH * WIDTH; i++)
        values[i] = factor * (float)((int)(i * 7 % 11) - 5);
    put_weight(model, name, BY_ELEM_FLOAT, (const int64_t[]){WIDTH, WIDTH}, 2, values,
               sizeof values);
}

/* x [1,8] -> MatMul -> Relu -> MatMul -> y */
static void save_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,8");
    gives(model, "y", BY_ELEM_FLOAT, "1,8");
    put_weights(model, "v", 0.5F);
    put_weights(model, "w", 0.25F);
    put_node(model->graph, "first", "MatMul", "x,v", "a");
    put_node(model->graph, "relu", "Relu", "a", "b");
    put_node(model->graph, "second", "MatMul", "b,w", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_save(model, "m.onnx", NULL, &err));
    by_model_free(model);
}

static const int64_t row[] = {1, WIDTH};

static const float *values_of(size_t sample)
{
    static float values[WIDTH];
    for (size_t i = 0; i < WIDTH; i++)
        values[i] = (float)((int)(sample * 5 + i * 3) % 7 - 3) / 2;
    return values;
}

static void save_samples(void)
{
    char path[32];
    assert_int_equal(mkdir("data", 0777), 0);
    for (size_t i = 0; i < SAMPLES; i++) {
        snprintf(path, sizeof path, "data/s%zu.npy", i);
        assert_ok(by_npy_save(path, BY_ELEM_FLOAT, row, 2, values_of(i), WIDTH * sizeof(float),
                              BY_WRITER_NO_SYNC, &err));
    }
}

/* --- One calibration --- */

static const struct baryon_setting in_passes[] = {
    {"out", "out.stats"},        {"threads", "1"},    {"per-channel", NULL}, {"moments", NULL},
    {"checkpoint-seconds", "0"}, {"max-memory", "1"}, {"data", "data"},      {"votes", NULL},
};

static int from_files(void)
{
    struct baryon_statistics *statistics;
    if (baryon_calibrate_file(&statistics, "m.onnx", in_passes,
                              sizeof in_passes / sizeof *in_passes, NULL, &err))
        return -1;
    assert_int_equal(baryon_statistics_covered(statistics), SAMPLES);
    baryon_statistics_free(statistics);
    return 0;
}

static size_t given;

static int next(void *context, const struct baryon_array **arrays, size_t *count, const char **name,
                struct baryon_error *problem)
{
    static struct baryon_array array;
    static char text[16];
    (void)context, (void)problem;
    if (given == SAMPLES)
        return 0;
    snprintf(text, sizeof text, "s%zu", given);
    array = (struct baryon_array){"x", BY_ELEM_FLOAT,      2,
                                  row, values_of(given++), WIDTH * sizeof(float)};
    *arrays = &array;
    *count = 1;
    *name = text;
    return 0;
}

static int again(void *context, struct baryon_error *problem)
{
    (void)context, (void)problem;
    given = 0;
    return 0;
}

/* Of an unknown number, into memory, and saved. */
static int from_function(void)
{
    const struct baryon_samples samples = {.size = sizeof samples, .next = next, .rewind = again};
    const struct baryon_calibrate_options options = {.size = sizeof options, .samples = &samples};
    const struct baryon_setting settings[] = {{"threads", "1"}};
    struct baryon_statistics *statistics;
    given = 0;
    if (baryon_calibrate_file(&statistics, "m.onnx", settings, 1, &options, &err))
        return -1;
    int status = baryon_statistics_save(statistics, "out.stats", &err);
    baryon_statistics_free(statistics);
    return status;
}

/* --- What is left --- */

static void read_out(char **bytes, size_t *size)
{
    assert_ok(by_read_file("out.stats", 1 << 20, bytes, size, &err));
}

static void assert_whole(void)
{
    char *bytes;
    size_t size;
    read_out(&bytes, &size);
    if (size != whole_size || memcmp(bytes, whole, size) != 0)
        fail_msg("%s: other bytes", where);
    by_free(bytes);
}

/* Files of a run, also hidden ones. */
static size_t list_left(char names[][256], size_t room)
{
    size_t count = 0;
    DIR *open_folder = opendir(".");
    assert_non_null(open_folder);
    for (const struct dirent *entry; (entry = readdir(open_folder));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") &&
            strcmp(entry->d_name, "m.onnx") && strcmp(entry->d_name, "data")) {
            assert_true(count < room);
            snprintf(names[count++], 256, "%s", entry->d_name);
        }
    closedir(open_folder);
    return count;
}

static void look_at_rest(int status)
{
    char names[8][256];
    const size_t count = list_left(names, 8);
    for (size_t i = 0; i < count; i++) {
        struct by_stats *stats;
        assert_memory_equal(names[i], "out.stats", 9); /* no temporary file */
        if (status == 0)
            assert_string_equal(names[i], "out.stats");
        if (!strcmp(names[i], "out.stats")) {
            assert_whole();
            continue;
        }
        assert_ok(by_stats_load(&stats, names[i], &err));
        by_stats_close(stats);
    }
}

static void clear(void)
{
    char names[8][256];
    const size_t count = list_left(names, 8);
    for (size_t i = 0; i < count; i++)
        unlink(names[i]);
}

/* --- Every call fails --- */

/* A thread that does not start and a library that does not load are told as what they stop. */
static bool is_expected(enum by_fault_kind kind, enum baryon_code code)
{
    if (kind == BY_FAULT_ALLOC)
        return code == BARYON_ERR_NOMEM || code == BARYON_ERR_ENGINE;
    return code == BARYON_ERR_IO || code == BARYON_ERR_DEPENDENCY;
}

static void fail_at(enum by_fault_kind kind, uint64_t k, bool forever, int call(void))
{
    clear();
    snprintf(where, sizeof where, "kind %d, call %d%s", (int)kind, (int)k,
             forever ? " and all behind it" : "");
    by_fault_arm(kind, k, forever);
    by_err_clear(&err);
    const int status = call();
    by_fault_arm(kind, 0, false);
    if (status && (!is_expected(kind, err.code) || !err.message[0]))
        fail_msg("%s: code %d, '%s'", where, (int)err.code, err.message);
    counts.failed += status != 0;
    counts.succeeded += status == 0;
    look_at_rest(status);
    if (!status || (k + forever) % 4)
        return;
    assert_ok(call()); /* goes on */
    look_at_rest(0);
    assert_whole();
}

static void sweep(enum by_fault_kind kind, int call(void))
{
    clear();
    by_free(whole);
    assert_ok(call());
    read_out(&whole, &whole_size);
    clear();
    const uint64_t before = by_fault_count(kind);
    assert_ok(call());
    const uint64_t calls = by_fault_count(kind) - before;
    counts.failed = counts.succeeded = 0;
    for (uint64_t k = 1; k <= calls; k++)
        for (int forever = 0; forever < 2; forever++)
            fail_at(kind, k, forever, call);
    print_message("%d calls: %d runs failed, %d did without\n", (int)calls, (int)counts.failed,
                  (int)counts.succeeded);
    assert_true(counts.failed > counts.succeeded);
}

static void memory_in_passes(void **state)
{
    (void)state;
    sweep(BY_FAULT_ALLOC, from_files);
}

static void files_in_passes(void **state)
{
    (void)state;
    sweep(BY_FAULT_IO, from_files);
}

static void memory_from_function(void **state)
{
    (void)state;
    sweep(BY_FAULT_ALLOC, from_function);
}

static void files_from_function(void **state)
{
    (void)state;
    sweep(BY_FAULT_IO, from_function);
}

/* Where writing waits for no disk, when there is such a place. */
static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s/baryon-fault-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        return -1;
    save_model();
    save_samples();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    char command[96];
    by_free(whole);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_in_passes),
        cmocka_unit_test(files_in_passes),
        cmocka_unit_test(memory_from_function),
        cmocka_unit_test(files_from_function),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
