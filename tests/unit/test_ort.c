/* Tests opening ONNX Runtime and makes each of its calls fail once. */
#include "engine_build.h"

#include "engine/ort.h"
#include "engine/tap.h"
#include "tests/stub/ort.h"

#include <dlfcn.h>

static struct stub_plan *plan;
static int (*options_alive)(void);
static char real_path[512];

static const char *stub_path(void)
{
    static char path[512];
    assert_non_null(realpath(beside("../stub/ort.so"), path));
    return path;
}

static int open_stub(void **state)
{
    (void)state;
    const struct by_ort *ort;
    assert_ok(by_ort_open(&ort, NULL, &err));
    snprintf(real_path, sizeof real_path, "%s", ort->path);
    by_ort_close(ort);
    void *handle = dlopen(stub_path(), RTLD_NOW);
    assert_non_null(handle);
    plan = dlsym(handle, "stub_plan");
    *(void **)&options_alive = dlsym(handle, "stub_options_alive");
    return plan && options_alive ? 0 : -1;
}

static int clear_plan(void **state)
{
    (void)state;
    *plan = (struct stub_plan){.real = real_path};
    return 0;
}

/* --- opening --- */

static void test_open_twice(void **state)
{
    (void)state;
    const struct by_ort *a, *b, *c;
    assert_ok(by_ort_open(&a, NULL, &err));
    assert_ok(by_ort_open(&b, real_path, &err));
    assert_ptr_equal(a, b);
    assert_memory_equal(a->version, "1.", 2);
    assert_non_null(a->env);
    by_ort_close(a);
    by_ort_close(b);
    by_ort_close(NULL);
    assert_ok(by_ort_open(&c, real_path, &err));
    by_ort_close(c);
}

static void test_two_libraries(void **state)
{
    (void)state;
    const struct by_ort *a, *b;
    assert_ok(by_ort_open(&a, NULL, &err));
    assert_ok(by_ort_open(&b, stub_path(), &err));
    assert_ptr_not_equal(a, b);
    assert_string_equal(b->path, stub_path());
    by_ort_close(a);
    by_ort_close(b);
}

static void refused(const char *version, const char *shown)
{
    char wanted[1024];
    const struct by_ort *ort;
    *plan = (struct stub_plan){.real = real_path, .version = version, .no_api = true};
    snprintf(wanted, sizeof wanted,
             "'%s' is ONNX Runtime %s, must be 1.17 or newer; run 'make deps', or set "
             "BARYON_ONNXRUNTIME to a newer library",
             stub_path(), shown);
    assert_err(by_ort_open(&ort, stub_path(), &err), BARYON_ERR_DEPENDENCY, wanted);
    assert_null(ort);
}

static void test_old_version(void **state)
{
    (void)state;
    refused("1.16.3", "1.16.3");
    assert_int_equal(plan->asked_api, 0); /* it would complain on stderr */
    refused("1.0", "1.0");
    assert_int_equal(plan->asked_api, 0);
    refused("1.99.0", "1.99.0");
    assert_int_equal(plan->asked_api, 1);
    refused("dev\nbuild", "dev build");
    refused("1.", "1.");
    assert_int_equal(plan->asked_api, 1);
}

/* The lowest version that will do, and forms of it that are not of today. */
static void test_other_versions(void **state)
{
    (void)state;
    static const char *const versions[] = {"1.17.0", "1.17", "1.100.0", "2.0.0"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        const struct by_ort *ort;
        plan->version = versions[i];
        assert_ok(by_ort_open(&ort, stub_path(), &err));
        assert_string_equal(ort->version, versions[i]);
        by_ort_close(ort);
    }
}

/* --- statuses --- */

