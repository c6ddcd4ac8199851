/* Edits one by one: what changes, what stays, what is refused. */
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

/* --- names --- */

static void fresh_names_count_up(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    assert_string_equal(by_model_fresh_name(model, "new", &err), "new");
    assert_string_equal(by_model_fresh_name(model, "new", &err), "new_1");
    assert_string_equal(by_model_fresh_name(model, "new", &err), "new_2");
    assert_string_equal(by_model_fresh_name(model, "n", &err), "n_1");
    assert_string_equal(by_model_fresh_name(model, "", &err), "value");
    by_model_free(model);
}

/* A name is at most 4096 bytes long and is cut between characters. */
static void fresh_names_stay_within_the_limit(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    char stem[5001];
    for (size_t i = 0; i < 5000; i += 2)
        memcpy(stem + i, "\xc3\xa4", 2);
    stem[5000] = '\0';
    const char *first = by_model_fresh_name(model, stem, &err);
    const char *second = by_model_fresh_name(model, stem, &err);
    assert_int_equal(strlen(first), 4072);
    assert_memory_equal(first, second, 4072);
    assert_string_equal(second + 4072, "_1");
    by_model_free(model);
}

static void rename_reaches_every_place(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *a = value_of(graph, "a");
    assert_ok(by_value_rename(a, "alpha", &err));
    assert_sound(model);
    assert_null(by_graph_value(graph, "a"));
    assert_ptr_equal(by_graph_value(branch_of(model), "alpha"), a);
    assert_string_equal(named(graph, "A")->output.at[0], "alpha");
    assert_string_equal(named(graph, "C")->input.at[0], "alpha");
    assert_string_equal(node_at(branch_of(model), 0)->input.at[0], "alpha");
    assert_string_equal(((struct by_value_info *)graph->value_info.at[0])->name, "alpha");
    assert_ok(by_value_rename(value_of(graph, "w"), "weight", &err));
    assert_string_equal(((struct baryon_tensor *)graph->initializer.at[0])->name, "weight");
    assert_ok(by_value_rename(value_of(graph, "x"), "image", &err));
    assert_string_equal(((struct by_value_info *)graph->input.at[0])->name, "image");
    assert_ok(by_value_rename(value_of(graph, "y"), "scores", &err));
    assert_string_equal(((struct by_value_info *)graph->output.at[0])->name, "scores");
    assert_sound(model);
    /* Back again, and to the name that it has. */
    assert_ok(by_value_rename(a, "a", &err));
    assert_ok(by_value_rename(a, "a", &err));
    assert_sound(model);
    by_model_free(model);
}

static void rename_refuses_taken_and_impossible_names(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_value *a = value_of(model->graph, "a");
    assert_err(by_value_rename(a, "b", &err), BARYON_ERR_USAGE,
               "graph: name 'b' is used by another value, must be unique");
    assert_err(by_value_rename(a, "n", &err), BARYON_ERR_USAGE,
               "graph.node[3].attribute[0].g: name 'n' is used by another value, must be unique");
    assert_err(by_value_rename(value_of(branch_of(model), "n"), "x", &err), BARYON_ERR_USAGE,
               "graph: name 'x' is used by another value, must be unique");
    assert_err(by_value_rename(a, "", &err), BARYON_ERR_USAGE,
               "an empty name, a value must have one");
    assert_err(by_value_rename(a, "\xff", &err), BARYON_ERR_USAGE,
               "name '\\xff' is not valid UTF-8");
    char text[4098];
    memset(text, 'n', 4097);
    text[4097] = '\0';
    assert_err(by_value_rename(a, text, &err), BARYON_ERR_USAGE,
               "a name of 4097 bytes, must be at most 4096");
    assert_sound(model);
    by_model_free(model);
}

/* Both branches of an If may use a name: neither sees the other. */
static void rename_allows_names_of_the_other_branch(void **state)
{
    (void)state;
    struct baryon_model *model = new_model();
    put_input(model->graph, "x");
    struct baryon_node *node = put_node(model->graph, "I", "If", "x", "i");
    const char *const names[2] = {"p", "q"};
    for (int i = 0; i < 2; i++) {
        struct baryon_graph *branch = put_nested(model, node, names[i]);
        put_node(branch, "N", "Relu", "x", names[i]);
        put_output(branch, names[i]);
    }
    assert_ok(by_model_link(model, &err));
    struct by_nested at = {0};
    assert_ok(by_value_rename(value_of(by_node_nested(node, &at), "p"), "q", &err));
    assert_sound(model);
    by_model_free(model);
}

