/* Running models through the public interface: nothing but <baryon.h>. */
#include "api_expect.h"

#include <pthread.h>
#include <time.h>

#define FLOAT 1
#define INT64 7

static struct baryon_node *add_node(struct baryon_graph *graph, const char *op_type,
                                    struct baryon_value *a, struct baryon_value *b, const char *out)
{
    struct baryon_value *inputs[] = {a, b};
    struct baryon_node *node =
        baryon_graph_add_node(graph, op_type, NULL, out, inputs, b ? 2 : 1, &out, 1, &err);
    assert_non_null(node);
    return node;
}

/* x [N,2] -> + w {10,20} -> sum; -> Neg -> minus */
static struct baryon_model *add_model(void)
{
    struct baryon_model *model;
    ok(baryon_model_new(&model, 10, 21, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    const int64_t open[] = {-1, 2}, two[] = {2};
    const char *const batch[] = {"N", NULL};
    const float w[] = {10, 20};
    struct baryon_value *x = baryon_graph_add_input(graph, "x", FLOAT, open, batch, 2, &err);
    struct baryon_tensor *tensor = baryon_tensor_new(model, "w", FLOAT, two, 1, w, sizeof w, &err);
    assert_non_null(x);
    assert_non_null(tensor);
    struct baryon_value *weight = baryon_graph_add_initializer(graph, tensor, &err);
    assert_non_null(weight);
    struct baryon_value *sum = baryon_node_output(add_node(graph, "Add", x, weight, "sum"), 0);
    struct baryon_value *minus = baryon_node_output(add_node(graph, "Neg", sum, NULL, "minus"), 0);
    ok(baryon_value_make_output(sum, FLOAT, open, batch, 2, &err));
    ok(baryon_value_make_output(minus, FLOAT, NULL, NULL, -1, &err));
    return model;
}

static struct baryon_session *open_it(struct baryon_model *model,
                                      const struct baryon_session_options *options)
{
    struct baryon_session *session;
    int failed = baryon_session_open_model(&session, model, options, &err);
    baryon_model_free(model);
    ok(failed);
    return session;
}

static const int64_t dims[] = {2, 2};
static const float data[] = {1, 2, 3, 4};
static const struct baryon_array x = {"x", FLOAT, 2, dims, data, sizeof data};

static void assert_sum(const struct baryon_array *array)
{
    const float wanted[] = {11, 22, 13, 24};
    assert_string_equal(array->name, "sum");
    assert_int_equal(array->type, FLOAT);
    assert_int_equal(array->rank, 2);
    assert_memory_equal(array->dims, dims, sizeof dims);
    assert_int_equal(array->size, sizeof wanted);
    assert_memory_equal(array->data, wanted, sizeof wanted);
}

/* --- */

static void test_ports(void **state)
{
    (void)state;
    struct baryon_session *session = open_it(add_model(), NULL);
    assert_int_equal(baryon_session_input_count(session), 1);
    assert_int_equal(baryon_session_optional_count(session), 0);
    assert_int_equal(baryon_session_output_count(session), 2);
    const struct baryon_port *port = baryon_session_input(session, 0);
    assert_string_equal(port->name, "x");
    assert_string_equal(port->kind, "tensor");
    assert_int_equal(port->type, FLOAT);
    assert_int_equal(port->rank, 2);
    assert_int_equal(port->dims[0], -1);
    assert_string_equal(port->symbols[0], "N");
    assert_int_equal(port->dims[1], 2);
    assert_null(port->symbols[1]);
    assert_string_equal(baryon_session_output(session, 1)->name, "minus");
    assert_null(baryon_session_input(session, 1));
    assert_null(baryon_session_optional(session, 0));
    assert_null(baryon_session_output(session, 2));
    assert_memory_equal(baryon_session_runtime(session), "1.", 2);
    baryon_session_close(session);
    baryon_session_close(NULL);
}

static void test_run(void **state)
{
    (void)state;
    struct baryon_session *session = open_it(add_model(), NULL);
    struct baryon_run *run;
    ok(baryon_session_run(session, &x, 1, NULL, 0, &run, &err));
    assert_int_equal(baryon_run_output_count(run), 2);
    assert_sum(baryon_run_output(run, 0));
    assert_ptr_equal(baryon_run_find_output(run, "minus"), baryon_run_output(run, 1));
    assert_true(((const float *)baryon_run_output(run, 1)->data)[3] == -24);
    assert_null(baryon_run_output(run, 2));
    assert_null(baryon_run_find_output(run, "x"));
    baryon_run_free(run);
    baryon_run_free(NULL);

    const char *const one[] = {"sum"};
    ok(baryon_session_run(session, &x, 1, one, 1, &run, &err));
    assert_int_equal(baryon_run_output_count(run), 1);
    assert_sum(baryon_run_output(run, 0));
    baryon_run_free(run);
    baryon_session_close(session);
}

static void test_bytes_and_files(void **state)
{
    (void)state;
    struct baryon_model *model = add_model();
    struct baryon_session *session;
    struct baryon_run *run;
    void *bytes;
    size_t size;
    ok(baryon_model_save_bytes(model, &bytes, &size, &err));
    ok(baryon_session_open_bytes(&session, bytes, size, NULL, &err));
    baryon_bytes_free(bytes);
    ok(baryon_session_run(session, &x, 1, NULL, 0, &run, &err));
    assert_sum(baryon_run_output(run, 0));
    baryon_run_free(run);
    baryon_session_close(session);

    char path[] = "/tmp/baryon-api-run-XXXXXX";
    close(mkstemp(path));
    ok(baryon_model_save(model, path, NULL, &err));
    baryon_model_free(model);
    ok(baryon_session_open(&session, path, NULL, &err));
    unlink(path);
    ok(baryon_session_run(session, &x, 1, NULL, 0, &run, &err));
    assert_sum(baryon_run_output(run, 0));
    baryon_run_free(run);
    baryon_session_close(session);
    assert_int_equal(baryon_session_open(&session, path, NULL, &err), -1);
    assert_null(session);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_string_equal(err.file, path);
}

/* A data file that is a link is followed only where that is allowed. */
static void test_links(void **state)
{
    (void)state;
    char folder[] = "/tmp/baryon-api-links-XXXXXX", path[64], data_path[64], other[64];
    const struct baryon_save_options save = {
        .size = sizeof save, .data = BARYON_SAVE_EXTERNAL, .external_min = 1};
    struct baryon_session_options options = {.size = sizeof options, .threads = 1};
    struct baryon_model *model = add_model();
    struct baryon_session *session;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    snprintf(data_path, sizeof data_path, "%s/m.onnx.data", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    ok(baryon_model_save(model, path, &save, &err));
    baryon_model_free(model);
    assert_int_equal(rename(data_path, other), 0);
    assert_int_equal(symlink("other", data_path), 0);
    assert_int_equal(baryon_session_open(&session, path, &options, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    options.allow_links = true;
    ok(baryon_session_open(&session, path, &options, &err));
    baryon_session_close(session);
    unlink(path);
    unlink(data_path);
    unlink(other);
    rmdir(folder);
}

static void test_refusals(void **state)
{
    (void)state;
    struct baryon_session *session = open_it(add_model(), NULL);
    struct baryon_run *run;
    struct baryon_array wrong = x;
    assert_error(baryon_session_run(session, NULL, 0, NULL, 0, &run, &err), BARYON_ERR_INPUT,
                 "model input 'x' is missing; its inputs are 'x'");
    wrong.type = INT64;
    wrong.size = 32;
    assert_error(
        baryon_session_run(session, &wrong, 1, NULL, 0, &run, &err), BARYON_ERR_INPUT,
        "input 'x': the data is int64 [2,2], the model input is float32 [N,2]: the types differ");
    wrong = x;
    wrong.rank = 17;
    assert_error(baryon_session_run(session, &wrong, 1, NULL, 0, &run, &err), BARYON_ERR_USAGE,
                 "input 'x' has rank 17, must be 0 to 16");
    wrong = x;
    wrong.name = NULL;
    assert_error(baryon_session_run(session, &wrong, 1, NULL, 0, &run, &err), BARYON_ERR_USAGE,
                 "an input has no name");
    const char *const none[] = {"total"};
    assert_error(baryon_session_run(session, &x, 1, none, 1, &run, &err), BARYON_ERR_USAGE,
                 "the model has no output 'total'; its outputs are 'sum', 'minus'");
    assert_null(run);
    assert_int_equal(baryon_session_run(session, NULL, 0, NULL, 0, &run, NULL), -1);
    baryon_session_close(session);
}

static void refused_options(const struct baryon_session_options *options, enum baryon_code code,
                            const char *wanted)
{
    struct baryon_session *session;
    struct baryon_model *model = add_model();
    int result = baryon_session_open_model(&session, model, options, &err);
    baryon_model_free(model);
    assert_error(result, code, wanted);
    assert_null(session);
}

static void test_options(void **state)
{
    (void)state;
    const char *const cpu[] = {"cpu"}, *const wrong[] = {"cpus"};
    struct baryon_session_options options = {.size = sizeof options};
    for (int level = BARYON_OPTIMIZE_ALL; level <= BARYON_OPTIMIZE_EXTENDED; level++) {
        struct baryon_run *run;
        options = (struct baryon_session_options){.size = sizeof options,
                                                  .threads = 1,
                                                  .optimization = (enum baryon_optimization)level,
                                                  .providers = cpu,
                                                  .provider_count = 1,
                                                  .deterministic = true,
                                                  .low_memory = true};
        struct baryon_session *session = open_it(add_model(), &options);
        ok(baryon_session_run(session, &x, 1, NULL, 0, &run, &err));
        assert_sum(baryon_run_output(run, 0));
        baryon_run_free(run);
        baryon_session_close(session);
    }
    options.optimization = (enum baryon_optimization)4;
    refused_options(&options, BARYON_ERR_USAGE, "optimization 4, must be 0 to 3");
    options = (struct baryon_session_options){
        .size = sizeof options, .providers = wrong, .provider_count = 1};
    refused_options(&options, BARYON_ERR_USAGE,
                    "unknown execution provider 'cpus'; did you mean 'cpu'?");
    options = (struct baryon_session_options){.size = sizeof options, .onnxruntime = "/nowhere"};
    refused_options(&options, BARYON_ERR_DEPENDENCY,
                    "the path for ONNX Runtime is '/nowhere': No such file or directory");
    options.size = 3;
    refused_options(&options, BARYON_ERR_USAGE,
                    "options with a size of 3, must be the size of the struct");
}

static void count_lines(void *context, const char *text)
{
    if (strncmp(text, "ONNX Runtime: ", 14) == 0)
        ++*(int *)context;
}

/* ONNX Runtime warns about initializers that nothing reads. */
static void test_log(void **state)
{
    (void)state;
    int lines = 0;
    const struct baryon_session_options options = {
        .size = sizeof options, .log = count_lines, .log_context = &lines};
    struct baryon_model *model = add_model();
    const float one[] = {1};
    struct baryon_tensor *tensor =
        baryon_tensor_new(model, "unused", FLOAT, NULL, 0, one, sizeof one, &err);
    assert_non_null(tensor);
    assert_non_null(baryon_graph_add_initializer(baryon_model_graph(model), tensor, &err));
    baryon_session_close(open_it(model, &options));
    assert_true(lines > 0);
}

static void test_trace(void **state)
{
    (void)state;
    struct baryon_model *model = add_model();
    struct baryon_value *minus = baryon_graph_find_value(baryon_model_graph(model), "minus");
    const char *symbol;
    assert_int_equal(baryon_value_rank(minus), -1);
    /* Without baryon_model_infer() everything is asked of ONNX Runtime. */
    ok(baryon_model_trace(model, NULL, 0, NULL, &err));
    assert_int_equal(baryon_value_type(minus), FLOAT);
    assert_int_equal(baryon_value_rank(minus), 2);
    assert_int_equal(baryon_value_dim(minus, 1, NULL), 2);
    ok(baryon_model_infer(model, &err));
    ok(baryon_model_trace(model, &x, 1, NULL, &err));
    assert_int_equal(baryon_value_dim(minus, 0, &symbol), -1);
    assert_string_equal(symbol, "N");
    const struct baryon_session_options wrong = {.size = 1};
    assert_int_equal(baryon_model_trace(model, &x, 1, &wrong, &err), -1);
    baryon_model_free(model);
}

/* Softmax over and over, so that most of a run is inside the runtime. */
static struct baryon_model *busy_model(void)
{
    struct baryon_model *model;
    ok(baryon_model_new(&model, 10, 21, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    const int64_t big[] = {20, 1000};
    struct baryon_value *value = baryon_graph_add_input(graph, "x", FLOAT, big, NULL, 2, &err);
    for (int i = 0; i < 400; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        value = baryon_node_output(add_node(graph, "Softmax", value, NULL, name), 0);
    }
    ok(baryon_value_make_output(value, FLOAT, big, NULL, 2, &err));
    return model;
}

static void *cancel_soon(void *session)
{
    nanosleep(&(struct timespec){0, 5000000}, NULL);
    baryon_session_cancel(session);
    return NULL;
}

/* However long a thread sleeps, the run that it meets ends, or the next one. */
static int run_until_stopped(struct baryon_session *session, const struct baryon_array *feed)
{
    struct baryon_run *run;
    while (baryon_session_run(session, feed, 1, NULL, 0, &run, &err) == 0)
        baryon_run_free(run);
    return -1;
}

static void test_cancel(void **state)
{
    (void)state;
    const int64_t big[] = {20, 1000};
    float *zeros = calloc(20000, sizeof *zeros);
    const struct baryon_array feed = {"x", FLOAT, 2, big, zeros, 80000};
    const struct baryon_session_options options = {.size = sizeof options, .threads = 1};
    struct baryon_session *session = open_it(busy_model(), &options);
    struct baryon_run *run;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, cancel_soon, session), 0);
    assert_error(run_until_stopped(session, &feed), BARYON_ERR_CANCELLED, "the run was cancelled");
    pthread_join(thread, NULL);
    assert_error(baryon_session_run(session, &feed, 1, NULL, 0, &run, &err), BARYON_ERR_CANCELLED,
                 "the run was cancelled");
    baryon_session_resume(session);
    ok(baryon_session_run(session, &feed, 1, NULL, 0, &run, &err));
    baryon_run_free(run);
    baryon_session_close(session);
    free(zeros);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_bytes_and_files),
        cmocka_unit_test(test_links),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
