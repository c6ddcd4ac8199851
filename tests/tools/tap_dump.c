/*
 * Runs models with taps for tests/diff/test_tap.py.
 *
 * Jobs come on stdin and answers go to stdout (pipe.h):
 *   array  text name, u32 type, u32 rank, i64 dims, u64 size, the bytes; of strings
 *          the characters with a NUL after each
 *   job    text model, u32 optimization, u32 threads, u32 taps, each u32 names, texts;
 *          u32 samples, each u32 inputs, arrays
 *   answer of each look u32 1, u32 tap, u64 sample, u32 values, arrays; u32 0;
 *          u32 0 when all went well and the model is as it was, else u32 1, text message
 */
#include "base/str.h"
#include "engine/tap.h"
#include "onnx/load.h"
#include "onnx/save.h"
#include "tests/tools/pipe.h"

struct tap {
    uint32_t number;
    const char **names;
    uint32_t count;
};

struct sample {
    struct by_array *inputs;
    uint32_t count;
};

struct job {
    const char *path;
    uint32_t optimization, threads, tap_count, sample_count;
    struct tap *taps;
    struct sample *samples;
};

/* --- reading --- */

static void split_strings(struct by_array *array)
{
    const char *at = array->data, *end = at + array->size;
    const char **strings = have(array->size * sizeof *strings);
    size_t count = 0;
    for (; at < end; at += strlen(at) + 1)
        strings[count++] = at;
    array->data = strings;
    array->size = count * sizeof *strings;
}

static struct by_array get_array(void)
{
    struct by_array array = {.name = get_bytes(get_u32())};
    uint64_t size;
    array.elem = get_u32();
    array.rank = get_u32();
    if (array.rank > BY_RANK_MAX)
        exit(2);
    get(array.dims, array.rank * sizeof *array.dims);
    get(&size, sizeof size);
    array.size = (size_t)size;
    array.data = get_bytes(array.size);
    if (array.elem == BY_ELEM_STRING)
        split_strings(&array);
    return array;
}

static struct tap get_tap(uint32_t number)
{
    struct tap tap = {.number = number, .count = get_u32()};
    tap.names = have(tap.count * sizeof *tap.names);
    for (uint32_t i = 0; i < tap.count; i++)
        tap.names[i] = get_bytes(get_u32());
    return tap;
}

static struct sample get_sample(void)
{
    struct sample sample = {.count = get_u32()};
    sample.inputs = have(sample.count * sizeof *sample.inputs);
    for (uint32_t i = 0; i < sample.count; i++)
        sample.inputs[i] = get_array();
    return sample;
}

static void get_job(struct job *job, uint32_t path_size)
{
    job->path = get_bytes(path_size);
    job->optimization = get_u32();
    job->threads = get_u32();
    job->tap_count = get_u32();
    job->taps = have(job->tap_count * sizeof *job->taps);
    for (uint32_t i = 0; i < job->tap_count; i++)
        job->taps[i] = get_tap(i);
    job->sample_count = get_u32();
    job->samples = have(job->sample_count * sizeof *job->samples);
    for (uint32_t i = 0; i < job->sample_count; i++)
        job->samples[i] = get_sample();
}

/* --- looking --- */

static void put_strings(const struct by_array *array)
{
    const char *const *strings = array->data;
    uint64_t size = 0, count = array->size / sizeof *strings;
    for (size_t i = 0; i < count; i++)
        size += strlen(strings[i]) + 1;
    put(&size, sizeof size);
    for (size_t i = 0; i < count; i++)
        put(strings[i], strlen(strings[i]) + 1);
}

static void put_array(const struct by_array *array)
{
    const uint64_t size = array->size;
    put_text(array->name);
    put_u32((uint32_t)array->elem);
    put_u32((uint32_t)array->rank);
    put(array->dims, array->rank * sizeof *array->dims);
    if (array->elem == BY_ELEM_STRING) {
        put_strings(array);
        return;
    }
    put(&size, sizeof size);
    put(array->data, array->size);
}

/* Written from the layout's definition, value by value. */
static void put_blocks(const struct by_array *array, const struct by_blocks *blocks)
{
    const size_t channels = blocks->channels, places = blocks->places, block = blocks->block;
    const size_t count = (size_t)array->dims[0] * channels * places;
    const size_t padded = (channels + block - 1) / block * block;
    const float *from = array->data;
    struct by_array plain = *array;
    float *to = have(count * sizeof *to);
    for (size_t i = 0; i < count; i++) {
        const size_t place = i % places, channel = i / places % channels;
        const size_t item = i / places / channels;
        to[i] = from[((item * padded + channel / block * block) * places) + place * block +
                     channel % block];
    }
    plain.data = to;
    plain.size = count * sizeof *to;
    put_array(&plain);
    free(to);
}

static int look(void *context, const struct by_tap_look *look, struct baryon_error *err)
{
    const struct tap *tap = context;
    (void)err;
    put_u32(1);
    put_u32(tap->number);
    put(&look->sample, sizeof look->sample);
    put_u32((uint32_t)look->count);
    if (look->blocks) {
        put_blocks(&look->values[0], look->blocks);
        return 0;
    }
    for (size_t i = 0; i < look->count; i++)
        put_array(&look->values[i]);
    return 0;
}

static int run_all(const struct job *job, struct baryon_model *model, struct baryon_error *err)
{
    const struct by_session_options options = {.optimization = (int)job->optimization,
                                               .threads = job->threads};
    struct by_tap *taps = have(job->tap_count * sizeof *taps);
    struct by_tapped *tapped;
    for (uint32_t i = 0; i < job->tap_count; i++)
        taps[i] = (struct by_tap){.values = job->taps[i].names,
                                  .value_count = job->taps[i].count,
                                  .look = look,
                                  .context = &job->taps[i],
                                  .any_layout = i % 2 == 0};
    if (by_tapped_open(&tapped, model, taps, job->tap_count, &options, err))
        return -1;
    int failed = 0;
    for (uint32_t i = 0; i < job->sample_count && !failed; i++)
        failed =
            by_tapped_run(tapped, job->samples[i].inputs, job->samples[i].count, 1000 + i, err);
    by_tapped_close(tapped);
    return failed;
}

/* Also after a failure, the model's bytes are those of its file. */
static int work(const struct job *job, struct baryon_error *err)
{
    struct baryon_model *model;
    struct by_str before, after;
    struct baryon_error second;
    if (by_model_load(&model, job->path, NULL, err))
        return -1;
    by_str_init(&before);
    by_str_init(&after);
    int failed = by_model_save_bytes(model, &before, err) || run_all(job, model, err);
    if (by_model_save_bytes(model, &after, &second) || before.size != after.size ||
        memcmp(before.text, after.text, after.size) != 0)
        failed = by_fail(err, BARYON_ERR_INTERNAL, "the model has changed");
    by_str_release(&before);
    by_str_release(&after);
    by_model_free(model);
    return failed;
}

int main(void)
{
    uint32_t path_size;
    while (fread(&path_size, sizeof path_size, 1, stdin) == 1) {
        struct baryon_error err;
        struct job job;
        get_job(&job, path_size); /* its memory goes with the process */
        int failed = work(&job, &err);
        put_u32(0);
        put_u32(failed ? 1 : 0);
        if (failed) {
            char text[2048];
            baryon_error_format(&err, text, sizeof text);
            put_text(text);
        }
        fflush(stdout);
    }
    return 0;
}