static void leftover_declarations_do_not_come_to_life(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    put_info(graph, &graph->value_info, "ghost");
    by_model_unlink(model);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_value_rename(value_of(graph, "y"), "ghost", &err));
    assert_sound(model);
    assert_ptr_equal(value_of(graph, "ghost")->info, graph->output.at[0]);
    assert_ok(by_model_settle(model, &err));
    assert_int_equal(graph->value_info.count, 2);
    by_model_free(model);
}

static void annotations_follow_names(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct by_annotation *annotation = BY_ARENA_NEW(&model->arena, struct by_annotation, &err);
    struct by_pair *pair = BY_ARENA_NEW(&model->arena, struct by_pair, &err);
    annotation->tensor_name = name_of(model, "a");
    *pair = (struct by_pair){.key = name_of(model, "SCALE_TENSOR"),
                             .value = {(const uint8_t *)"scale", 5}};
    push(model, &annotation->names, pair);
    push(model, &graph->annotation, annotation);
    put_init(graph, "scale");
    by_model_unlink(model);
    assert_ok(by_model_link(model, &err));
    assert_ok(by_value_rename(value_of(graph, "a"), "alpha", &err));
    assert_ok(by_value_rename(value_of(graph, "scale"), "s2", &err));
    assert_sound(model);
    assert_string_equal(annotation->tensor_name, "alpha");
    assert_int_equal(pair->value.size, 2);
    assert_memory_equal(pair->value.data, "s2", 2);
    /* What an annotation names is not left over. */
    size_t removed;
    assert_ok(by_graph_prune(graph, &removed, &err));
    assert_non_null(by_graph_value(graph, "s2"));
    assert_int_equal(by_graph_remove_initializer(value_of(graph, "s2"), &err), -1);
    /* Unless the annotation goes with the value that it is about. */
    assert_ok(by_value_replace_uses(value_of(graph, "alpha"), value_of(graph, "x"), NULL, &err));
    assert_ok(by_graph_prune(graph, &removed, &err));
    assert_null(by_graph_value(graph, "s2"));
    assert_ok(by_model_settle(model, &err));
    assert_int_equal(graph->annotation.count, 0);
    by_model_free(model);
}

static void sharding_follows_what_a_node_reads(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct by_node_device *device = BY_ARENA_NEW(&model->arena, struct by_node_device, &err);
    struct by_sharding_spec *spec = BY_ARENA_NEW(&model->arena, struct by_sharding_spec, &err);
    push(model, &named(graph, "B")->device_configurations, device);
    push(model, &device->sharding_spec, spec);
    spec->tensor_name = name_of(model, "a");
    assert_ok(by_value_rename(value_of(graph, "a"), "alpha", &err));
    assert_string_equal(spec->tensor_name, "alpha");
    const struct baryon_node *node =
        by_graph_insert_on_edge(named(graph, "B"), 0, "Q", NULL, NULL, 0, &err);
    assert_string_equal(spec->tensor_name, node->output.at[0]);
    by_model_free(model);
}

/* --- nodes --- */

static void adds_and_removes_nodes(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *inputs[] = {value_of(graph, "a"), NULL, value_of(graph, "w")};
    const char *outputs[] = {"o1", NULL, "o2"};
    struct baryon_node *node =
        by_graph_add_node(graph, "Op", "my.domain", "added", inputs, 3, outputs, 3, &err);
    assert_non_null(node);
    assert_sound(model);
    assert_string_equal(node->domain, "my.domain");
    assert_string_equal(node->input.at[1], "");
    assert_ptr_equal(by_node_out(node, 2), value_of(graph, "o2"));
    assert_null(by_node_out(node, 1));
    assert_int_equal(value_of(graph, "a")->use_count, 4);
    assert_ok(by_graph_remove_node(node, &err));
    assert_sound(model);
    assert_int_equal(value_of(graph, "a")->use_count, 3);
    assert_null(by_graph_value(graph, "o1"));
    assert_err(by_graph_remove_node(node, &err), BARYON_ERR_USAGE,
               "node 'added' (Op) is not part of a linked graph");
    /* The names are free again. */
    assert_non_null(by_graph_add_node(graph, "Op", "", NULL, NULL, 0, outputs, 3, &err));
    assert_sound(model);
    by_model_free(model);
}

