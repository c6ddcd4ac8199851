/* Calibration and statistics through the public interface: nothing but <baryon.h>. */
#include "api_expect.h"

#include <float.h>
#include <math.h>
#include <sys/stat.h>

#define FLOAT   1
#define SAMPLES 6
#define WIDTH   4

/* --- A model, and samples for it --- */

/* x [N,4] -> MatMul w [4,2] -> y -> Relu -> z */
static struct baryon_model *make_model(float weight)
{
    struct baryon_model *model;
    ok(baryon_model_new(&model, 10, 21, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    const int64_t in[] = {-1, WIDTH}, out[] = {-1, 2}, shape[] = {WIDTH, 2};
    const char *const batch[] = {"N", NULL}, *const y[] = {"y"}, *const z[] = {"z"};
    const float w[] = {weight, 0, 0, 1, 0, 0, 1, -1};
    struct baryon_value *both[2];
    both[0] = baryon_graph_add_input(graph, "x", FLOAT, in, batch, 2, &err);
    struct baryon_tensor *tensor =
        baryon_tensor_new(model, "w", FLOAT, shape, 2, w, sizeof w, &err);
    both[1] = tensor ? baryon_graph_add_initializer(graph, tensor, &err) : NULL;
    assert_true(both[0] && both[1]);
    struct baryon_node *node =
        baryon_graph_add_node(graph, "MatMul", NULL, "product", both, 2, y, 1, &err);
    assert_non_null(node);
    struct baryon_value *value = baryon_node_output(node, 0);
    node = baryon_graph_add_node(graph, "Relu", NULL, "relu", &value, 1, z, 1, &err);
    assert_non_null(node);
    ok(baryon_value_make_output(baryon_node_output(node, 0), FLOAT, out, batch, 2, &err));
    return model;
}

static float value_at(size_t sample, size_t i)
{
    return (float)((int)(sample * 7 + i * 5) % 13 - 6) / 4;
}

/* Samples of one row each. */
struct maker {
    size_t next, end, rewinds;
    size_t fail_at, silent_at, wrong_at, nan_at; /* numbers of samples, from 1 */
    bool nameless;
    float values[WIDTH];
    char name[32];
    struct baryon_array array;
};

static const int64_t row[] = {1, WIDTH}, column[] = {WIDTH, 1};

static int make_next(void *context, const struct baryon_array **arrays, size_t *count,
                     const char **name, struct baryon_error *problem)
{
    struct maker *maker = context;
    if (maker->next == maker->end)
        return 0;
    const size_t sample = maker->next++;
    if (sample + 1 == maker->fail_at) {
        *problem = (struct baryon_error){.code = BARYON_ERR_IO, .offset = -1};
        snprintf(problem->message, sizeof problem->message, "the camera is off");
        return -1;
    }
    if (sample + 1 == maker->silent_at)
        return 1;
    for (size_t i = 0; i < WIDTH; i++)
        maker->values[i] = value_at(sample, i);
    if (sample + 1 == maker->nan_at)
        maker->values[2] = NAN;
    snprintf(maker->name, sizeof maker->name, "photo%zu", sample);
    maker->array = (struct baryon_array){maker->nameless ? NULL : "x",
                                         FLOAT,
                                         2,
                                         sample + 1 == maker->wrong_at ? column : row,
                                         maker->values,
                                         sizeof maker->values};
    *arrays = &maker->array;
    *count = 1;
    *name = maker->nameless ? NULL : maker->name;
    return 0;
}

static int make_again(void *context, struct baryon_error *problem)
{
    struct maker *maker = context;
    (void)problem;
    maker->next = 0;
    maker->rewinds++;
    return 0;
}

static struct baryon_samples samples_of(struct maker *maker, size_t count)
{
    maker->end = SAMPLES;
    return (struct baryon_samples){.size = sizeof(struct baryon_samples),
                                   .next = make_next,
                                   .rewind = make_again,
                                   .context = maker,
                                   .count = count,
                                   .name = "camera"};
}

/* Calibrates on all samples with those settings, of which the last one has no name. */
static int calibrate(struct baryon_statistics **statistics, struct maker *maker, size_t count,
                     const struct baryon_setting *settings)
{
    const struct baryon_samples samples = samples_of(maker, count);
    const struct baryon_calibrate_options options = {.size = sizeof options, .samples = &samples};
    struct baryon_model *model = make_model(2);
    size_t given = 0;
    while (settings && settings[given].name)
        given++;
    int status = baryon_calibrate(statistics, model, settings, given, &options, &err);
    baryon_model_free(model);
    return status;
}

static struct baryon_statistics *calibrated(const struct baryon_setting *settings)
{
    struct maker maker = {0};
    struct baryon_statistics *statistics;
    ok(calibrate(&statistics, &maker, SAMPLES, settings));
    return statistics;
}

/* --- Files --- */

struct bytes {
    size_t size;
    char at[65536];
};

static struct bytes bytes_of(const char *path)
{
    struct bytes bytes = {0};
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    bytes.size = fread(bytes.at, 1, sizeof bytes.at, file);
    fclose(file);
    assert_true(bytes.size > 0 && bytes.size < sizeof bytes.at);
    return bytes;
}

static void assert_same_files(const char *a, const char *b)
{
    const struct bytes first = bytes_of(a), second = bytes_of(b);
    assert_int_equal(first.size, second.size);
    assert_memory_equal(first.at, second.at, first.size);
}

static void save_npy(const char *path, size_t sample)
{
    char header[129];
    const char text[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4), }";
    memset(header, ' ', sizeof header);
    memcpy(header, "\x93NUMPY\1\0\x76\0", 10);
    memcpy(header + 10, text, sizeof text - 1);
    header[127] = '\n';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(header, 1, 128, file), 128);
    for (size_t i = 0; i < WIDTH; i++) {
        const float value = value_at(sample, i);
        assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

static void save_samples(void)
{
    char path[64];
    mkdir("data", 0777);
    for (size_t i = 0; i < SAMPLES; i++) {
        snprintf(path, sizeof path, "data/photo%zu.npy", i);
        save_npy(path, i);
    }
}

static int enter(void **state)
{
    if (api_enter(state))
        return -1;
    save_samples();
    struct baryon_model *model = make_model(2);
    ok(baryon_model_save(model, "m.onnx", NULL, &err));
    baryon_model_free(model);
    return 0;
}

/* --- What comes out, beside numbers worked out here --- */

struct known {
    size_t values, zeros;
    double min, max, sum, squares, moving_min, moving_max;
};

static void look(struct known *known, double value)
{
    known->min = known->values ? fmin(known->min, value) : value;
    known->max = known->values ? fmax(known->max, value) : value;
    known->values++;
    known->zeros += value == 0;
    known->sum += value;
    known->squares += value * value;
}

/* Of x itself, or of z = max(x w, 0). */
static struct known work_out(bool of_z)
{
    struct known all = {0};
    for (size_t s = 0; s < SAMPLES; s++) {
        struct known one = {0};
        const double x[] = {(double)value_at(s, 0), (double)value_at(s, 1), (double)value_at(s, 2),
                            (double)value_at(s, 3)};
        const double z[] = {fmax(2 * x[0] + x[3], 0), fmax(x[1] - x[3], 0)};
        for (size_t i = 0; i < (of_z ? 2 : WIDTH); i++) {
            look(&one, of_z ? z[i] : x[i]);
            look(&all, of_z ? z[i] : x[i]);
        }
        all.moving_min += one.min / SAMPLES;
        all.moving_max += one.max / SAMPLES;
    }
    return all;
}

static void assert_near(double got, double wanted)
{
    if (!(fabs(got - wanted) <= 1e-12 * fmax(1, fabs(wanted))))
        fail_msg("%.17g, wanted %.17g", got, wanted);
}

static void assert_known(const struct baryon_tensor_statistics *tensor, bool of_z)
{
    const struct known known = work_out(of_z);
    assert_int_equal(tensor->type, FLOAT);
    assert_int_equal(tensor->rank, 2);
    assert_int_equal(tensor->dims[0], 1);
    assert_int_equal(tensor->dims[1], of_z ? 2 : WIDTH);
    assert_int_equal(tensor->samples, SAMPLES);
    assert_int_equal(tensor->values, known.values);
    assert_int_equal(tensor->zeros, known.zeros);
    assert_int_equal(tensor->nans + tensor->infinities, 0);
    assert_int_equal(tensor->nonfinite_sample, -1);
    assert_null(tensor->nonfinite_name);
    assert_true(tensor->min == known.min && tensor->max == known.max);
    assert_near(tensor->moving_min, known.moving_min);
    assert_near(tensor->moving_max, known.moving_max);
    assert_near(tensor->mean, known.sum / (double)known.values);
    assert_near(tensor->rms, sqrt(known.squares / (double)known.values));
}

static void test_tensors(void **state)
{
    (void)state;
    struct baryon_statistics *statistics = calibrated(NULL);
    assert_int_equal(baryon_statistics_total(statistics), SAMPLES);
    assert_int_equal(baryon_statistics_covered(statistics), SAMPLES);
    assert_int_equal(baryon_statistics_skipped(statistics), 0);
    assert_int_equal(baryon_statistics_tensor_count(statistics), 2); /* y: Relu swallows it */
    const struct baryon_tensor_statistics *x = baryon_statistics_tensor(statistics, 0);
    assert_string_equal(x->name, "x");
    assert_known(x, false);
    assert_known(baryon_statistics_find(statistics, "z"), true);
    assert_ptr_equal(baryon_statistics_find(statistics, "x"), x);
    assert_int_equal(x->channels, 0);
    assert_null(baryon_statistics_find(statistics, "y"));
    assert_null(baryon_statistics_tensor(statistics, 2));
    baryon_statistics_free(statistics);
    baryon_statistics_free(NULL);
}

static void test_settings(void **state)
{
    (void)state;
    const struct baryon_setting settings[] = {
        {"tensors", "all"}, {"per_channel", NULL}, {"threads", "2"}, {"threads", "1"}, {0}};
    struct baryon_statistics *statistics = calibrated(settings);
    assert_int_equal(baryon_statistics_tensor_count(statistics), 3);
    const struct baryon_tensor_statistics *y = baryon_statistics_find(statistics, "y");
    assert_non_null(y);
    assert_true(y->min < 0);
    assert_int_equal(y->channel_axis, 1);
    assert_int_equal(y->channels, 2);
    double least = 0, greatest = 0;
    for (size_t s = 0; s < SAMPLES; s++) {
        const double value = (double)value_at(s, 1) - (double)value_at(s, 3);
        least = s ? fmin(least, value) : value;
        greatest = s ? fmax(greatest, value) : value;
    }
    assert_true((double)y->channel_min[1] == least && (double)y->channel_max[1] == greatest);
    baryon_statistics_free(statistics);
}

static void refused(const struct baryon_setting *settings, enum baryon_code code,
                    const char *wanted)
{
    struct maker maker = {0};
    struct baryon_statistics *statistics;
    assert_error(calibrate(&statistics, &maker, SAMPLES, settings), code, wanted);
    assert_null(statistics);
    assert_int_equal(maker.next, 0);
}

static void refused_setting(const char *name, const char *value, const char *wanted)
{
    const struct baryon_setting settings[] = {{name, value}, {0}};
    refused(settings, BARYON_ERR_USAGE, wanted);
}

static void test_refused_settings(void **state)
{
    (void)state;
    refused_setting("thread", "2", "unknown setting 'thread'; did you mean 'threads'?");
    refused_setting("allow-links", NULL, "unknown setting 'allow-links'");
    refused_setting("json", NULL, "unknown setting 'json'");
    refused_setting("threads", "many", "threads: 'many' is not a whole number from 0 to 1024");
    refused_setting("threads", NULL, "threads: a value is required");
    refused_setting("tensors", "seem",
                    "tensors: 'seem' is not one of seen, all; did you mean 'seen'?");
    refused_setting("shard", "3/2", "option --shard is '3/2', must be I/N with 1 <= I <= N");
    refused_setting("data", "data", "--data is not valid when the caller provides the samples");
    refused_setting("random", "3", "--random is not valid when the caller provides the samples");
    refused_setting("resize", "crop",
                    "resize: 'crop' is not one of stretch, short-side, letterbox, fit, none");
    refused_setting("restart", NULL, "--restart requires --out");
    refused_setting("max-memory", "1MiB", "--max-memory requires --out");
    refused_setting("config", NULL, "config: must name a file");
    const struct baryon_setting nameless = {NULL, "2"};
    struct baryon_model *model = make_model(2);
    assert_error(baryon_calibrate(NULL, model, &nameless, 1, NULL, &err), BARYON_ERR_USAGE,
                 "setting 0 has no name");
    const struct baryon_setting data = {"data", "data"};
    assert_error(baryon_calibrate(NULL, model, &data, 1, NULL, &err), BARYON_ERR_USAGE,
                 "the statistics have no destination: give a pointer or the setting out");
    assert_error(baryon_calibrate(NULL, model, NULL, 0, NULL, &err), BARYON_ERR_USAGE,
                 "no samples: give --data PATH or --random COUNT");
    assert_int_equal(baryon_calibrate(NULL, model, NULL, 0, NULL, NULL), -1);
    baryon_model_free(model);
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Pairs go before the file, also when they stand before it. */
static void test_config(void **state)
{
    (void)state;
    put_text("c.yaml", "per-channel: true\ntensors: all\n");
    const struct baryon_setting settings[] = {{"tensors", "seen"}, {"config", "c.yaml"}, {0}};
    struct baryon_statistics *statistics = calibrated(settings);
    assert_int_equal(baryon_statistics_tensor_count(statistics), 2);
    assert_int_equal(baryon_statistics_find(statistics, "z")->channels, 2);
    baryon_statistics_free(statistics);
    put_text("c.yaml", "per-chanel: true\n");
    refused(settings, BARYON_ERR_INPUT,
            "c.yaml: 1:1: unknown key 'per-chanel'; did you mean 'per-channel'?");
}

/* --- Where samples come from --- */

static void test_same_from_files(void **state)
{
    (void)state;
    const struct baryon_setting settings[] = {{"data", "data"}};
    struct baryon_statistics *statistics;
    ok(baryon_calibrate_file(&statistics, "m.onnx", settings, 1, NULL, &err));
    assert_known(baryon_statistics_find(statistics, "x"), false);
    assert_known(baryon_statistics_find(statistics, "z"), true);
    baryon_statistics_free(statistics);
    assert_error(baryon_calibrate_file(&statistics, "no.onnx", settings, 1, NULL, &err),
                 BARYON_ERR_INPUT, "no.onnx: cannot be opened: No such file or directory");
    assert_null(statistics);
}

/* Without a number they are counted first; names of inputs and samples may be missing. */
static void test_unknown_count(void **state)
{
    (void)state;
    struct maker maker = {.nameless = true};
    struct baryon_statistics *statistics, *known = calibrated(NULL);
    ok(calibrate(&statistics, &maker, 0, NULL));
    assert_int_equal(maker.rewinds, 0); /* they were kept */
    assert_int_equal(baryon_statistics_total(statistics), SAMPLES);
    assert_known(baryon_statistics_find(statistics, "z"), true);
    ok(baryon_statistics_save(statistics, "unknown.stats", &err));
    ok(baryon_statistics_save(known, "known.stats", &err));
    assert_same_files("unknown.stats", "known.stats");
    baryon_statistics_free(statistics);
    baryon_statistics_free(known);
}

static int calibrate_kept(struct maker *maker, uint64_t keep, bool rewinds)
{
    struct baryon_samples samples = samples_of(maker, 0);
    samples.keep = keep;
    samples.rewind = rewinds ? samples.rewind : NULL;
    const struct baryon_calibrate_options options = {.size = sizeof options, .samples = &samples};
    struct baryon_statistics *statistics;
    struct baryon_model *model = make_model(2);
    const int status = baryon_calibrate(&statistics, model, NULL, 0, &options, &err);
    assert_true(status || baryon_statistics_total(statistics) == SAMPLES);
    baryon_statistics_free(statistics);
    baryon_model_free(model);
    return status;
}

static void test_kept_samples(void **state)
{
    (void)state;
    ok(calibrate_kept(&(struct maker){0}, 0, false));
    ok(calibrate_kept(&(struct maker){0}, 1, true));
    assert_error(
        calibrate_kept(&(struct maker){0}, 1, false), BARYON_ERR_UNSUPPORTED,
        "the samples are needed again, can be read only once, and are larger than the 1 bytes that "
        "are cached; provide rewind, set a limit, or calibrate once and give the statistics");
}

static void refused_samples(struct baryon_samples samples, const char *wanted)
{
    const struct baryon_calibrate_options options = {.size = sizeof options, .samples = &samples};
    struct baryon_statistics *statistics;
    struct baryon_model *model = make_model(2);
    assert_error(baryon_calibrate(&statistics, model, NULL, 0, &options, &err), BARYON_ERR_USAGE,
                 wanted);
    baryon_model_free(model);
}

static void test_bad_samples(void **state)
{
    (void)state;
    struct baryon_statistics *statistics;
    assert_error(calibrate(&statistics, &(struct maker){.fail_at = 3}, SAMPLES, NULL),
                 BARYON_ERR_IO, "the camera is off");
    assert_error(calibrate(&statistics, &(struct maker){.silent_at = 2}, SAMPLES, NULL),
                 BARYON_ERR_INPUT, "the callback next failed without an error message");
    assert_error(calibrate(&statistics, &(struct maker){0}, SAMPLES + 1, NULL), BARYON_ERR_INPUT,
                 "the source of samples ended after 6 of 7");
    assert_error(
        calibrate(&statistics, &(struct maker){.wrong_at = 2}, SAMPLES, NULL), BARYON_ERR_INPUT,
        "sample 'photo1'.input 'x': the file has float32 [4,1], the model input is float32 [N,4]");
    assert_null(statistics);
    const struct baryon_setting skip[] = {{"skip-bad", "20%"}, {0}};
    ok(calibrate(&statistics, &(struct maker){.wrong_at = 2}, SAMPLES, skip));
    assert_int_equal(baryon_statistics_skipped(statistics), 1);
    assert_int_equal(baryon_statistics_covered(statistics), SAMPLES);
    assert_int_equal(baryon_statistics_find(statistics, "x")->samples, SAMPLES - 1);
    baryon_statistics_free(statistics);

    struct maker maker = {0};
    struct baryon_samples samples = samples_of(&maker, SAMPLES);
    samples.next = NULL;
    refused_samples(samples, "the samples have no callback next");
    samples.size = 3;
    refused_samples(samples, "options with a size of 3, must be the size of the struct");
}

static void test_nonfinite(void **state)
{
    (void)state;
    const struct baryon_setting allow[] = {{"allow-nonfinite", NULL}, {0}};
    struct baryon_statistics *statistics;
    ok(calibrate(&statistics, &(struct maker){.nan_at = 4}, SAMPLES, allow));
    const struct baryon_tensor_statistics *x = baryon_statistics_find(statistics, "x");
    assert_int_equal(x->nans, 1);
    assert_int_equal(x->nonfinite_sample, 3);
    assert_string_equal(x->nonfinite_name, "photo3");
    assert_true(isfinite(x->mean) && isfinite(x->max));
    baryon_statistics_free(statistics);
}

/* --- Progress --- */

struct watcher {
    uint64_t stop_at, calls, done;
    char last[32];
    size_t lines;
};

static bool watch(void *context, const struct baryon_progress *progress)
{
    struct watcher *watcher = context;
    watcher->calls++;
    watcher->done = progress->done;
    assert_string_equal(progress->stage, "calibrate");
    assert_int_equal(progress->total, SAMPLES);
    snprintf(watcher->last, sizeof watcher->last, "%s", progress->sample ? progress->sample : "");
    return progress->done < watcher->stop_at;
}

static void count_lines(void *context, const char *text)
{
    struct watcher *watcher = context;
    assert_true(*text);
    watcher->lines++;
}

static int watched(struct watcher *watcher, const struct baryon_setting *settings, size_t count)
{
    const struct baryon_calibrate_options options = {
        .size = sizeof options, .progress = watch, .log = count_lines, .context = watcher};
    return baryon_calibrate_file(NULL, "m.onnx", settings, count, &options, &err);
}

/* Stopped, what was done is kept; the next call goes on from there. */
static void test_progress(void **state)
{
    (void)state;
    /* With more threads, those that were begun beside it would come in as well. */
    const struct baryon_setting settings[] = {
        {"data", "data"}, {"out", "stopped.stats"}, {"threads", "1"}};
    struct watcher watcher = {.stop_at = 2};
    assert_error(watched(&watcher, settings, 3), BARYON_ERR_CANCELLED,
                 "calibrate: stopped after 2 of 6 samples; run the same command to resume");
    assert_int_equal(watcher.calls, 3);
    assert_string_equal(watcher.last, "photo1");
    assert_int_equal(access("stopped.stats.part", F_OK), 0);
    assert_int_equal(access("stopped.stats", F_OK), -1);
    watcher = (struct watcher){.stop_at = 7};
    ok(watched(&watcher, settings, 3));
    assert_int_equal(watcher.calls, 5);
    assert_int_equal(watcher.done, SAMPLES);
    assert_int_equal(watcher.lines, 1); /* that it goes on */
    assert_int_equal(access("stopped.stats.part", F_OK), -1);
    /* Up to date: nothing runs. */
    watcher = (struct watcher){0};
    ok(watched(&watcher, settings, 3));
    assert_int_equal(watcher.calls, 0);
    const struct baryon_setting whole[] = {{"data", "data"}, {"out", "whole.stats"}};
    ok(baryon_calibrate_file(NULL, "m.onnx", whole, 2, NULL, &err));
    assert_same_files("stopped.stats", "whole.stats");
}

static void test_out(void **state)
{
    (void)state;
    const struct baryon_setting settings[] = {
        {"data", "data"}, {"out", "out.stats"}, {"moments", NULL}, {"force", NULL}};
    struct baryon_statistics *statistics;
    ok(baryon_calibrate_file(NULL, "m.onnx", settings, 2, NULL, &err));
    assert_error(baryon_calibrate_file(NULL, "m.onnx", settings, 3, NULL, &err), BARYON_ERR_USAGE,
                 "out.stats: the file exists already and is of another model, other samples or "
                 "settings; --force overwrites it");
    ok(baryon_calibrate_file(&statistics, "m.onnx", settings, 4, NULL, &err));
    ok(baryon_statistics_save(statistics, "copy.stats", &err));
    assert_same_files("out.stats", "copy.stats");
    baryon_statistics_free(statistics);
    const struct baryon_setting itself[] = {{"data", "data"}, {"out", "m.onnx"}};
    assert_error(baryon_calibrate_file(NULL, "m.onnx", itself, 2, NULL, &err), BARYON_ERR_USAGE,
                 "--out is the input model");
    const struct baryon_setting nowhere[] = {{"data", "data"}, {"out", "no/out.stats"}};
    assert_int_equal(baryon_calibrate_file(NULL, "m.onnx", nowhere, 2, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_IO);
    assert_string_equal(err.file, "no/out.stats");
}

/* --- Parts --- */

static struct baryon_statistics *part(const char *shard)
{
    const struct baryon_setting settings[] = {{"data", "data"}, {"shard", shard}};
    struct baryon_statistics *statistics;
    ok(baryon_calibrate_file(&statistics, "m.onnx", settings, shard ? 2 : 1, NULL, &err));
    return statistics;
}

static void test_merge(void **state)
{
    (void)state;
    struct baryon_statistics *first = part("1/2"), *second = part("2/2"), *all = part(NULL), *other;
    assert_int_equal(baryon_statistics_covered(first), 3);
    const struct baryon_tensor_statistics *x = baryon_statistics_find(first, "x");
    assert_int_equal(x->samples, 3);
    ok(baryon_statistics_merge(first, second, &err));
    assert_known(x, false);
    assert_error(baryon_statistics_merge(first, second, &err), BARYON_ERR_INPUT,
                 "samples 3 to 5 are covered twice; merge every part only once");
    ok(baryon_statistics_save(first, "merged.stats", &err));
    ok(baryon_statistics_save(all, "all.stats", &err));
    assert_same_files("merged.stats", "all.stats");
    baryon_statistics_free(second);
    ok(baryon_statistics_load(&other, "merged.stats", &err));
    assert_known(baryon_statistics_find(other, "z"), true);
    baryon_statistics_free(other);
    other = calibrated(NULL);
    assert_int_equal(baryon_statistics_merge(all, other, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_CHANGED);
    baryon_statistics_free(other);
    baryon_statistics_free(all);
    baryon_statistics_free(first);
    put_text("bad.stats", "no statistics");
    assert_int_equal(baryon_statistics_load(&other, "bad.stats", &err), -1);
    assert_null(other);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_string_equal(err.file, "bad.stats");
}

static void test_check_model(void **state)
{
    (void)state;
    struct baryon_statistics *statistics = part(NULL);
    struct baryon_model *model;
    ok(baryon_model_load(&model, "m.onnx", NULL, &err));
    ok(baryon_statistics_check_model(statistics, model, &err));
    ok(baryon_model_set_metadata(model, "note", "changed", &err));
    assert_int_equal(baryon_statistics_check_model(statistics, model, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_CHANGED);
    baryon_model_free(model);
    baryon_statistics_free(statistics);
}

/* --- Histograms and ranges --- */

static void test_histogram(void **state)
{
    (void)state;
    struct baryon_statistics *statistics = part(NULL);
    struct baryon_bin *bins;
    size_t count;
    ok(baryon_statistics_histogram(statistics, "x", &bins, &count, &err));
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t inside = 0;
        const bool zeros = bins[i].low == 0 && bins[i].high == 0, below = bins[i].high <= 0;
        for (size_t s = 0; s < SAMPLES; s++)
            for (size_t k = 0; k < WIDTH; k++) {
                const double value = (double)value_at(s, k);
                inside += zeros   ? value == 0
                          : below ? value > bins[i].low && value <= bins[i].high
                                  : value >= bins[i].low && value < bins[i].high;
            }
        assert_int_equal(bins[i].count, inside);
        assert_true(!i || bins[i].low >= bins[i - 1].high);
        sum += bins[i].count;
    }
    assert_int_equal(sum, SAMPLES * WIDTH);
    baryon_bytes_free(bins);
    assert_error(baryon_statistics_histogram(statistics, "q", &bins, &count, &err),
                 BARYON_ERR_USAGE, "the statistics have no tensor 'q'");
    assert_null(bins);
    baryon_statistics_free(statistics);
}

static struct baryon_range range_of(const struct baryon_statistics *statistics, const char *method,
                                    const char *type, const struct baryon_range_options *options)
{
    struct baryon_range range = {.size = sizeof range};
    ok(baryon_statistics_range(statistics, "x", method, type, options, &range, &err));
    return range;
}

static void test_ranges(void **state)
{
    (void)state;
    struct baryon_statistics *statistics = part(NULL);
    const struct known x = work_out(false);
    const double reach = fmax(-x.min, x.max);
    struct baryon_range range = range_of(statistics, "minmax", "int8", NULL);
    assert_true(range.low == x.min && range.high == x.max);
    assert_near(range.scale, (double)(float)(2 * reach / 255));
    assert_int_equal(range.zero_point, 0);
    assert_near(range.reached_low, -128 * range.scale);
    assert_near(range.reached_high, 127 * range.scale);
    assert_true(isnan(range.error));

    range = range_of(statistics, "MinMax", "UINT8", NULL);
    assert_near(range.scale, (double)(float)((x.max - x.min) / 255));
    assert_int_equal(range.zero_point, (int64_t)nearbyint(-x.min / ((x.max - x.min) / 255)));
    assert_near(range.clipped, 0);

    struct baryon_range_options options = {
        .size = sizeof options, .symmetry = BARYON_SYMMETRIC, .power_of_two = true};
    range = range_of(statistics, "minmse-pow2", "int4", &options);
    assert_true(range.scale == ldexp(1, -range.position));
    assert_true(range.error >= 0);
    options.symmetry = BARYON_ASYMMETRIC;
    options.power_of_two = false;
    ok(baryon_statistics_range(statistics, "z", "minmax", "int8", &options, &range, &err));
    assert_int_equal(range.zero_point, -128); /* nothing is below 0 */
    range = range_of(statistics, "minmax", "float8e4m3fn", NULL);
    assert_near(range.scale, (double)(float)(reach / 448));
    baryon_statistics_free(statistics);
}

/* What each sample by itself would choose, as a part of its own. */
static void position_of_sample(const struct baryon_range_options *options, size_t sample,
                               int *position)
{
    char shard[32];
    snprintf(shard, sizeof shard, "%zu/%d", sample + 1, SAMPLES);
    struct baryon_statistics *alone = part(shard);
    *position = range_of(alone, "minmse-pow2", "int8", options).position;
    baryon_statistics_free(alone);
}

static void test_votes(void **state)
{
    (void)state;
    const struct baryon_setting settings[] = {{"votes", "true"}, {0}};
    const struct baryon_range_options options = {.size = sizeof options, .power_of_two = true};
    struct baryon_statistics *statistics = calibrated(settings);
    int positions[SAMPLES], best = 0;
    size_t most = 0;
    for (size_t s = 0; s < SAMPLES; s++)
        position_of_sample(&options, s, &positions[s]);
    for (size_t s = 0; s < SAMPLES; s++) {
        size_t votes = 0;
        for (size_t k = 0; k < SAMPLES; k++)
            votes += positions[k] == positions[s];
        if (votes > most || (votes == most && positions[s] > best)) {
            most = votes;
            best = positions[s];
        }
    }
    const struct baryon_range range = range_of(statistics, "minmse-pow2-common", "int8", &options);
    assert_int_equal(range.position, best);
    assert_true(range.low == -128 * range.scale && isnan(range.error));
    baryon_statistics_free(statistics);
}

static void test_refused_ranges(void **state)
{
    (void)state;
    struct baryon_statistics *statistics = part(NULL);
    struct baryon_range range = {.size = sizeof range};
    struct baryon_range_options options = {.size = sizeof options, .symmetry = BARYON_ASYMMETRIC};
#define REFUSED(tensor, method, type, wanted)                                                      \
    assert_error(                                                                                  \
        baryon_statistics_range(statistics, tensor, method, type, &options, &range, &err),         \
        BARYON_ERR_USAGE, wanted)
    REFUSED("q", "minmax", "int8", "the statistics have no tensor 'q'");
    REFUSED("x", "maxmin", "int8",
            "unknown calibration method 'maxmin'; 'baryon list methods' lists them");
    REFUSED("x", "minmax", "float64", "type 'float64' has no range to choose");
    REFUSED("x", "minmax", "float8e5m2", "asymmetric: float8e5m2 has no zero point");
    REFUSED("x", "distribution", "int8", "method distribution does not support int8, asymmetric");
    options.symmetry = (enum baryon_symmetry)3;
    REFUSED("x", "minmax", "int8", "symmetry 3, must be 0 to 2");
    options.symmetry = BARYON_SYMMETRY_OF_TYPE;
    options.power_of_two = true;
    REFUSED("x", "minmse-pow2-common", "uint8",
            "method minmse-pow2-common does not support uint8, asymmetric, power-of-two scales");
    REFUSED("x", "minmse-pow2-common", "int8",
            "minmse-pow2-common: the statistics have no votes of single samples, which "
            "minmse-pow2-common counts; 'baryon calibrate --votes' gathers them; 'baryon quantize' "
            "does by itself where it is given samples");
    options.power_of_two = false;
    range.size = 2;
    REFUSED("x", "minmax", "int8", "a range with a size of 2, must be the size of the struct");
#undef REFUSED
    /* A program built with fewer members gets those, and nothing after them. */
    range =
        (struct baryon_range){.size = offsetof(struct baryon_range, zero_point), .zero_point = 77};
    ok(baryon_statistics_range(statistics, "x", "minmax", "uint8", NULL, &range, &err));
    assert_true(range.scale > 0);
    assert_int_equal(range.zero_point, 77);
    baryon_statistics_free(statistics);
    size_t count = 0;
    while (baryon_calibration_method(count))
        count++;
    assert_true(count >= 8);
    assert_string_equal(baryon_calibration_method(0), "minmax");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_refused_settings),
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_same_from_files),
        cmocka_unit_test(test_unknown_count),
        cmocka_unit_test(test_kept_samples),
        cmocka_unit_test(test_bad_samples),
        cmocka_unit_test(test_nonfinite),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_out),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_check_model),
        cmocka_unit_test(test_histogram),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_votes),
        cmocka_unit_test(test_refused_ranges),
    };
    return cmocka_run_group_tests(tests, enter, api_leave);
}
