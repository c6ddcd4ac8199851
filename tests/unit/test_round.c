/* A layer's solver: which nodes it takes, and what it makes of samples, against plain loops. */
#include "engine_build.h"

#include "ir/infer.h"
#include "quant/params.h"
#include "quant/place.h"
#include "solve/round.h"

#include <math.h>

#define ROOM 256 /* numbers of anything here */

static struct by_recipe recipe;
static struct by_quant_plan *plan;
static struct baryon_model *made;
static struct by_round_scratch *scratch;

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
    };
    recipe.activation.method = recipe.weight.method = recipe.bias.method =
        by_calibrator_find("minmax");
    drawn = 0;
    return by_round_scratch_open(&scratch, NULL, &err);
}

static int finish(void **state)
{
    (void)state;
    by_round_scratch_close(scratch);
    by_quant_plan_close(plan);
    by_model_free(made);
    plan = NULL;
    made = NULL;
    return 0;
}

static struct baryon_node *node_called(const char *name)
{
    for (size_t i = 0; i < made->graph->node.count; i++) {
        struct baryon_node *node = made->graph->node.at[i];
        if (!strcmp(node->name, name))
            return node;
    }
    fail_msg("no node %s", name);
    return NULL;
}

static void make_plan(void)
{
    assert_ok(by_model_link(made, &err));
    assert_ok(by_model_infer(made, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, made, &recipe, &err));
    assert_ok(by_place(plan, NULL, &err));
    for (size_t i = 0; i < plan->rows.count; i++) {
        struct by_quant_row *row = &plan->rows.at[i];
        row->range = (struct by_range){-2, 2, false, NAN};
        row->has_range = row->role == BY_ROLE_ACTIVATION;
    }
    assert_ok(by_quant_find_params(plan, NULL, NULL, &err));
}

/* --- Which nodes --- */

/* x [1,4] to y through a Gemm, and more that a test adds. */
static struct baryon_node *gemm(const char *inputs, const char *weight)
{
    made = new_model();
    takes(made, "x", BY_ELEM_FLOAT, "1,4");
    gives(made, "y", BY_ELEM_FLOAT, NULL);
    put_random(made, "w", weight);
    put_random(made, "b", "4");
    return put_node(made->graph, "layer", strchr(inputs, 'b') ? "Gemm" : "MatMul", inputs, "y");
}

static bool is_taken(const char *name)
{
    struct by_round_layer layer;
    return by_round_layer_of(plan, node_called(name), &layer);
}

static bool gemm_is_taken(void)
{
    make_plan();
    const bool taken = is_taken("layer");
    finish(NULL);
    prepare(NULL);
    return taken;
}

static bool with_float(const char *attribute, float value)
{
    struct baryon_node *node = gemm("x,w,b", "4,4");
    assert_ok(by_model_link(made, &err));
    assert_ok(by_node_set_float(node, attribute, value, &err));
    return gemm_is_taken();
}

static void test_attributes(void **state)
{
    (void)state;
    gemm("x,w,b", "4,4");
    assert_true(gemm_is_taken());
    gemm("x,w", "4,4");
    assert_true(gemm_is_taken());
    assert_true(with_float("alpha", 1));
    assert_false(with_float("alpha", 0.5F));
    assert_false(with_float("beta", 2));
    struct baryon_node *node = gemm("x,w,b", "1,4");
    assert_ok(by_model_link(made, &err));
    assert_ok(by_node_set_int(node, "transA", 1, &err));
    assert_false(gemm_is_taken());
    gemm("x,w", "1,4,4"); /* a batch of weights */
    assert_false(gemm_is_taken());
}

static void test_shared(void **state)
{
    (void)state;
    gemm("x,w,b", "4,4");
    put_node(made->graph, "other", "Gemm", "y,w", "z"); /* the weight */
    gives(made, "z", BY_ELEM_FLOAT, NULL);
    assert_false(gemm_is_taken());
    gemm("x,w,b", "4,4");
    put_random(made, "v", "4,4");
    put_node(made->graph, "other", "Gemm", "y,v,b", "z"); /* the bias: each gets one of its own */
    gives(made, "z", BY_ELEM_FLOAT, NULL);
    make_plan();
    struct by_round_layer one, other;
    assert_true(by_round_layer_of(plan, node_called("layer"), &one));
    assert_true(by_round_layer_of(plan, node_called("other"), &other));
    assert_non_null(one.bias);
    assert_non_null(other.bias);
    assert_ptr_not_equal(one.bias, other.bias);
}

static void test_not_constant(void **state)
{
    (void)state;
    gemm("x,t", "4,4");
    takes(made, "t", BY_ELEM_FLOAT, "4,4");
    assert_false(gemm_is_taken());
    gemm("x,w,bt", "4,4");
    takes(made, "bt", BY_ELEM_FLOAT, "4");
    assert_false(gemm_is_taken());
    gemm("x,w,scalar_b", "4,4"); /* it would have to become four */
    put_random(made, "scalar_b", "1");
    assert_false(gemm_is_taken());
}

