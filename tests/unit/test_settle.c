/* Order, pruning and paths. */
#include "tests/unit/graph_build.h"

/* Nodes whose letters say what they read: "Bac" is B = f(a, c). In lower case what it makes. */
static struct baryon_model *letters(const char *text)
{
    struct baryon_model *model = new_model();
    put_input(model->graph, "x");
    while (*text) {
        size_t size = strcspn(text, " ");
        char name[2] = {text[0]}, output[2] = {(char)(text[0] | 0x20)}, inputs[32] = "";
        for (size_t i = 1; i < size; i++) {
            size_t used = strlen(inputs);
            snprintf(inputs + used, sizeof inputs - used, "%s%c", used ? "," : "", text[i]);
        }
        put_node(model->graph, name, "Op", inputs, output);
        text += size + (text[size] == ' ');
    }
    assert_ok(by_model_link(model, &err));
    return model;
}

static void assert_sorts_to(const char *nodes, const char *wanted)
{
    struct baryon_model *model = letters(nodes);
    assert_ok(by_graph_settle(model->graph, &err));
    assert_string_equal(order_of(model->graph), wanted);
    assert_true(by_graph_is_sorted(model->graph, NULL));
    assert_sound(model);
    by_model_free(model);
}

static void keeps_an_order_that_is_right(void **state)
{
    (void)state;
    assert_sorts_to("Ax Bx Cx Dab Ec Fde", "A B C D E F");
    assert_sorts_to("Cx Ax Bx", "C A B");
}

/* A producer comes to stand just before the first node that reads it; the rest stays. */
static void moves_no_more_than_needed(void **state)
{
    (void)state;
    assert_sorts_to("Ax Cb Dx Bx", "A B C D");
    assert_sorts_to("Ax Dbc Ex Cx Bx Fe", "A C B D E F");
    assert_sorts_to("Dc Cb Ba Ax Ex", "A B C D E");
    assert_sorts_to("Ax Bx Gac Cb Db", "A B C G D");
}

static void inserted_nodes_come_before_their_readers(void **state)
{
    (void)state;
    struct baryon_model *model = letters("Ax Ba Cb Db");
    struct baryon_graph *graph = model->graph;
    assert_non_null(by_graph_insert_on_edge(node_at(graph, 2), 0, "Q", NULL, NULL, 0, &err));
    assert_string_equal(order_of(graph), "A B C D b_Q");
    assert_sound(model);
    assert_ok(by_model_settle(model, &err));
    assert_string_equal(order_of(graph), "A B b_Q C D");
    assert_sound(model);
    by_model_free(model);
}

static void outer_values_read_inside_are_waited_for(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "x");
    struct baryon_graph *branch =
        put_nested(model, put_node(graph, "I", "If", "x", "i"), "then_branch");
    struct baryon_graph *deep =
        put_nested(model, put_node(branch, "J", "If", "x", "j"), "then_branch");
    put_node(deep, "D", "Op", "a,b", "d");
    put_output(deep, "b");
    put_node(graph, "C", "Op", "x", "c");
    put_node(graph, "A", "Op", "x", "a");
    put_node(graph, "B", "Op", "a", "b");
    const struct baryon_node *bad;
    assert_ok(by_model_link(model, &err));
    assert_false(by_graph_is_sorted(graph, &bad));
    assert_string_equal(bad->name, "I");
    assert_ok(by_model_sort(model, &err));
    assert_string_equal(order_of(graph), "A B I C");
    assert_sound(model);
    by_model_free(model);
}

static void refuses_a_cycle_made_by_edits(void **state)
{
    (void)state;
    struct baryon_model *model = letters("Ax Ba Cb");
    struct baryon_graph *graph = model->graph;
    assert_ok(by_node_set_input(node_at(graph, 0), 0, value_of(graph, "c"), &err));
    assert_sound(model);
    assert_err(by_model_settle(model, &err), BARYON_ERR_INPUT,
               "graph.node[0]: a cycle of 3 nodes: node 'A' (Op) -> node 'B' (Op) -> node 'C' (Op) "
               "-> the first again, a graph must have no cycles");
    assert_sound(model);
    assert_ok(by_node_set_input(node_at(graph, 0), 0, value_of(graph, "x"), &err));
    assert_ok(by_model_settle(model, &err));
    assert_string_equal(order_of(graph), "A B C");
    by_model_free(model);
}