/* Room for uses follows the inputs, also where one is read several times. */
static void a_node_may_have_many_inputs(void **state)
{
    (void)state;
    enum { COUNT = 10000 };
    static struct baryon_value *inputs[COUNT + 3];
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "x%d", i);
        put_input(graph, name);
    }
    assert_ok(by_model_link(model, &err));
    for (int i = 0; i < COUNT; i++)
        inputs[i] = ((const struct by_ptrs *)&graph->all_values)->at[i];
    inputs[COUNT] = inputs[COUNT + 2] = inputs[7];
    const char *output = "y";
    size_t before = model->arena.used;
    struct baryon_node *node =
        by_graph_add_node(graph, "Sum", NULL, NULL, inputs, COUNT + 3, &output, 1, &err);
    assert_non_null(node);
    assert_sound(model);
    assert_int_equal(inputs[7]->use_count, 3);
    assert_int_equal(inputs[8]->use_count, 1);
    assert_true(model->arena.used - before < COUNT * 200u);
    by_model_free(model);
}

/* The loader refuses such names, so they must not get into a model. */
static void names_of_nodes_are_texts(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    char text[4098];
    memset(text, 'n', 4097);
    text[4097] = '\0';
    const char *output = "fine";
    const size_t values = graph->all_values.count;
    assert_err(!by_graph_add_node(graph, "\xff", NULL, NULL, NULL, 0, &output, 1, &err),
               BARYON_ERR_USAGE, "name '\\xff' is not valid UTF-8");
    assert_err(!by_graph_add_node(graph, "Op", "\xc3(", NULL, NULL, 0, &output, 1, &err),
               BARYON_ERR_USAGE, "name '\\xc3(' is not valid UTF-8");
    assert_err(!by_graph_add_node(graph, "Op", NULL, text, NULL, 0, &output, 1, &err),
               BARYON_ERR_USAGE, "a name of 4097 bytes, must be at most 4096");
    assert_err(by_node_set_int(named(graph, "A"), text, 1, &err), BARYON_ERR_USAGE,
               "a name of 4097 bytes, must be at most 4096");
    assert_err(!by_tensor_new(model, "\xff", BY_ELEM_FLOAT, NULL, 0, NULL, 0, &err),
               BARYON_ERR_USAGE, "name '\\xff' is not valid UTF-8");
    assert_err(!by_model_fresh_name(model, "\xff", &err), BARYON_ERR_USAGE,
               "name '\\xff' is not valid UTF-8");
    assert_int_equal(graph->all_values.count, values);
    assert_sound(model);
    text[4096] = '\0';
    assert_non_null(by_graph_add_node(graph, "Op", NULL, text, NULL, 0, &output, 1, &err));
    assert_sound(model);
    by_model_free(model);
}

static void add_node_refuses_and_leaves_nothing(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *inner = value_of(branch_of(model), "n");
    const char *outputs[] = {"fine", "fine"};
    assert_err(!by_graph_add_node(graph, "Op", NULL, NULL, NULL, 0, outputs, 2, &err),
               BARYON_ERR_USAGE, "graph: name 'fine' is used by another value, must be unique");
    assert_sound(model);
    assert_null(by_graph_value(graph, "fine"));
    assert_err(!by_graph_add_node(graph, "Op", NULL, NULL, &inner, 1, outputs, 1, &err),
               BARYON_ERR_USAGE,
               "value 'n' is not visible there, only in its own graph and graphs nested in it");
    assert_sound(model);
    assert_int_equal(graph->node.count, 4);
    by_model_free(model);
}

static void keeps_nodes_that_are_read(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    assert_err(
        by_graph_remove_node(named(model->graph, "A"), &err), BARYON_ERR_USAGE,
        "output 'a' of node 'A' (Add) is still used, a node must be removed after its consumers");
    assert_sound(model);
    by_model_free(model);
}

