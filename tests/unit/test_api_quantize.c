/* Quantization through the public interface: nothing but <baryon.h>. */
#include "api_expect.h"

#include <math.h>

#define FLOAT   1
#define SAMPLES 12
#define WIDTH   4
#define OUTS    2

/* --- A model, and samples for it --- */

static const float weights[WIDTH * OUTS] = {2, 0.5f, -0.25f, 1, 0.125f, -1.5f, 1, -1};

/* x [1,4] -> MatMul w [4,2] -> y -> Relu -> z */
static struct baryon_model *make_model(void)
{
    struct baryon_model *model;
    ok(baryon_model_new(&model, 10, 21, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    const int64_t in[] = {1, WIDTH}, out[] = {1, OUTS}, shape[] = {WIDTH, OUTS};
    const char *const y[] = {"y"}, *const z[] = {"z"};
    struct baryon_value *both[2];
    both[0] = baryon_graph_add_input(graph, "x", FLOAT, in, NULL, 2, &err);
    struct baryon_tensor *tensor =
        baryon_tensor_new(model, "w", FLOAT, shape, 2, weights, sizeof weights, &err);
    both[1] = tensor ? baryon_graph_add_initializer(graph, tensor, &err) : NULL;
    assert_true(both[0] && both[1]);
    struct baryon_node *node =
        baryon_graph_add_node(graph, "MatMul", NULL, "product", both, 2, y, 1, &err);
    assert_non_null(node);
    struct baryon_value *value = baryon_node_output(node, 0);
    node = baryon_graph_add_node(graph, "Relu", NULL, "relu", &value, 1, z, 1, &err);
    assert_non_null(node);
    ok(baryon_value_make_output(baryon_node_output(node, 0), FLOAT, out, NULL, 2, &err));
    return model;
}

/* x [1,4] -> Gemm [4,4] -> Relu -> Gemm [4,2] -> z, inner channels of different size. */
static struct baryon_model *make_pair(void)
{
    static const float first[] = {64, 0.5f,  1,  0.01f, -32, 1,     2, 0.02f,
                                  16, 0.25f, -1, 0.03f, 8,   -0.5f, 1, -0.01f};
    static const int64_t in[] = {1, WIDTH}, out[] = {1, OUTS},
                         shapes[2][2] = {{WIDTH, WIDTH}, {WIDTH, OUTS}};
    static const char *const names[] = {"one", "two"}, *const outs[] = {"p", "z"};
    static const char *const q[] = {"q"};
    struct baryon_model *model;
    ok(baryon_model_new(&model, 10, 21, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    struct baryon_value *both[2];
    both[0] = baryon_graph_add_input(graph, "x", FLOAT, in, NULL, 2, &err);
    for (size_t i = 0; i < 2; i++) {
        struct baryon_tensor *tensor =
            baryon_tensor_new(model, i ? "w2" : "w1", FLOAT, shapes[i], 2, i ? weights : first,
                              i ? sizeof weights : sizeof first, &err);
        assert_non_null(tensor);
        both[1] = baryon_graph_add_initializer(graph, tensor, &err);
        struct baryon_node *node =
            baryon_graph_add_node(graph, "Gemm", NULL, names[i], both, 2, &outs[i], 1, &err);
        assert_non_null(node);
        both[0] = baryon_node_output(node, 0);
        if (i)
            break;
        node = baryon_graph_add_node(graph, "Relu", NULL, "act", both, 1, q, 1, &err);
        assert_non_null(node);
        both[0] = baryon_node_output(node, 0);
    }
    ok(baryon_value_make_output(both[0], FLOAT, out, NULL, 2, &err));
    return model;
}

struct maker {
    size_t again, equalized;
    size_t next, progress, stop_at;
    float values[WIDTH];
    struct baryon_array array;
};

static void fill(float *values, size_t sample)
{
    for (size_t i = 0; i < WIDTH; i++)
        values[i] = (float)((int)(sample * 7 + i * 5) % 13 - 6) / 4;
}

static int make_next(void *context, const struct baryon_array **arrays, size_t *count,
                     const char **name, struct baryon_error *problem)
{
    static const int64_t row[] = {1, WIDTH};
    struct maker *maker = context;
    (void)name, (void)problem;
    if (maker->next == SAMPLES)
        return 0;
    fill(maker->values, maker->next++);
    maker->array = (struct baryon_array){"x", FLOAT, 2, row, maker->values, sizeof maker->values};
    *arrays = &maker->array;
    *count = 1;
    return 0;
}

static int make_again(void *context, struct baryon_error *problem)
{
    struct maker *maker = context;
    (void)problem;
    maker->next = 0;
    maker->again++;
    return 0;
}

static bool watch(void *context, const struct baryon_progress *progress)
{
    struct maker *maker = context;
    const bool equalizes = !strcmp(progress->stage, "equalize");
    assert_true(progress->done <= progress->total);
    maker->equalized += equalizes;
    if (!equalizes && strcmp(progress->stage, "compare") &&
        progress->total != SAMPLES / 2) /* ranges of half of them, where methods are compared */
        assert_int_equal(progress->total, SAMPLES);
    return ++maker->progress != maker->stop_at;
}

/* Settings end with one that has no name; without a maker there are no samples. */
static int quantize(struct baryon_model *model, struct maker *maker,
                    const struct baryon_setting *settings, struct baryon_quantize_summary *summary)
{
    const struct baryon_samples samples = {.size = sizeof samples,
                                           .next = make_next,
                                           .rewind = make_again,
                                           .context = maker,
                                           .count = SAMPLES};
    const struct baryon_quantize_options options = {.size = sizeof options,
                                                    .samples = maker ? &samples : NULL,
                                                    .progress = maker ? watch : NULL,
                                                    .context = maker};
    size_t given = 0;
    while (settings[given].name)
        given++;
    return baryon_quantize(model, settings, given, &options, summary, &err);
}

static size_t nodes_of(struct baryon_model *model, const char *op_type)
{
    struct baryon_graph *graph = baryon_model_graph(model);
    size_t found = 0;
    for (size_t i = 0; i < baryon_graph_node_count(graph); i++) {
        struct baryon_node *node = baryon_graph_node(graph, i);
        found += node && !strcmp(baryon_node_op_type(node), op_type);
    }
    return found;
}

/* --- What comes out --- */

static void assert_close(struct baryon_model *model, float tolerance)
{
    static const int64_t row[] = {1, WIDTH};
    struct baryon_session *session;
    ok(baryon_session_open_model(&session, model, NULL, &err));
    for (size_t sample = 0; sample < SAMPLES; sample++) {
        float x[WIDTH];
        struct baryon_run *run;
        fill(x, sample);
        const struct baryon_array in = {"x", FLOAT, 2, row, x, sizeof x};
        ok(baryon_session_run(session, &in, 1, NULL, 0, &run, &err));
        const float *z = baryon_run_output(run, 0)->data;
        for (size_t k = 0; k < OUTS; k++) {
            float sum = 0;
            for (size_t i = 0; i < WIDTH; i++)
                sum += x[i] * weights[i * OUTS + k];
            assert_true(fabsf(z[k] - fmaxf(sum, 0)) <= tolerance);
        }
        baryon_run_free(run);
    }
    baryon_session_close(session);
}

static void test_in_place(void **state)
{
    (void)state;
    static const struct baryon_setting settings[] = {{"preset", "A8W8"}, {0}};
    struct maker maker = {0};
    struct baryon_quantize_summary summary = {.size = sizeof summary};
    struct baryon_model *model = make_model();
    ok(quantize(model, &maker, settings, &summary));
    assert_int_equal(summary.size, sizeof summary);
    assert_int_equal(summary.quantized_nodes, 2);
    assert_int_equal(summary.float_nodes, 0);
    assert_int_equal(summary.samples, SAMPLES);
    assert_true(summary.multiply_adds == WIDTH * OUTS);
    assert_true(summary.quantized_multiply_adds == summary.multiply_adds);
    assert_true(summary.seconds > 0);
    assert_true(maker.progress >= SAMPLES);
    assert_int_equal(nodes_of(model, "QuantizeLinear"), 2);
    assert_int_equal(nodes_of(model, "DequantizeLinear"), 3);
    ok(baryon_model_check(model, NULL, NULL, NULL, &err));
    assert_close(model, 0.1f);
    baryon_model_free(model);
}

/* The same model from a file becomes the same bytes. */
static void test_file(void **state)
{
    (void)state;
    static const struct baryon_setting settings[] = {{"approach", "weights"}, {0}};
    struct baryon_quantize_summary summary = {.size = sizeof summary};
    struct baryon_model *model = make_model();
    ok(baryon_model_save(model, "m.onnx", NULL, &err));
    baryon_model_free(model);
    ok(baryon_quantize_file("m.onnx", "q.onnx", settings, 1, NULL, &summary, &err));
    assert_int_equal(summary.quantized_nodes, 1);
    assert_int_equal(summary.samples, 0);
    ok(baryon_model_load(&model, "m.onnx", NULL, &err));
    ok(quantize(model, NULL, settings, NULL));
    ok(baryon_model_save(model, "r.onnx", NULL, &err));
    baryon_model_free(model);
    char bytes[2][8192];
    size_t sizes[2];
    for (size_t i = 0; i < 2; i++) {
        FILE *file = fopen(i ? "r.onnx" : "q.onnx", "rb");
        assert_non_null(file);
        sizes[i] = fread(bytes[i], 1, sizeof bytes[i], file);
        fclose(file);
    }
    assert_true(sizes[0] > 0 && sizes[0] < sizeof bytes[0]);
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
}

static void test_spans(void **state)
{
    (void)state;
    static const struct baryon_setting both[] = {
        {"preset", "A8W8"}, {"exclude-between", "product relu"}, {0}};
    static const struct baryon_setting one[] = {
        {"preset", "A8W8"}, {"exclude-between", "product"}, {0}};
    struct maker maker = {0};
    struct baryon_model *model = make_model();
    assert_int_equal(quantize(model, &maker, both, NULL), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    assert_string_equal(err.message, "no node of the model can be quantized with this config");
    baryon_model_free(model);
    model = make_model();
    assert_int_equal(quantize(model, &maker, one, NULL), -1);
    assert_int_equal(err.code, BARYON_ERR_USAGE);
    baryon_model_free(model);
}

static void refused(struct maker *maker, const char *name, const char *value, enum baryon_code code,
                    const char *wanted)
{
    const struct baryon_setting settings[] = {{"preset", "A8W8"}, {name, value}, {0}};
    struct baryon_model *model = make_model();
    assert_error(quantize(model, maker, settings, NULL), code, wanted);
    baryon_model_free(model);
}

static void test_refused(void **state)
{
    (void)state;
    struct maker maker = {0};
    refused(&maker, "presett", "x", BARYON_ERR_USAGE,
            "unknown setting 'presett'; did you mean 'preset'?");
    refused(&maker, "out", "q.onnx", BARYON_ERR_USAGE, "unknown setting 'out'");
    refused(&maker, "stats", "m.stats", BARYON_ERR_USAGE,
            "--stats and samples are both given, only one is allowed");
    refused(NULL, "activation", "int16", BARYON_ERR_USAGE,
            "no samples: give --data PATH; or give statistics of 'baryon calibrate' with --stats "
            "FILE; use --random COUNT for a trial only");
    refused(&maker, "exclude", "nobody", BARYON_ERR_USAGE,
            "--exclude: 'nobody' matches no node of the model");
}

static void test_refused_calls(void **state)
{
    (void)state;
    static const struct baryon_setting settings[] = {{"approach", "weights"}, {0}};
    struct baryon_quantize_summary summary = {.size = 2};
    struct baryon_model *model = make_model();
    assert_error(quantize(model, NULL, settings, &summary), BARYON_ERR_USAGE,
                 "a summary with a size of 2, must be the size of the struct");
    ok(baryon_model_save(model, "n.onnx", NULL, &err));
    baryon_model_free(model);
    assert_error(baryon_quantize_file("n.onnx", NULL, settings, 1, NULL, NULL, &err),
                 BARYON_ERR_USAGE, "no output file is given for the quantized model");
    assert_error(
        baryon_quantize_file("n.onnx", "./n.onnx", settings, 1, NULL, NULL, &err), BARYON_ERR_USAGE,
        "./n.onnx: the output file is the input model; give another file, or set overwrite");
    assert_int_equal(baryon_quantize_file("n.onnx", "no/q.onnx", settings, 1, NULL, NULL, &err),
                     -1);
    assert_int_equal(err.code, BARYON_ERR_IO);
    /* A quantized model is not quantized again. */
    ok(baryon_quantize_file("n.onnx", "q.onnx", settings, 1, NULL, NULL, &err));
    assert_int_equal(baryon_quantize_file("q.onnx", "r.onnx", settings, 1, NULL, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    assert_string_equal(err.file, "q.onnx");
    const struct baryon_quantize_options options = {.size = sizeof options, .overwrite = true};
    ok(baryon_quantize_file("n.onnx", "n.onnx", settings, 1, &options, NULL, &err));
    assert_int_equal(baryon_quantize_file("n.onnx", "r.onnx", settings, 1, NULL, NULL, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
}

/* Samples of a function are read for it, and begin again for calibration. */
static void test_equalization(void **state)
{
    (void)state;
    static const char *const modes[] = {"auto", "exact"};
    for (size_t i = 0; i < 2; i++) {
        const struct baryon_setting settings[] = {
            {"preset", "A8W8"}, {"cle", modes[i]}, {"activation-method-auto", "false"}, {0}};
        struct baryon_quantize_summary summary = {.size = sizeof summary};
        struct maker maker = {0};
        struct baryon_model *model = make_pair();
        ok(quantize(model, &maker, settings, &summary));
        assert_int_equal(summary.samples, SAMPLES);
        assert_int_equal(maker.again, 1);
        assert_int_equal(maker.next, SAMPLES);
        assert_true(maker.equalized > 0);
        baryon_model_free(model);
    }
}

static void test_stop_while_equalizing(void **state)
{
    (void)state;
    static const struct baryon_setting settings[] = {{"preset", "A8W8"}, {0}};
    for (size_t stop = 1; stop < 12; stop++) {
        struct maker maker = {.stop_at = stop};
        struct baryon_model *model = make_pair();
        assert_int_equal(quantize(model, &maker, settings, NULL), -1);
        assert_int_equal(err.code, BARYON_ERR_CANCELLED);
        assert_int_equal(maker.progress, stop);
        baryon_model_free(model);
    }
}

static void test_samples_that_come_once(void **state)
{
    (void)state;
    static const struct baryon_setting automatic = {"preset", "A8W8"};
    static const struct baryon_setting exact[] = {{"preset", "A8W8"}, {"cle", "exact"}};
    struct maker maker = {0};
    struct baryon_quantize_summary summary = {.size = sizeof summary};
    const struct baryon_samples samples = {
        .size = sizeof samples, .next = make_next, .context = &maker, .count = SAMPLES};
    const struct baryon_quantize_options options = {.size = sizeof options, .samples = &samples};
    struct baryon_model *model = make_pair();
    ok(baryon_quantize(model, &automatic, 1, &options, &summary, &err));
    assert_int_equal(summary.samples, SAMPLES);
    baryon_model_free(model);
    maker = (struct maker){0};
    model = make_pair();
    ok(baryon_quantize(model, exact, 2, &options, NULL, &err));
    baryon_model_free(model);
}

/* NULL: not measured. */
static struct baryon_quality *measure(const char *setting, const char *value, bool rewinds)
{
    const struct baryon_setting settings[] = {{"preset", "A8W8"}, {"cle", "off"}, {setting, value}};
    struct maker maker = {0};
    struct baryon_quality *quality = NULL;
    const struct baryon_samples samples = {.size = sizeof samples,
                                           .next = make_next,
                                           .rewind = rewinds ? make_again : NULL,
                                           .context = &maker,
                                           .count = SAMPLES};
    const struct baryon_quantize_options options = {
        .size = sizeof options, .samples = &samples, .quality = &quality};
    struct baryon_model *model = make_pair();
    ok(baryon_quantize(model, settings, setting ? 3 : 2, &options, NULL, &err));
    baryon_model_free(model);
    return quality;
}

static void check_quality(struct baryon_quality *quality, const char *which, uint64_t samples,
                          uint64_t first)
{
    const struct baryon_quality_summary *summary = baryon_quality_summary(quality);
    const struct baryon_quality_output *output = baryon_quality_output(quality, 0);
    assert_non_null(summary);
    assert_null(summary->unmeasured);
    assert_string_equal(summary->which, which);
    assert_int_equal(summary->samples, samples);
    assert_int_equal(summary->first_sample, first);
    assert_false(summary->random);
    assert_non_null(strstr(summary->text, "quality: SQNR "));
    assert_string_equal(output->name, "z");
    assert_true(output->sqnr > 10 && output->sqnr < 100 && output->sqnr == summary->worst);
    assert_true(output->rows == samples && output->same_class <= output->rows);
    assert_int_equal(output->nonfinite, 0);
    assert_null(baryon_quality_output(quality, 1));
    baryon_quality_free(quality);
}

static void test_quality(void **state)
{
    (void)state;
    check_quality(measure(NULL, NULL, true), "seen", 3, 9);
    check_quality(measure(NULL, NULL, false), "seen", 3, 9);
    check_quality(measure("limit", "10", true), "unseen", 2, 10);
    assert_null(measure("no-judge", "true", true));
}

/* Who does not take the result does not wait for it. */
static void test_no_quality(void **state)
{
    (void)state;
    static const struct baryon_setting settings[] = {
        {"preset", "A8W8"}, {"cle", "off"}, {"activation-method-auto", "false"}, {0}};
    struct maker maker = {0};
    struct baryon_model *model = make_pair();
    ok(quantize(model, &maker, settings, NULL));
    assert_int_equal(maker.again, 0);
    baryon_model_free(model);
}

static const struct baryon_plan_tensor *find_tensor(const struct baryon_plan *plan,
                                                    const char *name)
{
    const struct baryon_plan_tensor *tensor;
    for (size_t i = 0; (tensor = baryon_plan_tensor(plan, i)); i++)
        if (!strcmp(tensor->name, name))
            return tensor;
    return NULL;
}

static void test_plan(void **state)
{
    (void)state;
    static const struct baryon_setting settings[] = {{"preset", "A8W8"}, {"cle", "off"}};
    struct maker maker = {0};
    const struct baryon_samples samples = {
        .size = sizeof samples, .next = make_next, .context = &maker, .count = SAMPLES};
    struct baryon_plan *alone, *with;
    struct baryon_quantize_options options = {.size = sizeof options, .samples = &samples};
    struct baryon_model *model = make_pair();
    ok(baryon_plan_make(&alone, model, settings, 2, &options, &err));
    baryon_model_free(model);
    maker = (struct maker){0};
    options.plan = &with;
    model = make_pair();
    ok(baryon_quantize(model, settings, 2, &options, NULL, &err));
    baryon_model_free(model);
    size_t rows = 0;
    for (const struct baryon_plan_tensor *one; (one = baryon_plan_tensor(alone, rows)); rows++) {
        const struct baryon_plan_tensor *other = find_tensor(with, one->name);
        assert_non_null(other);
        assert_string_equal(one->type, other->type);
        assert_true(one->scale == other->scale && one->zero_point == other->zero_point);
    }
    assert_true(rows > 2);
    assert_string_equal(baryon_plan_node(alone, 0)->state, "quantized");
    assert_non_null(baryon_plan_stage(with, 0));
    assert_true(strlen(baryon_plan_stage(with, 0)->name) > 0);
    baryon_plan_free(alone);
    baryon_plan_free(with);

    model = make_pair();
    assert_error(baryon_plan_make(&alone, model, settings, 2, &options, &err), BARYON_ERR_USAGE,
                 "the plan is requested twice");
    assert_null(alone);
    baryon_model_free(model);
}

static void test_stop(void **state)
{
    (void)state;
    /* With so many threads all samples have begun by then. */
    for (int many = 0; many < 2; many++) {
        const struct baryon_setting settings[] = {
            {"preset", "A8W8"}, {"threads", many ? "16" : "1"}, {0}};
        struct maker maker = {.stop_at = 3};
        struct baryon_model *model = make_model();
        assert_int_equal(quantize(model, &maker, settings, NULL), -1);
        assert_int_equal(err.code, BARYON_ERR_CANCELLED);
        assert_int_equal(maker.progress, 3);
        baryon_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_file),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_refused_calls),
        cmocka_unit_test(test_equalization),
        cmocka_unit_test(test_stop_while_equalizing),
        cmocka_unit_test(test_samples_that_come_once),
        cmocka_unit_test(test_quality),
        cmocka_unit_test(test_no_quality),
    };
    return cmocka_run_group_tests(tests, api_enter, api_leave);
}
