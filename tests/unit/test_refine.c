/* Rules of hardware: what each moves, how far, and that the plan says why. */
#include "engine_build.h"

#include "ir/infer.h"
#include "quant/refine.h"

#include <math.h>

static struct by_recipe recipe;
static struct by_quant_plan *plan;

static int start(void **state)
{
    (void)state;
    recipe = (struct by_recipe){.hardware = BY_HARDWARE_XINT8, .refine_rounds = 5};
    return 0;
}

/* --- Plans by hand --- */

static void open_plan(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    const size_t count = model->graph->node.count;
    struct by_quant_node *nodes = by_arena_alloc(&plan->arena, count, sizeof *nodes, &err);
    assert_non_null(nodes);
    for (size_t i = 0; i < count; i++)
        nodes[i] =
            (struct by_quant_node){.node = model->graph->node.at[i], .state = BY_NODE_QUANTIZED};
    assert_ok(by_quant_set_nodes(plan, nodes, count, &err));
}

static void close_plan(void)
{
    struct baryon_model *model = plan->model;
    by_quant_plan_close(plan);
    by_model_free(model);
}

/* A row for a value with scale 2^-position, read by everybody who reads the value. */
static size_t put_row(const char *name, enum by_role role, int position)
{
    static float scales[64];
    static int64_t zeros[64];
    struct baryon_value *value = by_graph_value(plan->model->graph, name);
    assert_non_null(value);
    const struct by_tensor_spec spec = {
        .elem = BY_ELEM_INT8, .symmetric = true, .scale = BY_SCALE_POW2};
    const size_t row = by_quant_add(plan, value, role, &spec, "a test", &err);
    assert_true(row < 64);
    scales[row] = ldexpf(1, -position);
    zeros[row] = 0;
    struct by_params *params = &plan->rows.at[row].params;
    params->count = 1;
    params->scales = &scales[row];
    params->zeros = &zeros[row];
    for (size_t i = 0; i < value->use_count; i++)
        assert_ok(by_quant_add_reader(plan, row, value->uses[i].node, value->uses[i].graph,
                                      value->uses[i].slot, &err));
    return row;
}

static int position_of(size_t row)
{
    return by_scale_position(by_quant_params(plan, row)->scales[0]);
}

static const char *rule_of(size_t row)
{
    const struct by_quant_row *at = &plan->rows.at[row];
    return at->remarks.count ? at->remarks.at[at->remarks.count - 1].rule : "";
}

static struct baryon_model *conv_model(const char *activation)
{
    static const float w[4] = {1, 2, 3, 4}, b[2] = {1, 2};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2,3,3");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){2, 2, 1, 1}, 4, w, sizeof w);
    put_weight(model, "b", BY_ELEM_FLOAT, (const int64_t[]){2}, 1, b, sizeof b);
    put_node(model->graph, "conv", "Conv", "x,w,b", activation ? "p" : "y");
    if (activation)
        put_node(model->graph, "act", activation, "p", "y");
    return model;
}

static struct baryon_model *binary_model(const char *op_type)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2");
    takes(model, "z", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "op", op_type, "x,z", "y");
    return model;
}

/* Positions of input, weight, bias, output; those of weight and bias afterwards. */
static void check_conv(const char *activation, const int before[4], int weight, int bias)
{
    open_plan(conv_model(activation));
    put_row("x", BY_ROLE_ACTIVATION, before[0]);
    const size_t w = put_row("w", BY_ROLE_WEIGHT, before[1]);
    const size_t b = put_row("b", BY_ROLE_BIAS, before[2]);
    put_row("y", BY_ROLE_ACTIVATION, before[3]);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(w), weight);
    assert_int_equal(position_of(b), bias);
    assert_string_equal(rule_of(w), weight != before[1] ? "shift-cut" : "");
    assert_string_equal(rule_of(b), bias != before[2] ? "shift-bias" : "");
    close_plan();
}

/* --- Tests --- */

static void test_cut_and_bias(void **state)
{
    (void)state;
    check_conv(NULL, (int[]){4, 6, 8, 3}, 6, 8);     /* cut 7: all is well */
    check_conv(NULL, (int[]){4, 16, 8, 3}, 15, 8);   /* cut 17: the weight goes to 16 */
    check_conv(NULL, (int[]){4, -3, 0, 3}, -1, 0);   /* cut -2: to 0 */
    check_conv(NULL, (int[]){4, 6, -7, 3}, 6, -5);   /* 17 bits above the bias: to 15 */
    check_conv("Relu", (int[]){4, 16, 8, 3}, 15, 8); /* the output is behind the Relu */
}

