/* Every allocation and every call on files fails while models are opened, run and traced. */
#include "tests/unit/engine_build.h"

#include "base/str.h"
#include "engine/ort.h"
#include "engine/stages.h"
#include "engine/tap.h"
#include "engine/trace.h"
#include "ir/infer.h"
#include "onnx/save.h"

#include "sweep.h"

static const float row[] = {1, 2};
static const int64_t one_by_two[] = {1, 2};
static const char *const words[] = {"a", "bc"};
static const char *ops;
static char path[64];

/* Strings, an input with a default, an operator of a library. */
static struct baryon_model *rich_model(void)
{
    struct baryon_model *model = add_model();
    takes(model, "w", BY_ELEM_FLOAT, "2");
    takes(model, "text", BY_ELEM_STRING, "2");
    gives(model, "copy", BY_ELEM_STRING, "2");
    gives(model, "half", BY_ELEM_FLOAT, NULL);
    static const float rows[256][2] = {{1, 2}};
    put_weight(model, "v", BY_ELEM_FLOAT, (const int64_t[]){256, 2}, 2, rows, sizeof rows);
    put_node(model->graph, "same", "Identity", "text", "copy");
    put_node(model->graph, "mul", "Mul", "y,v", "z");
    put_node(model->graph, "halve", "Halve", "z", "half")->domain = name_of(model, "test.baryon");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "test.baryon", 1, &err));
    return model;
}

static const struct by_array *sample(void)
{
    static struct by_array feed[2];
    feed[0] = FLOATS("x", 2, one_by_two, row);
    feed[1] = array_of("text", BY_ELEM_STRING, 1, one_by_two + 1, words, sizeof words);
    return feed;
}

static struct by_session_options options(void)
{
    static const char *const cpu[] = {"cpu"};
    return (struct by_session_options){.op_libraries = &ops,
                                       .op_library_count = 1,
                                       .providers = cpu,
                                       .provider_count = 1,
                                       .threads = 1};
}

static int run(struct by_session *session)
{
    struct by_run *result;
    if (by_session_run(session, sample(), 2, NULL, 0, &result, &err))
        return -1;
    by_run_free(result);
    return 0;
}

/* The model is made while nothing fails. */
static struct baryon_model *model;

static int call_model(void)
{
    const struct by_session_options with = options();
    struct by_session *session;
    if (by_session_open_model(&session, model, 1024, &with, &err))
        return -1;
    int status = run(session);
    by_session_close(session);
    return status;
}

static int call_file(void)
{
    const struct by_session_options with = options();
    struct by_session *session;
    if (by_session_open(&session, path, &with, &err))
        return -1;
    int status = run(session);
    by_session_close(session);
    return status;
}

static int call_trace(void)
{
    const struct by_session_options with = options();
    struct baryon_value *half = value_of(model->graph, "half");
    half->elem = 0;
    half->shape = NULL;
    return by_model_trace(model, sample(), 2, &with, NULL, &err);
}

static int look(void *context, const struct by_tap_look *what, struct baryon_error *e)
{
    (void)context, (void)what, (void)e;
    return 0;
}

static int call_taps(void)
{
    const struct by_session_options with = options();
    const struct by_tap taps[] = {
        {(const char *const[]){"z"}, 1, 0, look, NULL, false},
        {(const char *const[]){"x"}, 1, 0, look, NULL, false},
        {(const char *const[]){"text", "z"}, 2, 0, look, NULL, false},
    };
    struct by_tapped *tapped;
    if (by_tapped_open(&tapped, model, taps, 3, &with, &err))
        return -1;
    int status = by_tapped_run(tapped, sample(), 2, 0, &err);
    by_tapped_close(tapped);
    return status;
}

static int seen(void *context, size_t one, const struct by_array *values, size_t count,
                struct baryon_error *e)
{
    (void)context, (void)one, (void)values, (void)count, (void)e;
    return 0;
}

static int run_stages(struct by_stages *stages)
{
    struct baryon_value *y = value_of(model->graph, "y"), *half = value_of(model->graph, "half");
    struct by_stages_rest *rest = NULL;
    int status = by_stages_reach(stages, &y, 1, &err);
    if (status == 0)
        status = by_stages_rest_open(&rest, stages, &half, 1, &err);
    if (status == 0)
        status = by_stages_rest_run(rest, 0, 0, seen, NULL, &err);
    by_stages_rest_close(rest);
    return status;
}

static int call_stages(void)
{
    const struct by_parked given[] = {{.array = sample()[0]}, {.array = sample()[1]}};
    const struct by_parked *const inputs[] = {given};
    const struct by_depot_options all = {.budget = UINT64_MAX};
    struct by_stages_options with = {.session = options()};
    struct by_stages *stages = NULL;
    if (by_depot_open(&with.depot, &all, &err))
        return -1;
    int status = by_stages_open(&stages, model, inputs, 2, 1, &with, &err);
    if (status == 0)
        status = run_stages(stages);
    by_stages_close(stages);
    by_depot_close(with.depot);
    return status;
}

/* The library stays loaded afterwards, so that this is asked once. */
static void loading(void **state)
{
    (void)state;
    const struct by_ort *ort = NULL;
    uint64_t k = 0;
    do {
        by_fault_arm(BY_FAULT_ALLOC, ++k, false);
        by_err_clear(&err);
        if (by_ort_open(&ort, NULL, &err))
            assert_int_equal(err.code, BARYON_ERR_NOMEM);
    } while (!ort);
    by_fault_arm(BY_FAULT_ALLOC, 0, false);
    assert_true(k > 3);
    by_ort_close(ort);
}

static void sessions(void **state)
{
    (void)state;
    model = rich_model();
    sweep_memory(call_model);
    by_model_free(model);
}

static void files(void **state)
{
    (void)state;
    strcpy(path, "/tmp/baryon-engine-XXXXXX");
    close(mkstemp(path));
    model = rich_model();
    assert_ok(by_model_save(model, path, NULL, &err));
    by_model_free(model);
    sweep_memory(call_file);
    sweep(BY_FAULT_IO, 0, call_file);
    unlink(path);
}

static void tracing(void **state)
{
    (void)state;
    model = rich_model();
    assert_ok(by_model_infer(model, NULL, &err));
    sweep_memory(call_trace);
    assert_sound(model);
    by_model_free(model);
}

/* Whatever fails, the model says what it said. */
static void taps(void **state)
{
    (void)state;
    struct by_str before, after;
    model = rich_model();
    by_str_init(&before);
    by_str_init(&after);
    assert_ok(by_model_save_bytes(model, &before, &err));
    sweep_memory(call_taps);
    assert_sound(model);
    assert_ok(by_model_save_bytes(model, &after, &err));
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.text, after.text, after.size);
    by_str_release(&before);
    by_str_release(&after);
    by_model_free(model);
}

static void stages(void **state)
{
    (void)state;
    model = rich_model();
    assert_ok(by_model_settle(model, &err));
    sweep_memory(call_stages);
    assert_sound(model);
    by_model_free(model);
}

static int find_ops(void **state)
{
    (void)state;
    static char library[512];
    ops = strcpy(library, beside("../stub/ops.so"));
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loading), cmocka_unit_test(sessions), cmocka_unit_test(files),
        cmocka_unit_test(tracing), cmocka_unit_test(taps),     cmocka_unit_test(stages),
    };
    return cmocka_run_group_tests(tests, find_ops, NULL);
}
