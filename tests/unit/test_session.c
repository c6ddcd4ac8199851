/* Tests opening models as sessions, their options, threads and cancellation. */
#include "engine_build.h"

#include "base/log.h"
#include "engine/ort.h"
#include "onnx/save.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

/* --- ports --- */

static void test_ports(void **state)
{
    (void)state;
    struct by_session *session = open_model(add_model(), NULL);
    size_t count;
    const struct by_port *inputs = by_session_inputs(session, &count);
    assert_int_equal(count, 1);
    assert_string_equal(inputs[0].name, "x");
    assert_string_equal(inputs[0].kind, "tensor");
    assert_int_equal(inputs[0].elem, BY_ELEM_FLOAT);
    assert_false(inputs[0].any_rank);
    assert_int_equal(inputs[0].rank, 2);
    assert_int_equal(inputs[0].dims[0], -1);
    assert_string_equal(inputs[0].symbols[0], "N");
    assert_int_equal(inputs[0].dims[1], 2);
    assert_string_equal(inputs[0].symbols[1], "");
    const struct by_port *outputs = by_session_outputs(session, &count);
    assert_int_equal(count, 1);
    assert_string_equal(outputs[0].name, "y");
    by_session_optional_inputs(session, &count);
    assert_int_equal(count, 0);
    assert_memory_equal(by_session_ort(session)->version, "1.", 2);
    by_session_close(session);
}

static void test_scalar_and_unranked(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "s", BY_ELEM_FLOAT, "");
    takes(model, "u", BY_ELEM_FLOAT, NULL);
    gives(model, "sum", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "n", "Add", "s,u", "sum");
    struct by_session *session = open_model(model, NULL);
    size_t count;
    const struct by_port *inputs = by_session_inputs(session, &count);
    assert_false(inputs[0].any_rank);
    assert_int_equal(inputs[0].rank, 0);
    assert_true(inputs[1].any_rank);

    const float s[] = {0.5f};
    const struct by_array feed[] = {FLOATS("s", 0, NULL, s),
                                    FLOATS("u", 2, two_by_two, one_to_four)};
    struct by_run *run = run_ok(session, feed, 2);
    assert_int_equal(output(run, 0)->rank, 2);
    assert_floats(output(run, 0), (const float[]){1.5f, 2.5f, 3.5f, 4.5f}, 4);
    by_run_free(run);

    const struct by_array scalars[] = {FLOATS("s", 0, NULL, s), FLOATS("u", 0, NULL, s)};
    run = run_ok(session, scalars, 2);
    assert_int_equal(output(run, 0)->rank, 0);
    assert_floats(output(run, 0), (const float[]){1}, 1);
    by_run_free(run);

    const struct by_array wrong[] = {FLOATS("s", 2, two_by_two, one_to_four),
                                     FLOATS("u", 0, NULL, s)};
    assert_err(
        by_session_run(session, wrong, 2, NULL, 0, &run, &err), BARYON_ERR_INPUT,
        "input 's': the data is float32 [2,2], the model input is float32 []: the ranks differ");
    by_session_close(session);
}

static void test_optional_inputs(void **state)
{
    (void)state;
    struct baryon_model *model = add_model();
    takes(model, "w", BY_ELEM_FLOAT, "2");
    struct by_session *session = open_model(model, NULL);
    size_t count;
    by_session_inputs(session, &count);
    assert_int_equal(count, 1);
    const struct by_port *optional = by_session_optional_inputs(session, &count);
    assert_int_equal(count, 1);
    assert_string_equal(optional[0].name, "w");

    const float w[] = {100, 200};
    const struct by_array feed[] = {FLOATS("x", 2, two_by_two, one_to_four),
                                    FLOATS("w", 1, two_by_two, w)};
    struct by_run *run = run_ok(session, feed, 1);
    assert_floats(output(run, 0), (const float[]){11, 22, 13, 24}, 4);
    by_run_free(run);
    run = run_ok(session, feed, 2);
    assert_floats(output(run, 0), (const float[]){101, 202, 103, 204}, 4);
    by_run_free(run);
    by_session_close(session);
}

/* --- opening --- */

