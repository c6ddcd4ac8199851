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
    check_conv("Relu", (int[]){4, 16, 8, 3}, 15, 8); /* the output is after the Relu */
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

static struct baryon_model *concat_model(void)
{
    struct baryon_model *model = binary_model("Concat");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(model->graph->node.at[0], "axis", 0, &err));
    return model;
}

/* A cache that is empty at first has no range, and says nothing about what is joined to it. */
static void test_concat_ignores_zeros(void **state)
{
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        recipe.compat = compat;
        open_plan(concat_model());
        const size_t x = put_row("x", BY_ROLE_ACTIVATION, 0);
        const size_t z = put_row("z", BY_ROLE_ACTIVATION, 6);
        const size_t y = put_row("y", BY_ROLE_ACTIVATION, 5);
        plan->rows.at[x].is_zero = true;
        assert_ok(by_refine(plan, &err));
        assert_int_equal(position_of(x), compat ? 0 : 5);
        assert_int_equal(position_of(z), compat ? 0 : 5);
        assert_int_equal(position_of(y), compat ? 0 : 5);
        close_plan();
    }
}

/* As tokens before those of a picture. */
static void check_token(float first, int position)
{
    const float token[4] = {first, 0, 0, 0};
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "4");
    put_weight(model, "token", BY_ELEM_FLOAT, (const int64_t[]){4}, 1, token, sizeof token);
    gives(model, "y", BY_ELEM_FLOAT, "8");
    put_node(model->graph, "join", "Concat", "token,x", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(model->graph->node.at[0], "axis", 0, &err));
    open_plan(model);
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 6);
    put_row("token", BY_ROLE_WEIGHT, 0);
    const size_t y = put_row("y", BY_ROLE_ACTIVATION, 5);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), position);
    assert_int_equal(position_of(y), position);
    close_plan();
}

static void test_concat_ignores_a_constant_of_zeros(void **state)
{
    (void)state;
    recipe.compat = false;
    check_token(0, 5);
    check_token(1, 0);
}

static void test_concat_takes_the_greatest_scale(void **state)
{
    (void)state;
    open_plan(concat_model());
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

/* --- HardSigmoid, alone and in a swish --- */

/* x -> HardSigmoid -> h; with a factor h * c -> m; times x -> y. */
static struct baryon_model *swish_model(bool factor)
{
    static const float c = 0.5f;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_weight(model, "c", BY_ELEM_FLOAT, NULL, 0, &c, sizeof c);
    put_node(model->graph, "gate", "HardSigmoid", "x", "h");
    if (factor)
        put_node(model->graph, "half", "Mul", "h,c", "m");
    put_node(model->graph, "swish", "Mul", factor ? "m,x" : "h,x", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_float(model->graph->node.at[0], "alpha", 1 / 6.0f, &err));
    return model;
}

static void check_gate(int in, int out, int in_after, int out_after)
{
    open_plan(swish_model(false));
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, in);
    const size_t h = put_row("h", BY_ROLE_ACTIVATION, out);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), in_after);
    assert_int_equal(position_of(h), out_after);
    close_plan();
}

/* In one round, so that the output does not follow later. */
static void test_hard_sigmoid(void **state)
{
    (void)state;
    recipe.refine_rounds = 1;
    check_gate(3, 10, 3, 10);
    check_gate(3, 5, 3, 7);
    check_gate(3, 16, 3, 16);
    check_gate(3, 17, 3, 16);
    check_gate(20, 40, 15, 28);
    check_gate(-3, 40, 0, 13);
}

/* The output keeps to what the input may be, although the input is given and stays. */
static void test_hard_sigmoid_of_given_input(void **state)
{
    (void)state;
    open_plan(swish_model(false));
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 20);
    const size_t h = put_row("h", BY_ROLE_ACTIVATION, 40);
    plan->rows.at[x].has_params = true;
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), 20);
    assert_int_equal(position_of(h), 28);
    close_plan();
}

static void test_other_hard_sigmoids(void **state)
{
    (void)state;
    struct baryon_model *model = swish_model(false);
    assert_ok(by_node_set_float(model->graph->node.at[0], "alpha", 0.2f, &err));
    open_plan(model);
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 20);
    const size_t h = put_row("h", BY_ROLE_ACTIVATION, 5);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), 20);
    assert_int_equal(position_of(h), 5);
    close_plan();
}

static void check_swish(bool factor, int out, int after, const char *rule)
{
    open_plan(swish_model(factor));
    put_row("x", BY_ROLE_ACTIVATION, 3);
    put_row("h", BY_ROLE_ACTIVATION, 8);
    if (factor) {
        put_row("c", BY_ROLE_WEIGHT, 7);
        put_row("m", BY_ROLE_ACTIVATION, 8);
    }
    const size_t y = put_row("y", BY_ROLE_ACTIVATION, out);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(y), after);
    assert_string_equal(rule_of(y), rule);
    close_plan();
}

