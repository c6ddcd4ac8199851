/* Pairs that no layer reads: which nodes compute in float without them, and which stay. */
#include "engine_build.h"

#include "ir/infer.h"
#include "quant/place.h"
#include "trial/choices.h"
#include "trial/equalize.h"

#include <string.h>

static struct by_recipe recipe;
static struct by_quant_plan *plan;

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_UINT8},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT32, .symmetric = true},
        .fuse_relu = true,
        .fuse_leaky_relu = true,
        .cle = BY_CLE_AUTO,
        .spares_pairs = true,
    };
    recipe.activation.method = recipe.weight.method = by_calibrator_find("minmax");
    return 0;
}

/* Activations with pairs, in the order of rows: "x a". */
static const char *pairs_of(struct baryon_model *model)
{
    static char text[512];
    size_t used = 0;
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
    text[0] = '\0';
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].role == BY_ROLE_ACTIVATION)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? " " : "",
                                     plan->rows.at[i].value->name);
    return text;
}

#define assert_pairs(model, wanted, spared)                                                        \
    do {                                                                                           \
        struct baryon_model *of = (model);                                                         \
        assert_string_equal(pairs_of(of), (wanted));                                               \
        assert_int_equal(by_place_spared(plan), (spared));                                         \
        by_quant_plan_close(plan);                                                                 \
        by_model_free(of);                                                                         \
    } while (0)

