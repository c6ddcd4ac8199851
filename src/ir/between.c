/* The nodes on the paths between two sets of nodes. */
#include "ir/links.h"

enum side { FROM_START = 1, FROM_END = 2 };

struct search {
    const struct baryon_graph *graph;
    struct by_deps deps;
    unsigned char *seen; /* enum side, one a node */
    size_t *stack, depth;
};

static void search_release(struct search *search)
{
    by_deps_release(&search->deps);
    by_free(search->seen);
    by_free(search->stack);
}

static int search_init(struct search *search, const struct baryon_graph *graph,
                       struct baryon_error *err)
{
    *search = (struct search){.graph = graph};
    if (by_deps_build(&search->deps, graph, err) ||
        !(search->seen = by_alloc_zero(graph->node.count, 1, err)) ||
        !(search->stack = by_alloc(graph->node.count, sizeof *search->stack, err))) {
        search_release(search);
        return -1;
    }
    return 0;
}

static void reach(struct search *search, size_t node, enum side side)
{
    if (search->seen[node] & side)
        return;
    search->seen[node] = (unsigned char)(search->seen[node] | side);
    search->stack[search->depth++] = node;
}

static void reach_all(struct search *search, struct baryon_node *const *nodes, size_t count,
                      enum side side)
{
    for (size_t i = 0; i < count; i++)
        reach(search, nodes[i]->index, side);
}

static void reach_readers(struct search *search, const struct baryon_value *value)
{
    for (size_t i = 0; value && i < value->use_count; i++) {
        const struct baryon_node *reader = by_use_reader(&value->uses[i], search->graph);
        if (reader)
            reach(search, reader->index, FROM_START);
    }
}

static void search_forwards(struct search *search)
{
    while (search->depth) {
        const struct baryon_node *node = search->graph->node.at[search->stack[--search->depth]];
        for (size_t i = 0; i < node->output.count; i++)
            reach_readers(search, node->outs[i]);
    }
}

static void search_backwards(struct search *search)
{
    const struct by_deps *deps = &search->deps;
    while (search->depth) {
        size_t node = search->stack[--search->depth];
        for (size_t i = deps->first[node]; i < deps->first[node + 1]; i++)
            reach(search, deps->producer[i], FROM_END);
    }
}

static int check_nodes_in_graph(const struct baryon_graph *graph, struct baryon_node *const *nodes,
                                size_t count, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    for (size_t i = 0; i < count; i++)
        if (nodes[i]->graph != graph)
            return by_fail(err, BARYON_ERR_USAGE, "%s is not in this graph",
                           by_node_label(nodes[i], label, sizeof label));
    return 0;
}

int by_graph_between(struct baryon_graph *graph, struct baryon_node *const *starts,
                     size_t start_count, struct baryon_node *const *ends, size_t end_count,
                     bool *marks, struct baryon_error *err)
{
    struct search search;
    if (check_nodes_in_graph(graph, starts, start_count, err) ||
        check_nodes_in_graph(graph, ends, end_count, err) || search_init(&search, graph, err))
        return -1;
    reach_all(&search, starts, start_count, FROM_START);
    search_forwards(&search);
    reach_all(&search, ends, end_count, FROM_END);
    search_backwards(&search);
    for (size_t i = 0; i < graph->node.count; i++)
        marks[i] = search.seen[i] == (FROM_START | FROM_END);
    search_release(&search);
    return 0;
}
