/* Every allocation and every read fails while results are compared: nothing is leaked. */
#include "evaluate/evaluate.h"

#include "input/npy.h"
#include "two_layers.h"

#include "sweep.h"

static struct by_setting_pair goals[] = {{.name = "cosine", .value = "0.5"}};
static const struct by_evaluate_settings settings = {.min = {goals, 1, 1}};
static struct baryon_model *model;
static char folder[64];

static int call_folders(void)
{
    struct by_evaluation *evaluation = NULL;
    const struct by_evaluate_options options = {.settings = &settings};
    const int status = by_evaluate_folders(&evaluation, "one", "two", &options, &err);
    by_evaluation_close(evaluation);
    return status;
}

static int call_models(void)
{
    struct by_evaluation *evaluation = NULL;
    const struct by_evaluate_options options = {
        .settings = &settings, .data = "one", .run = {.session = {.threads = 1}}};
    const int status = by_evaluate_models(&evaluation, model, model, &options, &err);
    by_evaluation_close(evaluation);
    return status;
}

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/baryon-test-XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave(void **state)
{
    char command[128];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return chdir("/") || system(command);
}

static void make(void)
{
    static const int64_t dims[] = {1, WIDTH};
    const float values[WIDTH] = {1, 2, 3, 4, 5, 6};
    assert_int_equal(system("mkdir one two"), 0);
    for (int i = 0; i < 2; i++)
        assert_ok(by_npy_save(i ? "two/a.npy" : "one/a.npy", BY_ELEM_FLOAT, dims, 2, values,
                              sizeof values, BY_WRITER_NO_SYNC, &err));
}

static void folders(void **state)
{
    (void)state;
    make();
    sweep_memory(call_folders);
    sweep(BY_FAULT_IO, 0, call_folders);
}

static void models(void **state)
{
    (void)state;
    make();
    save_two_layers(1, true);
    assert_ok(by_model_load(&model, "m.onnx", NULL, &err));
    sweep_memory(call_models);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(folders, enter, leave),
        cmocka_unit_test_setup_teardown(models, enter, leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