static void removed_nodes_take_nested_graphs_along(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph, *branch = branch_of(model);
    struct baryon_value *inner = value_of(branch, "n");
    struct baryon_value *cond = value_of(graph, "cond");
    struct baryon_node *node = named(graph, "I");
    /* An output gets another source, so that the If has no reader left. */
    assert_ok(by_value_replace_uses(value_of(graph, "i"), value_of(graph, "b"), NULL, &err));
    assert_ok(by_graph_remove_node(node, &err));
    assert_sound(model);
    assert_false(branch->linked);
    assert_int_equal(value_of(graph, "a")->use_count, 2);
    assert_int_equal(value_of(graph, "w")->use_count, 1);
    assert_int_equal(cond->use_count, 0);
    assert_int_equal(by_value_rename(inner, "other", &err), -1);
    assert_int_equal(by_node_set_input(node_at(branch, 0), 0, cond, &err), -1);
    assert_ok(by_value_rename(value_of(graph, "a"), "n", &err));
    assert_ok(by_model_settle(model, &err));
    assert_sound(model);
    by_model_free(model);
}

static void sets_appends_and_leaves_out_inputs(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_node *b = named(graph, "B");
    assert_ok(by_node_set_input(b, 0, value_of(graph, "x"), &err));
    assert_sound(model);
    assert_string_equal(b->input.at[0], "x");
    assert_ok(by_node_set_input(b, 3, value_of(graph, "w"), &err));
    assert_sound(model);
    assert_int_equal(b->input.count, 4);
    assert_string_equal(b->input.at[2], "");
    assert_ok(by_node_set_input(b, 3, NULL, &err));
    assert_sound(model);
    assert_string_equal(b->input.at[3], "");
    assert_err(by_node_set_input(b, 5000, value_of(graph, "w"), &err), BARYON_ERR_USAGE,
               "input 5000 of a node with 4, out of range");
    assert_int_equal(by_node_set_input(b, SIZE_MAX, NULL, &err), -1);
    assert_ok(by_node_set_input(node_at(branch_of(model), 0), 1, value_of(graph, "b"), &err));
    assert_sound(model);
    by_model_free(model);
}

/* --- uses --- */

static void replaces_uses_but_for_one_node(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *a = value_of(graph, "a");
    const char *name = "q";
    struct baryon_node *q = by_graph_add_node(graph, "Q", NULL, "Q", &a, 1, &name, 1, &err);
    assert_ok(by_value_replace_uses(a, q->outs[0], q, &err));
    assert_sound(model);
    assert_int_equal(a->use_count, 1);
    assert_int_equal(q->outs[0]->use_count, 3);
    assert_string_equal(node_at(branch_of(model), 0)->input.at[0], "q");
    assert_ok(by_model_settle(model, &err));
    assert_string_equal(order_of(graph), "A Q B C I");
    by_model_free(model);
}

static void except_covers_graphs_inside_the_node(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *a = value_of(graph, "a"), *x = value_of(graph, "x");
    assert_ok(by_value_replace_uses(a, x, named(graph, "I"), &err));
    assert_sound(model);
    assert_int_equal(a->use_count, 1);
    assert_string_equal(node_at(branch_of(model), 0)->input.at[0], "a");
    by_model_free(model);
}

static void outputs_keep_their_names(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *y = value_of(graph, "y");
    const char *name = "q";
    struct baryon_node *q = by_graph_add_node(graph, "Q", NULL, "Q", &y, 1, &name, 1, &err);
    assert_ok(by_value_replace_uses(y, q->outs[0], q, &err));
    assert_sound(model);
    assert_string_equal(y->name, "y_1");
    assert_string_equal(q->input.at[0], "y_1");
    assert_string_equal(q->output.at[0], "y");
    assert_ptr_equal(by_graph_out(graph, 0), q->outs[0]);
    assert_ptr_equal(q->outs[0]->info, graph->output.at[0]);
    assert_null(y->info);
    assert_null(by_graph_value(graph, "q"));
    by_model_free(model);
}

/* A value that becomes an output is declared there, not in value_info as well. */
static void outputs_are_declared_once(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *b = value_of(graph, "b");
    assert_ok(by_value_replace_uses(value_of(graph, "y"), b, NULL, &err));
    assert_sound(model);
    assert_string_equal(b->name, "y");
    assert_ok(by_model_settle(model, &err));
    assert_int_equal(graph->value_info.count, 1);
    assert_sound(model);
    by_model_free(model);
}

