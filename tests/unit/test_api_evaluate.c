/* Evaluation through the public interface: nothing but <baryon.h>. */
#include "api_expect.h"

#include <math.h>

#define FLOAT 1

/* x [1,4] -> x * w -> y */
static struct baryon_model *scale_model(float factor)
{
    struct baryon_model *model;
    ok(baryon_model_new(&model, 10, 21, &err));
    struct baryon_graph *graph = baryon_model_graph(model);
    const int64_t dims[] = {1, 4};
    const char *const out = "y";
    struct baryon_value *x = baryon_graph_add_input(graph, "x", FLOAT, dims, NULL, 2, &err);
    struct baryon_tensor *tensor =
        baryon_tensor_new(model, "w", FLOAT, NULL, 0, &factor, sizeof factor, &err);
    struct baryon_value *inputs[] = {x, baryon_graph_add_initializer(graph, tensor, &err)};
    struct baryon_node *node =
        baryon_graph_add_node(graph, "Mul", NULL, "mul", inputs, 2, &out, 1, &err);
    assert_non_null(node);
    ok(baryon_value_make_output(baryon_node_output(node, 0), FLOAT, dims, NULL, 2, &err));
    return model;
}

struct source {
    unsigned next, count;
    float values[4];
    struct baryon_array array;
};

static int next(void *context, const struct baryon_array **arrays, size_t *count, const char **name,
                struct baryon_error *why)
{
    static const int64_t dims[] = {1, 4};
    struct source *source = context;
    (void)name;
    (void)why;
    if (source->next++ >= source->count)
        return 0;
    for (unsigned i = 0; i < 4; i++)
        source->values[i] = (float)(source->next * (i + 1));
    source->array =
        (struct baryon_array){"x", FLOAT, 2, dims, source->values, sizeof source->values};
    *arrays = &source->array;
    *count = 1;
    return 0;
}

static const struct baryon_score *find(const struct baryon_evaluation *evaluation,
                                       const char *metric)
{
    const struct baryon_score *score;
    for (size_t i = 0; (score = baryon_evaluation_score(evaluation, i)); i++)
        if (!strcmp(score->metric, metric))
            return score;
    fail_msg("no %s", metric);
    return NULL;
}

static bool stop_at_two(void *context, const struct baryon_progress *progress)
{
    (void)context;
    assert_string_equal(progress->stage, "evaluate");
    return progress->done < 2;
}

