/* Layers that compute a spectrum before a logarithm. */
#include "engine_build.h"

#include "ir/infer.h"
#include "quant/place.h"

static struct by_recipe recipe;
static struct by_quant_plan *plan;

static int prepare(void **state)
{
    (void)state;
    recipe = (struct by_recipe){
        .activation = {.elem = BY_ELEM_INT8, .symmetric = true},
        .weight = {.elem = BY_ELEM_INT8, .symmetric = true},
        .bias = {.elem = BY_ELEM_INT8, .symmetric = true},
    };
    recipe.activation.method = recipe.weight.method = by_calibrator_find("minmax");
    return 0;
}

static void place(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
    assert_ok(by_quant_plan_open(&plan, model, &recipe, &err));
    assert_ok(by_place(plan, NULL, NULL, &err));
}

static void close_plan(void)
{
    struct baryon_model *model = plan->model;
    by_quant_plan_close(plan);
    by_model_free(model);
}

static const struct by_quant_node *plan_node(const char *name)
{
    for (size_t i = 0; i < plan->node_count; i++)
        if (strcmp(plan->nodes[i].node->name, name) == 0)
            return &plan->nodes[i];
    fail_msg("no node '%s'", name);
    return NULL;
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
    place(front_end("Add"));
    assert_int_equal(plan_node("conv")->state, BY_NODE_QUANTIZED);
    assert_true(by_place_has_front_end(plan));
    close_plan();
    recipe.logarithms = BY_LOGARITHMS_FRONT_END;
    place(front_end("Add"));
    for (size_t i = 0; i < 3; i++) {
        const struct by_quant_node *node = plan_node((const char *[]){"conv", "square", "add"}[i]);
        assert_int_equal(node->state, BY_NODE_FLOAT);
        assert_string_equal(node->why, "a spectrum is computed before a logarithm");
    }
    assert_int_equal(plan_node("learned")->state, BY_NODE_QUANTIZED);
    assert_false(by_place_has_front_end(plan)); /* none that is quantized */
    close_plan();
    recipe.compat = true;
    place(front_end("Add"));
    assert_int_equal(plan_node("conv")->state, BY_NODE_QUANTIZED);
    assert_false(by_place_has_front_end(plan));
    close_plan();
}

/* What stands between layers of a network is no part of a spectrum. */
static void layers_that_are_learned_are_no_front_end(void **state)
{
    (void)state;
    recipe.logarithms = BY_LOGARITHMS_FRONT_END;
    place(front_end("PRelu"));
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
