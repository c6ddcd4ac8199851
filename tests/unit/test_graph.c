/* Linking: what a name means, and what is refused. */
#include "tests/unit/graph_build.h"

#include "onnx/save.h"

/* x -> a -> b -> y, with c beside b */
static struct baryon_model *small_model(void)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "x");
    put_init(graph, "w");
    put_node(graph, "A", "Add", "x,w", "a");
    put_node(graph, "B", "Relu", "a", "b");
    put_node(graph, "C", "Mul", "a,b", "y");
    put_output(graph, "y");
    return model;
}

static void links_producers_and_uses(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_graph *graph = model->graph;
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    struct baryon_value *a = value_of(graph, "a");
    assert_ptr_equal(a->producer, node_at(graph, 0));
    assert_int_equal(a->use_count, 2);
    assert_ptr_equal(a->uses[0].node, node_at(graph, 1));
    assert_ptr_equal(a->uses[1].node, node_at(graph, 2));
    assert_int_equal(a->uses[1].slot, 0);
    assert_ptr_equal(by_node_in(node_at(graph, 2), 1), value_of(graph, "b"));
    assert_ptr_equal(by_node_out(node_at(graph, 2), 0), by_graph_out(graph, 0));
    assert_true(by_value_is_output(value_of(graph, "y")));
    assert_false(by_value_is_output(a));
    assert_true(value_of(graph, "x")->is_input);
    assert_non_null(value_of(graph, "w")->initializer);
    assert_null(by_graph_value(graph, "nowhere"));
    assert_null(by_graph_value(graph, ""));
    assert_null(by_node_in(node_at(graph, 1), 7));
    /* A second call changes nothing. */
    assert_ok(by_model_link(model, &err));
    assert_ptr_equal(value_of(graph, "a"), a);
    by_model_free(model);
}

static void input_with_default_is_one_value(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    put_input(model->graph, "w");
    put_input(model->graph, "s");
    put_sparse(model->graph, "s");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    const struct baryon_value *w = value_of(model->graph, "w");
    assert_true(w->is_input && w->initializer && w->slot == 1 && w->init_slot == 0);
    const struct baryon_value *s = value_of(model->graph, "s");
    assert_true(s->is_input && s->sparse && !s->initializer);
    by_model_free(model);
}

static void empty_names_are_left_out(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_node *node = put_node(model->graph, "", "Clip", "y,,w", "z,,");
    put_node(model->graph, "", "Clip", "z,,", ",q");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    assert_null(by_node_in(node, 1));
    assert_ptr_equal(by_node_in(node, 2), value_of(model->graph, "w"));
    assert_null(by_node_out(node, 1));
    assert_non_null(by_node_out(node, 0));
    by_model_free(model);
}

static void same_node_names_are_fine(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    put_node(model->graph, "A", "Relu", "y", "z");
    put_node(model->graph, "A", "Relu", "y", "z2");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    by_model_free(model);
}

static void declared_types_are_attached(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_graph *graph = model->graph;
    put_info(graph, &graph->value_info, "a");
    put_info(graph, &graph->value_info, "y");
    put_info(graph, &graph->value_info, "a");
    put_info(graph, &graph->value_info, "nowhere");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    assert_ptr_equal(value_of(graph, "a")->info, graph->value_info.at[0]);
    assert_ptr_equal(value_of(graph, "y")->info, graph->output.at[0]);
    assert_ptr_equal(value_of(graph, "x")->info, graph->input.at[0]);
    assert_null(value_of(graph, "b")->info);
    assert_int_equal(graph->loose_infos, 2);
    by_model_free(model);
}

/* --- nested graphs --- */

/* An If whose branches read `x` and `a` from around them, the else branch one level deeper. */
static struct baryon_model *nested_model(void)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "x");
    put_input(graph, "cond");
    put_node(graph, "A", "Relu", "x", "a");
    struct baryon_node *node = put_node(graph, "I", "If", "cond", "i");
    put_node(graph, "Z", "Relu", "i", "z");
    put_output(graph, "z");
    struct baryon_graph *then = put_nested(model, node, "then_branch");
    put_node(then, "T", "Add", "a,x", "t");
    put_output(then, "t");
    struct baryon_graph *other = put_nested(model, node, "else_branch");
    struct baryon_node *inner = put_node(other, "J", "If", "cond", "j");
    put_output(other, "j");
    put_output(put_nested(model, inner, "then_branch"), "a");
    struct baryon_graph *deep = put_nested(model, inner, "else_branch");
    put_node(deep, "T", "Mul", "a,a", "t");
    put_output(deep, "t");
    return model;
}

