/* Adds and removes the edges of a graph. */
#include "ir/links.h"

#include <string.h>

int by_value_reserve(struct baryon_value *value, size_t more, struct baryon_error *err)
{
    size_t need;
    if (by_add_overflow(value->use_count, more, &need))
        return by_err_nomem(err, SIZE_MAX);
    if (need <= value->use_cap)
        return 0;
    size_t cap = value->use_cap > SIZE_MAX / 2 ? need : value->use_cap * 2;
    if (cap < need)
        cap = need;
    struct by_use *grown = by_arena_alloc(by_graph_arena(value->graph), cap, sizeof *grown, err);
    if (!grown)
        return -1;
    if (value->use_count)
        memcpy(grown, value->uses, value->use_count * sizeof *grown);
    value->uses = grown;
    value->use_cap = cap;
    return 0;
}

struct by_link *by_use_link(const struct by_use *use)
{
    return use->node ? &use->node->links[use->slot] : &use->graph->out_links[use->slot];
}

void by_use_connect(struct by_use use, struct baryon_value *value)
{
    *by_use_link(&use) = (struct by_link){value, value->use_count};
    value->uses[value->use_count++] = use;
    if (!use.node)
        value->output_count++;
}

void by_link_drop(struct by_link *link)
{
    struct baryon_value *value = link->value;
    if (!value)
        return;
    struct by_use *gone = &value->uses[link->use];
    const struct by_use *last = &value->uses[--value->use_count];
    if (!gone->node)
        value->output_count--;
    if (gone != last) {
        *gone = *last;
        by_use_link(gone)->use = link->use;
    }
    *link = (struct by_link){0};
}

void by_use_write_name(const struct by_use *use, const char *name)
{
    if (use->node) {
        use->node->input.at[use->slot] = name;
    } else {
        struct by_value_info *info = use->graph->output.at[use->slot];
        info->name = name;
    }
}

static bool node_has(const struct baryon_node *node, const char *name)
{
    for (size_t i = 0; i < node->input.count; i++)
        if (node->input.at[i] == name)
            return true;
    for (size_t i = 0; i < node->output.count; i++)
        if (node->output.at[i] == name)
            return true;
    return false;
}

/* What is said about the sharding of an input goes over to the value that it reads now. */
static void move_sharding(struct baryon_node *node, const char *from, const char *to)
{
    if (node->device_configurations.count == 0 || node_has(node, from))
        return;
    for (size_t i = 0; i < node->device_configurations.count; i++) {
        const struct by_node_device *device = node->device_configurations.at[i];
        for (size_t k = 0; k < device->sharding_spec.count; k++) {
            struct by_sharding_spec *spec = device->sharding_spec.at[k];
            if (spec->tensor_name == from)
                spec->tensor_name = to;
        }
    }
}

void by_use_move(struct by_use use, struct baryon_value *value)
{
    struct by_link *link = by_use_link(&use);
    const char *from = link->value ? link->value->name : NULL;
    by_link_drop(link);
    by_use_connect(use, value);
    by_use_write_name(&use, value->name);
    if (use.node && from)
        move_sharding(use.node, from, value->name);
}

struct baryon_node *by_use_reader(const struct by_use *use, const struct baryon_graph *graph)
{
    struct baryon_node *node = use->node;
    for (const struct baryon_graph *at = use->graph; at != graph; at = node->graph)
        node = at->owner;
    return node;
}

bool by_use_is_inside(const struct by_use *use, const struct baryon_node *node)
{
    if (!node)
        return false;
    if (use->node == node)
        return true;
    for (const struct baryon_graph *at = use->graph; at->owner; at = at->owner->graph)
        if (at->owner == node)
            return true;
    return false;
}

/* The first of the graph's outputs that the value is. */
static size_t output_slot(const struct baryon_value *value)
{
    size_t slot = BY_NO_SLOT;
    for (size_t i = 0; value->output_count && i < value->use_count; i++) {
        const struct by_use *use = &value->uses[i];
        if (!use->node && use->graph == value->graph && use->slot < slot)
            slot = use->slot;
    }
    return slot;
}

void by_value_find_info(struct baryon_value *value)
{
    const struct baryon_graph *graph = value->graph;
    size_t slot = output_slot(value);
    if (value->is_input)
        value->info = graph->input.at[value->slot];
    else if (slot != BY_NO_SLOT)
        value->info = graph->output.at[slot];
    else if (value->info_slot != BY_NO_SLOT)
        value->info = graph->value_info.at[value->info_slot];
    else
        value->info = NULL;
}

struct baryon_value *by_graph_value(const struct baryon_graph *graph, const char *name)
{
    if (!name || !*name)
        return NULL;
    while (graph) {
        struct baryon_value *value = by_map_get(&graph->values, name);
        if (value)
            return value;
        graph = graph->owner ? graph->owner->graph : NULL;
    }
    return NULL;
}

struct baryon_graph *by_node_nested(const struct baryon_node *node, struct by_nested *at)
{
    for (; at->attr < node->attribute.count; at->attr++, at->slot = 0) {
        const struct baryon_attribute *attr = node->attribute.at[at->attr];
        if (!attr)
            continue;
        /* Slot 0 is `g`, the rest is `graphs`. */
        while (at->slot <= attr->graphs.count) {
            size_t slot = at->slot++;
            struct baryon_graph *graph = slot ? attr->graphs.at[slot - 1] : attr->g;
            if (graph)
                return graph;
        }
    }
    return NULL;
}

const struct baryon_tensor *by_value_constant(const struct baryon_value *value)
{
    if (!value)
        return NULL;
    if (value->initializer)
        return value->initializer;
    if (!value->producer || !by_node_is(value->producer, "Constant"))
        return NULL;
    const struct baryon_attribute *attr = by_node_attr(value->producer, "value");
    return attr ? attr->t : NULL;
}