static void test_codes(void **state)
{
    (void)state;
    static const struct code_case {
        OrtErrorCode ort;
        const char *message;
        enum baryon_code code;
    } cases[] = {
        {ORT_FAIL, "x", BARYON_ERR_ENGINE},
        {ORT_INVALID_ARGUMENT, "x", BARYON_ERR_ENGINE},
        {ORT_NO_SUCHFILE, "x", BARYON_ERR_INPUT},
        {ORT_NO_MODEL, "x", BARYON_ERR_INPUT},
        {ORT_ENGINE_ERROR, "x", BARYON_ERR_ENGINE},
        {ORT_RUNTIME_EXCEPTION, "x", BARYON_ERR_ENGINE},
        {ORT_INVALID_PROTOBUF, "x", BARYON_ERR_INPUT},
        {ORT_NOT_IMPLEMENTED, "x", BARYON_ERR_UNSUPPORTED},
        {ORT_INVALID_GRAPH, "x", BARYON_ERR_INPUT},
        {ORT_EP_FAIL, "x", BARYON_ERR_ENGINE},
        {(OrtErrorCode)77, "x", BARYON_ERR_ENGINE},
        {ORT_RUNTIME_EXCEPTION, "std::bad_alloc", BARYON_ERR_NOMEM},
        {ORT_FAIL, "a.b:F(-1) is not a registered function/op", BARYON_ERR_UNSUPPORTED},
    };
    const struct by_ort *ort;
    assert_ok(by_ort_open(&ort, NULL, &err));
    assert_int_equal(by_ort_status(ort, NULL, "sing", &err), 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char wanted[128];
        snprintf(wanted, sizeof wanted, "ONNX Runtime cannot sing: %s", cases[i].message);
        assert_err(by_ort_status(ort, ort->api->CreateStatus(cases[i].ort, cases[i].message),
                                 "sing", &err),
                   cases[i].code, wanted);
        assert_int_equal(
            by_ort_status(ort, ort->api->CreateStatus(cases[i].ort, "no one asks"), "sing", NULL),
            -1);
    }
    assert_err(by_ort_status(
                   ort, ort->api->CreateStatus(ORT_FAIL, "Load model from /x y/m.onnx failed:why"),
                   "open it", &err),
               BARYON_ERR_ENGINE, "ONNX Runtime cannot open it: why");
    by_ort_close(ort);
}

static void test_text(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"plain text", "plain text"},
        {"two\nlines\r\n\r\n  of text \n", "two lines of text"},
        {"tab\there", "tab here"},
        {"bell\x07 esc\x1b[1m", "bell? esc?[1m"},
        {"not \xff utf-8, \xc3\xa4 is", "not ? utf-8, \xc3\xa4 is"},
        {"/b/core/x.cc:12 it failed", "it failed"},
        {"why: /b/core/x.h:47 onnxruntime::H::H(const T&, bool) a == b was false.",
         "why: a == b was false."},
        {"/b/x.cc:1 virtual onnxruntime::common::Status onnxruntime::A<T>::Compute("
         "onnxruntime::OpKernelContext*) const [with T = float] bad (very)",
         "bad (very)"},
        {"/b/x.cc:1 onnxruntime::cut(off", "onnxruntime::cut(off"},
        {"D:\\b\\x.h:47 onnxruntime::H::H a == b was false.", "a == b was false."},
        {"model /m/x.onnx:3 stays", "model /m/x.onnx:3 stays"},
        {"see (/b/a.cpp:9) there", "see () there"},
        {"a.cc: no number", "a.cc: no number"},
        {"cut here. Stacktrace:\n#1 x\n#2 y", "cut here."},
    };
    char buf[256];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(by_ort_text(cases[i][0], buf, sizeof buf), cases[i][1]);
    assert_string_equal(by_ort_text("0123456789", buf, 11), "0123456789");
    assert_string_equal(by_ort_text("0123456789", buf, 10), "012345...");
    assert_string_equal(by_ort_text("012345\xc3\xa4\xc3\xa4", buf, 11), "012345\xc3\xa4\xc3\xa4");
    assert_string_equal(by_ort_text("012345\xc3\xa4\xc3\xa4", buf, 10), "012345...");
    assert_string_equal(by_ort_text("0 1 2 3 4 5", buf, 8), "0 1...");
}

/* --- every call fails once --- */

/* What a step of the sweep does; 0 when nothing failed. */
typedef int step_fn(void);

static int do_open(void)
{
    const struct by_ort *ort;
    int failed = by_ort_open(&ort, stub_path(), &err);
    by_ort_close(ort);
    return failed;
}

