/* Profiles of quantized models, and their comparison, on models that are built here. */
#include "engine_build.h"

#include "compare/compare.h"
#include "ir/infer.h"

#include <math.h>

/* --- Names --- */

static void test_names(void **state)
{
    static const struct {
        const char *name, *bare;
    } rows[] = {
        {"conv", "conv"},
        {"conv_quantized", "conv"},
        {"conv_QuantizeLinear_Output", "conv"},
        {"conv_QuantizeLinear_Input", "conv"},
        {"conv_DequantizeLinear_Output_2", "conv"},
        {"conv_DequantizeLinear_Output_QuantizeLinear_Input", "conv"},
        {"w_Q4", "w"},
        {"conv_2", "conv_2"},
        {"conv_quantized_2_quantized", "conv"},
        {"_quantized", "_quantized"},
        {"1", "1"},
        {"_1", "_1"},
        {"", ""},
    };
    struct by_arena arena;
    (void)state;
    by_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(by_profile_name(&arena, rows[i].name, &err), rows[i].bare);
    by_arena_release(&arena);
}

/* --- What stored constants mean --- */

static void expect_values(const struct by_profile_tensor *tensor, const float *wanted, size_t many)
{
    struct by_arena arena;
    float *values;
    size_t count;
    by_arena_init(&arena, 0);
    assert_ok(by_profile_values(tensor, &arena, &values, &count, &err));
    assert_int_equal(values != NULL, wanted != NULL);
    for (size_t i = 0; wanted && i < many; i++)
        assert_true(values[i] == wanted[i]);
    by_arena_release(&arena);
}

static struct by_params params_of(float *scales, int64_t *zeros, size_t count, int axis)
{
    return (struct by_params){.count = count, .scales = scales, .zeros = zeros, .axis = axis};
}

static void test_values(void **state)
{
    static const int8_t integers[] = {1, 2, 3, 4, 5, 6, 7, 8};
    static const int64_t dims[] = {4, 2};
    static const float floats[] = {0.3f, -0.3f, 0.74f, 0.76f, 100, -100, 0.25f, 0.75f};
    struct baryon_model *model = new_model();
    float scales[] = {0.5f, 1, 2, 4};
    int64_t zeros[] = {0, 1, 0, 1}, none[4] = {0};
    struct by_profile_tensor tensor = {.elem = BY_ELEM_INT8};
    (void)state;
    tensor.stored =
        by_tensor_new(model, "w", BY_ELEM_INT8, dims, 2, integers, sizeof integers, &err);
    tensor.params = params_of(scales, none, 1, -1);
    expect_values(&tensor, (const float[]){0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f, 4}, 8);
    tensor.params = params_of(scales, zeros, 4, 0);
    expect_values(&tensor, (const float[]){0.5f, 1, 2, 3, 10, 12, 24, 28}, 8);
    tensor.params = params_of(scales, zeros, 2, 1);
    expect_values(&tensor, (const float[]){0.5f, 1, 1.5f, 3, 2.5f, 5, 3.5f, 7}, 8);
    tensor.block = 2; /* rows 0 and 1, rows 2 and 3; both columns have scales of their own */
    tensor.params = params_of(scales, none, 4, 0);
    expect_values(&tensor, (const float[]){0.5f, 2, 1.5f, 4, 10, 24, 14, 32}, 8);
    tensor.params = params_of(scales, none, 3, 0); /* does not fit */
    expect_values(&tensor, NULL, 0);
    tensor.block = 0;
    tensor.params = params_of(scales, none, 4, 2);
    expect_values(&tensor, NULL, 0);
    scales[0] = NAN;
    tensor.params = params_of(scales, none, 1, -1);
    expect_values(&tensor, NULL, 0);
    scales[0] = 0.5f; /* floats round to levels, ties to even */
    tensor.stored = by_tensor_new(model, "f", BY_ELEM_FLOAT, dims, 2, floats, sizeof floats, &err);
    expect_values(&tensor, (const float[]){0.5f, -0.5f, 0.5f, 1, 63.5f, -64, 0, 1}, 8);
    tensor.params.count = 0;
    expect_values(&tensor, NULL, 0);
    by_model_free(model);
}

/* --- Profiles --- */

static void put_integers(struct baryon_model *model, const char *name, int64_t elem, int8_t value,
                         const int64_t *dims, size_t rank)
{
    int8_t values[64];
    size_t count = 1;
    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    memset(values, value, sizeof values);
    push(model, &model->graph->initializer,
         by_tensor_new(model, name, elem, dims, rank, values, count, &err));
}

static void put_scale(struct baryon_model *model, const char *name, float value)
{
    push(model, &model->graph->initializer,
         by_tensor_new(model, name, BY_ELEM_FLOAT, NULL, 0, &value, sizeof value, &err));
}

/* x -> Q -> DQ -> MatMul(w) -> y, with that scale and zero point of x, of that type. */
static struct baryon_model *pair_model(int64_t elem, float scale, int8_t zero, float step)
{
    static const int64_t dims[] = {4, 2};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "3,4");
    put_scale(model, "s", scale);
    put_integers(model, "z", elem, zero, NULL, 0);
    put_scale(model, "ws", step);
    put_integers(model, "wz", BY_ELEM_INT8, 0, NULL, 0);
    put_integers(model, "w_quantized", BY_ELEM_INT8, 10, dims, 2);
    put_node(model->graph, "q", "QuantizeLinear", "x,s,z", "x_quantized");
    put_node(model->graph, "dq", "DequantizeLinear", "x_quantized,s,z", "x_dequantized");
    put_node(model->graph, "dw", "DequantizeLinear", "w_quantized,ws,wz", "w_dequantized");
    put_node(model->graph, "fc", "MatMul", "x_dequantized,w_dequantized", "y");
    put_output(model->graph, "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    return model;
}

