/*
 * Every allocation fails, once and for good, in calls of the public interface: samples of a reader
 * that comes only once and is needed again, plans, presets, evaluation with all measures,
 * conversions. Each fails as a whole and says why, or does without.
 */
#include "tests/fault/two_layers.h"

#include "tests/fault/sweep.h"

static char folder[64];

/* --- Samples of a reader --- */

struct reader {
    unsigned given;
    float values[WIDTH];
    struct baryon_array array;
};

static int next(void *context, const struct baryon_array **arrays, size_t *count, const char **name,
                struct baryon_error *why)
{
    static const int64_t dims[] = {1, WIDTH};
    struct reader *reader = context;
    (void)why;
    if (reader->given++ == 3)
        return 0;
    for (unsigned i = 0; i < WIDTH; i++)
        reader->values[i] = (float)(reader->given * (i + 1)) - 4;
    reader->array = (struct baryon_array){"x", 1, 2, dims, reader->values, sizeof reader->values};
    *arrays = &reader->array;
    *count = 1;
    *name = "one of three";
    return 0;
}

static int quantize(struct baryon_plan **plan)
{
    struct reader reader = {0};
    const struct baryon_samples samples = {
        .size = sizeof samples, .next = next, .context = &reader};
    const struct baryon_setting settings[] = {{"preset", "XINT8"}, {"threads", "1"}};
    const struct baryon_quantize_options options = {
        .size = sizeof options, .samples = &samples, .plan = plan};
    return baryon_quantize_file("m.onnx", "out.onnx", settings, 2, &options, NULL, &err);
}

static void look_at(struct baryon_plan *plan)
{
    assert_non_null(baryon_plan_node(plan, 0));
    assert_non_null(baryon_plan_tensor(plan, 0));
    assert_non_null(baryon_plan_stage(plan, 0));
    baryon_plan_free(plan);
}

/* What was refused may be done without; then the plan is whole. */
static void fail_at(uint64_t call, bool forever, uint64_t *failed)
{
    struct baryon_plan *plan = NULL;
    unlink("out.onnx");
    by_err_clear(&err);
    by_fault_arm(BY_FAULT_ALLOC, call, forever);
    const int status = quantize(&plan);
    by_fault_arm(BY_FAULT_ALLOC, 0, false);
    if (status == 0) {
        look_at(plan);
        return;
    }
    ++*failed;
    assert_null(plan);
    assert_int_equal(err.code, BARYON_ERR_NOMEM);
    assert_int_not_equal(access("out.onnx", F_OK), 0);
}

static void samples_and_plans(void **state)
{
    (void)state;
    struct baryon_plan *plan = NULL;
    uint64_t failed = 0, before = 0;
    for (int i = 0; i < 2; i++) {
        unlink("out.onnx");
        before = by_fault_count(BY_FAULT_ALLOC);
        assert_ok(quantize(&plan));
        look_at(plan);
    }
    const uint64_t calls = by_fault_count(BY_FAULT_ALLOC) - before;
    for (uint64_t k = 1; k <= calls; k++) {
        fail_at(k, false, &failed);
        fail_at(k, true, &failed);
    }
    assert_true(calls > 100 && failed > calls);
}

/* --- Evaluation --- */

static int evaluate(const struct baryon_setting *settings, size_t count)
{
    struct reader reader = {0};
    struct baryon_model *one = NULL, *other = NULL;
    struct baryon_evaluation *evaluation = NULL;
    const struct baryon_samples samples = {
        .size = sizeof samples, .next = next, .context = &reader};
    const struct baryon_evaluate_options options = {.size = sizeof options, .samples = &samples};
    int failed = baryon_model_load(&one, "m.onnx", NULL, &err) ||
                 baryon_model_load(&other, "half.onnx", NULL, &err);
    if (!failed)
        failed = baryon_evaluate_models(&evaluation, one, other, settings, count, &options, &err);
    assert_true(failed || baryon_evaluation_score(evaluation, 5));
    baryon_evaluation_free(evaluation);
    baryon_model_free(other);
    baryon_model_free(one);
    return failed ? -1 : 0;
}

static int evaluate_all(void)
{
    static const struct baryon_setting settings[] = {
        {"labels", "labels.txt"}, {"logits", "true"}, {"min", "accuracy=0"}, {"threads", "1"}};
    return evaluate(settings, sizeof settings / sizeof *settings);
}

static int evaluate_compat(void)
{
    static const struct baryon_setting settings[] = {{"compat", "true"}, {"threads", "1"}};
    return evaluate(settings, sizeof settings / sizeof *settings);
}

static int convert_file(void)
{
    struct baryon_model *model = NULL;
    const int failed = baryon_model_load(&model, "m.onnx", NULL, &err) ||
                       baryon_convert(model, "p.yaml", NULL, &err);
    baryon_model_free(model);
    return failed ? -1 : 0;
}

/* The second model takes float16. */
static void evaluation(void **state)
{
    (void)state;
    static const char passes[] = "passes: {fp32_to_fp16: {keep_io: false}}\n";
    struct baryon_model *model;
    assert_ok(by_write_file("p.yaml", passes, sizeof passes - 1, 0, &err));
    assert_ok(by_write_file("labels.txt", "1 2 3", 5, 0, &err));
    assert_ok(baryon_model_load(&model, "m.onnx", NULL, &err));
    assert_ok(baryon_convert(model, "p.yaml", NULL, &err));
    assert_ok(baryon_model_save(model, "half.onnx", NULL, &err));
    baryon_model_free(model);
    sweep_memory(evaluate_all);
    sweep_memory(evaluate_compat);
    sweep_memory(convert_file);
}

/* --- Presets --- */

static int open_preset(void)
{
    struct baryon_preset *preset;
    const int status = baryon_preset_open(&preset, "A8W8_ADAQUANT", &err);
    assert_true(!status == (preset != NULL));
    baryon_preset_free(preset);
    return status;
}

static void presets(void **state)
{
    (void)state;
    sweep_memory(open_preset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_and_plans),
        cmocka_unit_test(evaluation),
        cmocka_unit_test(presets),
    };
    char command[128];
    snprintf(folder, sizeof folder, "%s/baryon-fault-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        return 1;
    save_two_layers(1, true);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command) || failed;
}