/* As much of the API as one model can use: strings, defaults, lent weights, operators. */
static struct baryon_model *rich_model(void)
{
    struct baryon_model *model = add_model();
    takes(model, "w", BY_ELEM_FLOAT, "2");
    takes(model, "text", BY_ELEM_STRING, "2");
    gives(model, "copy", BY_ELEM_STRING, "2");
    gives(model, "half", BY_ELEM_FLOAT, NULL);
    static const float rows[256][2] = {[255] = {1, 2}};
    put_weight(model, "v", BY_ELEM_FLOAT, (const int64_t[]){256, 2}, 2, rows, sizeof rows);
    put_node(model->graph, "same", "Identity", "text", "copy");
    put_node(model->graph, "mul", "Mul", "y,v", "z");
    put_node(model->graph, "halve", "Halve", "z", "half")->domain = name_of(model, "test.baryon");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_set_opset(model, "test.baryon", 1, &err));
    return model;
}

static int run_rich(struct by_session *session)
{
    static const char *const texts[] = {"a", "bc"};
    static const float x[] = {1, 2};
    const int64_t dims[] = {1, 2};
    const struct by_array feed[] = {
        FLOATS("x", 2, dims, x),
        array_of("text", BY_ELEM_STRING, 1, dims + 1, texts, sizeof texts)};
    struct by_run *run;
    if (by_session_run(session, feed, 2, NULL, 0, &run, &err)) {
        assert_null(run);
        return -1;
    }
    size_t count;
    const struct by_array *outputs = by_run_outputs(run, &count);
    assert_int_equal(count, 3);
    assert_true(((const float *)outputs[0].data)[1] == 22);
    assert_string_equal(((const char *const *)outputs[1].data)[1], "bc");
    assert_true(((const float *)outputs[2].data)[511] == 22);
    by_run_free(run);
    return 0;
}

static int do_session(void)
{
    const char *ops = beside("../stub/ops.so");
    const char *const providers[] = {
        "cuda:device_id=1",         "tensorrt", "rocm:a=b:c=d", "dnnl:e=f",
        "openvino:device_type=CPU", "cpu"};
    const struct by_session_options options = {.ort_path = stub_path(),
                                               .branches = 2,
                                               .providers = providers,
                                               .provider_count = 6,
                                               .op_libraries = &ops,
                                               .op_library_count = 1,
                                               .deterministic = true,
                                               .low_memory = true};
    struct by_session *session;
    struct baryon_model *model = rich_model();
    int failed = by_session_open_model(&session, model, 1024, &options, &err);
    by_model_free(model);
    if (failed) {
        assert_null(session);
        return -1;
    }
    failed = run_rich(session);
    by_session_cancel(session);
    by_session_resume(session);
    by_session_close(session);
    return failed;
}

static int count_piece(void *context, size_t begin, size_t end, unsigned worker,
                       struct baryon_error *e)
{
    (void)context, (void)begin, (void)end, (void)worker, (void)e;
    return 0;
}

static int look_with_help(void *context, const struct by_tap_look *look, struct baryon_error *e)
{
    (void)context;
    assert_non_null(look->values[0].data);
    return by_team_for(look->team, 4, 1, count_piece, NULL, e);
}

/* A tap that hands strings on, one that hands floats on, one beside. */
static struct baryon_model *tapped_model(void)
{
    struct baryon_model *model = add_model();
    takes(model, "text", BY_ELEM_STRING, "2");
    gives(model, "one", BY_ELEM_STRING, NULL);
    gives(model, "two", BY_ELEM_STRING, NULL);
    gives(model, "u", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "s", "Identity", "text", "t");
    put_node(model->graph, "a", "Identity", "t", "one");
    put_node(model->graph, "b", "Identity", "t", "two");
    put_node(model->graph, "n", "Neg", "y", "z");
    put_node(model->graph, "m", "Neg", "z", "u");
    return model;
}

static int run_tapped(struct by_tapped *tapped)
{
    static const char *const texts[] = {"a", "bc"};
    static const float x[] = {1, 2};
    const int64_t dims[] = {1, 2};
    const struct by_array feed[] = {
        FLOATS("x", 2, dims, x),
        array_of("text", BY_ELEM_STRING, 1, dims + 1, texts, sizeof texts)};
    return by_tapped_run(tapped, feed, 2, 0, &err);
}

