/* Thousands of edits drawn by a seed, each verified; and edits of large graphs. */
#include "tests/unit/graph_build.h"

#include "base/fault.h"
#include "base/rng.h"
#include "onnx/save.h"

struct player {
    struct baryon_model *model;
    uint64_t seed, drawn;
};

static size_t draw(struct player *player, size_t count)
{
    return (size_t)by_rng_range(player->seed, 0, player->drawn++, 0, (int64_t)count - 1);
}

static struct baryon_graph *draw_graph(struct player *player)
{
    for (;;) {
        struct baryon_graph *graph =
            player->model->linked.at[draw(player, player->model->linked.count)];
        if (graph->linked)
            return graph;
    }
}

/* NULL when a few tries find holes alone. */
static void *draw_from(struct player *player, const struct by_ptrs *list)
{
    void *item = NULL;
    for (int i = 0; i < 8 && list->count && !item; i++)
        item = list->at[draw(player, list->count)];
    return item;
}

/* A value that the graph can read: its own or of a graph around it. */
static struct baryon_value *draw_value(struct player *player, const struct baryon_graph *graph)
{
    while (graph->owner && draw(player, 3) == 0)
        graph = graph->owner->graph;
    return draw_from(player, &graph->all_values);
}

/* --- the edits: 0, or -1 when it was refused --- */

static int insert_on_edge(struct player *player)
{
    struct baryon_node *node = draw_from(player, &draw_graph(player)->node);
    if (!node || !node->input.count)
        return -1;
    struct baryon_value *more = draw_value(player, player->model->graph);
    if (more && more->producer)
        more = NULL;
    return by_graph_insert_on_edge(node, draw(player, node->input.count), "Q", NULL, &more,
                                   more != NULL, &err)
               ? 0
               : -1;
}

static int insert_before_output(struct player *player)
{
    struct baryon_graph *graph = draw_graph(player);
    if (!graph->output.count)
        return -1;
    size_t slot = draw(player, graph->output.count);
    return by_graph_insert_before_output(graph, slot, "Q", NULL, NULL, 0, &err) ? 0 : -1;
}

static int add_node(struct player *player)
{
    struct baryon_graph *graph = draw_graph(player);
    struct baryon_value *inputs[3];
    const char *outputs[2];
    size_t count = draw(player, 4);
    for (size_t i = 0; i < count; i++) {
        inputs[i] = draw(player, 5) ? draw_value(player, graph) : NULL;
        /* What waits for the owner would close a cycle. */
        if (inputs[i] && inputs[i]->graph != graph && inputs[i]->producer)
            inputs[i] = NULL;
    }
    for (size_t i = 0; i < 2; i++)
        outputs[i] = draw(player, 5) ? by_model_fresh_name(player->model, "made", &err) : NULL;
    return by_graph_add_node(graph, "Op", NULL, NULL, inputs, count, outputs, 2, &err) ? 0 : -1;
}

static int remove_node(struct player *player)
{
    struct baryon_node *node = draw_from(player, &draw_graph(player)->node);
    return node ? by_graph_remove_node(node, &err) : -1;
}

/* Readers of a node read its input instead, and it goes. */
static int bypass_node(struct player *player)
{
    struct baryon_node *node = draw_from(player, &draw_graph(player)->node);
    struct baryon_value *from = node ? by_node_out(node, 0) : NULL;
    struct baryon_value *to = node ? by_node_in(node, 0) : NULL;
    if (!from || !to || by_value_replace_uses(from, to, NULL, &err))
        return -1;
    return by_graph_remove_node(node, &err);
}

static int rename_value(struct player *player)
{
    struct baryon_value *value = draw_value(player, draw_graph(player));
    char name[16];
    snprintf(name, sizeof name, "name%zu", draw(player, 40));
    return value ? by_value_rename(value, name, &err) : -1;
}

static int duplicate_initializer(struct player *player)
{
    struct baryon_value *value = draw_value(player, draw_graph(player));
    return value && by_graph_duplicate_initializer(value, &err) ? 0 : -1;
}

static int remove_initializer(struct player *player)
{
    struct baryon_value *value = draw_value(player, draw_graph(player));
    return value ? by_graph_remove_initializer(value, &err) : -1;
}

static void end_faults(const struct player *player)
{
    player->model->arena.limit = 0;
#ifdef BARYON_FAULTS
    by_fault_arm(BY_FAULT_ALLOC, 0, false);
#endif
}

/* Undone when it closes a cycle. */
static int set_input(struct player *player)
{
    struct baryon_node *node = draw_from(player, &draw_graph(player)->node);
    if (!node || !node->input.count)
        return -1;
    size_t slot = draw(player, node->input.count + 1);
    struct baryon_value *before = by_node_in(node, slot);
    struct baryon_value *value = draw(player, 6) ? draw_value(player, node->graph) : NULL;
    if (by_node_set_input(node, slot, value, &err))
        return -1;
    assert_sound(player->model);
    if (by_model_settle(player->model, &err) == 0)
        return 0;
    assert_true(err.code == BARYON_ERR_NOMEM || strstr(err.message, "a graph must have no cycles"));
    assert_sound(player->model);
    end_faults(player);
    assert_ok(by_node_set_input(node, slot, before, &err));
    return -1;
}

