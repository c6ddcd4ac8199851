/* Tests large weights that stay integers in a session, or floats that sessions share. */
#include "engine_build.h"

#include "engine/dequantize.h"
#include "engine/pair.h"

static const struct by_session_options judging = {
    .optimization = -1, .threads = 1, .as_written = true, .few_runs = true, .shares_memory = true};
static const struct by_session_options plain_options = {
    .optimization = -1, .threads = 1, .as_written = true, .few_runs = true};

struct weight {
    int64_t elem, rows, columns, axis; /* axis -1: one scale */
};

static void put_params(struct baryon_model *model, const struct weight *weight)
{
    const int64_t count = weight->axis < 0 ? 1 : weight->axis == 0 ? weight->rows : weight->columns;
    const int64_t dims[] = {count};
    float scales[2048];
    int8_t zeros[2048];
    assert_true(count <= 2048);
    for (int64_t i = 0; i < count; i++) {
        scales[i] = 0.01f + 0.003f * (float)(i % 7);
        zeros[i] = (int8_t)(i % 5);
    }
    put_weight(model, "s", BY_ELEM_FLOAT, dims, weight->axis >= 0, scales,
               (size_t)count * sizeof *scales);
    put_weight(model, "z", weight->elem, dims, weight->axis >= 0, zeros, (size_t)count);
}

/* y = x times what the levels mean, by the operator; also: v is the negative of the weight. */
static struct baryon_model *make_model(const struct weight *weight, const char *op, bool also)
{
    const int64_t dims[] = {weight->rows, weight->columns};
    const size_t size = (size_t)(weight->rows * weight->columns);
    uint8_t *levels = malloc(size);
    char shape[32];
    struct baryon_model *model = new_model();
    assert_non_null(levels);
    for (size_t i = 0; i < size; i++)
        levels[i] = (uint8_t)(i * 7919 % 253);
    snprintf(shape, sizeof shape, "N,%d", (int)weight->rows);
    takes(model, "x", BY_ELEM_FLOAT, shape);
    gives(model, "y", BY_ELEM_FLOAT, "");
    put_weight(model, "w", weight->elem, dims, 2, levels, size);
    put_params(model, weight);
    free(levels);
    struct baryon_node *node = put_node(model->graph, "d", "DequantizeLinear", "w,s,z", "f");
    put_node(model->graph, "p", op, "x,f", "y");
    if (also) {
        gives(model, "v", BY_ELEM_FLOAT, "");
        put_node(model->graph, "n", "Neg", "f", "v");
    }
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(node, "axis", weight->axis < 0 ? 1 : weight->axis, &err));
    return model;
}

static struct baryon_model *product_model(const struct weight *weight, const char *op)
{
    return make_model(weight, op, false);
}

static struct by_session *open_pairs(struct baryon_model *model)
{
    struct by_session *session;
    assert_ok(by_session_open_pairs(&session, model, &judging, &err));
    by_model_free(model); /* what the session reads stays */
    return session;
}

static void expect_same(struct by_session *got, struct by_session *wanted, int64_t rows)
{
    const int64_t dims[] = {3, rows};
    float *values = malloc((size_t)(3 * rows) * sizeof *values);
    assert_non_null(values);
    for (int64_t i = 0; i < 3 * rows; i++)
        values[i] = draw(9);
    const struct by_array x =
        array_of("x", BY_ELEM_FLOAT, 2, dims, values, (size_t)(3 * rows) * sizeof *values);
    struct by_run *one = run_ok(got, &x, 1), *other = run_ok(wanted, &x, 1);
    assert_int_equal(output(one, 0)->size, output(other, 0)->size);
    assert_memory_equal(output(one, 0)->data, output(other, 0)->data, output(one, 0)->size);
    by_run_free(one);
    by_run_free(other);
    free(values);
}

static void test_products(void **state)
{
    static const struct weight weights[] = {
        {BY_ELEM_INT8, 600, 500, -1}, {BY_ELEM_INT8, 600, 500, 0},  {BY_ELEM_INT8, 600, 500, 1},
        {BY_ELEM_UINT8, 500, 600, 1}, {BY_ELEM_UINT8, 600, 500, 0}, {BY_ELEM_INT8, 2100, 2000, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof weights / sizeof *weights; i++)
        for (int gemm = 0; gemm < 2; gemm++) {
            const char *op = gemm ? "Gemm" : "MatMul";
            struct baryon_model *model = product_model(&weights[i], op);
            assert_ok(by_pairs_fold(model, &err));
            assert_sound(model);
            assert_true(by_dequantize_wanted(model));
            struct by_session *kept = open_pairs(model);
            struct by_session *plain = open_model(product_model(&weights[i], op), &plain_options);
            expect_same(kept, plain, weights[i].rows);
            by_session_close(kept);
            by_session_close(plain);
        }
}

static size_t count_kept(const struct baryon_model *model)
{
    size_t count = 0;
    for (size_t i = 0; i < model->graph->node.count; i++)
        count += model->graph->node.at[i] && by_dequantize_run(model->graph->node.at[i]);
    return count;
}

static void expect_kept(struct baryon_model *model, size_t before, size_t after)
{
    assert_ok(by_pairs_fold(model, &err));
    assert_int_equal(count_kept(model), before);
    assert_ok(by_pairs_fold_largest(model, &err));
    assert_int_equal(count_kept(model), after);
    assert_sound(model);
    by_model_free(model);
}

static void test_which_stay(void **state)
{
    const struct weight large = {BY_ELEM_INT8, 600, 500, -1}, small = {BY_ELEM_INT8, 60, 50, -1},
                        largest = {BY_ELEM_INT8, 2100, 2000, -1};
    (void)state;
    expect_kept(product_model(&large, "MatMul"), 1, 1);
    expect_kept(product_model(&large, "Gemm"), 1, 1);
    expect_kept(product_model(&largest, "MatMul"), 1, 0);
    expect_kept(product_model(&small, "MatMul"), 0, 0);
    expect_kept(product_model(&large, "Add"), 0, 0);
    expect_kept(make_model(&large, "MatMul", true), 0, 0);
}

/* Two sessions of equal weights, the first one closed. */
static void test_shared_weights_stay(void **state)
{
    const struct weight weight = {BY_ELEM_INT8, 2100, 2000, 1};
    struct by_session *sessions[2];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct baryon_model *model = product_model(&weight, "MatMul");
        assert_ok(by_pairs_fold(model, &err));
        sessions[i] = open_pairs(model);
    }
    struct by_session *plain = open_model(product_model(&weight, "MatMul"), &plain_options);
    by_session_close(sessions[0]);
    expect_same(sessions[1], plain, weight.rows);
    by_session_close(sessions[1]);
    by_session_close(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),
        cmocka_unit_test(test_which_stay),
        cmocka_unit_test(test_shared_weights_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
