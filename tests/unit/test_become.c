/* Nodes that become other operators. */
#include "tests/unit/graph_build.h"

/* x -> A -> a -> {B, C} -> y, with an If that reads a inside */
static struct baryon_model *sample(void)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "x");
    put_input(graph, "cond");
    put_init(graph, "w");
    put_node(graph, "A", "Add", "x,w", "a");
    put_node(graph, "B", "Relu", "a", "b");
    put_node(graph, "C", "Mul", "a,b", "y");
    struct baryon_graph *branch =
        put_nested(model, put_node(graph, "I", "If", "cond", "i"), "then_branch");
    put_node(branch, "N", "Add", "a,w", "n");
    put_output(branch, "n");
    put_output(graph, "y");
    put_output(graph, "i");
    put_info(graph, &graph->value_info, "a");
    put_info(graph, &graph->value_info, "b");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    return model;
}

static struct baryon_node *named(const struct baryon_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node.count; i++) {
        struct baryon_node *node = graph->node.at[i];
        if (node && node->name && strcmp(node->name, name) == 0)
            return node;
    }
    fail_msg("no node %s", name);
    return NULL;
}

static struct baryon_graph *branch_of(const struct baryon_model *model)
{
    struct by_nested at = {0};
    return by_node_nested(named(model->graph, "I"), &at);
}

/* Inputs, attributes and the graphs in them go; name, outputs and their uses stay. */
static void nodes_become_other_operators(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph, *branch = branch_of(model);
    struct baryon_value *w = value_of(graph, "w"), *a = value_of(graph, "a");
    struct baryon_value *inputs[] = {w, NULL, w, a};
    struct baryon_node *node = named(graph, "I");
    assert_ok(by_node_become(node, "Op", "my.domain", inputs, 4, &err));
    assert_sound(model);
    assert_false(branch->linked);
    assert_string_equal(node->op_type, "Op");
    assert_string_equal(node->domain, "my.domain");
    assert_string_equal(node->input.at[1], "");
    assert_int_equal(node->attribute.count, 0);
    assert_int_equal(w->use_count, 3);
    assert_int_equal(a->use_count, 3);
    assert_ptr_equal(value_of(graph, "i")->producer, node);
    assert_int_equal(value_of(graph, "i")->output_count, 1);
    assert_ok(by_node_become(node, "Relu", NULL, &a, 1, &err));
    assert_sound(model);
    assert_null(node->domain);
    assert_int_equal(node->input.count, 1);
    assert_int_equal(w->use_count, 1);
    assert_ok(by_model_settle(model, &err));
    assert_sound(model);
    by_model_free(model);
}

static void nodes_do_not_become_what_cannot_be(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_node *node = named(graph, "B");
    struct baryon_value *inner = value_of(branch_of(model), "n");
    assert_err(by_node_become(node, "Relu", NULL, &inner, 1, &err), BARYON_ERR_USAGE,
               "value 'n' is not visible there, only in its own graph and graphs nested in it");
    assert_sound(model);
    assert_string_equal(node->input.at[0], "a");
    by_model_free(model);
}

static void sharding_of_lost_inputs_goes(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_node *node = named(graph, "C");
    struct baryon_value *b = value_of(graph, "b");
    struct by_node_device *device = BY_ARENA_NEW(&model->arena, struct by_node_device, &err);
    push(model, &node->device_configurations, device);
    for (size_t i = 0; i < 3; i++) {
        static const char *const names[] = {"a", "b", "y"};
        struct by_sharding_spec *spec = BY_ARENA_NEW(&model->arena, struct by_sharding_spec, &err);
        push(model, &device->sharding_spec, spec);
        spec->tensor_name = name_of(model, names[i]);
    }
    assert_ok(by_node_become(node, "Relu", NULL, &b, 1, &err));
    assert_int_equal(device->sharding_spec.count, 2);
    assert_string_equal(((struct by_sharding_spec *)device->sharding_spec.at[0])->tensor_name, "b");
    assert_string_equal(((struct by_sharding_spec *)device->sharding_spec.at[1])->tensor_name, "y");
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_become_other_operators),
        cmocka_unit_test(nodes_do_not_become_what_cannot_be),
        cmocka_unit_test(sharding_of_lost_inputs_goes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