static int wrap_value(struct player *player)
{
    struct baryon_value *value = draw_value(player, draw_graph(player));
    if (!value)
        return -1;
    const char *name = by_model_fresh_name(player->model, "wrapped", &err);
    struct baryon_node *node =
        name ? by_graph_add_node(value->graph, "Op", NULL, NULL, &value, 1, &name, 1, &err) : NULL;
    return node ? by_value_replace_uses(value, node->outs[0], node, &err) : -1;
}

static int add_initializer(struct player *player)
{
    const char *name = by_model_fresh_name(player->model, "weight", &err);
    struct baryon_tensor *tensor =
        name ? by_tensor_new(player->model, name, BY_ELEM_INT8, NULL, 0, "", 1, &err) : NULL;
    return tensor && by_graph_add_initializer(draw_graph(player), tensor, &err) ? 0 : -1;
}

static int add_output(struct player *player)
{
    struct baryon_graph *graph = draw_graph(player);
    struct baryon_value *value = draw_from(player, &graph->all_values);
    return value && graph->output.count < 6 ? by_graph_add_output(value, NULL, &err) : -1;
}

static int settle(struct player *player)
{
    return by_model_settle(player->model, &err);
}

static int prune(struct player *player)
{
    return draw(player, 10) ? -1 : by_graph_prune(player->model->graph, NULL, &err);
}

typedef int edit_fn(struct player *player);

static edit_fn *const edits[] = {
    insert_on_edge,
    insert_before_output,
    add_node,
    remove_node,
    bypass_node,
    rename_value,
    duplicate_initializer,
    remove_initializer,
    set_input,
    wrap_value,
    add_initializer,
    add_output,
    settle,
    prune,
    bypass_node,
};
#define EDITS (sizeof edits / sizeof *edits)

/* --- the start --- */

static struct baryon_model *start_model(void)
{
    struct baryon_model *model = new_model();
    struct baryon_graph *graph = model->graph;
    put_input(graph, "x");
    put_input(graph, "v");
    put_init(graph, "v");
    put_init(graph, "w");
    put_sparse(graph, "s");
    put_node(graph, "A", "Op", "x,w", "a");
    put_node(graph, "B", "Op", "a,s,v", "b,b2");
    put_node(graph, "C", "Op", "b,a", "c");
    struct baryon_node *owner = put_node(graph, "I", "If", "c", "i");
    put_output(graph, "i");
    put_output(graph, "c");
    put_info(graph, &graph->value_info, "a");
    put_info(graph, &graph->value_info, "b");
    for (int i = 0; i < 2; i++) {
        struct baryon_graph *branch = put_nested(model, owner, i ? "else_branch" : "then_branch");
        put_init(branch, "u");
        put_node(branch, "N", "Op", "a,u", "n");
        struct baryon_node *loop = put_node(branch, "L", "Loop", "x,n", "l");
        put_output(branch, "l");
        struct baryon_graph *body = put_nested(model, loop, "body");
        put_input(body, "k");
        put_node(body, "M", "Op", "k,n,b", "m");
        put_output(body, "m");
        put_output(body, "m");
        put_output(body, "a");
    }
    assert_ok(by_model_link(model, &err));
    return model;
}

static size_t live_nodes(const struct baryon_graph *graph)
{
    size_t count = 0;
    for (size_t i = 0; i < graph->node.count; i++)
        count += graph->node.at[i] != NULL;
    return count;
}

/* What was saved means what is in memory: the same nodes in the same order. */
static void assert_saves_the_same(struct baryon_model *model)
{
    struct by_str bytes;
    struct baryon_model *again;
    by_str_init(&bytes);
    assert_ok(by_model_save_bytes(model, &bytes, &err));
    assert_ok(by_model_load_bytes(&again, by_str_text(&bytes), bytes.size, NULL, NULL, &err));
    assert_ok(by_model_link(again, &err));
    assert_sound(again);
    assert_true(by_graph_is_sorted(again->graph, NULL));
    assert_int_equal(again->graph->node.count, live_nodes(model->graph));
    for (size_t i = 0; i < again->graph->node.count; i++) {
        const struct baryon_node *is = again->graph->node.at[i], *was = model->graph->node.at[i];
        assert_string_equal(is->op_type, was->op_type);
        assert_int_equal(is->input.count, was->input.count);
        for (size_t k = 0; k < is->input.count; k++)
            assert_string_equal(is->input.at[k], was->input.at[k]);
    }
    by_model_free(again);
    by_str_release(&bytes);
}

static void play(uint64_t seed, size_t steps, size_t *done)
{
    struct player player = {.model = start_model(), .seed = seed};
    for (size_t i = 0; i < steps; i++) {
        size_t pick = draw(&player, EDITS);
        if (edits[pick](&player) == 0)
            done[pick]++;
        assert_sound(player.model);
        if (live_nodes(player.model->graph) > 120)
            assert_ok(by_graph_prune(player.model->graph, NULL, &err));
        if (i % 500 == 499)
            assert_saves_the_same(player.model);
    }
    by_model_free(player.model);
}

