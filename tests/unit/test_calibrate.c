/* The parts of a calibration that no command shows by themselves: plan, key, checkpoints,
 * shards, bad samples. */
#include "engine_build.h"

#include "base/file.h"
#include "calibrate/calibrate.h"
#include "calibrate/keep.h"
#include "calibrate/key.h"
#include "calibrate/plan.h"
#include "ir/infer.h"

#define WIDTH   4
#define SAMPLES 5
/* Two layers of one tile each; a third with four of them. */
#define BIG   700
#define TILES 10 /* five of samples that solve, five of those that judge */

static char notices[8192];

static void take_notice(void *context, enum by_log_level level, const char *text)
{
    const size_t used = strlen(notices);
    (void)context;
    snprintf(notices + used, sizeof notices - used, "%s%s\n",
             level == BY_LOG_WARNING ? "warning: " : "", text);
}

static const struct by_log logger = {.write = take_notice, .level = BY_LOG_NOTICE};

/* --- A model --- */

static void put_zeros(struct baryon_model *model, const char *name, int64_t rows, int64_t columns,
                      float first)
{
    const size_t count = (size_t)(rows * columns);
    float *values = calloc(count, sizeof *values);
    assert_non_null(values);
    values[0] = first;
    put_weight(model, name, BY_ELEM_FLOAT, (const int64_t[]){rows, columns}, 2, values,
               count * sizeof *values);
    free(values);
}

