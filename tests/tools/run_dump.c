/*
 * Runs models for tests/diff/test_run.py, through the public interface alone.
 *
 * Jobs come on stdin and answers go to stdout (pipe.h):
 *   array  text name, u32 type, u32 rank, i64 dims, u64 size, the bytes; of strings
 *          the characters with a NUL after each
 *   job    text model, u32 optimization, u32 trace too, u32 inputs, arrays
 *   answer u32 0, u32 outputs, arrays, each with what baryon_model_trace() says of it:
 *          u32 type, i32 rank (-1: unknown), i64 dims (-1: unknown); nothing when not traced
 *          u32 1, text message
 */
#include "tests/tools/pipe.h"

#include <baryon.h>

#define STRING     8
#define INPUTS_MAX 64

/* --- reading --- */

/* Pointers to the strings, instead of their characters. */
static void split_strings(struct baryon_array *array)
{
    const char *at = array->data, *end = at + array->size;
    const char **strings = have(array->size * sizeof *strings);
    size_t count = 0;
    for (; at < end; at += strlen(at) + 1)
        strings[count++] = at;
    array->data = strings;
    array->size = count * sizeof *strings;
}

static struct baryon_array get_array(void)
{
    struct baryon_array array;
    uint64_t size;
    array.name = get_bytes(get_u32());
    array.type = (int)get_u32();
    array.rank = (int)get_u32();
    array.dims = (const int64_t *)(void *)get_bytes((size_t)array.rank * sizeof(int64_t));
    get(&size, sizeof size);
    array.data = get_bytes((size_t)size);
    array.size = (size_t)size;
    if (array.type == STRING)
        split_strings(&array);
    return array;
}

/* --- writing --- */

static void put_strings(const struct baryon_array *array)
{
    const char *const *strings = array->data;
    uint64_t size = 0, count = array->size / sizeof *strings;
    for (size_t i = 0; i < count; i++)
        size += strlen(strings[i]) + 1;
    put(&size, sizeof size);
    for (size_t i = 0; i < count; i++)
        put(strings[i], strlen(strings[i]) + 1);
}

static void put_array(const struct baryon_array *array)
{
    const uint64_t size = array->size;
    put_text(array->name);
    put_u32((uint32_t)array->type);
    put_u32((uint32_t)array->rank);
    put(array->dims, (size_t)array->rank * sizeof *array->dims);
    if (array->type == STRING) {
        put_strings(array);
        return;
    }
    put(&size, sizeof size);
    put(array->data, array->size);
}

static void put_claim(const struct baryon_value *value)
{
    put_u32((uint32_t)baryon_value_type(value));
    put_u32((uint32_t)baryon_value_rank(value));
    for (int axis = 0; axis < baryon_value_rank(value); axis++) {
        int64_t dim = baryon_value_dim(value, axis, NULL);
        put(&dim, sizeof dim);
    }
}

/* --- jobs --- */

struct job {
    char *path;
    enum baryon_optimization optimization;
    bool trace;
    struct baryon_array inputs[INPUTS_MAX];
    size_t count;
};

static int answer(const struct job *job, struct baryon_session *session, struct baryon_model *model,
                  struct baryon_error *err)
{
    const struct baryon_graph *graph = baryon_model_graph(model);
    struct baryon_run *run;
    if (baryon_session_run(session, job->inputs, job->count, NULL, 0, &run, err))
        return -1;
    put_u32(0);
    put_u32((uint32_t)baryon_run_output_count(run));
    for (size_t i = 0; i < baryon_run_output_count(run); i++) {
        const struct baryon_array *array = baryon_run_output(run, i);
        put_array(array);
        put_claim(baryon_graph_find_value(graph, array->name));
    }
    baryon_run_free(run);
    return 0;
}

static int work(const struct job *job, struct baryon_error *err)
{
    const struct baryon_session_options options = {
        .size = sizeof options, .threads = 1, .optimization = job->optimization};
    struct baryon_session *session = NULL;
    struct baryon_model *model = NULL;
    int failed =
        baryon_session_open(&session, job->path, &options, err) ||
        baryon_model_load(&model, job->path, NULL, err) ||
        (job->trace && baryon_model_trace(model, job->inputs, job->count, &options, err)) ||
        answer(job, session, model, err);
    baryon_session_close(session);
    baryon_model_free(model);
    return failed;
}

static void get_job(struct job *job, uint32_t path_size)
{
    job->path = get_bytes(path_size);
    job->optimization = (enum baryon_optimization)get_u32();
    job->trace = get_u32();
    job->count = get_u32();
    if (job->count > INPUTS_MAX)
        exit(2);
    for (size_t i = 0; i < job->count; i++)
        job->inputs[i] = get_array();
}

int main(void)
{
    uint32_t path_size;
    while (fread(&path_size, sizeof path_size, 1, stdin) == 1) {
        struct baryon_error err;
        struct job job;
        get_job(&job, path_size); /* its memory goes with the process */
        if (work(&job, &err)) {
            char text[2048];
            baryon_error_format(&err, text, sizeof text);
            put_u32(1);
            put_text(text);
        }
        fflush(stdout);
    }
    return 0;
}