static void outputs_cannot_become_inputs_or_other_outputs(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *y = value_of(graph, "y"), *i = value_of(graph, "i");
    struct baryon_value *x = value_of(graph, "x");
    assert_err(by_value_replace_uses(y, x, NULL, &err), BARYON_ERR_UNSUPPORTED,
               "output 'y' cannot be replaced by an input, both names must be kept ('x'); insert "
               "an Identity node between them");
    assert_err(by_value_replace_uses(y, i, NULL, &err), BARYON_ERR_UNSUPPORTED,
               "output 'y' cannot be replaced by another output, both names must be kept ('i'); "
               "insert an Identity node between them");
    assert_sound(model);
    assert_ok(by_graph_add_output(x, NULL, &err));
    assert_err(by_value_replace_uses(x, value_of(graph, "b"), NULL, &err), BARYON_ERR_UNSUPPORTED,
               "output 'x' is an input as well ('b'); insert an Identity node between them");
    assert_sound(model);
    by_model_free(model);
}

static void nested_outputs_go_by_place(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph, *branch = branch_of(model);
    struct baryon_value *n = value_of(branch, "n");
    assert_ok(by_value_replace_uses(n, value_of(graph, "a"), NULL, &err));
    assert_sound(model);
    assert_string_equal(((struct by_value_info *)branch->output.at[0])->name, "a");
    assert_int_equal(n->use_count, 0);
    assert_null(n->info);
    by_model_free(model);
}

/* A nested graph uses the name of an outer value that comes later: it must not be given to
 * one that the nested graph reads. */
static void names_are_not_moved_where_they_are_hidden(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph, *branch = branch_of(model);
    put_node(graph, "L", "Relu", "y", "late");
    put_output(graph, "late");
    put_node(branch, "M", "Relu", "n", "late");
    by_model_unlink(model);
    assert_ok(by_model_link(model, &err));
    assert_int_equal(
        by_value_replace_uses(value_of(graph, "late"), value_of(graph, "a"), NULL, &err), -1);
    assert_sound(model);
    by_model_free(model);
}

/* --- insertion --- */

static void inserts_on_edges(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *scale = by_graph_add_initializer(graph, new_tensor(model, "scale"), &err);
    struct baryon_node *q =
        by_graph_insert_on_edge(named(graph, "C"), 1, "QuantizeLinear", NULL, &scale, 1, &err);
    assert_non_null(q);
    assert_sound(model);
    assert_string_equal(q->name, "b_QuantizeLinear");
    assert_string_equal(q->output.at[0], "b_QuantizeLinear_Output");
    assert_ptr_equal(by_node_in(q, 0), value_of(graph, "b"));
    assert_ptr_equal(by_node_in(q, 1), scale);
    assert_ptr_equal(by_node_in(named(graph, "C"), 1), q->outs[0]);
    /* In a nested graph the new node stands there. */
    struct baryon_graph *branch = branch_of(model);
    struct baryon_node *inner =
        by_graph_insert_on_edge(node_at(branch, 0), 0, "QuantizeLinear", NULL, &scale, 1, &err);
    assert_sound(model);
    assert_ptr_equal(inner->graph, branch);
    assert_ptr_equal(by_node_in(inner, 0), value_of(graph, "a"));
    assert_err(!by_graph_insert_on_edge(named(graph, "B"), 4, "Q", NULL, NULL, 0, &err),
               BARYON_ERR_USAGE, "node 'B' (Relu) has no input 4");
    by_model_free(model);
}