/* Deep chains would end a recursive walk. */
static void sorts_a_long_chain_that_stands_backwards(void **state)
{
    (void)state;
    enum { COUNT = 200000 };
    struct baryon_model *model = new_model();
    put_input(model->graph, "v0");
    for (int i = COUNT; i > 0; i--) {
        char input[16], output[16];
        snprintf(input, sizeof input, "v%d", i - 1);
        snprintf(output, sizeof output, "v%d", i);
        put_node(model->graph, output, "Op", input, output);
    }
    assert_ok(by_model_link(model, &err));
    assert_ok(by_model_sort(model, &err));
    for (size_t i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%zu", i + 1);
        assert_string_equal(node_at(model->graph, i)->name, name);
    }
    by_model_free(model);
}

static void closes_all_holes(void **state)
{
    (void)state;
    struct baryon_model *model = letters("Ax Ba Cb");
    struct baryon_graph *graph = model->graph;
    const char *names[] = {"w1", "w2", "w3"};
    struct baryon_value *weights[3];
    for (int i = 0; i < 3; i++) {
        weights[i] = by_graph_add_initializer(graph, new_tensor(model, names[i]), &err);
        assert_non_null(weights[i]);
    }
    assert_ok(by_graph_remove_initializer(weights[1], &err));
    assert_null(graph->initializer.at[1]);
    assert_ok(by_graph_remove_node(node_at(graph, 2), &err));
    assert_ok(by_graph_remove_node(node_at(graph, 1), &err));
    assert_sound(model);
    assert_ok(by_model_settle(model, &err));
    assert_sound(model);
    assert_int_equal(graph->initializer.count, 2);
    assert_int_equal(weights[2]->init_slot, 1);
    assert_int_equal(graph->node.count, 1);
    assert_int_equal(graph->all_values.count, 4);
    assert_false(graph->unsettled);
    by_model_free(model);
}

/* --- pruning --- */

static void prunes_what_nobody_reads(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    size_t removed = 99;
    put_input(graph, "x");
    put_init(graph, "w");
    put_init(graph, "unused");
    put_node(graph, "A", "Op", "x", "a");
    put_node(graph, "B", "Op", "a,w", "b");
    put_node(graph, "C", "Op", "b", "c");
    put_node(graph, "Y", "Op", "a", "y");
    put_node(graph, "S", "Sink", "a", ",");
    put_output(graph, "y");
    assert_ok(by_model_link(model, &err));
    assert_ok(by_graph_prune(graph, &removed, &err));
    assert_int_equal(removed, 4);
    assert_sound(model);
    assert_ok(by_model_settle(model, &err));
    assert_string_equal(order_of(graph), "A Y S");
    assert_int_equal(graph->initializer.count, 0);
    assert_ok(by_graph_prune(graph, &removed, &err));
    assert_int_equal(removed, 0);
    by_model_free(model);
}

static void prunes_nested_graphs_first(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "x");
    put_node(graph, "A", "Op", "x", "a");
    put_node(graph, "B", "Op", "x", "b");
    struct baryon_graph *branch =
        put_nested(model, put_node(graph, "I", "If", "x", "i"), "then_branch");
    put_output(graph, "i");
    put_node(branch, "U", "Op", "a", "u");
    put_node(branch, "V", "Op", "b", "v");
    put_output(branch, "v");
    assert_ok(by_model_link(model, &err));
    size_t removed;
    assert_ok(by_graph_prune(graph, &removed, &err));
    assert_int_equal(removed, 2);
    assert_sound(model);
    assert_ok(by_model_settle(model, &err));
    assert_string_equal(order_of(graph), "B I");
    assert_string_equal(order_of(branch), "V");
    by_model_free(model);
}

