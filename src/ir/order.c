/*
 * The order of nodes. A node waits for the producers of what it reads, and of what
 * the graphs nested in it read from around them. Those edges are found from the
 * uses of values, so that nothing has to walk into nested graphs.
 */
#include "ir/links.h"

#include <stdio.h>
#include <string.h>

bool by_graph_is_sorted(const struct baryon_graph *graph, const struct baryon_node **first_bad)
{
    const struct baryon_node *bad = NULL;
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (!value || !value->producer)
            continue;
        for (size_t k = 0; k < value->use_count; k++) {
            const struct baryon_node *reader = by_use_reader(&value->uses[k], graph);
            if (reader && reader->index <= value->producer->index &&
                (!bad || reader->index < bad->index))
                bad = reader;
        }
    }
    if (first_bad)
        *first_bad = bad;
    return !bad;
}

typedef void edge_fn(struct by_deps *deps, size_t reader, size_t producer);

static void each_edge(struct by_deps *deps, const struct baryon_graph *graph, edge_fn *visit)
{
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (!value || !value->producer)
            continue;
        for (size_t k = 0; k < value->use_count; k++) {
            const struct baryon_node *reader = by_use_reader(&value->uses[k], graph);
            if (reader)
                visit(deps, reader->index, value->producer->index);
        }
    }
}

static void count_edge(struct by_deps *deps, size_t reader, size_t producer)
{
    (void)producer;
    deps->first[reader + 2]++;
}

static void put_edge(struct by_deps *deps, size_t reader, size_t producer)
{
    deps->producer[deps->first[reader + 1]++] = producer;
}

int by_deps_build(struct by_deps *deps, const struct baryon_graph *graph, struct baryon_error *err)
{
    size_t count = graph->node.count;
    *deps = (struct by_deps){.count = count};
    deps->first = by_alloc_zero(count + 2, sizeof *deps->first, err);
    if (!deps->first)
        return -1;
    /* first[i + 1] runs through the edges of node i and ends at the start of i + 1. */
    each_edge(deps, graph, count_edge);
    for (size_t i = 2; i < count + 2; i++)
        deps->first[i] += deps->first[i - 1];
    deps->producer = by_alloc(deps->first[count + 1], sizeof *deps->producer, err);
    if (!deps->producer) {
        by_deps_release(deps);
        return -1;
    }
    each_edge(deps, graph, put_edge);
    return 0;
}

void by_deps_release(struct by_deps *deps)
{
    by_free(deps->first);
    by_free(deps->producer);
    *deps = (struct by_deps){0};
}

/* --- depth first: producers before the node, else in the order that is there --- */

enum node_state { UNSEEN, OPEN, DONE };

struct walk {
    const struct baryon_graph *graph;
    struct by_deps deps;
    unsigned char *state; /* enum node_state */
    size_t *next;         /* the edge that a node looks at next */
    size_t *stack, depth; /* nodes that are open, each waiting for the one above it */
    size_t *order, count;
};

static void walk_release(struct walk *walk)
{
    by_deps_release(&walk->deps);
    by_free(walk->state);
    by_free(walk->next);
    by_free(walk->stack);
    by_free(walk->order);
}

static int walk_init(struct walk *walk, const struct baryon_graph *graph, struct baryon_error *err)
{
    size_t count = graph->node.count;
    *walk = (struct walk){.graph = graph};
    if (by_deps_build(&walk->deps, graph, err) || !(walk->state = by_alloc_zero(count, 1, err)) ||
        !(walk->next = by_alloc(count, sizeof *walk->next, err)) ||
        !(walk->stack = by_alloc(count, sizeof *walk->stack, err)) ||
        !(walk->order = by_alloc(count, sizeof *walk->order, err))) {
        walk_release(walk);
        return -1;
    }
    if (count)
        memcpy(walk->next, walk->deps.first, count * sizeof *walk->next);
    return 0;
}

static void append_label(char *text, size_t size, const char *lead, const struct baryon_node *node)
{
    char label[96];
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", lead, by_node_label(node, label, sizeof label));
}

#define CYCLE_NODES_SHOWN 4u

/* In the order in which data flows: the node, then from the top of the stack down to it. */
static int fail_cycle(const struct walk *walk, size_t node, struct baryon_error *err)
{
    const struct by_ptrs *nodes = &walk->graph->node;
    const struct baryon_node *first = nodes->at[node];
    char path[480] = "";
    size_t start = walk->depth - 1;
    while (walk->stack[start] != node)
        start--;
    size_t length = walk->depth - start;
    if (length == 1) {
        by_fail(err, BARYON_ERR_INPUT,
                "%s has its own output as input, a graph must have no cycles",
                by_node_label(first, path, sizeof path));
    } else {
        append_label(path, sizeof path, "", first);
        for (size_t i = 1; i < length && i < CYCLE_NODES_SHOWN; i++)
            append_label(path, sizeof path, " -> ", nodes->at[walk->stack[walk->depth - i]]);
        by_fail(err, BARYON_ERR_INPUT,
                "a cycle of %zu nodes: %s -> %s, a graph must have no cycles", length, path,
                length > CYCLE_NODES_SHOWN ? "..." : "the first again");
    }
    by_err_at_msg(err, walk->graph->model, &first->msg);
    by_err_in(err, "node[%zu]", first->index);
    return by_err_in_graph(err, walk->graph);
}

static void open_node(struct walk *walk, size_t node)
{
    walk->state[node] = OPEN;
    walk->stack[walk->depth++] = node;
}

static int walk_from(struct walk *walk, size_t root, struct baryon_error *err)
{
    open_node(walk, root);
    while (walk->depth) {
        size_t node = walk->stack[walk->depth - 1];
        if (walk->next[node] == walk->deps.first[node + 1]) {
            walk->state[node] = DONE;
            walk->order[walk->count++] = node;
            walk->depth--;
            continue;
        }
        size_t producer = walk->deps.producer[walk->next[node]++];
        if (walk->state[producer] == OPEN)
            return fail_cycle(walk, producer, err);
        if (walk->state[producer] == UNSEEN)
            open_node(walk, producer);
    }
    return 0;
}

int by_graph_order(const struct baryon_graph *graph, size_t **order, size_t *count,
                   struct baryon_error *err)
{
    struct walk walk;
    int result = 0;
    if (walk_init(&walk, graph, err))
        return -1;
    for (size_t i = 0; i < graph->node.count && !result; i++)
        if (graph->node.at[i] && walk.state[i] == UNSEEN)
            result = walk_from(&walk, i, err);
    if (!result) {
        *order = walk.order;
        *count = walk.count;
        walk.order = NULL;
    }
    walk_release(&walk);
    return result;
}