/* x [1,4] -> u -> a -> v -> b -> w -> y */
static struct baryon_model *layers(float first)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,4");
    gives(model, "y", BY_ELEM_FLOAT, "1,1");
    put_zeros(model, "u", WIDTH, WIDTH, first);
    put_zeros(model, "v", WIDTH, BIG, 1);
    put_zeros(model, "w", BIG, 1, 1);
    put_node(model->graph, "first", "MatMul", "x,u", "a");
    put_node(model->graph, "second", "MatMul", "a,v", "b");
    put_node(model->graph, "third", "MatMul", "b,w", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

/* --- Samples --- */

struct maker {
    size_t given, bad; /* number of the one of a wrong shape, from 1 */
    bool all_bad;
    float values[WIDTH];
    char name[16];
    struct by_array array;
};

static int next(void *context, const struct by_array **arrays, size_t *count, const char **name,
                struct baryon_error *problem)
{
    struct maker *maker = context;
    (void)problem;
    if (maker->given == SAMPLES)
        return 0;
    for (size_t i = 0; i < WIDTH; i++)
        maker->values[i] = (float)(maker->given * WIDTH + i);
    maker->array = (struct by_array){.name = "x",
                                     .elem = BY_ELEM_FLOAT,
                                     .rank = 2,
                                     .dims = {1, WIDTH},
                                     .data = maker->values,
                                     .size = sizeof maker->values};
    snprintf(maker->name, sizeof maker->name, "s%zu", maker->given++);
    if (maker->all_bad || maker->given == maker->bad)
        maker->array.dims[0] = WIDTH, maker->array.dims[1] = 1;
    *arrays = &maker->array;
    *count = 1;
    *name = maker->name;
    return 0;
}

static int again(void *context, struct baryon_error *problem)
{
    (void)problem;
    ((struct maker *)context)->given = 0;
    return 0;
}

static struct by_input_callback callback_of(struct maker *maker)
{
    return (struct by_input_callback){
        .next = next, .rewind = again, .context = maker, .count = SAMPLES, .what = "tests"};
}

/* --- The plan --- */

static void assert_tiles_once(const struct by_calibrate_plan *plan)
{
    size_t first, end, seen = 0;
    for (size_t pass = 0; pass < plan->pass_count; pass++) {
        assert_int_equal(plan->passes[pass].begin, pass ? plan->passes[pass - 1].end : 0);
        for (size_t layer = 0; layer < plan->layer_count; layer++)
            if (by_calibrate_plan_part(plan, pass, layer, &first, &end))
                seen += end - first;
    }
    assert_int_equal(seen, by_calibrate_plan_tiles(plan));
}

static void test_plan(void **state)
{
    (void)state;
    struct baryon_model *model = layers(1);
    const struct by_calibrate_options options = {.moments = true, .per_channel = true};
    struct by_calibrate_plan plan;
    assert_ok(by_calibrate_plan_make(&plan, model->graph, &options, &err));
    assert_int_equal(plan.layer_count, 6);
    for (size_t i = 0; i < plan.layer_count; i++) {
        assert_int_equal(plan.layers[i].share, i % 2 ? BY_SHARE_JUDGES : BY_SHARE_SOLVES);
        assert_string_equal(plan.layers[i].name, plan.layers[i / 2 * 2].name);
    }
    assert_int_equal(plan.target_count, 4); /* x, a, b, y */
    assert_int_equal(by_calibrate_plan_tiles(&plan), TILES);

    assert_ok(by_calibrate_plan_divide(&plan, 0, UINT64_MAX, &err));
    assert_int_equal(plan.pass_count, 1);
    assert_tiles_once(&plan);
    const uint64_t all = by_calibrate_plan_bytes(&plan, 0);

    assert_ok(by_calibrate_plan_divide(&plan, 0, 1, &err)); /* sketches alone, then a tile each */
    assert_int_equal(plan.pass_count, 1 + TILES);
    assert_tiles_once(&plan);
    uint64_t sum = 0;
    for (size_t i = 0; i < plan.pass_count; i++)
        sum += by_calibrate_plan_bytes(&plan, i);
    assert_int_equal(sum, all);

    const uint64_t memory = all / 2;
    assert_ok(by_calibrate_plan_divide(&plan, 0, memory, &err));
    assert_true(plan.pass_count > 1 && plan.pass_count < 1 + TILES);
    assert_tiles_once(&plan);
    for (size_t i = 0; i < plan.pass_count; i++)
        assert_true(by_calibrate_plan_bytes(&plan, i) <= memory ||
                    plan.passes[i].end - plan.passes[i].begin == 1);

    /* A first pass that is given, the rest as memory wants. */
    plan.pass_count = 0;
    assert_ok(by_calibrate_plan_add_pass(&plan, 2, &err));
    assert_ok(by_calibrate_plan_divide(&plan, 1, UINT64_MAX, &err));
    assert_int_equal(plan.pass_count, 2);
    assert_int_equal(plan.passes[1].end, TILES);
    assert_tiles_once(&plan);
    by_calibrate_plan_release(&plan);
    by_model_free(model);
}

/* --- The key --- */

static struct by_stats_key key_of(float first, const struct by_calibrate_options *options)
{
    struct baryon_model *model = layers(first);
    struct maker maker = {0};
    const struct by_input_callback callback = callback_of(&maker);
    struct by_calibrate_options with = *options;
    struct by_calibration *calibration;
    if (!with.input.random && !with.samples)
        with.samples = &callback;
    with.model = with.data = "";
    assert_ok(by_calibration_open(&calibration, model, NULL, &with, &err));
    const struct by_stats_key key = *by_calibration_key(calibration);
    by_calibration_close(calibration);
    by_model_free(model);
    return key;
}

static bool same(struct by_hash128 a, struct by_hash128 b)
{
    return memcmp(&a, &b, sizeof a) == 0;
}

/* Which of model, data and settings change, as letters. */
static void assert_key(const char *wanted, float first, const struct by_calibrate_options *options)
{
    const struct by_stats_key plain = key_of(1, &(struct by_calibrate_options){0});
    const struct by_stats_key key = key_of(first, options);
    char got[4];
    snprintf(got, sizeof got, "%s%s%s", same(plain.model, key.model) ? "" : "m",
             same(plain.data, key.data) ? "" : "d", same(plain.settings, key.settings) ? "" : "s");
    assert_string_equal(got, wanted);
}

static void test_key(void **state)
{
    (void)state;
    static const char *const cpu[] = {"cpu"};
    static const struct by_vote_levels int8 = {-128, 127};
    struct maker maker = {0};
    struct by_input_callback other = callback_of(&maker);
    other.what = "others";
#define OPTIONS(...) &(const struct by_calibrate_options){__VA_ARGS__}
    assert_key("", 1, OPTIONS(.max_memory = 1 << 20));
    assert_key("", 1, OPTIONS(.shard = 1, .shards = 2));
    assert_key("", 1, OPTIONS(.session.threads = 2));
    assert_key("", 1, OPTIONS(.checkpoint_seconds = 3, .restart = true));
    assert_key("m", 2, OPTIONS(.max_memory = 1));
    assert_key("d", 1, OPTIONS(.samples = &other));
    assert_key("d", 1, OPTIONS(.input.count = SAMPLES - 1));
    assert_key("d", 1, OPTIONS(.input.random = true, .input.count = SAMPLES));
    assert_key("s", 1, OPTIONS(.per_channel = true));
    assert_key("s", 1, OPTIONS(.moments = true));
    assert_key("s", 1, OPTIONS(.votes = &int8, .vote_count = 1));
    assert_key("s", 1, OPTIONS(.targets = BY_TARGETS_ALL));
    assert_key("s", 1, OPTIONS(.session.deterministic = true));
    assert_key("s", 1, OPTIONS(.session.optimization = 1));
    assert_key("s", 1, OPTIONS(.session.providers = cpu, .session.provider_count = 1));
#undef OPTIONS
}

/* --- Checkpoints --- */

static char folder[64];

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/baryon-calibrate-XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static struct by_stats *stats_of(const struct by_stats_key *key, uint64_t begin, uint64_t end)
{
    struct by_stats *stats;
    assert_ok(by_stats_open(&stats, &err));
    stats->key = *key;
    stats->total = 10;
    assert_ok(by_stats_describe(stats, "m", "d", "", &err));
    assert_ok(by_stats_cover(stats, begin, end, &err));
    return stats;
}

static void keep_it(struct by_keep *keep, size_t pass, uint64_t begin, uint64_t end)
{
    struct by_stats *stats = stats_of(keep->key, begin, end);
    assert_ok(by_keep_write(keep, pass, stats, &err));
    by_stats_close(stats);
}

static bool is_kept(struct by_keep *keep, size_t pass)
{
    struct by_stats *stats;
    assert_ok(by_keep_take_up(keep, pass, &stats, &err));
    by_stats_close(stats);
    return stats != NULL;
}

static void test_keep(void **state)
{
    (void)state;
    const struct by_stats_key key = {.model.low = 1}, other = {.model.low = 2};
    struct by_keep keep = {
        .path = "k.part", .log = &logger, .key = &key, .range = {2, 8}, .interval = 1000};
    assert_false(is_kept(&keep, 0));
    assert_true(by_keep_due(&keep)); /* none was written yet */
    keep_it(&keep, 0, 2, 4);
    assert_false(by_keep_due(&keep));
    keep_it(&keep, 1, 2, 3);
    keep_it(&keep, 2, 2, 3);
    assert_true(is_kept(&keep, 0) && is_kept(&keep, 1) && is_kept(&keep, 2));
    assert_true(by_file_exists("k.part") && by_file_exists("k.part2") && by_file_exists("k.part3"));
    assert_ok(by_keep_remove("k.part", 1, &err));
    assert_true(by_file_exists("k.part") && !by_file_exists("k.part2") &&
                !by_file_exists("k.part3"));

    struct by_stats *stats;
    keep.range.end = 3;
    assert_err(by_keep_take_up(&keep, 0, &stats, &err), BARYON_ERR_CHANGED,
               "k.part: the checkpoint has samples 2 to 3, the calibration has samples 2 to 2; "
               "start over with --restart, or remove the file");
    keep.range.end = 8;
    keep.key = &other;
    assert_int_equal(by_keep_take_up(&keep, 0, &stats, &err), -1);
    assert_null(stats);
    assert_int_equal(err.code, BARYON_ERR_CHANGED);
    assert_string_equal(err.file, "k.part");

    notices[0] = '\0';
    keep.key = &key;
    assert_ok(by_write_file("k.part", "damaged", 7, BY_WRITER_NO_SYNC, &err));
    assert_false(is_kept(&keep, 0));
    assert_memory_equal(
        notices, "warning: the checkpoint is not usable, calibration starts over: k.part", 62);
    assert_ok(by_keep_remove("k.part", 0, &err));
    assert_false(by_file_exists("k.part"));

    const struct by_keep none = {.key = &key};
    assert_false(by_keep_due(&none));
}

/* --- Shards --- */

static struct by_sample_range range_of(uint64_t shard, uint64_t shards, bool spare)
{
    struct baryon_model *model = layers(1);
    const struct by_calibrate_options options = {.shard = shard,
                                                 .shards = shards,
                                                 .spare_shards = spare,
                                                 .model = "",
                                                 .data = "",
                                                 .input = {.random = true, .count = SAMPLES}};
    struct by_calibration *calibration;
    const int status = by_calibration_open(&calibration, model, NULL, &options, &err);
    struct by_sample_range range = {.begin = 99, .end = 99};
    if (status == 0)
        range = by_calibration_range(calibration);
    by_calibration_close(calibration);
    by_model_free(model);
    return range;
}

static void test_shards(void **state)
{
    (void)state;
    for (uint64_t shards = 1; shards <= SAMPLES; shards++) {
        uint64_t end = 0;
        for (uint64_t shard = 0; shard < shards; shard++) {
            const struct by_sample_range range = range_of(shard, shards, false);
            assert_int_equal(range.begin, end);
            assert_true(range.end - range.begin == SAMPLES / shards ||
                        range.end - range.begin == SAMPLES / shards + 1);
            end = range.end;
        }
        assert_int_equal(end, SAMPLES);
    }
    assert_int_equal(range_of(0, SAMPLES + 1, false).begin, 99);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    struct by_sample_range spare = range_of(4, SAMPLES + 2, true);
    assert_true(spare.begin == 4 && spare.end == 5);
    spare = range_of(6, SAMPLES + 2, true);
    assert_true(spare.begin == spare.end);
}

/* --- Bad samples, and interruptions --- */

static bool stop_at(void *context, const struct by_calibrate_progress *now)
{
    return now->done >= *(const uint64_t *)context;
}

static int calibrate(struct maker *maker, double skip, uint64_t stop, struct by_stats **stats)
{
    struct baryon_model *model = layers(1);
    const struct by_input_callback callback = callback_of(maker);
    const struct by_calibrate_options options = {.samples = &callback,
                                                 .input = {.skip_bad = skip, .log = &logger},
                                                 .session = {.threads = 1},
                                                 .model = "m",
                                                 .data = "d",
                                                 .checkpoint = "c.part",
                                                 .progress = stop_at,
                                                 .context = &stop,
                                                 .log = &logger};
    notices[0] = '\0';
    int status = by_calibrate(stats, model, NULL, &options, NULL, &err);
    by_model_free(model);
    return status;
}

static void test_skip(void **state)
{
    (void)state;
    struct by_stats *stats;
    struct maker maker = {.bad = 2};
    assert_int_equal(calibrate(&maker, 0, 99, &stats), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_null(stats);
    assert_ok(by_calibrate_clean("c.part", &err));

    /* Interrupted after the bad one: it stays the only one that may be. */
    maker = (struct maker){.bad = 2};
    assert_err(calibrate(&maker, 0.2, 3, &stats), BARYON_ERR_CANCELLED,
               "calibrate: stopped after 3 of 5 samples; run the same command to resume");
    maker = (struct maker){.bad = 4};
    assert_int_equal(calibrate(&maker, 0.2, 99, &stats), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_string_equal(err.hint, "bad samples skipped so far: 1, --skip-bad allows no more");
    maker = (struct maker){.bad = 2};
    assert_ok(calibrate(&maker, 0.2, 99, &stats));
    assert_non_null(strstr(notices, "resumed after 3 of 5 samples"));
    assert_int_equal(stats->skipped.count, 1);
    assert_int_equal(stats->skipped.at[0].sample, 1);
    assert_string_equal(stats->skipped.at[0].name, "s1");
    assert_true(by_stats_complete(stats));
    const struct by_tensor_stats *x = by_stats_find(stats, "x");
    assert_int_equal(x->sketch.samples, SAMPLES - 1);
    assert_true(x->sketch.max == SAMPLES * WIDTH - 1);
    by_stats_close(stats);
    assert_ok(by_calibrate_clean("c.part", &err));

    maker = (struct maker){.all_bad = true};
    assert_err(calibrate(&maker, 1, 99, &stats), BARYON_ERR_INPUT,
               "all 5 samples were skipped, at least one must be valid");
    assert_ok(by_calibrate_clean("c.part", &err));
}

/* What is there already is known by its key and by its samples. */
static void test_matches(void **state)
{
    (void)state;
    struct baryon_model *model = layers(1);
    struct maker maker = {0};
    const struct by_input_callback callback = callback_of(&maker);
    struct by_calibrate_options options = {.samples = &callback, .model = "", .data = ""};
    struct by_calibration *whole, *half;
    struct by_stats *of_whole, *of_half;
    assert_ok(by_calibration_open(&whole, model, NULL, &options, &err));
    assert_ok(by_calibration_run(whole, &of_whole, NULL, &err));
    maker.given = 0;
    struct by_calibrate_options part = options;
    part.shards = 2;
    assert_ok(by_calibration_open(&half, model, NULL, &part, &err));
    assert_ok(by_calibration_run(half, &of_half, NULL, &err));
    assert_true(by_calibration_matches(whole, of_whole));
    assert_false(by_calibration_matches(whole, of_half));
    assert_true(by_calibration_matches(half, of_half));
    assert_false(by_calibration_matches(half, of_whole));
    assert_true(by_calibration_matches_all(half, of_whole));
    assert_false(by_calibration_matches_all(half, of_half));
    of_whole->key.settings.low++;
    assert_false(by_calibration_matches(whole, of_whole));
    by_stats_close(of_whole);
    by_stats_close(of_half);
    by_calibration_close(half);
    by_calibration_close(whole);
    by_model_free(model);
}

/* Statistics of the first `count` samples, going on after what *begun has. */
static struct by_stats *stats_behind(struct by_stats **begun, size_t count, bool per_channel,
                                     struct by_calibrate_report *report)
{
    struct baryon_model *model = layers(1);
    struct maker maker = {0};
    struct by_input_callback callback = callback_of(&maker);
    const struct by_calibrate_options options = {.samples = &callback,
                                                 .per_channel = per_channel,
                                                 .means = true,
                                                 .model = "m",
                                                 .data = "d",
                                                 .begun = begun,
                                                 .log = &logger};
    struct by_stats *stats;
    callback.count = count;
    notices[0] = '\0';
    assert_ok(by_calibrate(&stats, model, NULL, &options, report, &err));
    assert_string_equal(notices, "");
    by_model_free(model);
    return stats;
}

static void assert_same_bytes(const struct by_stats *one, const struct by_stats *other)
{
    struct by_str bytes[2];
    by_str_init(&bytes[0]);
    by_str_init(&bytes[1]);
    assert_ok(by_stats_save_bytes(one, &bytes[0], &err));
    assert_ok(by_stats_save_bytes(other, &bytes[1], &err));
    assert_int_equal(bytes[0].size, bytes[1].size);
    assert_memory_equal(bytes[0].text, bytes[1].text, bytes[0].size);
    by_str_release(&bytes[0]);
    by_str_release(&bytes[1]);
}

/* What was begun elsewhere is gone on with, unless it has other settings. */
static void test_begun(void **state)
{
    (void)state;
    struct by_calibrate_report report;
    struct by_stats *begun = stats_behind(NULL, 2, false, &report);
    assert_int_equal(report.samples, 2);
    struct by_stats *fresh = stats_behind(NULL, SAMPLES, false, &report);
    struct by_stats *behind = stats_behind(&begun, SAMPLES, false, &report);
    assert_null(begun);
    assert_int_equal(report.samples, SAMPLES - 2);
    assert_int_equal(report.taken_up, 2);
    assert_same_bytes(behind, fresh);
    by_stats_close(behind);
    by_stats_close(fresh);

    begun = stats_behind(NULL, 2, true, &report);
    fresh = stats_behind(NULL, SAMPLES, false, &report);
    behind = stats_behind(&begun, SAMPLES, false, &report);
    assert_non_null(begun);
    assert_int_equal(report.samples, SAMPLES);
    assert_int_equal(report.taken_up, 0);
    assert_same_bytes(behind, fresh);
    by_stats_close(begun);
    by_stats_close(behind);
    by_stats_close(fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plan),   cmocka_unit_test(test_key),  cmocka_unit_test(test_keep),
        cmocka_unit_test(test_shards), cmocka_unit_test(test_skip), cmocka_unit_test(test_matches),
        cmocka_unit_test(test_begun),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