static void test_chosen_already(void **state)
{
    (void)state;
    static int32_t integers[16];
    gemm("x,w,b", "4,4");
    make_plan();
    assert_true(is_taken("layer"));
    struct by_quant_row *row = &plan->rows.at[by_quant_find(plan, value_of(made->graph, "w"))];
    row->rounded = integers;
    assert_false(is_taken("layer"));
    row->rounded = NULL;
    row->keep_float = true;
    assert_false(is_taken("layer"));
}

/* --- Samples --- */

struct numbers {
    float x[ROOM], y[ROOM];
    struct by_array in, out;
};

static struct by_array numbers_of(float *values, size_t rank, const int64_t *dims)
{
    struct by_array array = {.name = "x", .elem = BY_ELEM_FLOAT, .rank = rank, .data = values};
    size_t count = 1;
    for (size_t i = 0; i < rank; i++) {
        array.dims[i] = dims[i];
        count *= (size_t)dims[i];
    }
    assert_true(count <= ROOM);
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((int)((i * 37 + drawn++ * 11) % 23) - 9) / 8;
    array.size = count * sizeof *values;
    return array;
}

/* Conv with two groups, 4 channels to 6, windows of 1 x 2 */
static void conv_layer(struct by_round_layer *layer, struct numbers *numbers)
{
    made = new_model();
    takes(made, "x", BY_ELEM_FLOAT, "2,4,1,5");
    gives(made, "y", BY_ELEM_FLOAT, NULL);
    put_random(made, "w", "6,2,1,2");
    put_random(made, "b", "6");
    struct baryon_node *conv = put_node(made->graph, "conv", "Conv", "x,w,b", "y");
    assert_ok(by_model_link(made, &err));
    assert_ok(by_node_set_int(conv, "group", 2, &err));
    make_plan();
    assert_true(by_round_layer_of(plan, conv, layer));
    numbers->in = numbers_of(numbers->x, 4, (const int64_t[]){2, 4, 1, 5});
    numbers->out = numbers_of(numbers->y, 4, (const int64_t[]){2, 6, 1, 4});
}

static double conv_x(const struct numbers *numbers, size_t group, size_t row, size_t column)
{
    const size_t channel = group * 2 + column / 2, at = row % 4 + column % 2;
    return (double)numbers->x[(row / 4 * 4 + channel) * 5 + at];
}

static double conv_y(const struct numbers *numbers, size_t group, size_t row, size_t out)
{
    return (double)numbers->y[(row / 4 * 6 + group * 3 + out) * 4 + row % 4];
}

static void assert_close(double found, double wanted)
{
    if (!(fabs(found - wanted) <= 1e-5 * (1 + fabs(wanted))))
        fail_msg("%.9g is not %.9g", found, wanted);
}

static void test_places(void **state)
{
    (void)state;
    struct by_round_layer layer;
    struct numbers numbers;
    size_t element = 0;
    conv_layer(&layer, &numbers);
    assert_int_equal(layer.groups, 2);
    assert_int_equal(layer.outs, 3);
    assert_int_equal(layer.columns, 4);
    for (size_t g = 0; g < 2; g++) /* a Conv's elements are in this order */
        for (size_t o = 0; o < 3; o++)
            for (size_t c = 0; c < 4; c++)
                assert_int_equal(by_round_element(&layer, g, o, c), element++);
}

static double mean_of(double value(const struct numbers *, size_t, size_t, size_t),
                      const struct numbers *numbers, size_t rows, size_t group, size_t which)
{
    double sum = 0;
    for (size_t row = 0; row < rows; row++)
        sum += value(numbers, group, row, which);
    return sum / (double)rows;
}

/* Rows but for those that are left out, at the end. */
static void check_group(const struct by_round_moments *moments, const struct numbers *numbers,
                        size_t rows, size_t g, bool centred)
{
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 4; k++) {
            double sum = 0;
            for (size_t row = 0; row < rows; row++)
                sum += conv_x(numbers, g, row, i) * conv_x(numbers, g, row, k);
            const double shift = centred ? mean_of(conv_x, numbers, rows, g, i) *
                                               mean_of(conv_x, numbers, rows, g, k)
                                         : 0;
            assert_close((double)moments->gram[(g * 4 + i) * 4 + k], sum / (double)rows - shift);
        }
    for (size_t o = 0; o < 3; o++)
        for (size_t i = 0; i < 4; i++) {
            double sum = 0;
            for (size_t row = 0; row < rows; row++)
                sum += conv_y(numbers, g, row, o) * conv_x(numbers, g, row, i);
            const double shift = centred ? mean_of(conv_y, numbers, rows, g, o) *
                                               mean_of(conv_x, numbers, rows, g, i)
                                         : 0;
            assert_close((double)moments->cross[(g * 3 + o) * 4 + i], sum / (double)rows - shift);
            assert_close(moments->x[g * 4 + i], mean_of(conv_x, numbers, rows, g, i));
            assert_close(moments->y[g * 3 + o], mean_of(conv_y, numbers, rows, g, o));
        }
}