static void test_bias_before_leaky_relu(void **state)
{
    (void)state;
    check_conv("Relu", (int[]){4, 6, 12, 3}, 6, 12);      /* down to cut - 16 = -9 */
    check_conv("LeakyRelu", (int[]){4, 6, 12, 3}, 6, 10); /* not below 0 */
}

static void test_addition(void **state)
{
    (void)state;
    open_plan(binary_model("Add"));
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 12);
    const size_t z = put_row("z", BY_ROLE_ACTIVATION, 2);
    const size_t y = put_row("y", BY_ROLE_ACTIVATION, 14);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), 9);
    assert_int_equal(position_of(z), 2);
    assert_int_equal(position_of(y), 9);
    assert_string_equal(rule_of(x), "shift-read");
    assert_string_equal(rule_of(y), "shift-write");
    close_plan();
}

static void test_product(void **state)
{
    (void)state;
    open_plan(binary_model("Mul"));
    put_row("x", BY_ROLE_ACTIVATION, 3);
    put_row("z", BY_ROLE_ACTIVATION, 2);
    const size_t y = put_row("y", BY_ROLE_ACTIVATION, 8);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(y), 5);
    assert_string_equal(rule_of(y), "shift-write-mul");
    close_plan();
}

static void test_concat_takes_the_greatest_scale(void **state)
{
    (void)state;
    struct baryon_model *model = binary_model("Concat");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(model->graph->node.at[0], "axis", 0, &err));
    open_plan(model);
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 3);
    const size_t z = put_row("z", BY_ROLE_ACTIVATION, 6);
    const size_t y = put_row("y", BY_ROLE_ACTIVATION, 4);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), 3);
    assert_int_equal(position_of(z), 3);
    assert_int_equal(position_of(y), 3);
    assert_string_equal(rule_of(x), "");
    close_plan();
}

static void test_rules_are_switched_off_by_name(void **state)
{
    (void)state;
    static struct by_pattern off[] = {{"-shift-read", "a test"}, {"-AdjustShiftWrite", "a test"}};
    recipe.refine.at = off;
    recipe.refine.count = 2;
    open_plan(binary_model("Add"));
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 12);
    put_row("z", BY_ROLE_ACTIVATION, 2);
    const size_t y = put_row("y", BY_ROLE_ACTIVATION, 14);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), 12);
    assert_int_equal(position_of(y), 14);
    close_plan();
}

static void test_given_parameters_stay(void **state)
{
    (void)state;
    open_plan(binary_model("Add"));
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 12);
    put_row("z", BY_ROLE_ACTIVATION, 2);
    put_row("y", BY_ROLE_ACTIVATION, 5);
    plan->rows.at[x].has_params = true;
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), 12);
    assert_string_equal(rule_of(x), "shift-read");
    close_plan();
}

static void test_other_hardware_moves_nothing(void **state)
{
    (void)state;
    recipe.hardware = BY_HARDWARE_NONE;
    check_conv(NULL, (int[]){4, 16, 8, 3}, 16, 8);
}

static void test_check_tells_and_moves_nothing(void **state)
{
    (void)state;
    struct by_str broken;
    size_t count;
    open_plan(binary_model("Add"));
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 12);
    put_row("z", BY_ROLE_ACTIVATION, 2);
    put_row("y", BY_ROLE_ACTIVATION, 5);
    by_str_init(&broken);
    assert_ok(by_refine_check(plan, &broken, &count, &err));
    assert_int_equal(count, 1);
    assert_string_equal(by_str_text(&broken),
                        "node 'op' (Add)\tshift-read, inputs are at most 7 positions apart: 'x' "
                        "requires position 9 instead of 12\n");
    assert_int_equal(position_of(x), 12);
    by_str_release(&broken);
    close_plan();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_cut_and_bias, start),
        cmocka_unit_test_setup(test_bias_before_leaky_relu, start),
        cmocka_unit_test_setup(test_addition, start),
        cmocka_unit_test_setup(test_product, start),
        cmocka_unit_test_setup(test_concat_takes_the_greatest_scale, start),
        cmocka_unit_test_setup(test_rules_are_switched_off_by_name, start),
        cmocka_unit_test_setup(test_given_parameters_stay, start),
        cmocka_unit_test_setup(test_other_hardware_moves_nothing, start),
        cmocka_unit_test_setup(test_check_tells_and_moves_nothing, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
