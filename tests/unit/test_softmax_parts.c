/* A Softmax that is written out in single operators: it is found, stays float, and is judged by
 * what it reads. */
#include "place_case.h"

#include "ir/softmax_parts.h"
#include "trial/saturates.h"

static int prepare(void **state)
{
    (void)state;
    set_int8_recipe();
    recipe.operators = BY_OPERATORS_NPU;
    return 0;
}

/* c = Conv(x), and exp(c - max(c)) / sum(exp(c - max(c))) over the last axis, as JAX writes it. */
static struct baryon_model *written_out(void)
{
    struct baryon_model *model = new_model();
    takes(model, "x", BY_ELEM_FLOAT, "N,2,4,4");
    put_floats(model, "w", "4,2,1,1", 0.5f);
    put_floats(model, "lowest", "", -1e30f);
    put_node(model->graph, "conv", "Conv", "x,w", "c");
    put_node(model->graph, "largest", "ReduceMax", "c", "m");
    put_node(model->graph, "bound", "Max", "lowest,m", "b");
    put_node(model->graph, "spread", "Identity", "b", "t");
    put_node(model->graph, "shift", "Sub", "c,t", "s");
    put_node(model->graph, "power", "Exp", "s", "e");
    put_node(model->graph, "total", "ReduceSum", "e", "a");
    put_node(model->graph, "quotient", "Div", "e,a", "y");
    gives(model, "y", BY_ELEM_FLOAT, NULL);
    return model;
}

static void link_model(struct baryon_model *model)
{
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_infer(model, NULL, &err));
}

static bool find(struct baryon_model *model, const char *end, struct by_softmax_parts *parts)
{
    link_model(model);
    return by_softmax_parts(node_named(model, end), parts);
}

static void all_of_it_is_found(void **state)
{
    (void)state;
    struct by_softmax_parts parts;
    struct baryon_model *model = written_out();
    assert_true(find(model, "quotient", &parts));
    assert_string_equal(parts.logits->name, "c");
    assert_int_equal(parts.count, 7);
    for (size_t i = 0; i < parts.count; i++)
        assert_string_not_equal(parts.nodes[i]->name, "conv");
    by_model_free(model);
}

/* exp(c) * (1 / sum(exp(c))), either way round. */
static void the_inverse_of_the_sum_does_as_well(void **state)
{
    (void)state;
    for (int turned = 0; turned < 2; turned++) {
        struct by_softmax_parts parts;
        struct baryon_model *model = new_model();
        takes(model, "c", BY_ELEM_FLOAT, "N,4");
        put_node(model->graph, "power", "Exp", "c", "e");
        put_node(model->graph, "total", "ReduceSum", "e", "a");
        put_node(model->graph, "inverse", "Reciprocal", "a", "r");
        put_node(model->graph, "product", "Mul", turned ? "r,e" : "e,r", "y");
        gives(model, "y", BY_ELEM_FLOAT, NULL);
        assert_true(find(model, "product", &parts));
        assert_string_equal(parts.logits->name, "c");
        assert_int_equal(parts.count, 4);
        by_model_free(model);
    }
}

static void replace_input(struct baryon_model *model, const char *node, size_t slot,
                          const char *value)
{
    link_model(model);
    assert_ok(
        by_node_set_input(node_named(model, node), slot, value_of(model->graph, value), &err));
    assert_ok(by_model_settle(model, &err));
}

static void other_quotients_are_none(void **state)
{
    (void)state;
    struct by_softmax_parts parts;
    struct baryon_model *model = written_out();
    replace_input(model, "total", 0, "s"); /* the sum of something else */
    assert_false(find(model, "quotient", &parts));
    assert_false(by_softmax_parts(node_named(model, "shift"), &parts));
    by_model_free(model);
}

/* What is taken off is no maximum of what it is taken from: that is all logits. */
static void another_shift_belongs_to_the_logits(void **state)
{
    (void)state;
    struct by_softmax_parts parts;
    struct baryon_model *model = written_out();
    replace_input(model, "largest", 0, "x");
    assert_true(find(model, "quotient", &parts));
    assert_string_equal(parts.logits->name, "s");
    assert_int_equal(parts.count, 3);
    by_model_free(model);
}

static void it_stays_float(void **state)
{
    (void)state;
    static const char *const parts[] = {"shift", "quotient"};
    place(written_out(), NULL);
    assert_int_equal(plan_node("conv")->state, BY_NODE_QUANTIZED);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(plan_node(parts[i])->state, BY_NODE_FLOAT);
        assert_string_equal(plan_node(parts[i])->why, "it is part of a Softmax of several nodes");
    }
    close_plan();
    recipe.compat = true;
    place(written_out(), NULL);
    assert_int_equal(plan_node("shift")->state, BY_NODE_QUANTIZED);
    close_plan();
}

/* No range has room for scores and for what blocks them. */
static void a_mask_before_it_stays_float(void **state)
{
    (void)state;
    struct baryon_model *model = written_out();
    put_floats(model, "blocks", "4,4", -1e9f);
    put_node(model->graph, "mask", "Add", "c,blocks", "masked");
    replace_input(model, "largest", 0, "masked");
    replace_input(model, "shift", 0, "masked");
    place(model, NULL);
    assert_string_equal(plan_node("mask")->why,
                        "a mask added before Softmax: no range covers its values");
    assert_int_equal(by_quant_find(plan, value_of(plan->model->graph, "masked")), BY_NO_ROW);
    assert_int_equal(plan_node("conv")->state, BY_NODE_QUANTIZED);
    close_plan();
}

static void what_it_reads_judges(void **state)
{
    (void)state;
    struct by_unsaturated found;
    struct baryon_model *model = written_out();
    link_model(model);
    assert_true(by_unsaturated_find(by_graph_out(model->graph, 0), &found));
    assert_string_equal(found.value->name, "c");
    assert_false(found.centred); /* over all axes */
    by_model_free(model);

    model = written_out();
    link_model(model);
    assert_ok(by_node_set_ints(node_named(model, "total"), "axes", (int64_t[]){-1}, 1, &err));
    assert_true(by_unsaturated_find(by_graph_out(model->graph, 0), &found));
    assert_true(found.centred);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_of_it_is_found, prepare),
        cmocka_unit_test_setup(the_inverse_of_the_sum_does_as_well, prepare),
        cmocka_unit_test_setup(other_quotients_are_none, prepare),
        cmocka_unit_test_setup(another_shift_belongs_to_the_logits, prepare),
        cmocka_unit_test_setup(it_stays_float, prepare),
        cmocka_unit_test_setup(a_mask_before_it_stays_float, prepare),
        cmocka_unit_test_setup(what_it_reads_judges, prepare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