static int do_taps(void)
{
    const struct by_session_options options = {.ort_path = stub_path(), .threads = 2};
    const struct by_tap taps[] = {
        {(const char *const[]){"t"}, 1, 0, look_with_help, NULL, false},
        {(const char *const[]){"z"}, 1, 0, look_with_help, NULL, false},
        {(const char *const[]){"x", "y"}, 2, 0, look_with_help, NULL, false},
    };
    struct by_tapped *tapped;
    struct baryon_model *model = tapped_model();
    assert_ok(by_model_link(model, &err));
    int failed = by_tapped_open(&tapped, model, taps, 3, &options, &err);
    assert_sound(model);
    by_model_free(model);
    if (failed) {
        assert_null(tapped);
        return -1;
    }
    failed = run_tapped(tapped);
    by_tapped_close(tapped);
    return failed;
}

static const char *const all_extra[] = {
    "CUDAExecutionProvider", "TensorrtExecutionProvider", "ROCMExecutionProvider",
    "DnnlExecutionProvider", "OpenVINOExecutionProvider",
};

/* Fails the first call, then the second, ... until nothing fails any more. */
static unsigned sweep(step_fn *step)
{
    unsigned failures = 0;
    for (unsigned k = 1;; k++) {
        *plan = (struct stub_plan){
            .real = real_path, .fail_at = k, .extra = all_extra, .extra_count = 5};
        by_err_clear(&err);
        int failed = step();
        assert_int_equal(plan->statuses, 0);
        assert_int_equal(options_alive(), 0);
        if (!plan->failed[0]) {
            assert_ok(failed);
            return failures;
        }
        /* Two kinds of calls are allowed to fail without anybody minding. */
        if (strcmp(plan->failed, "ReleaseAvailableProviders") == 0 ||
            strncmp(plan->failed, "RunOptions", 10) == 0)
            continue;
        assert_int_equal(failed, -1);
        assert_non_null(strstr(err.message, "ONNX Runtime cannot "));
        assert_non_null(strstr(err.message, plan->failed));
        failures++;
    }
}

static void test_every_call_fails(void **state)
{
    (void)state;
    assert_int_equal(sweep(do_open), 2);
    assert_true(sweep(do_session) > 80);
    assert_true(sweep(do_taps) > 80);
}

/* Before 1.18 an operator cannot say that its output may be its input. */
static void test_taps_of_an_old_version(void **state)
{
    (void)state;
    plan->version = "1.17.3";
    assert_ok(do_taps());
}

static void test_providers(void **state)
{
    (void)state;
    plan->extra = all_extra;
    plan->extra_count = 5;
    assert_ok(do_session());
    assert_string_equal(plan->appended, "(device_id=1)CUDA;TensorRT;(a=b,c=d)ROCM;(e=f)Dnnl;"
                                        "OpenVINO(device_type=CPU)");
    const struct by_ort *ort;
    char list[128];
    assert_ok(by_ort_open(&ort, stub_path(), &err));
    assert_ok(by_providers_available(ort, list, sizeof list, &err));
    assert_string_equal(list, "cpu, cuda, tensorrt, rocm, openvino, dnnl");
    by_ort_close(ort);
}

/* --- options --- */

/* What ONNX Runtime is told when a program opens a session with the options. */
static const char *told_with(struct baryon_session_options options)
{
    struct baryon_session *session;
    struct baryon_model *model = add_model();
    options.size = sizeof options;
    options.onnxruntime = stub_path();
    options.threads = options.threads ? options.threads : 1;
    plan->set[0] = '\0';
    assert_ok(baryon_session_open_model(&session, model, &options, &err));
    baryon_session_close(session);
    by_model_free(model);
    return plan->set;
}

#define OPEN_SHAPE "DisableMemPattern(1) " /* the model has a symbolic dimension */
#define LEVEL(n)   "SetSessionGraphOptimizationLevel(" #n ") "