static void nested_graphs_see_outer_values(void **state)
{
    (void)state;
    struct baryon_model *model = nested_model();
    struct baryon_graph *graph = model->graph;
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    const struct baryon_value *a = value_of(graph, "a");
    struct baryon_node *node = node_at(graph, 1);
    assert_int_equal(a->use_count, 4);
    assert_int_equal(a->output_count, 1);
    for (size_t i = 0; i < a->use_count; i++)
        assert_ptr_equal(by_use_reader(&a->uses[i], graph), node);
    struct by_nested at = {0};
    struct baryon_graph *then = by_node_nested(node, &at);
    struct baryon_graph *other = by_node_nested(node, &at);
    assert_null(by_node_nested(node, &at));
    assert_ptr_equal(then->owner, node);
    assert_ptr_equal(by_graph_value(then, "a"), a);
    assert_ptr_equal(value_of(then, "t")->graph, then);
    assert_null(by_graph_value(graph, "t"));
    assert_null(by_graph_value(other, "t"));
    by_model_free(model);
}

static void nested_outputs_may_repeat(void **state)
{
    (void)state;
    struct baryon_model *model = nested_model();
    struct by_nested at = {0};
    put_output(by_node_nested(node_at(model->graph, 1), &at), "t");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    by_model_free(model);
}

static void lists_of_graphs_are_walked(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_attribute *attr = BY_ARENA_NEW(&model->arena, struct baryon_attribute, &err);
    push(model, &node_at(model->graph, 2)->attribute, attr);
    attr->name = name_of(model, "bodies");
    for (int i = 0; i < 2; i++) {
        struct baryon_graph *body = BY_ARENA_NEW(&model->arena, struct baryon_graph, &err);
        body->model = model;
        push(model, &attr->graphs, body);
        put_node(body, "N", "Relu", i ? "missing" : "b", "n");
    }
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.node[2].attribute[0].graphs[1].node[0].input[0]: node 'N' (Relu) has input "
               "'missing', which no graph input, initializer or node output defines");
    by_model_free(model);
}

/* --- refusals --- */

static void refuses_second_definition(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    put_node(model->graph, "D", "Relu", "x", "a");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.node[3].output[0]: value 'a' is defined twice, must be defined once; node "
               "'A' (Add) defines it first");
    assert_false(model->graph->linked);
    by_model_free(model);

    model = small_model();
    put_node(model->graph, "D", "Relu", "x", "x");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.node[3].output[0]: value 'x' is defined twice, must be defined once; "
               "input[0] defines it first");
    by_model_free(model);

    model = small_model();
    put_init(model->graph, "w");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.initializer[1]: value 'w' is defined twice, must be defined once; "
               "initializer[0] defines it first");
    by_model_free(model);

    model = small_model();
    put_sparse(model->graph, "w");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.sparse_initializer[0]: value 'w' is defined twice, must be defined once; "
               "initializer[0] defines it first");
    by_model_free(model);

    model = small_model();
    put_input(model->graph, "x");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.input[1]: value 'x' is defined twice, must be defined once; input[0] defines "
               "it first");
    by_model_free(model);
}

static void refuses_values_without_name(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    put_input(model->graph, "");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.input[1]: a value has no name, must have one");
    by_model_free(model);

    model = small_model();
    struct baryon_tensor *tensor = new_tensor(model, "v");
    tensor->name = NULL;
    push(model, &model->graph->initializer, tensor);
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.initializer[1]: a value has no name, must have one");
    by_model_free(model);
}

static void refuses_undefined_input(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    put_input(model->graph, "features");
    put_node(model->graph, "D", "Relu", "feature", "d");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.node[3].input[0]: node 'D' (Relu) has input 'feature', which no graph input, "
               "initializer or node output defines; did you mean 'features'?");
    by_model_free(model);
}

static void refuses_undefined_or_repeated_output(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    put_output(model->graph, "nothing_like_it");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.output[1]: graph output 'nothing_like_it' is not defined by any graph input, "
               "initializer or node output");
    by_model_free(model);

    model = small_model();
    put_output(model->graph, "a");
    put_output(model->graph, "y");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.output[2]: graph output 'y' is listed twice, it is already output[0]");
    by_model_free(model);
}

static void refuses_hidden_outer_value(void **state)
{
    (void)state;
    struct baryon_model *model = nested_model();
    struct by_nested at = {0};
    struct baryon_graph *then = by_node_nested(node_at(model->graph, 1), &at);
    put_node(then, "N", "Relu", "t", "a");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.node[1].attribute[0].g.node[1].output[0]: value 'a' has the name of a value "
               "in an outer graph, must have its own name; node 'A' (Relu) defines it first");
    by_model_free(model);
}

