/* Resolves the names of --between to nodes and marks the nodes on the paths between them. */
#include "cli/between.h"

#include "base/str.h"
#include "cli/names.h"
#include "cli/opt.h"

#include <string.h>

struct found {
    struct baryon_node **at;
    size_t count, cap;
};

struct finder {
    struct baryon_graph *graph;
    struct by_arena *arena;
    struct found found;
};

static int add_node(struct finder *finder, struct baryon_node *node, struct baryon_error *err)
{
    if (by_list_reserve(finder->arena, &finder->found, 1, sizeof(void *), err) < 0)
        return -1;
    finder->found.at[finder->found.count++] = node;
    return 0;
}

static int find_nodes(struct finder *finder, const char *pattern, struct baryon_error *err)
{
    for (size_t i = 0; i < finder->graph->node.count; i++) {
        struct baryon_node *node = finder->graph->node.at[i];
        if (node && node->name && *node->name && by_glob(pattern, node->name) &&
            add_node(finder, node, err) < 0)
            return -1;
    }
    return 0;
}

static int add_readers(struct finder *finder, const struct baryon_value *value,
                       struct baryon_error *err)
{
    for (size_t i = 0; i < value->use_count; i++) {
        struct baryon_node *reader = by_use_reader(&value->uses[i], finder->graph);
        if (reader && add_node(finder, reader, err) < 0)
            return -1;
    }
    return 0;
}

static int find_values(struct finder *finder, const char *pattern, struct baryon_error *err)
{
    for (size_t i = 0; i < finder->graph->all_values.count; i++) {
        const struct baryon_value *value = finder->graph->all_values.at[i];
        if (!value || !by_glob(pattern, value->name))
            continue;
        if (value->producer ? add_node(finder, value->producer, err) < 0
                            : add_readers(finder, value, err) < 0)
            return -1;
    }
    return 0;
}

static int nothing_found(const struct finder *finder, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "the main graph has no node or tensor %s",
            by_quote(quoted, name));
    const char *near = by_graph_nearest(finder->graph, name, true);
    return near ? by_err_hint(err, "did you mean %s?", by_quote(quoted, near))
                : by_err_hint(err, "'baryon inspect MODEL --nodes' lists the names");
}

/* All nodes that a comma-separated list of names stands for. */
static int find_listed_nodes(struct finder *finder, const char *names, struct baryon_error *err)
{
    finder->found = (struct found){0};
    for (;;) {
        size_t length = strcspn(names, ","), before = finder->found.count;
        char *name = by_arena_text(finder->arena, names, length, err);
        if (!name || find_nodes(finder, name, err) < 0)
            return -1;
        if (finder->found.count == before && find_values(finder, name, err) < 0)
            return -1;
        if (finder->found.count == before)
            return nothing_found(finder, name, err);
        if (!names[length])
            return 0;
        names += length + 1;
    }
}

static int mark_span(struct finder *finder, const struct by_setting_pair *span, bool *once,
                     struct baryon_error *err)
{
    if (find_listed_nodes(finder, span->name, err) < 0)
        return -1;
    struct found starts = finder->found;
    if (find_listed_nodes(finder, span->value, err) < 0)
        return -1;
    return by_graph_between(finder->graph, starts.at, starts.count, finder->found.at,
                            finder->found.count, once, err);
}

int by_between(struct baryon_model *model, const struct by_setting_pairs *spans,
               struct by_arena *arena, bool **marks, size_t *count, struct baryon_error *err)
{
    struct finder finder = {.graph = model->graph, .arena = arena};
    size_t nodes = model->graph->node.count;
    *count = 0;
    *marks = by_arena_alloc(arena, nodes, sizeof **marks, err);
    bool *once = by_arena_alloc(arena, nodes, sizeof *once, err);
    if (!*marks || !once)
        return -1;
    for (size_t i = 0; i < spans->count; i++) {
        memset(once, 0, nodes);
        if (mark_span(&finder, &spans->at[i], once, err) < 0)
            return by_err_option(err, "between");
        for (size_t k = 0; k < nodes; k++)
            (*marks)[k] |= once[k];
    }
    for (size_t k = 0; k < nodes; k++)
        *count += (*marks)[k];
    return 0;
}