static void test_swish(void **state)
{
    (void)state;
    for (int factor = 0; factor < 2; factor++) {
        check_swish(factor, 11, 11, "");
        check_swish(factor, -4, -4, "");
        check_swish(factor, -5, -4, "swish");
        check_swish(factor, 12, 11, "shift-write-mul");
    }
}

/* Two rules on one tensor: each moves what the other one reads, until both hold. */
static void test_swish_behind_a_gate_that_moves(void **state)
{
    (void)state;
    open_plan(swish_model(false));
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 20);
    const size_t h = put_row("h", BY_ROLE_ACTIVATION, 40);
    const size_t y = put_row("y", BY_ROLE_ACTIVATION, 70);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(x), 15);
    assert_int_equal(position_of(h), 28);
    assert_int_equal(position_of(y), 43);
    close_plan();
}

/* --- Both ends --- */

static void check_binary(const char *op_type, const int before[3], int out)
{
    open_plan(binary_model(op_type));
    put_row("x", BY_ROLE_ACTIVATION, before[0]);
    put_row("z", BY_ROLE_ACTIVATION, before[1]);
    const size_t y = put_row("y", BY_ROLE_ACTIVATION, before[2]);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(y), out);
    close_plan();
}

static void test_ends_of_shifts(void **state)
{
    (void)state;
    check_binary("Add", (int[]){5, 2, -23}, -23);
    check_binary("Add", (int[]){5, 2, -24}, -23);
    check_binary("Add", (int[]){5, 2, 9}, 9);
    check_binary("Add", (int[]){5, 2, 10}, 9);
    check_binary("Mul", (int[]){3, 2, -27}, -27);
    check_binary("Mul", (int[]){3, 2, -28}, -27);
    check_binary("Mul", (int[]){3, 2, 5}, 5);
    check_binary("Mul", (int[]){3, 2, 6}, 5);
    check_conv(NULL, (int[]){4, 15, 8, 3}, 15, 8); /* cut 16 is the most */
    check_conv(NULL, (int[]){4, 6, -5, 3}, 6, -5); /* 15 bits above the bias */
}

/* --- Rounds --- */

/* The first Concat learns of the second one's inputs in another round. */
static struct baryon_model *two_concats(void)
{
    struct baryon_model *model = new_model();
    takes(model, "a", BY_ELEM_FLOAT, "2");
    takes(model, "b", BY_ELEM_FLOAT, "2");
    takes(model, "d", BY_ELEM_FLOAT, "2");
    gives(model, "e", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "one", "Concat", "a,b", "c");
    put_node(model->graph, "two", "Concat", "c,d", "e");
    assert_ok(by_model_link(model, &err));
    for (size_t i = 0; i < 2; i++)
        assert_ok(by_node_set_int(model->graph->node.at[i], "axis", 0, &err));
    return model;
}

static void check_rounds(int64_t rounds, int first)
{
    recipe.refine_rounds = rounds;
    open_plan(two_concats());
    const size_t a = put_row("a", BY_ROLE_ACTIVATION, 6);
    const size_t b = put_row("b", BY_ROLE_ACTIVATION, 5);
    const size_t c = put_row("c", BY_ROLE_ACTIVATION, 5);
    const size_t d = put_row("d", BY_ROLE_ACTIVATION, 2);
    const size_t e = put_row("e", BY_ROLE_ACTIVATION, 4);
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(a), first);
    assert_int_equal(position_of(b), first);
    assert_int_equal(position_of(c), 2);
    assert_int_equal(position_of(d), 2);
    assert_int_equal(position_of(e), 2);
    close_plan();
}

static void test_rounds(void **state)
{
    (void)state;
    check_rounds(1, 5);
    check_rounds(5, 2);
}

/* A bias in units of the product has them anew when a rule moves the weight. */
static void test_units_of_a_bias_follow(void **state)
{
    (void)state;
    open_plan(conv_model(NULL));
    const size_t x = put_row("x", BY_ROLE_ACTIVATION, 4);
    const size_t w = put_row("w", BY_ROLE_WEIGHT, 16);
    const size_t b = put_row("b", BY_ROLE_BIAS, 20);
    put_row("y", BY_ROLE_ACTIVATION, 3);
    plan->rows.at[b].input_row = x;
    plan->rows.at[b].weight_row = w;
    plan->rows.at[b].beta = 0.75;
    assert_ok(by_refine(plan, &err));
    assert_int_equal(position_of(w), 15);
    assert_true(by_quant_params(plan, b)->scales[0] == 0.75f * ldexpf(1, -19));
    close_plan();
}

/* --- What rules leave alone --- */