static void random_edits_keep_links_right(void **state)
{
    (void)state;
    size_t done[EDITS] = {0};
    for (uint64_t seed = 1; seed <= 12; seed++)
        play(seed, 1500, done);
    for (size_t i = 0; i < EDITS; i++)
        assert_true(done[i] > 20);
}

/* Memory runs out somewhere in an edit: it fails and has changed nothing that matters. */
static void edits_survive_the_end_of_memory(void **state)
{
    (void)state;
    size_t failed = 0;
    for (uint64_t seed = 100; seed < 110; seed++) {
        struct player player = {.model = start_model(), .seed = seed};
        for (size_t i = 0; i < 400; i++) {
            struct by_arena *arena = &player.model->arena;
            arena->limit = draw(&player, 3) ? arena->used : 0;
            err.code = BARYON_OK;
            edits[draw(&player, EDITS)](&player);
            failed += err.code == BARYON_ERR_NOMEM;
            end_faults(&player);
            assert_sound(player.model);
            assert_ok(by_graph_prune(player.model->graph, NULL, &err));
            assert_sound(player.model);
        }
        by_model_free(player.model);
    }
    assert_true(failed > 20);
}

#ifdef BARYON_FAULTS
static void edits_survive_each_failing_allocation(void **state)
{
    (void)state;
    for (uint64_t seed = 200; seed < 210; seed++) {
        struct player player = {.model = start_model(), .seed = seed};
        for (size_t i = 0; i < 400; i++) {
            by_fault_arm(BY_FAULT_ALLOC, 1 + draw(&player, 6), draw(&player, 2));
            edits[draw(&player, EDITS)](&player);
            end_faults(&player);
            assert_sound(player.model);
        }
        by_model_free(player.model);
    }
}
#endif

/* --- large graphs: what took the square of the size would not end here --- */

enum { LARGE = 50000 };

static struct baryon_model *large_model(void)
{
    struct baryon_model *model = new_model();
    put_input(model->graph, "v0");
    put_init(model->graph, "w");
    for (int i = 1; i <= LARGE; i++) {
        char input[32], output[16];
        snprintf(input, sizeof input, "v%d,w", i - 1);
        snprintf(output, sizeof output, "v%d", i);
        put_node(model->graph, output, "Add", input, output);
    }
    char last[16];
    snprintf(last, sizeof last, "v%d", LARGE);
    put_output(model->graph, last);
    assert_ok(by_model_link(model, &err));
    return model;
}

static void large_graphs_are_edited_in_linear_time(void **state)
{
    (void)state;
    struct baryon_model *model = large_model();
    struct baryon_graph *graph = model->graph;
    for (size_t i = 0; i < LARGE; i++) {
        struct baryon_node *q =
            by_graph_insert_on_edge(node_at(graph, i), 0, "QuantizeLinear", NULL, NULL, 0, &err);
        assert_non_null(q);
        assert_non_null(
            by_graph_insert_on_edge(node_at(graph, i), 0, "DequantizeLinear", NULL, NULL, 0, &err));
    }
    assert_ok(by_model_settle(model, &err));
    assert_sound(model);
    assert_int_equal(graph->node.count, 3 * LARGE);
    for (size_t i = 0; i < 3 * LARGE; i += 3) {
        assert_string_equal(node_at(graph, i)->op_type, "QuantizeLinear");
        assert_string_equal(node_at(graph, i + 1)->op_type, "DequantizeLinear");
        struct baryon_node *q = node_at(graph, i), *d = node_at(graph, i + 1);
        assert_ok(by_value_replace_uses(d->outs[0], q->links[0].value, NULL, &err));
        assert_ok(by_graph_remove_node(d, &err));
        assert_ok(by_graph_remove_node(q, &err));
    }
    assert_ok(by_model_settle(model, &err));
    assert_int_equal(graph->node.count, LARGE);
    struct baryon_value *w = value_of(graph, "w");
    assert_int_equal(w->use_count, LARGE);
    for (size_t i = 0; i < LARGE; i++) {
        char name[24];
        snprintf(name, sizeof name, "renamed%zu", i);
        assert_ok(by_value_rename(node_at(graph, i)->outs[0], name, &err));
        struct baryon_value *copy = by_graph_duplicate_initializer(w, &err);
        assert_ok(by_node_set_input(node_at(graph, i), 1, copy, &err));
    }
    size_t removed;
    assert_ok(by_graph_prune(graph, &removed, &err));
    assert_int_equal(removed, 1);
    assert_sound(model);
    by_model_free(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_edits_keep_links_right),
        cmocka_unit_test(edits_survive_the_end_of_memory),
#ifdef BARYON_FAULTS
        cmocka_unit_test(edits_survive_each_failing_allocation),
#endif
        cmocka_unit_test(large_graphs_are_edited_in_linear_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