static void test_options_of_programs_arrive(void **state)
{
    static const struct {
        struct baryon_session_options options;
        const char *told;
    } rows[] = {
        {{.threads = 1}, "SetIntraOpNumThreads(1) " OPEN_SHAPE LEVEL(99)},
        {{.threads = 3}, "SetIntraOpNumThreads(3) " OPEN_SHAPE LEVEL(99)},
        {{.branches = 2},
         "SetIntraOpNumThreads(1) SetSessionExecutionMode(1) SetInterOpNumThreads(2) " OPEN_SHAPE
             LEVEL(99)},
        {{.optimization = BARYON_OPTIMIZE_NONE}, "SetIntraOpNumThreads(1) " OPEN_SHAPE LEVEL(0)},
        {{.optimization = BARYON_OPTIMIZE_BASIC}, "SetIntraOpNumThreads(1) " OPEN_SHAPE LEVEL(1)},
        {{.optimization = BARYON_OPTIMIZE_EXTENDED},
         "SetIntraOpNumThreads(1) " OPEN_SHAPE LEVEL(2)},
        {{.low_memory = true},
         "SetIntraOpNumThreads(1) " OPEN_SHAPE "DisableCpuMemArena(1) " LEVEL(99)},
        {{.deterministic = true},
         "SetIntraOpNumThreads(1) " OPEN_SHAPE LEVEL(99) "SetDeterministicCompute(1) "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(told_with(rows[i].options), rows[i].told);
}

static void test_pairs_as_they_are_written(void **state)
{
    (void)state;
    const struct by_session_options options = {
        .ort_path = stub_path(), .threads = 1, .as_written = true};
    struct by_session *session;
    struct baryon_model *model = add_model();
    assert_ok(by_session_open_model(&session, model, 0, &options, &err));
    by_session_close(session);
    by_model_free(model);
    assert_non_null(strstr(plan->set, "session.disable_quant_qdq(1) "));
}

/* Without "cpu" in the list, ONNX Runtime may not fall back to it. */
static void test_no_fallback(void **state)
{
    (void)state;
    const char *const names[] = {"cuda", "cpu"};
    plan->extra = all_extra;
    plan->extra_count = 1;
    for (size_t count = 1; count <= 2; count++) {
        const struct by_session_options options = {
            .ort_path = stub_path(), .providers = names, .provider_count = count};
        struct by_session *session;
        struct baryon_model *model = add_model();
        plan->fail_name = "AddSessionConfigEntry";
        int failed = by_session_open_model(&session, model, 0, &options, &err);
        by_model_free(model);
        assert_int_equal(failed, count == 1 ? -1 : 0);
        by_session_close(session);
    }
}

/* Whatever the runtime says while it is cancelled, it is the cancelling that is told. */
static void test_cancelled_run(void **state)
{
    (void)state;
    const struct by_session_options options = {.ort_path = stub_path()};
    const float x[] = {1, 2};
    const int64_t dims[] = {1, 2};
    const struct by_array feed = FLOATS("x", 2, dims, x);
    struct by_run *run;
    struct by_session *session = open_model(add_model(), &options);
    plan->fail_name = "Run";
    plan->message = "Exiting due to terminate flag being set to true.";
    assert_int_equal(by_session_run(session, &feed, 1, NULL, 0, &run, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_ENGINE);
    by_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_open_twice, clear_plan),
        cmocka_unit_test_setup(test_two_libraries, clear_plan),
        cmocka_unit_test_setup(test_old_version, clear_plan),
        cmocka_unit_test_setup(test_other_versions, clear_plan),
        cmocka_unit_test_setup(test_codes, clear_plan),
        cmocka_unit_test_setup(test_text, clear_plan),
        cmocka_unit_test_setup(test_every_call_fails, clear_plan),
        cmocka_unit_test_setup(test_taps_of_an_old_version, clear_plan),
        cmocka_unit_test_setup(test_providers, clear_plan),
        cmocka_unit_test_setup(test_options_of_programs_arrive, clear_plan),
        cmocka_unit_test_setup(test_pairs_as_they_are_written, clear_plan),
        cmocka_unit_test_setup(test_no_fallback, clear_plan),
        cmocka_unit_test_setup(test_cancelled_run, clear_plan),
    };
    return cmocka_run_group_tests(tests, open_stub, NULL);
}