static void inserts_before_outputs(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *y = value_of(graph, "y");
    put_node(graph, "Z", "Relu", "y", "z");
    by_model_unlink(model);
    assert_ok(by_model_link(model, &err));
    y = value_of(graph, "y");
    struct baryon_node *q = by_graph_insert_before_output(graph, 0, "Q", NULL, NULL, 0, &err);
    assert_non_null(q);
    assert_sound(model);
    assert_string_equal(q->output.at[0], "y");
    assert_ptr_equal(by_graph_out(graph, 0), q->outs[0]);
    /* The other reader still reads the value itself, under its new name. */
    assert_ptr_equal(by_node_in(named(graph, "Z"), 0), y);
    assert_string_equal(named(graph, "Z")->input.at[0], "y_1");
    struct baryon_graph *branch = branch_of(model);
    q = by_graph_insert_before_output(branch, 0, "Q", NULL, NULL, 0, &err);
    assert_sound(model);
    assert_ptr_equal(by_graph_out(branch, 0), q->outs[0]);
    assert_err(!by_graph_insert_before_output(graph, 9, "Q", NULL, NULL, 0, &err), BARYON_ERR_USAGE,
               "the graph has no output 9");
    by_model_free(model);
}

static void inputs_that_are_outputs_stay(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    assert_ok(by_graph_add_output(value_of(graph, "x"), NULL, &err));
    assert_int_equal(!by_graph_insert_before_output(graph, 2, "Q", NULL, NULL, 0, &err), 1);
    assert_int_equal(err.code, BARYON_ERR_UNSUPPORTED);
    assert_sound(model);
    assert_int_equal(value_of(graph, "x")->use_count, 2);
    by_model_free(model);
}

/* --- initializers, inputs, outputs, imports --- */

static void duplicates_initializers(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    model->ir_version = 3;
    struct baryon_value *w = value_of(graph, "w");
    struct baryon_value *copy = by_graph_duplicate_initializer(w, &err);
    assert_non_null(copy);
    assert_sound(model);
    assert_string_equal(copy->name, "w_1");
    assert_ptr_equal(copy->initializer->raw_data.data, w->initializer->raw_data.data);
    assert_ptr_not_equal(copy->initializer->dims.at, w->initializer->dims.at);
    assert_int_equal(copy->initializer->dims.at[0], 2);
    assert_int_equal(model->ir_version, 4);
    assert_ok(by_value_replace_uses(w, copy, named(graph, "A"), &err));
    assert_sound(model);
    assert_int_equal(w->use_count, 1);
    assert_err(!by_graph_duplicate_initializer(value_of(graph, "a"), &err), BARYON_ERR_USAGE,
               "value 'a' is not an initializer");
    by_model_free(model);
}

static void duplicates_sparse_initializers(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    put_sparse(model->graph, "s");
    by_model_unlink(model);
    assert_ok(by_model_link(model, &err));
    const struct baryon_value *copy =
        by_graph_duplicate_initializer(value_of(model->graph, "s"), &err);
    assert_non_null(copy);
    assert_sound(model);
    assert_string_equal(copy->sparse->values->name, "s_1");
    assert_int_equal(model->graph->sparse_initializer.count, 2);
    by_model_free(model);
}

static void removes_initializers(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct baryon_value *w = value_of(graph, "w");
    assert_err(by_graph_remove_initializer(w, &err), BARYON_ERR_USAGE,
               "initializer 'w' is still used, must be removed after its consumers");
    assert_err(by_graph_remove_initializer(value_of(graph, "a"), &err), BARYON_ERR_USAGE,
               "value 'a' is not an initializer");
    assert_ok(by_value_replace_uses(w, value_of(graph, "x"), NULL, &err));
    assert_ok(by_graph_remove_initializer(w, &err));
    assert_sound(model);
    assert_err(by_value_rename(w, "v", &err), BARYON_ERR_USAGE,
               "value 'w' is not part of a linked graph");
    by_model_free(model);
}

static void adds_inputs_outputs_and_imports(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_graph *graph = model->graph;
    struct by_type *type = by_type_tensor(model, BY_ELEM_INT8, NULL, &err);
    struct baryon_value *input = by_graph_add_input(graph, "more", type, &err);
    assert_non_null(input);
    assert_ok(by_graph_add_output(value_of(graph, "b"), type, &err));
    assert_sound(model);
    assert_int_equal(input->slot, 2);
    assert_int_equal(input->info->type->tensor->elem_type, BY_ELEM_INT8);
    assert_ptr_equal(by_graph_out(graph, 2), value_of(graph, "b"));
    assert_err(by_graph_add_output(value_of(graph, "b"), type, &err), BARYON_ERR_USAGE,
               "value 'b' is already output[2]");
    assert_int_equal(by_model_opset(model, "my.domain"), 0);
    assert_ok(by_model_set_opset(model, "my.domain", 3, &err));
    assert_ok(by_model_set_opset(model, "ai.onnx", 13, &err));
    assert_int_equal(by_model_opset(model, "my.domain"), 3);
    assert_int_equal(by_model_opset(model, ""), 13);
    assert_int_equal(model->opset_import.count, 2);
    by_model_free(model);
}