/* After the owner the outer value is not there yet: ONNX allows the name. */
static void allows_name_of_later_outer_value(void **state)
{
    (void)state;
    struct baryon_model *model = nested_model();
    struct by_nested at = {0};
    struct baryon_graph *then = by_node_nested(node_at(model->graph, 1), &at);
    put_node(then, "N", "Relu", "t", "z");
    put_node(then, "M", "Relu", "z", "m");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    assert_ptr_equal(by_node_in(node_at(then, 2), 0)->graph, then);
    by_model_free(model);
}

/* ONNX Runtime takes such models, which exporters of loops write. */
static void renames_hiding_initializers_of_nested_graphs(void **state)
{
    (void)state;
    struct baryon_model *model = nested_model();
    struct baryon_node *node = node_at(model->graph, 1);
    struct by_nested at = {0};
    struct baryon_graph *then = by_node_nested(node, &at);
    struct baryon_graph *other = by_node_nested(node, &at);
    put_init(then, "a");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    const struct baryon_value *hiding = by_node_in(node_at(then, 0), 0);
    assert_ptr_equal(hiding->graph, then);
    assert_string_equal(hiding->name, "a_1");
    assert_string_equal(node_at(then, 0)->input.at[0], "a_1");
    assert_string_equal(hiding->initializer->name, "a_1");
    assert_ptr_equal(by_graph_value(then, "a"), value_of(model->graph, "a"));
    assert_ptr_equal(by_graph_value(other, "a"), value_of(model->graph, "a"));
    assert_int_equal(value_of(model->graph, "a")->use_count, 3);
    by_model_free(model);
}

static struct baryon_model *deep_model(unsigned depth)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "cond");
    for (unsigned i = 0; i < depth; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%u", i);
        graph = put_nested(model, put_node(graph, "", "If", "cond", name), "then_branch");
    }
    put_node(graph, "", "Not", "cond", "last");
    return model;
}

static void limits_nesting(void **state)
{
    (void)state;
    struct baryon_model *model = deep_model(BY_GRAPH_DEPTH_MAX);
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    assert_int_equal(value_of(model->graph, "cond")->use_count, BY_GRAPH_DEPTH_MAX + 1);
    by_model_free(model);
    model = deep_model(BY_GRAPH_DEPTH_MAX + 1);
    assert_int_equal(by_model_link(model, &err), -1);
    assert_int_equal(err.code, BARYON_ERR_INPUT);
    assert_string_equal(err.message, "graphs nest more than 32 deep, the limit");
    assert_memory_equal(err.place, "graph.node[0].attribute[0].g.node[0].attribute[0].g.", 52);
    by_model_free(model);
}

static void refuses_cycles(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    put_input(model->graph, "x");
    put_node(model->graph, "A", "Add", "x,c", "a");
    put_node(model->graph, "B", "Relu", "a", "b");
    put_node(model->graph, "C", "Relu", "b", "c");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.node[0]: a cycle of 3 nodes: node 'A' (Add) -> node 'B' (Relu) -> node 'C' "
               "(Relu) -> the first again, a graph must have no cycles");
    by_model_free(model);

    model = new_model();
    put_node(model->graph, "A", "Relu", "a", "a");
    assert_err(
        by_model_link(model, &err), BARYON_ERR_INPUT,
        "graph.node[0]: node 'A' (Relu) has its own output as input, a graph must have no cycles");
    by_model_free(model);
}

static void names_few_nodes_of_a_long_cycle(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    for (int i = 0; i < 5000; i++) {
        char name[16], input[16], output[16];
        snprintf(name, sizeof name, "n%d", i);
        snprintf(input, sizeof input, "v%d", (i + 4999) % 5000);
        snprintf(output, sizeof output, "v%d", i);
        put_node(model->graph, name, "Relu", input, output);
    }
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.node[0]: a cycle of 5000 nodes: node 'n0' (Relu) -> node 'n1' (Relu) -> node "
               "'n2' (Relu) -> node 'n3' (Relu) -> ..., a graph must have no cycles");
    by_model_free(model);
}

/* A branch reads the output of its own owner. */
static void refuses_cycle_through_nested_graph(void **state)
{
    (void)state;
    struct baryon_model *model = nested_model();
    struct by_nested at = {0};
    put_node(by_node_nested(node_at(model->graph, 1), &at), "N", "Relu", "z", "n");
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "graph.node[1]: a cycle of 2 nodes: node 'I' (If) -> node 'Z' (Relu) -> the first "
               "again, a graph must have no cycles");
    by_model_free(model);
}