/* Before IR version 4 each initializer had to be an input; later such an input is a real one. */
static void prunes_inputs_of_old_models(void **state)
{
    (void)state;
    for (int version = 3; version <= 4; version++) {
        struct baryon_model *model = new_model();
        model->ir_version = version;
        put_input(model->graph, "w");
        put_input(model->graph, "x");
        put_init(model->graph, "w");
        assert_ok(by_model_link(model, &err));
        size_t removed;
        assert_ok(by_graph_prune(model->graph, &removed, &err));
        assert_sound(model);
        assert_int_equal(removed, version == 3 ? 1 : 0);
        assert_ok(by_model_settle(model, &err));
        assert_int_equal(model->graph->input.count, version == 3 ? 1 : 2);
        assert_int_equal(value_of(model->graph, "x")->slot, version == 3 ? 0 : 1);
        assert_sound(model);
        by_model_free(model);
    }
}

/* --- paths --- */

static const char *between(struct baryon_model *model, const char *starts, const char *ends)
{
    struct baryon_graph *graph = model->graph;
    struct baryon_node *from[8], *to[8];
    size_t from_count = 0, to_count = 0;
    bool marks[32];
    static char text[64];
    size_t used = 0;
    for (; *starts; starts++)
        from[from_count++] = value_of(graph, (char[]){*starts, 0})->producer;
    for (; *ends; ends++)
        to[to_count++] = value_of(graph, (char[]){*ends, 0})->producer;
    assert_ok(by_graph_between(graph, from, from_count, to, to_count, marks, &err));
    for (size_t i = 0; i < graph->node.count; i++)
        if (marks[i])
            text[used++] = node_at(graph, i)->name[0];
    text[used] = '\0';
    return text;
}

/*
 *        B -- C             S leads in from the side, T leads out, U is a dead end of C;
 *       /      \            P stands before, Z after.
 *  P - A        E - Z
 *       \      /
 *        D ----
 */
static void marks_paths_alone(void **state)
{
    (void)state;
    struct baryon_model *model = letters("Px Ap Sx Bas Cb Da Ecd Te Uc Ze");
    assert_string_equal(between(model, "a", "e"), "ABCDE");
    assert_string_equal(between(model, "b", "e"), "BCE");
    assert_string_equal(between(model, "bd", "e"), "BCDE");
    assert_string_equal(between(model, "a", "cd"), "ABCD");
    assert_string_equal(between(model, "s", "z"), "SBCEZ");
    assert_string_equal(between(model, "a", "a"), "A");
    assert_string_equal(between(model, "e", "a"), "");
    assert_string_equal(between(model, "d", "u"), "");
    assert_string_equal(between(model, "", "e"), "");
    assert_string_equal(between(model, "ac", "ez"), "ABCDEZ");
    by_model_free(model);
}

static void paths_lead_through_nested_graphs(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "x");
    put_node(graph, "A", "Op", "x", "a");
    struct baryon_graph *branch =
        put_nested(model, put_node(graph, "I", "If", "x", "i"), "then_branch");
    put_node(branch, "N", "Op", "a", "n");
    put_output(branch, "n");
    put_node(graph, "Z", "Op", "i", "z");
    assert_ok(by_model_link(model, &err));
    assert_string_equal(between(model, "a", "z"), "AIZ");
    struct baryon_node *inner = node_at(branch, 0);
    bool marks[3];
    assert_err(by_graph_between(graph, &inner, 1, &inner, 1, marks, &err), BARYON_ERR_USAGE,
               "node 'N' (Op) is not in this graph");
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keeps_an_order_that_is_right),
        cmocka_unit_test(moves_no_more_than_needed),
        cmocka_unit_test(inserted_nodes_come_before_their_readers),
        cmocka_unit_test(outer_values_read_inside_are_waited_for),
        cmocka_unit_test(refuses_a_cycle_made_by_edits),
        cmocka_unit_test(sorts_a_long_chain_that_stands_backwards),
        cmocka_unit_test(closes_all_holes),
        cmocka_unit_test(prunes_what_nobody_reads),
        cmocka_unit_test(prunes_nested_graphs_first),
        cmocka_unit_test(prunes_inputs_of_old_models),
        cmocka_unit_test(marks_paths_alone),
        cmocka_unit_test(paths_lead_through_nested_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