/* A factor of 1.5 instead of 1: errors are half of the values 1, 2, 3, 4 and 2, 4, 6, 8. */
static void test_models(void **state)
{
    (void)state;
    struct source source = {.count = 2};
    const struct baryon_samples samples = {
        .size = sizeof samples, .next = next, .context = &source, .count = 2};
    const struct baryon_evaluate_options options = {.size = sizeof options, .samples = &samples};
    const struct baryon_setting settings[] = {{"min", "cosine=0.9"}};
    struct baryon_model *one = scale_model(1), *other = scale_model(1.5F);
    struct baryon_evaluation *evaluation;
    ok(baryon_evaluate_models(&evaluation, one, other, settings, 1, &options, &err));
    assert_int_equal(baryon_evaluation_samples(evaluation), 2);
    const struct baryon_score *score = find(evaluation, "max-error");
    assert_string_equal(score->output, "y");
    assert_true(score->mean == 3 && score->worst == 4 && !score->higher && !score->missed);
    assert_string_equal(score->worst_sample, "sample-1");
    assert_true(find(evaluation, "cosine")->mean == 1);
    assert_true(fabs(find(evaluation, "sqnr")->mean - 10 * log10(4)) < 1e-12);
    baryon_evaluation_free(evaluation);
    baryon_model_free(one);
    baryon_model_free(other);
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* The last of four classes is on top in each sample; labels go on from sample to sample. */
static void check_labels(const char *text, double accuracy)
{
    struct source source = {.count = 3};
    const struct baryon_samples samples = {
        .size = sizeof samples, .next = next, .context = &source, .count = 3};
    const struct baryon_evaluate_options options = {.size = sizeof options, .samples = &samples};
    char path[] = "/tmp/baryon-labels-XXXXXX";
    close(mkstemp(path));
    put_text(path, text);
    const struct baryon_setting settings[] = {{"labels", path}};
    struct baryon_model *one = scale_model(1), *other = scale_model(1.5F);
    struct baryon_evaluation *evaluation;
    ok(baryon_evaluate_models(&evaluation, one, other, settings, 1, &options, &err));
    assert_true(fabs(find(evaluation, "accuracy")->mean - accuracy) < 1e-12);
    assert_true(fabs(find(evaluation, "baseline-accuracy")->mean - accuracy) < 1e-12);
    baryon_evaluation_free(evaluation);
    baryon_model_free(one);
    baryon_model_free(other);
    unlink(path);
}

static void test_labels(void **state)
{
    (void)state;
    check_labels("3\n3\n3\n", 1);
    check_labels("3,0;3", 2 / 3.0);
    check_labels("0\t1 3\r\n", 1 / 3.0);
}

static void test_goal_missed(void **state)
{
    (void)state;
    struct source source = {.count = 1};
    const struct baryon_samples samples = {
        .size = sizeof samples, .next = next, .context = &source, .count = 1};
    const struct baryon_evaluate_options options = {.size = sizeof options, .samples = &samples};
    const struct baryon_setting settings[] = {{"max", "l2.worst=0.5"}, {"max", "cosine=2"}};
    struct baryon_model *one = scale_model(1), *other = scale_model(1.5F);
    struct baryon_evaluation *evaluation;
    assert_error(baryon_evaluate_models(&evaluation, one, other, settings, 2, &options, &err),
                 BARYON_ERR_GOAL, "output 'y': the worst l2 is 2.738613, must be at most 0.5");
    assert_true(find(evaluation, "l2")->missed);
    assert_false(find(evaluation, "cosine")->missed);
    baryon_evaluation_free(evaluation);
    baryon_model_free(one);
    baryon_model_free(other);
}

static void test_stopped(void **state)
{
    (void)state;
    struct source source = {.count = 5};
    const struct baryon_samples samples = {
        .size = sizeof samples, .next = next, .context = &source, .count = 5};
    const struct baryon_evaluate_options options = {
        .size = sizeof options, .samples = &samples, .progress = stop_at_two};
    struct baryon_model *one = scale_model(1), *other = scale_model(1);
    struct baryon_evaluation *evaluation;
    assert_error(baryon_evaluate_models(&evaluation, one, other, NULL, 0, &options, &err),
                 BARYON_ERR_CANCELLED, "stopped after 2 samples");
    assert_null(evaluation);
    baryon_model_free(one);
    baryon_model_free(other);
}

static void put(const char *path, float value)
{
    char header[128] =
        "\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    for (size_t i = 10 + strlen(header + 10); i < 127; i++)
        header[i] = ' ';
    header[127] = '\n';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(header, 1, sizeof header, file), sizeof header);
    assert_int_equal(fwrite(&value, sizeof value, 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static void test_folders(void **state)
{
    (void)state;
    struct baryon_evaluation *evaluation;
    assert_int_equal(system("mkdir one two"), 0);
    put("one/a.npy", 3);
    put("two/a.npy", 1);
    ok(baryon_evaluate_folders(&evaluation, "one", "two", NULL, 0, NULL, &err));
    const struct baryon_score *score = find(evaluation, "l2");
    assert_null(score->output);
    assert_true(score->mean == 2);
    assert_string_equal(score->worst_sample, "a.npy");
    baryon_evaluation_free(evaluation);

    const struct baryon_setting labels[] = {{"labels", "labels.txt"}}, data[] = {{"data", "x"}};
    assert_error(baryon_evaluate_folders(&evaluation, "one", "two", labels, 1, NULL, &err),
                 BARYON_ERR_USAGE, "--labels is not valid for folders of results");
    assert_error(baryon_evaluate_folders(&evaluation, "one", "two", data, 1, NULL, &err),
                 BARYON_ERR_USAGE, "unknown setting 'data'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_goal_missed),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test_setup_teardown(test_folders, api_enter, api_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