static void links_unsorted_nodes(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    const struct baryon_node *bad;
    put_input(graph, "x");
    put_node(graph, "A", "Relu", "x", "a");
    put_node(graph, "C", "Relu", "b", "c");
    put_node(graph, "B", "Relu", "a", "b");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    assert_false(by_graph_is_sorted(graph, &bad));
    assert_string_equal(bad->name, "C");
    assert_ok(by_model_settle(model, &err));
    assert_string_equal(order_of(graph), "A C B");
    assert_ok(by_model_sort(model, &err));
    assert_string_equal(order_of(graph), "A B C");
    assert_true(by_graph_is_sorted(graph, &bad));
    assert_null(bad);
    assert_sound(model);
    by_model_free(model);
}

/* --- from bytes --- */

static void says_where_in_the_file(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    put_node(model->graph, "here", "Relu", "missing", "d");
    struct by_str bytes;
    by_str_init(&bytes);
    assert_ok(by_model_save_bytes(model, &bytes, &err));
    by_model_free(model);

    const char *text = by_str_text(&bytes), *at = text;
    while (memcmp(at, "missing", 7))
        at++;
    assert_ok(by_model_load_bytes(&model, text, bytes.size, NULL, NULL, &err));
    assert_int_equal(by_model_link(model, &err), -1);
    assert_string_equal(err.place, "graph.node[3].input[0]");
    /* The node begins with its first input: tag and size of it. */
    assert_int_equal(err.offset, at - text - 2);
    by_model_free(model);
    by_str_release(&bytes);
}

static void links_again_after_refusal(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct baryon_node *node = put_node(model->graph, "D", "Relu", "missing", "d");
    assert_int_equal(by_model_link(model, &err), -1);
    node->input.at[0] = name_of(model, "x");
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    by_model_unlink(model);
    assert_false(model->graph->linked);
    assert_ok(by_model_link(model, &err));
    assert_sound(model);
    assert_int_equal(value_of(model->graph, "x")->use_count, 2);
    by_model_free(model);
}

static void training_information_pins_values(void **state)
{
    (void)state;
    struct baryon_model *model = small_model();
    struct by_training_info *info = BY_ARENA_NEW(&model->arena, struct by_training_info, &err);
    push(model, &model->training_info, info);
    info->algorithm = BY_ARENA_NEW(&model->arena, struct baryon_graph, &err);
    info->algorithm->model = model;
    put_node(info->algorithm, "G", "Sub", "w,b", "w_new");
    struct by_pair *pair = BY_ARENA_NEW(&model->arena, struct by_pair, &err);
    *pair = (struct by_pair){.key = name_of(model, "a"), .value = {(const uint8_t *)"y", 1}};
    push(model, &info->update_binding, pair);
    assert_ok(by_model_link(model, &err));
    assert_true(value_of(model->graph, "w")->pinned);
    assert_true(value_of(model->graph, "b")->pinned);
    assert_true(value_of(model->graph, "a")->pinned);
    assert_true(value_of(model->graph, "y")->pinned);
    assert_false(value_of(model->graph, "x")->pinned);
    assert_err(by_value_rename(value_of(model->graph, "w"), "v", &err), BARYON_ERR_UNSUPPORTED,
               "value 'w' is named by training information, must keep its name");
    assert_ok(by_value_rename(value_of(model->graph, "x"), "x2", &err));
    by_model_free(model);
}

static void refuses_model_without_graph(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    model->graph = NULL;
    assert_err(by_model_link(model, &err), BARYON_ERR_INPUT,
               "the model has no graph, must have one");
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(links_producers_and_uses),
        cmocka_unit_test(input_with_default_is_one_value),
        cmocka_unit_test(empty_names_are_left_out),
        cmocka_unit_test(same_node_names_are_fine),
        cmocka_unit_test(declared_types_are_attached),
        cmocka_unit_test(nested_graphs_see_outer_values),
        cmocka_unit_test(nested_outputs_may_repeat),
        cmocka_unit_test(lists_of_graphs_are_walked),
        cmocka_unit_test(refuses_second_definition),
        cmocka_unit_test(refuses_values_without_name),
        cmocka_unit_test(refuses_undefined_input),
        cmocka_unit_test(refuses_undefined_or_repeated_output),
        cmocka_unit_test(refuses_hidden_outer_value),
        cmocka_unit_test(allows_name_of_later_outer_value),
        cmocka_unit_test(renames_hiding_initializers_of_nested_graphs),
        cmocka_unit_test(limits_nesting),
        cmocka_unit_test(refuses_cycles),
        cmocka_unit_test(names_few_nodes_of_a_long_cycle),
        cmocka_unit_test(refuses_cycle_through_nested_graph),
        cmocka_unit_test(links_unsorted_nodes),
        cmocka_unit_test(says_where_in_the_file),
        cmocka_unit_test(links_again_after_refusal),
        cmocka_unit_test(training_information_pins_values),
        cmocka_unit_test(refuses_model_without_graph),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
