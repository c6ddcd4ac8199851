/* Layers that compute a spectrum before a logarithm. */
#include "place_case.h"

static int prepare(void **state)
{
    (void)state;
    set_int8_recipe();
    return 0;
}

/* A spectrum of the input, its logarithm, and a layer that is learned. */
static struct baryon_model *front_end(const char *before_logarithm)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2,4,4");
    put_floats(model, "w", "4,2,1,1", 0.5f);
    put_floats(model, "v", "1,4,1,1", 1);
    put_floats(model, "k", "", 0.001f);
    put_node(model->graph, "conv", "Conv", "x,w", "c");
    put_node(model->graph, "square", "Mul", "c,c", "s");
    put_node(model->graph, "add", before_logarithm, "s,k", "p");
    put_node(model->graph, "log", "Log", "p", "l");
    put_node(model->graph, "learned", "Conv", "l,v", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

static void layers_of_a_spectrum_stay_float_where_that_is_wanted(void **state)
{
    (void)state;
    place(front_end("Add"), NULL);
    assert_int_equal(plan_node("conv")->state, BY_NODE_QUANTIZED);
    assert_true(by_place_has_front_end(plan));
    close_plan();
    recipe.logarithms = BY_LOGARITHMS_FRONT_END;
    place(front_end("Add"), NULL);
    for (size_t i = 0; i < 3; i++) {
        const struct by_quant_node *node = plan_node((const char *[]){"conv", "square", "add"}[i]);
        assert_int_equal(node->state, BY_NODE_FLOAT);
        assert_string_equal(node->why, "a spectrum is computed before a logarithm");
    }
    assert_int_equal(plan_node("learned")->state, BY_NODE_QUANTIZED);
    assert_false(by_place_has_front_end(plan)); /* none that is quantized */
    close_plan();
    recipe.compat = true;
    place(front_end("Add"), NULL);
    assert_int_equal(plan_node("conv")->state, BY_NODE_QUANTIZED);
    assert_false(by_place_has_front_end(plan));
    close_plan();
}

/* What stands between layers of a network is no part of a spectrum. */
static void layers_that_are_learned_are_no_front_end(void **state)
{
    (void)state;
    recipe.logarithms = BY_LOGARITHMS_FRONT_END;
    place(front_end("PRelu"), NULL);
    assert_int_equal(plan_node("conv")->state, BY_NODE_QUANTIZED);
    assert_false(by_place_has_front_end(plan));
    close_plan();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(layers_of_a_spectrum_stay_float_where_that_is_wanted, prepare),
        cmocka_unit_test_setup(layers_that_are_learned_are_no_front_end, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
