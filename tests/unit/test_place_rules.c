/* Rules of the user for tensors: what they give stands, and has to fit. */
#include "place_case.h"

static struct by_rule rules[2];

static int prepare(void **state)
{
    (void)state;
    set_int8_recipe();
    return 0;
}

static void use_rules(size_t count)
{
    recipe.rules.at = rules;
    recipe.rules.count = count;
}

/* x -> Conv(w) -> c. */
static struct baryon_model *conv_model(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2,4,4");
    put_floats(model, "w", "4,2,1,1", 0.5f);
    put_node(model->graph, "conv", "Conv", "x,w", "c");
    return model;
}

/* c + c -> y. */
static struct baryon_model *sum_model(void)
{
    struct baryon_model *model = conv_model();
    put_node(model->graph, "sum", "Add", "c,c", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

static struct by_rule tensor_rule(const char *name)
{
    return (struct by_rule){.kind = BY_RULE_TENSOR, .pattern = {name, "--tensor"}};
}

static void given_ranges_contain_zero(void **state)
{
    (void)state;
    rules[0] = tensor_rule("c");
    rules[1] = tensor_rule("y");
    rules[0].has_range = rules[1].has_range = true;
    rules[0].range[0] = 1, rules[0].range[1] = 3;
    rules[1].range[0] = -3, rules[1].range[1] = -1;
    use_rules(2);
    place(sum_model(), NULL);
    assert_true(row_of("c")->range.low == 0 && row_of("c")->range.high == 3);
    assert_true(row_of("y")->range.low == -3 && row_of("y")->range.high == 0);
    close_plan();
}

/* What by_place() says of a model that it refuses. */
static void refuses_to_place(struct baryon_model *model, const char *message)
{
    open_plan(model);
    assert_err(by_place(plan, NULL, NULL, &err), BARYON_ERR_USAGE, message);
    close_plan();
}

static void given_scales_fit_their_type(void **state)
{
    double scale = 0.3;
    (void)state;
    recipe.activation.scale = BY_SCALE_POW2;
    rules[0] = tensor_rule("c");
    rules[0].scales = &scale;
    rules[0].param_count = 1;
    use_rules(1);
    refuses_to_place(sum_model(),
                     "--tensor: tensor 'c': a scale must be a power of two for this type");
    scale = 0.25;
    place(sum_model(), NULL);
    assert_true(row_of("c")->params.scales[0] == 0.25f);
    close_plan();
}

/* A rule for what is only moved counts more than that it has the parameters of what it was. */
static void given_parameters_of_moved_tensors_stand(void **state)
{
    const double scale = 0.125;
    (void)state;
    struct baryon_model *model = conv_model();
    put_node(model->graph, "turn", "Transpose", "c", "t");
    gives(model, "t", BY_ELEM_FLOAT, NULL);
    rules[0] = tensor_rule("t");
    rules[0].scales = &scale;
    rules[0].param_count = 1;
    use_rules(1);
    place(model, NULL);
    assert_true(row_of("t")->has_params && row_of("t")->shares == BY_NO_ROW);
    close_plan();
}

static void tensor_rules_that_pick_nothing(void **state)
{
    (void)state;
    rules[0] = tensor_rule("nothing");
    rules[0].keep_float = true;
    use_rules(1);
    refuses_to_place(sum_model(), "--tensor: 'nothing' matches no tensor of the model");
    recipe.compat = true;
    place(sum_model(), NULL);
    close_plan();
}

/* Sums of a product whose weights have a scale a group have no unit of their own. */
static void biases_of_groups_stay_float(void **state)
{
    (void)state;
    for (int groups = 0; groups < 2; groups++) {
        struct baryon_model *model = new_model();
        takes(model, "x", BY_ELEM_FLOAT, "N,4");
        put_floats(model, "w", "4,3", 1);
        put_floats(model, "b", "3", 1);
        put_node(model->graph, "gemm", "Gemm", "x,w,b", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        recipe.bias_kind = BY_BIAS_PRODUCT;
        recipe.weight.granularity = groups ? BY_PER_GROUP : BY_PER_CHANNEL;
        recipe.weight.group = groups ? 2 : 0;
        place(model, NULL);
        const size_t row = by_quant_find(plan, value_of(model->graph, "b"));
        assert_int_equal(row == BY_NO_ROW, groups);
        close_plan();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(given_ranges_contain_zero, prepare),
        cmocka_unit_test_setup(given_scales_fit_their_type, prepare),
        cmocka_unit_test_setup(given_parameters_of_moved_tensors_stand, prepare),
        cmocka_unit_test_setup(tensor_rules_that_pick_nothing, prepare),
        cmocka_unit_test_setup(biases_of_groups_stay_float, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