/* x -> MatMul -> Add(v) -> Softmax -> MatMul -> Tanh -> y */
static struct baryon_model *matrices(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,4");
    put_floats(model, "w", "4,4", 1);
    put_floats(model, "v", "4", 1);
    put_node(model->graph, "one", "MatMul", "x,w", "a");
    put_node(model->graph, "sum", "Add", "a,v", "b");
    put_node(model->graph, "soft", "Softmax", "b", "c");
    put_node(model->graph, "two", "MatMul", "c,w", "d");
    put_node(model->graph, "end", "Tanh", "d", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

static void pairs_stand_where_layers_read(void **state)
{
    (void)state;
    assert_pairs(matrices(), "x c", 3);
    recipe.spares_pairs = false;
    assert_pairs(matrices(), "x b c d y", 0); /* a product and its bias have one pair */
}

/* As a layer with its bias: a pair between them would round what nothing rounded before. */
static void a_float_product_keeps_its_bias(void **state)
{
    static struct by_rule rule = {
        .kind = BY_RULE_NODE, .pattern = {"one", NULL}, .keep_float = true};
    (void)state;
    recipe.spares_pairs = false;
    recipe.rules.at = &rule;
    recipe.rules.count = 1;
    assert_pairs(matrices(), "b c d y", 0);
}

/* Integers of a Conv come out of its pair alone; its activation function has no pair before it. */
static void a_convolution_keeps_the_pair_behind_it(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,2,4,4");
    put_floats(model, "w", "2,2,1,1", 0.5f);
    put_node(model->graph, "conv", "Conv", "x,w", "a");
    put_node(model->graph, "leaky", "LeakyRelu", "a", "b");
    put_node(model->graph, "gate", "Sigmoid", "b", "c");
    put_node(model->graph, "scale", "Mul", "b,c", "d");
    put_node(model->graph, "last", "Conv", "d,w", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_pairs(model, "x b d y", 2);
}

/* What hands values on does so in integers after a pair, and in float elsewhere. */
static void movers_follow_what_they_read(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    put_floats(model, "w", "2,2", 1);
    put_node(model->graph, "first", "Transpose", "x", "t");
    put_node(model->graph, "one", "MatMul", "t,w", "a");
    put_node(model->graph, "turn", "Transpose", "a", "b");
    put_node(model->graph, "two", "MatMul", "b,t", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_pairs(model, "t b", 0);
}

/* The input of an operator that stays float is left alone. */
static void inputs_of_recurrent_operators_stay_float(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "1,3,2");
    put_floats(model, "k", "1,6,2", 1);
    put_floats(model, "r", "1,6,2", 1);
    put_floats(model, "w", "2,2", 1);
    put_node(model->graph, "turn", "Transpose", "x", "t");
    put_node(model->graph, "gru", "GRU", "t,k,r", ",h");
    put_node(model->graph, "flat", "Squeeze", "h", "f");
    put_node(model->graph, "end", "MatMul", "f,w", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_node_set_int(model->graph->node.at[1], "hidden_size", 2, &err));
    assert_pairs(model, "f", 0);
}

/* Nothing would be left of a model without layers; what the user names is quantized. */
static void some_are_left_as_they_are(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "2,2");
    put_node(model->graph, "soft", "Softmax", "x", "a");
    put_node(model->graph, "end", "Tanh", "a", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    assert_pairs(model, "x a y", 0);

    static struct by_pattern asked = {.text = "Softmax"};
    recipe.extra_op_types = (struct by_patterns){.at = &asked, .count = 1};
    assert_pairs(matrices(), "x b c", 2);
    recipe.extra_op_types = (struct by_patterns){0};
    recipe.op_types = (struct by_patterns){.at = &asked, .count = 1};
    assert_pairs(matrices(), "b c", 0);
}

/* The last layer that a rule keeps float takes the pairs between layers with it. */
static void layers_kept_float_leave_nothing(void **state)
{
    (void)state;
    static struct by_rule rules[] = {
        {.kind = BY_RULE_NODE, .pattern = {.text = "one"}, .keep_float = true},
        {.kind = BY_RULE_NODE, .pattern = {.text = "two"}, .keep_float = true}};
    recipe.rules.at = rules;
    recipe.rules.count = 1;
    assert_pairs(matrices(), "c", 3);
    recipe.rules.count = 2;
    struct baryon_model *model = matrices();
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_true(by_place(plan, NULL, NULL, &err) < 0);
    assert_non_null(strstr(err.message, "no node of the model can be quantized"));
    by_quant_plan_close(plan);
    by_model_free(model);
}

/* Whether samples judge pairs that no layer reads. */
static bool pairs_are_open(void)
{
    size_t count, place = 0;
    const struct by_choice_row *rows = by_choices(&count);
    while (place < count && rows[place].kind != BY_EDIT_PAIRS)
        place++;
    assert_true(place < count);
    return rows[place].applies(plan);
}

/* Two layers whose channels differ are equalized, and so are judged; matrices alone are not. */
static void equalization_says_when_samples_judge(void **state)
{
    (void)state;
    for (int differ = 0; differ < 2; differ++) {
        const float first[2] = {1, differ ? 100 : 1}, second[2] = {differ ? 100 : 1, 1};
        struct baryon_model *model = new_model();
        takes(model, "x", BY_ELEM_FLOAT, "1,1,4,4");
        put_weight(model, "w", BY_ELEM_FLOAT, (const int64_t[]){2, 1, 1, 1}, 4, first,
                   sizeof first);
        put_weight(model, "v", BY_ELEM_FLOAT, (const int64_t[]){1, 2, 1, 1}, 4, second,
                   sizeof second);
        put_node(model->graph, "one", "Conv", "x,w", "a");
        put_node(model->graph, "two", "Conv", "a,v", "b");
        put_node(model->graph, "end", "Tanh", "b", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        (void)pairs_of(model);
        assert_int_equal(by_equalize_is_tried(plan), differ);
        assert_int_equal(by_place_spared(plan), 1);
        recipe.auto_exclude = BY_EXCLUDE_AUTO;
        assert_int_equal(pairs_are_open(), differ);
        recipe.auto_exclude = BY_EXCLUDE_ALWAYS;
        assert_false(pairs_are_open());
        recipe.cle = BY_CLE_OFF;
        assert_false(by_equalize_is_tried(plan));
        recipe.cle = BY_CLE_AUTO;
        by_quant_plan_close(plan);
        by_model_free(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(pairs_stand_where_layers_read, prepare),
        cmocka_unit_test_setup(a_float_product_keeps_its_bias, prepare),
        cmocka_unit_test_setup(a_convolution_keeps_the_pair_behind_it, prepare),
        cmocka_unit_test_setup(movers_follow_what_they_read, prepare),
        cmocka_unit_test_setup(inputs_of_recurrent_operators_stay_float, prepare),
        cmocka_unit_test_setup(some_are_left_as_they_are, prepare),
        cmocka_unit_test_setup(layers_kept_float_leave_nothing, prepare),
        cmocka_unit_test_setup(equalization_says_when_samples_judge, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
