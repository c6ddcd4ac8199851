/* Finds the name in a graph that is closest to a misspelled one. */
#include "cli/names.h"

#include "base/str.h"

const char *by_graph_nearest(const struct baryon_graph *graph, const char *name, bool nodes_too)
{
    size_t count = 0, room = graph->node.count + graph->all_values.count;
    const char **names = by_alloc(room, sizeof *names, NULL);
    if (!names)
        return NULL;
    for (size_t i = 0; nodes_too && i < graph->node.count; i++) {
        const struct baryon_node *node = graph->node.at[i];
        if (node && node->name && *node->name)
            names[count++] = node->name;
    }
    for (size_t i = 0; i < graph->all_values.count; i++) {
        const struct baryon_value *value = graph->all_values.at[i];
        if (value)
            names[count++] = value->name;
    }
    const char *near = by_nearest(name, names, count);
    by_free(names);
    return near;
}