/* --- attributes --- */

static void sets_attributes(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    struct baryon_node *node = named(model->graph, "B");
    const int64_t ints[] = {1, -2};
    const float floats[] = {0.5f};
    assert_ok(by_node_set_int(node, "axis", 0, &err));
    assert_ok(by_node_set_float(node, "alpha", 1.5f, &err));
    assert_ok(by_node_set_text(node, "mode", "nearest", &err));
    assert_ok(by_node_set_ints(node, "pads", ints, 2, &err));
    assert_ok(by_node_set_floats(node, "scales", floats, 1, &err));
    assert_ok(by_node_set_tensor(node, "value", new_tensor(model, "t"), &err));
    assert_int_equal(node->attribute.count, 6);
    assert_int_equal(by_node_int(node, "axis", 7), 0);
    assert_ok(by_node_set_int(node, "axis", 2, &err));
    assert_int_equal(node->attribute.count, 6);
    assert_int_equal(by_node_int(node, "axis", 7), 2);
    assert_true(by_node_float(node, "alpha", 0) == 1.5f);
    assert_int_equal(by_node_attr(node, "pads")->ints.at[1], -2);
    assert_int_equal(by_node_attr(node, "mode")->s.size, 7);
    assert_true(by_node_remove_attr(node, "axis"));
    assert_false(by_node_remove_attr(node, "axis"));
    assert_int_equal(by_node_int(node, "axis", 7), 7);
    assert_int_equal(node->attribute.count, 5);
    by_model_free(model);
}

static void replaced_attributes_take_graphs_along(void **state)
{
    (void)state;
    struct baryon_model *model = sample();
    assert_ok(by_node_set_int(named(model->graph, "I"), "then_branch", 1, &err));
    assert_sound(model);
    assert_int_equal(value_of(model->graph, "a")->use_count, 2);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fresh_names_count_up),
        cmocka_unit_test(fresh_names_stay_within_the_limit),
        cmocka_unit_test(rename_reaches_every_place),
        cmocka_unit_test(rename_refuses_taken_and_impossible_names),
        cmocka_unit_test(rename_allows_names_of_the_other_branch),
        cmocka_unit_test(leftover_declarations_do_not_come_to_life),
        cmocka_unit_test(annotations_follow_names),
        cmocka_unit_test(sharding_follows_what_a_node_reads),
        cmocka_unit_test(adds_and_removes_nodes),
        cmocka_unit_test(a_node_may_have_many_inputs),
        cmocka_unit_test(names_of_nodes_are_texts),
        cmocka_unit_test(add_node_refuses_and_leaves_nothing),
        cmocka_unit_test(keeps_nodes_that_are_read),
        cmocka_unit_test(removed_nodes_take_nested_graphs_along),
        cmocka_unit_test(sets_appends_and_leaves_out_inputs),
        cmocka_unit_test(replaces_uses_but_for_one_node),
        cmocka_unit_test(except_covers_graphs_inside_the_node),
        cmocka_unit_test(outputs_keep_their_names),
        cmocka_unit_test(outputs_are_declared_once),
        cmocka_unit_test(outputs_cannot_become_inputs_or_other_outputs),
        cmocka_unit_test(nested_outputs_go_by_place),
        cmocka_unit_test(names_are_not_moved_where_they_are_hidden),
        cmocka_unit_test(inserts_on_edges),
        cmocka_unit_test(inserts_before_outputs),
        cmocka_unit_test(inputs_that_are_outputs_stay),
        cmocka_unit_test(duplicates_initializers),
        cmocka_unit_test(duplicates_sparse_initializers),
        cmocka_unit_test(removes_initializers),
        cmocka_unit_test(adds_inputs_outputs_and_imports),
        cmocka_unit_test(sets_attributes),
        cmocka_unit_test(replaced_attributes_take_graphs_along),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