static void test_profile(void **state)
{
    struct by_profile profile;
    struct baryon_model *model = pair_model(BY_ELEM_INT8, 0.5f, 3, 0.25f);
    (void)state;
    assert_ok(by_profile_open(&profile, model, &err));
    assert_int_equal(profile.tensors.count, 2);
    const struct by_profile_tensor *x = &profile.tensors.at[by_profile_find(&profile, "x")];
    assert_true(x->role == BY_ROLE_ACTIVATION && x->params.count == 1);
    assert_true(x->params.scales[0] == 0.5f && x->params.zeros[0] == 3);
    const struct by_profile_tensor *w = &profile.tensors.at[by_profile_find(&profile, "w")];
    assert_true(w->role == BY_ROLE_WEIGHT && w->params.scales[0] == 0.25f && w->stored);
    assert_int_equal(profile.layers.count, 1);
    const struct by_profile_layer *layer = &profile.layers.at[0];
    assert_string_equal(layer->data.type.name, "int8");
    assert_string_equal(layer->weight.name, "w");
    assert_true(layer->bits == 8 && layer->macs == 3 * 4 * 2 && !layer->open);
    assert_int_equal(profile.forms[BY_QUANT_QDQ], 3);
    assert_int_equal(profile.ops.count, 3);
    assert_string_equal(profile.ops.at[0].op_type, "DequantizeLinear");
    by_profile_close(&profile);
    by_model_free(model);
}

/* --- Comparisons --- */

static void expect_difference(struct baryon_model *one, struct baryon_model *other,
                              enum by_difference x, enum by_difference w, double ratio)
{
    struct by_comparison *comparison;
    const struct by_compare_model a = {one, "a", 0}, b = {other, "b", 0};
    assert_ok(by_compare_open(&comparison, &a, &b, &err));
    assert_int_equal(comparison->tensors.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct by_tensor_pair *pair = &comparison->tensors.at[i];
        assert_int_equal(pair->difference, strcmp(pair->name, "x") ? w : x);
        if (!strcmp(pair->name, "x"))
            assert_true(fabs(pair->ratio - ratio) < 1e-6);
    }
    assert_true(comparison->tensors.at[0].difference >= comparison->tensors.at[1].difference);
    by_compare_close(comparison);
    by_model_free(one);
    by_model_free(other);
}

static struct baryon_model *usual(void)
{
    return pair_model(BY_ELEM_INT8, 0.5f, 0, 0.25f);
}

static void test_differences(void **state)
{
    (void)state;
    expect_difference(usual(), usual(), BY_DIFFERS_NOT, BY_DIFFERS_NOT, 1);
    expect_difference(usual(), pair_model(BY_ELEM_INT8, 1, 0, 0.25f), BY_DIFFERS_SCALE,
                      BY_DIFFERS_NOT, 2);
    expect_difference(usual(), pair_model(BY_ELEM_INT8, 0.5f, 5, 0.125f), BY_DIFFERS_ZERO,
                      BY_DIFFERS_SCALE, 1);
    /* -128 of uint8's byte is 128: the levels are those of int8. */
    expect_difference(usual(), pair_model(BY_ELEM_UINT8, 0.5f, -128, 0.25f), BY_DIFFERS_SIGN,
                      BY_DIFFERS_NOT, 1);
    expect_difference(usual(), pair_model(BY_ELEM_UINT8, 0.5f, 0, 0.25f), BY_DIFFERS_ZERO,
                      BY_DIFFERS_NOT, 1);
}

/* The weight of B is 9/10 of A's: 20 dB. */
static void test_weights_and_float(void **state)
{
    struct by_comparison *comparison;
    struct baryon_model *one = usual(), *other = pair_model(BY_ELEM_INT8, 0.5f, 0, 0.225f);
    const struct by_compare_model a = {one, "a", 0}, b = {other, "b", 0};
    (void)state;
    assert_ok(by_compare_open(&comparison, &a, &b, &err));
    assert_string_equal(comparison->tensors.at[0].name, "w");
    assert_true(fabs(comparison->tensors.at[0].sqnr - 20) < 1e-4);
    assert_int_equal(comparison->layers_alike, 1);
    assert_int_equal(comparison->only_a + comparison->only_b, 0);
    by_compare_close(comparison);
    by_model_free(other);

    other = new_model();
    takes(other, "x", BY_ELEM_FLOAT, "3,4");
    put_floats(other, "w", "4,2", 2.5f);
    put_node(other->graph, "fc", "MatMul", "x,w", "y");
    put_output(other->graph, "y");
    assert_ok(by_model_link(other, &err));
    assert_ok(by_model_infer(other, NULL, &err));
    const struct by_compare_model floats = {other, "float", 0};
    assert_ok(by_compare_open(&comparison, &floats, &a, &err));
    assert_int_equal(comparison->differences[BY_DIFFERS_PLACE], 2);
    assert_string_equal(comparison->tensors.at[0].type_a, "float32");
    assert_true(comparison->layers.at[0].differs && comparison->layers.at[0].share == 1);
    for (size_t i = 0; i < 2; i++)
        if (!strcmp(comparison->tensors.at[i].name, "w"))
            assert_true(isinf(comparison->tensors.at[i].sqnr)); /* 10 * 0.25 */
    by_compare_close(comparison);
    assert_err(by_compare_open(&comparison, &floats, &floats, &err), BARYON_ERR_INPUT,
               "float and float are both not quantized; 'baryon evaluate' compares outputs of "
               "float models");
    by_model_free(one);
    by_model_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_differences),
        cmocka_unit_test(test_weights_and_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