static void test_bytes(void **state)
{
    (void)state;
    struct baryon_model *model = add_model();
    struct by_str bytes;
    by_str_init(&bytes);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_save_bytes(model, &bytes, &err));
    by_model_free(model);
    struct by_session *session;
    assert_ok(by_session_open_bytes(&session, bytes.text, bytes.size, NULL, &err));
    memset(bytes.text, 0xff, bytes.size);
    const struct by_array x = FLOATS("x", 2, two_by_two, one_to_four);
    struct by_run *run = run_ok(session, &x, 1);
    assert_floats(output(run, 0), (const float[]){11, 22, 13, 24}, 4);
    by_run_free(run);
    by_session_close(session);
    assert_int_equal(by_session_open_bytes(&session, bytes.text, bytes.size, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_null(session);
    by_str_release(&bytes);
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/baryon-session-XXXXXX", path[64], command[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    struct baryon_model *model = add_model();
    assert_ok(by_model_link(model, &err));
    const struct by_save_options external = {.data = BY_SAVE_EXTERNAL, .external_min = 1};
    assert_ok(by_model_save(model, path, &external, &err));
    by_model_free(model);
    struct by_session *session;
    assert_ok(by_session_open(&session, path, NULL, &err));
    const struct by_array x = FLOATS("x", 2, two_by_two, one_to_four);
    struct by_run *run = run_ok(session, &x, 1);
    assert_floats(output(run, 0), (const float[]){11, 22, 13, 24}, 4);
    by_run_free(run);
    by_session_close(session);

    /* The external data file, as any other of ours, is looked at first. */
    snprintf(path, sizeof path, "%s/m.onnx.data", folder);
    assert_int_equal(truncate(path, 3), 0);
    snprintf(path, sizeof path, "%s/m.onnx", folder);
    assert_int_equal(by_session_open(&session, path, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_string_equal(err.file, path);
    snprintf(path, sizeof path, "%s/none.onnx", folder);
    assert_int_equal(by_session_open(&session, path, NULL, &err), -1);
    assert_string_equal(err.file, path);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

static void test_models_that_do_not_run(void **state)
{
    (void)state;
    struct by_session *session;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, "2");
    put_node(model->graph, "n", "NoSuchOperator", "x", "y");
    assert_int_equal(by_session_open_model(&session, model, 0, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.message, "ONNX Runtime cannot open the model: "));
    assert_non_null(strstr(err.message, "NoSuchOperator"));
    by_model_free(model);

    model = new_model();
    takes(model, "x", BY_ELEM_STRING, "2");
    gives(model, "y", BY_ELEM_STRING, "2");
    put_node(model->graph, "n", "Neg", "x", "y");
    assert_int_equal(by_session_open_model(&session, model, 0, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_null(strchr(err.message, '\n'));
    by_model_free(model);
}

/* --- lending --- */

static void expect_last(struct by_session *session, size_t rows)
{
    const struct by_array x = FLOATS("x", 2, ((const int64_t[]){1, 2}), ((const float[]){1, 2}));
    struct by_run *run = run_ok(session, &x, 1);
    const float *last = output(run, 1)->data, *odd = output(run, 2)->data;
    assert_int_equal(output(run, 1)->size, 2 * rows * sizeof *last);
    assert_int_equal(output(run, 2)->size, 2 * rows * sizeof *odd);
    for (size_t i = 0; i < rows; i++) {
        assert_true(last[2 * i] == 12 * (float)i);
        assert_true(last[2 * i + 1] == 23 * (float)i);
        assert_true(odd[2 * i] == (float)i);
    }
    by_run_free(run);
}

/* Whatever is lent, at whatever address; afterwards the model is what it was. */
static void expect_lent(size_t lend_min, const struct by_session_options *options)
{
    static float rows[1024][2];
    static char shifted[1 + sizeof rows];
    for (size_t i = 0; i < 1024; i++)
        rows[i][0] = rows[i][1] = (float)i;
    memcpy(shifted + 1, rows, sizeof rows);
    struct baryon_model *model = add_model();
    const int64_t dims[] = {1024, 2};
    put_weight(model, "even", BY_ELEM_FLOAT, dims, 2, rows, sizeof rows);
    put_weight(model, "odd", BY_ELEM_FLOAT, dims, 2, rows, sizeof rows)->raw_data.data =
        (const uint8_t *)shifted + 1;
    put_weight(model, "unread", BY_ELEM_FLOAT, dims, 2, rows, sizeof rows);
    takes(model, "even", BY_ELEM_FLOAT, "1024,2"); /* one that a run may replace */
    put_node(model->graph, "a", "Mul", "y,even", "z");
    put_node(model->graph, "b", "Add", "z,odd", "last");
    gives(model, "last", BY_ELEM_FLOAT, NULL);
    gives(model, "odd", BY_ELEM_FLOAT, NULL);
    struct by_str before, after;
    by_str_init(&before);
    by_str_init(&after);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_save_bytes(model, &before, &err));
    struct by_session *session;
    assert_ok(by_session_open_model(&session, model, lend_min, options, &err));
    assert_ok(by_model_save_bytes(model, &after, &err));
    assert_int_equal(before.size, after.size);
    assert_memory_equal(before.text, after.text, after.size);
    by_str_release(&before);
    by_str_release(&after);
    by_model_free(model);
    memset(shifted, 0, sizeof shifted);
    memset(rows, 0, sizeof rows);
    expect_last(session, 1024);
    by_session_close(session);
}

static void test_lent_weights(void **state)
{
    const struct by_session_options judging = {
        .optimization = -1, .threads = 1, .few_runs = true, .shares_memory = true};
    (void)state;
    for (size_t lend_min = 1; lend_min < 40000; lend_min *= 8) {
        expect_lent(lend_min, NULL);
        expect_lent(lend_min, &judging);
    }
}

#define SQUARE 160

/* y = transposed(transposed(x) + w): the runtime transposes w and leaves the name. */
static struct baryon_model *transposed_model(void)
{
    static float w[SQUARE][SQUARE];
    const int64_t dims[] = {SQUARE, SQUARE};
    struct baryon_model *model = new_model();
    for (size_t i = 0; i < SQUARE; i++)
        for (size_t k = 0; k < SQUARE; k++)
            w[i][k] = (float)(i * SQUARE + k);
    takes(model, "x", BY_ELEM_FLOAT, "160,160");
    gives(model, "y", BY_ELEM_FLOAT, "160,160");
    put_weight(model, "w", BY_ELEM_FLOAT, dims, 2, w, sizeof w);
    struct baryon_node *there = put_node(model->graph, "t", "Transpose", "x", "a");
    put_node(model->graph, "n", "Add", "a,w", "b");
    struct baryon_node *back = put_node(model->graph, "u", "Transpose", "b", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_ints(there, "perm", (const int64_t[]){1, 0}, 2, &err));
    assert_ok(by_node_set_ints(back, "perm", (const int64_t[]){1, 0}, 2, &err));
    return model;
}

static void test_transposed_weights(void **state)
{
    static const float x[SQUARE][SQUARE];
    const int64_t dims[] = {SQUARE, SQUARE};
    const struct by_session_options judging = {
        .optimization = -1, .threads = 1, .few_runs = true, .shares_memory = true};
    (void)state;
    struct by_session *session = open_model(transposed_model(), &judging);
    const struct by_array input = FLOATS("x", 2, dims, x);
    struct by_run *run = run_ok(session, &input, 1);
    const float *y = output(run, 0)->data;
    for (size_t i = 0; i < SQUARE; i++)
        for (size_t k = 0; k < SQUARE; k++)
            assert_true(y[i * SQUARE + k] == (float)(k * SQUARE + i));
    by_run_free(run);
    by_session_close(session);
}

/* What was lent may be given back once the session is open. */
static void test_lent_for_a_while(void **state)
{
    (void)state;
    for (int level = 0; level < 2; level++) {
        static float rows[1024][2];
        for (size_t i = 0; i < 1024; i++)
            rows[i][0] = rows[i][1] = (float)i;
        struct baryon_model *model = add_model();
        const struct by_session_options options = {.optimization = level ? 99 : 0};
        put_weight(model, "rows", BY_ELEM_FLOAT, (const int64_t[]){1024, 2}, 2, NULL, sizeof rows)
            ->raw_data.data = (const uint8_t *)rows;
        put_node(model->graph, "a", "Add", "y,rows", "z");
        gives(model, "z", BY_ELEM_FLOAT, NULL);
        struct by_session *session;
        assert_ok(by_session_open_model(&session, model, 1024, &options, &err));
        by_model_free(model);
        memset(rows, 0xff, sizeof rows);
        const struct by_array x =
            FLOATS("x", 2, ((const int64_t[]){1, 2}), ((const float[]){1, 2}));
        struct by_run *run = run_ok(session, &x, 1);
        for (size_t i = 0; i < 1024; i++)
            assert_true(((const float *)output(run, 1)->data)[2 * i] == 11 + (float)i);
        by_run_free(run);
        by_session_close(session);
    }
}

/* Shapes are read while ONNX Runtime opens the model: small tensors are never lent. */
static void test_lent_shapes(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    const int64_t four[] = {4};
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    gives(model, "y", BY_ELEM_FLOAT, "4");
    put_weight(model, "shape", BY_ELEM_INT64, (const int64_t[]){1}, 1, four, sizeof four);
    put_node(model->graph, "n", "Reshape", "x,shape", "y");
    struct by_session *session;
    assert_ok(by_session_open_model(&session, model, 1, NULL, &err));
    by_model_free(model);
    by_session_close(session);
}

/* --- options --- */

static void refused_option(const struct by_session_options *options, enum baryon_code code,
                           const char *message)
{
    struct by_session *session;
    struct baryon_model *model = add_model();
    int failed = by_session_open_model(&session, model, 0, options, &err);
    by_model_free(model);
    assert_err(failed, code, message);
    assert_null(session);
}

static void test_refused_options(void **state)
{
    (void)state;
    struct by_session_options options = {.optimization = 3};
    refused_option(&options, BARYON_ERR_USAGE,
                   "optimization level 3, must be 0 (none), 1 (basic), 2 (extended) or 99 (all)");
    options = (struct by_session_options){.threads = 5000};
    refused_option(&options, BARYON_ERR_USAGE, "5000 threads, must be at most 4096");
    static const struct provider_case {
        const char *names[2];
        size_t count;
        const char *message;
    } cases[] = {
        {{"cud"}, 1, "unknown execution provider 'cud'; did you mean 'cuda'?"},
        {{"zzzzzz"}, 1, "unknown execution provider 'zzzzzz'"},
        {{"cpu:x=1"}, 1, "execution provider 'cpu' accepts no settings"},
        {{"cpu:"}, 1, "setting '' of an execution provider, must be KEY=VALUE"},
        {{"cpu:=1"}, 1, "setting '=1' of an execution provider, must be KEY=VALUE"},
        {{"cpu", "cpu"}, 2, "execution provider 'cpu' is given twice"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        options = (struct by_session_options){.providers = cases[i].names,
                                              .provider_count = cases[i].count};
        refused_option(&options, BARYON_ERR_USAGE, cases[i].message);
    }
}

static void test_absent_provider(void **state)
{
    (void)state;
    for (size_t i = 1; by_provider_at(i); i++) {
        const char *const name = by_provider_at(i)->name;
        const struct by_session_options options = {.providers = &name, .provider_count = 1};
        struct by_session *session;
        struct baryon_model *model = add_model();
        int failed = by_session_open_model(&session, model, 0, &options, &err);
        by_model_free(model);
        if (!failed) {
            by_session_close(session);
            continue; /* a library that has it */
        }
        assert_int_equal(err.code, BARYON_ERR_DEPENDENCY);
        assert_non_null(strstr(err.message, name));
        assert_non_null(strstr(err.message, "only cpu"));
    }
}

static void test_options_that_change_nothing(void **state)
{
    (void)state;
    const char *const cpu[] = {"cpu"};
    const struct by_session_options all[] = {
        {.optimization = 0},
        {.optimization = 1, .threads = 1},
        {.optimization = 2, .threads = 2, .branches = 2},
        {.optimization = 99, .deterministic = true},
        {.optimization = -1, .low_memory = true, .providers = cpu, .provider_count = 1},
    };
    const struct by_array x = FLOATS("x", 2, two_by_two, one_to_four);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct by_session *session = open_model(add_model(), &all[i]);
        for (int times = 0; times < 3; times++) {
            struct by_run *run = run_ok(session, &x, 1);
            assert_floats(output(run, 0), (const float[]){11, 22, 13, 24}, 4);
            by_run_free(run);
        }
        by_session_close(session);
    }
}

static void test_op_libraries(void **state)
{
    (void)state;
    const char *none = "/nowhere/ops.so";
    struct by_session_options options = {.op_libraries = &none, .op_library_count = 1};
    struct by_session *session;
    struct baryon_model *model = add_model();
    assert_int_equal(by_session_open_model(&session, model, 0, &options, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_DEPENDENCY);
    assert_string_equal(err.file, none);
    assert_non_null(strstr(err.message, "cannot load the operator library"));
    by_model_free(model);

    const char *ops = beside("../stub/ops.so");
    options.op_libraries = &ops;
    for (int with = 0; with < 2; with++) {
        model = add_model();
        struct baryon_node *node = put_node(model->graph, "n", "Halve", "y", "z");
        node->domain = name_of(model, "test.baryon");
        gives(model, "z", BY_ELEM_FLOAT, NULL);
        assert_ok(by_model_link(model, &err));
        assert_ok(by_model_set_opset(model, "test.baryon", 1, &err));
        if (with)
            break;
        assert_int_equal(by_session_open_model(&session, model, 0, NULL, &err), -1);
        assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
        by_model_free(model);
    }
    session = open_model(model, &options);
    const struct by_array x = FLOATS("x", 2, two_by_two, one_to_four);
    struct by_run *run = run_ok(session, &x, 1);
    assert_floats(output(run, 1), (const float[]){5.5f, 11, 6.5f, 12}, 4);
    by_run_free(run);
    by_session_close(session);
}

struct heard {
    atomic_uint count;
    atomic_bool multiline;
};

static void hear(void *context, enum by_log_level level, const char *text)
{
    struct heard *heard = context;
    assert_true(level <= BY_LOG_INFO);
    heard->count++;
    if (strchr(text, '\n') || strncmp(text, "ONNX Runtime: ", 14) != 0)
        heard->multiline = true;
}

/* The runtime warns of constants that nothing reads, and says much of what it does besides. */
static struct baryon_model *unread_constant_model(void)
{
    struct baryon_model *model = add_model();
    put_floats(model, "unread", "2", 1);
    return model;
}

static void test_log(void **state)
{
    (void)state;
    struct heard loud = {0}, quiet = {0};
    const struct by_log loud_log = {hear, &loud, BY_LOG_DEBUG};
    const struct by_log quiet_log = {hear, &quiet, BY_LOG_NOTICE};
    by_session_close(
        open_model(unread_constant_model(), &(struct by_session_options){.log = &loud_log}));
    by_session_close(
        open_model(unread_constant_model(), &(struct by_session_options){.log = &quiet_log}));
    assert_true(loud.count > 0 && loud.count < 4);
    assert_false(loud.multiline);
    assert_int_equal(quiet.count, 0);
}

/* Has another size than it says, of which the runtime warns in every run. */
static struct baryon_model *wrong_size_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N");
    gives(model, "y", BY_ELEM_FLOAT, "2");
    put_node(model->graph, "abs", "Abs", "x", "y");
    return model;
}

/* With the last session ends what they share; the next one begins anew. */
static void test_shared_memory(void **state)
{
    (void)state;
    const struct by_session_options shares = {.shares_memory = true, .threads = 1};
    for (int round = 0; round < 3; round++) {
        struct by_session *sessions[3];
        for (int i = 0; i < 3; i++)
            sessions[i] = open_model(wrong_size_model(), &shares);
        for (int i = 2; i >= 0; i--) {
            const float values[] = {-1, 2, -3, 4};
            const struct by_array x = FLOATS("x", 1, ((const int64_t[]){4}), values);
            struct by_run *run = run_ok(sessions[i], &x, 1);
            assert_floats(output(run, 0), one_to_four, 4);
            by_run_free(run);
            by_session_close(sessions[i]);
        }
    }
}

static void test_repeated_log(void **state)
{
    (void)state;
    struct heard heard = {0};
    const struct by_log log = {hear, &heard, BY_LOG_INFO};
    struct by_session *session =
        open_model(wrong_size_model(), &(struct by_session_options){.log = &log});
    const float values[] = {1, 2, 3};
    const struct by_array three = FLOATS("x", 1, ((const int64_t[]){3}), values),
                          four = FLOATS("x", 1, ((const int64_t[]){4}), one_to_four);
    const unsigned before = heard.count;
    for (int i = 0; i < 3; i++)
        by_run_free(run_ok(session, &three, 1));
    assert_int_equal(heard.count, before + 1);
    by_run_free(run_ok(session, &four, 1));
    assert_int_equal(heard.count, before + 2);
    by_session_close(session);
}

/* --- cancelling and threads --- */

/* x is doubled in a loop that takes as many rounds as are asked for. */
static struct baryon_model *loop_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "rounds", BY_ELEM_INT64, "");
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    gives(model, "y", BY_ELEM_FLOAT, "2,2");
    struct baryon_node *loop = put_node(model->graph, "loop", "Loop", "rounds,,x", "y");
    struct baryon_graph *body = put_nested(model, loop, "body");
    put_port(model, &body->input, "i", BY_ELEM_INT64, "");
    put_port(model, &body->input, "go", BY_ELEM_BOOL, "");
    put_port(model, &body->input, "state", BY_ELEM_FLOAT, "2,2");
    put_port(model, &body->output, "go_on", BY_ELEM_BOOL, "");
    put_port(model, &body->output, "next", BY_ELEM_FLOAT, "2,2");
    put_node(body, "same", "Identity", "go", "go_on");
    put_node(body, "neg", "Neg", "state", "next");
    return model;
}

struct worker {
    struct by_session *session;
    int64_t rounds;
    struct baryon_error err;
    atomic_bool done;
    bool failed, right;
};

static void *work(void *context)
{
    struct worker *worker = context;
    const struct by_array feed[] = {
        array_of("rounds", BY_ELEM_INT64, 0, NULL, &worker->rounds, sizeof worker->rounds),
        FLOATS("x", 2, two_by_two, one_to_four)};
    struct by_run *run;
    worker->failed = by_session_run(worker->session, feed, 2, NULL, 0, &run, &worker->err) != 0;
    size_t count;
    if (!worker->failed)
        worker->right = ((const float *)by_run_outputs(run, &count)->data)[3] ==
                        (worker->rounds % 2 ? -4.0f : 4.0f);
    by_run_free(run);
    worker->done = true;
    return NULL;
}

static void test_threads_on_one_session(void **state)
{
    (void)state;
    struct worker workers[4];
    pthread_t threads[4];
    struct by_session *session = open_model(loop_model(), NULL);
    for (int64_t i = 0; i < 4; i++) {
        workers[i] = (struct worker){.session = session, .rounds = 200 + i};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_false(workers[i].failed);
        assert_true(workers[i].right);
    }
    by_session_close(session);
}

static void test_cancel(void **state)
{
    (void)state;
    struct by_session *session = open_model(loop_model(), &(struct by_session_options){0});
    struct worker worker = {.session = session, .rounds = INT64_MAX};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, work, &worker), 0);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    assert_false(worker.done);
    by_session_cancel(session);
    pthread_join(thread, NULL);
    assert_true(worker.failed);
    assert_int_equal(worker.err.code, BARYON_ERR_CANCELLED);
    assert_string_equal(worker.err.message, "the run was cancelled");

    worker.rounds = 3;
    work(&worker);
    assert_true(worker.failed);
    assert_int_equal(worker.err.code, BARYON_ERR_CANCELLED);
    by_session_resume(session);
    work(&worker);
    assert_false(worker.failed);
    assert_true(worker.right);
    by_session_close(session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_scalar_and_unranked),
        cmocka_unit_test(test_optional_inputs),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_models_that_do_not_run),
        cmocka_unit_test(test_lent_weights),
        cmocka_unit_test(test_transposed_weights),
        cmocka_unit_test(test_lent_for_a_while),
        cmocka_unit_test(test_lent_shapes),
        cmocka_unit_test(test_refused_options),
        cmocka_unit_test(test_absent_provider),
        cmocka_unit_test(test_options_that_change_nothing),
        cmocka_unit_test(test_op_libraries),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_repeated_log),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_threads_on_one_session),
        cmocka_unit_test(test_cancel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