static void test_other_domains_and_scales(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        open_plan(binary_model("Add"));
        const size_t x = put_row("x", BY_ROLE_ACTIVATION, 12);
        put_row("z", BY_ROLE_ACTIVATION, 2);
        put_row("y", BY_ROLE_ACTIVATION, 5);
        if (own)
            ((struct baryon_node *)plan->model->graph->node.at[0])->domain = "com.example";
        else
            plan->rows.at[x].params.scales[0] *= 1.5f;
        const float before = plan->rows.at[x].params.scales[0];
        assert_ok(by_refine(plan, &err));
        assert_true(plan->rows.at[x].params.scales[0] == before);
        assert_string_equal(rule_of(x), "");
        close_plan();
    }
}

/* The peer rounds weights first and moves their scales afterwards. */
static void test_compat_keeps_integers(void **state)
{
    (void)state;
    for (int compat = 0; compat < 2; compat++) {
        recipe.compat = compat;
        open_plan(conv_model(NULL));
        put_row("x", BY_ROLE_ACTIVATION, -6);
        const size_t w = put_row("w", BY_ROLE_WEIGHT, 3);
        put_row("y", BY_ROLE_ACTIVATION, -20);
        assert_ok(by_refine(plan, &err));
        assert_int_equal(position_of(w), 2);
        const int32_t *rounded = plan->rows.at[w].rounded;
        assert_int_equal(rounded != NULL, compat);
        for (int32_t i = 0; compat && i < 4; i++)
            assert_int_equal(rounded[i], 8 * (i + 1));
        close_plan();
    }
}

/* --- Moving without computing --- */

static struct baryon_model *pool_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2,4,4");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    put_node(model->graph, "pool", "MaxPool", "x", "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(
        by_node_set_ints(model->graph->node.at[0], "kernel_shape", (int64_t[]){2, 2}, 2, &err));
    return model;
}

static void test_pool_takes_the_greater_scale(void **state)
{
    (void)state;
    for (int other = 0; other < 2; other++) {
        open_plan(pool_model());
        const size_t x = put_row("x", BY_ROLE_ACTIVATION, other ? 6 : 3);
        const size_t y = put_row("y", BY_ROLE_ACTIVATION, other ? 3 : 6);
        assert_ok(by_refine(plan, &err));
        assert_int_equal(position_of(x), 3);
        assert_int_equal(position_of(y), 3);
        close_plan();
    }
}

/* Of the extended form each rule has to be asked for, and copies whole parameters of one type. */
static void test_pool_copies_the_scale_of_its_input(void **state)
{
    (void)state;
    static struct by_pattern asked[] = {{"copy-pool", "a test"}};
    recipe.hardware = BY_HARDWARE_EXTENDED;
    for (int step = 0; step < 3; step++) {
        recipe.refine.at = asked;
        recipe.refine.count = step > 0;
        open_plan(pool_model());
        const size_t x = put_row("x", BY_ROLE_ACTIVATION, 3);
        const size_t y = put_row("y", BY_ROLE_ACTIVATION, 6);
        if (step == 2)
            plan->rows.at[y].spec.elem = BY_ELEM_INT16;
        assert_ok(by_refine(plan, &err));
        assert_int_equal(position_of(x), 3);
        assert_int_equal(position_of(y), step == 1 ? 3 : 6);
        close_plan();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_cut_and_bias, start),
        cmocka_unit_test_setup(test_bias_before_leaky_relu, start),
        cmocka_unit_test_setup(test_addition, start),
        cmocka_unit_test_setup(test_product, start),
        cmocka_unit_test_setup(test_concat_takes_the_greatest_scale, start),
        cmocka_unit_test_setup(test_concat_ignores_zeros, start),
        cmocka_unit_test_setup(test_concat_ignores_a_constant_of_zeros, start),
        cmocka_unit_test_setup(test_rules_are_switched_off_by_name, start),
        cmocka_unit_test_setup(test_given_parameters_stay, start),
        cmocka_unit_test_setup(test_other_hardware_moves_nothing, start),
        cmocka_unit_test_setup(test_check_tells_and_moves_nothing, start),
        cmocka_unit_test_setup(test_hard_sigmoid, start),
        cmocka_unit_test_setup(test_hard_sigmoid_of_given_input, start),
        cmocka_unit_test_setup(test_other_hard_sigmoids, start),
        cmocka_unit_test_setup(test_swish, start),
        cmocka_unit_test_setup(test_swish_behind_a_gate_that_moves, start),
        cmocka_unit_test_setup(test_ends_of_shifts, start),
        cmocka_unit_test_setup(test_rounds, start),
        cmocka_unit_test_setup(test_units_of_a_bias_follow, start),
        cmocka_unit_test_setup(test_other_domains_and_scales, start),
        cmocka_unit_test_setup(test_compat_keeps_integers, start),
        cmocka_unit_test_setup(test_pool_takes_the_greater_scale, start),
        cmocka_unit_test_setup(test_pool_copies_the_scale_of_its_input, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