/* Looked at `looks` times, which changes nothing of the means. */
static void check_moments(bool centred, size_t looks, bool spoiled)
{
    struct by_round_layer layer;
    struct by_round_moments moments;
    struct numbers numbers;
    conv_layer(&layer, &numbers);
    if (spoiled) /* the last row of the last image */
        numbers.y[(6 + 4) * 4 + 3] = NAN;
    assert_ok(by_round_moments_init(&moments, &layer, &err));
    for (size_t i = 0; i < looks; i++)
        assert_ok(
            by_round_moments_look(&moments, scratch, &layer, &numbers.in, &numbers.out, i, &err));
    const size_t rows = spoiled ? 7 : 8;
    assert_int_equal(moments.rows, looks * rows);
    assert_int_equal(by_round_left_out(scratch), looks * (8 - rows));
    assert_ok(by_round_moments_finish(&moments, centred, NULL, &err));
    for (size_t g = 0; g < 2; g++)
        check_group(&moments, &numbers, rows, g, centred);
    by_round_moments_release(&moments);
    finish(NULL);
    prepare(NULL);
}

static void test_moments(void **state)
{
    (void)state;
    check_moments(false, 1, false);
    check_moments(true, 1, false);
    check_moments(true, 3, false);
    check_moments(true, 2, true);
}

static void test_errors(void **state)
{
    (void)state;
    struct by_round_layer layer;
    struct numbers numbers;
    float weights[2][24], biases[6];
    double noise[2] = {0}, wanted[2] = {0}, signal = 0;
    conv_layer(&layer, &numbers);
    numbers_of(weights[0], 1, (const int64_t[]){24});
    numbers_of(weights[1], 1, (const int64_t[]){24});
    numbers_of(biases, 1, (const int64_t[]){6});
    const struct by_round_choice choices[2] = {{.weights = weights[0], .biases = biases},
                                               {.weights = weights[1]}};
    struct by_round_errors errors = {.choices = choices, .count = 2, .noise = noise};
    for (size_t g = 0; g < 2; g++)
        for (size_t o = 0; o < 3; o++)
            for (size_t row = 0; row < 8; row++) {
                const double y = conv_y(&numbers, g, row, o);
                signal += y * y;
                for (size_t k = 0; k < 2; k++) {
                    double left = y - (k ? 0 : (double)biases[g * 3 + o]);
                    for (size_t c = 0; c < 4; c++)
                        left -=
                            (double)weights[k][(g * 3 + o) * 4 + c] * conv_x(&numbers, g, row, c);
                    wanted[k] += left * left;
                }
            }
    for (size_t i = 1; i <= 2; i++) {
        assert_ok(
            by_round_errors_look(&errors, scratch, &layer, &numbers.in, &numbers.out, i, &err));
        assert_close(errors.signal, (double)i * signal);
        assert_close(noise[0], (double)i * wanted[0]);
        assert_close(noise[1], (double)i * wanted[1]);
    }
}

static void test_shapes_that_do_not_fit(void **state)
{
    (void)state;
    struct by_round_layer layer;
    struct by_round_moments moments;
    struct numbers numbers;
    conv_layer(&layer, &numbers);
    assert_ok(by_round_moments_init(&moments, &layer, &err));
    numbers.out = numbers_of(numbers.y, 4, (const int64_t[]){2, 6, 1, 3});
    assert_err(by_round_moments_look(&moments, scratch, &layer, &numbers.in, &numbers.out, 0, &err),
               BARYON_ERR_INTERNAL, "layer 'y' gives 36 numbers, not 48");
    assert_int_equal(moments.rows, 0);
    by_round_moments_release(&moments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_attributes, prepare, finish),
        cmocka_unit_test_setup_teardown(test_shared, prepare, finish),
        cmocka_unit_test_setup_teardown(test_not_constant, prepare, finish),
        cmocka_unit_test_setup_teardown(test_chosen_already, prepare, finish),
        cmocka_unit_test_setup_teardown(test_places, prepare, finish),
        cmocka_unit_test_setup_teardown(test_moments, prepare, finish),
        cmocka_unit_test_setup_teardown(test_errors, prepare, finish),
        cmocka_unit_test_setup_teardown(test_shapes_that_do_not_fit, prepare, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
