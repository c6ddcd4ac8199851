/* Names of values: fresh ones, new ones, and what a change of name has to reach. */
#include "ir/links.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

#define SUFFIX_MAX 24u /* "_" and a number */

static bool is_known(const struct baryon_model *model, const char *name)
{
    return by_map_get(&model->names.map, name) != NULL;
}

/* Cut to leave room for a suffix, at the start of a character. */
static size_t stem_length(const char *stem)
{
    size_t length = strlen(stem);
    if (length <= BY_NAME_MAX - SUFFIX_MAX)
        return length;
    length = BY_NAME_MAX - SUFFIX_MAX;
    while (length && ((unsigned char)stem[length] & 0xc0) == 0x80)
        length--;
    return length;
}

static size_t *stem_counter(struct baryon_model *model, const char *stem, struct baryon_error *err)
{
    size_t *counter = by_map_get(&model->stems, stem);
    if (counter)
        return counter;
    const char *key = by_model_name(model, stem, err);
    counter = BY_ARENA_NEW(&model->arena, size_t, err);
    if (!key || !counter || by_map_put(&model->stems, key, counter, err))
        return NULL;
    *counter = 1;
    return counter;
}

const char *by_model_fresh_name(struct baryon_model *model, const char *stem,
                                struct baryon_error *err)
{
    char base[BY_NAME_MAX + 1], name[BY_NAME_MAX + 1];
    int length = (int)stem_length(stem);
    snprintf(base, sizeof base, "%.*s", length, length ? stem : "");
    if (!length)
        snprintf(base, sizeof base, "value");
    if (!is_known(model, base))
        return by_model_name(model, base, err);
    size_t *counter = stem_counter(model, base, err);
    if (!counter)
        return NULL;
    do {
        snprintf(name, sizeof name, "%.*s_%zu", (int)(sizeof name - SUFFIX_MAX), base, *counter);
        ++*counter;
    } while (is_known(model, name));
    return by_model_name(model, name, err);
}

static bool is_within(const struct baryon_graph *inner, const struct baryon_graph *outer)
{
    while (inner != outer && inner->owner)
        inner = inner->owner->graph;
    return inner == outer;
}

/* The same name may stand in both branches of an If: neither sees the other. */
static int check_free(const struct baryon_graph *graph, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    for (size_t i = 0; i < graph->model->linked.count; i++) {
        const struct baryon_graph *other = graph->model->linked.at[i];
        if (!other->linked || !by_map_get(&other->values, name) ||
            !(is_within(graph, other) || is_within(other, graph)))
            continue;
        by_fail(err, BARYON_ERR_USAGE, "name %s is used by another value, must be unique",
                by_quote(quoted, name));
        return by_err_in_graph(err, other);
    }
    return 0;
}

static void drop_loose_infos(struct baryon_graph *graph, const char *name)
{
    for (size_t i = 0; graph->loose_infos && i < graph->value_info.count; i++) {
        const struct by_value_info *info = graph->value_info.at[i];
        if (!info || info->name != name)
            continue;
        graph->value_info.at[i] = NULL;
        graph->loose_infos--;
        graph->unsettled = true;
    }
}

const char *by_new_value_name(struct baryon_graph *graph, const char *name,
                              struct baryon_error *err)
{
    struct baryon_model *model = graph->model;
    if (!*name)
        return by_fail(err, BARYON_ERR_USAGE, "an empty name, a value must have one"), NULL;
    if (!is_known(model, name))
        return by_model_name(model, name, err);
    if (check_free(graph, name, err))
        return NULL;
    name = by_model_name(model, name, err);
    if (name)
        drop_loose_infos(graph, name);
    return name;
}

static void write_sharding(struct baryon_node *node, const char *from, const char *to)
{
    for (size_t i = 0; i < node->device_configurations.count; i++) {
        const struct by_node_device *device = node->device_configurations.at[i];
        for (size_t k = 0; k < device->sharding_spec.count; k++) {
            struct by_sharding_spec *spec = device->sharding_spec.at[k];
            if (spec->tensor_name == from)
                spec->tensor_name = to;
        }
    }
}

static void write_in_lists(struct baryon_value *value, const char *name)
{
    const struct baryon_graph *graph = value->graph;
    if (value->is_input)
        ((struct by_value_info *)graph->input.at[value->slot])->name = name;
    if (value->initializer)
        value->initializer->name = name;
    if (value->sparse)
        value->sparse->values->name = name;
    if (value->info_slot != BY_NO_SLOT)
        ((struct by_value_info *)graph->value_info.at[value->info_slot])->name = name;
    if (value->annotation != BY_NO_SLOT)
        ((struct by_annotation *)graph->annotation.at[value->annotation])->tensor_name = name;
    for (struct by_mention *mention = value->mentions; mention; mention = mention->next)
        mention->pair->value = (struct by_span){(const uint8_t *)name, strlen(name)};
}

/* Everywhere but in the map of names. */
static void write_name(struct baryon_value *value, const char *name)
{
    if (value->producer) {
        value->producer->output.at[value->slot] = name;
        write_sharding(value->producer, value->name, name);
    }
    for (size_t i = 0; i < value->use_count; i++) {
        struct baryon_node *node = value->uses[i].node;
        by_use_write_name(&value->uses[i], name);
        /* Uses by one node stand in a row: once is enough for them. */
        if (node && (i == 0 || node != value->uses[i - 1].node))
            write_sharding(node, value->name, name);
    }
    write_in_lists(value, name);
    value->name = name;
}

static int check_not_pinned(const struct baryon_value *value, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!value->pinned)
        return 0;
    return by_fail(err, BARYON_ERR_UNSUPPORTED,
                   "value %s is named by training information, must keep its name",
                   by_quote(quoted, value->name));
}

int by_value_rename(struct baryon_value *value, const char *name, struct baryon_error *err)
{
    if (by_value_is_live(value, err))
        return -1;
    struct baryon_graph *graph = value->graph;
    if (strcmp(value->name, name) == 0)
        return 0;
    if (check_not_pinned(value, err) || !(name = by_new_value_name(graph, name, err)) ||
        by_map_put(&graph->values, name, value, err))
        return -1;
    by_map_remove(&graph->values, value->name);
    write_name(value, name);
    return 0;
}

/* Graphs around the uses of a value may define the name again, after that value. */
static int check_seen(const struct baryon_value *value, const struct baryon_value *named,
                      struct baryon_error *err)
{
    for (size_t i = 0; i < value->use_count; i++) {
        const struct baryon_graph *graph = value->uses[i].graph;
        if (graph != value->graph && by_graph_can_read(graph, named, err))
            return -1;
    }
    return 0;
}

/* The type of an output is declared with the output. */
void by_value_drop_own_info(struct baryon_value *value)
{
    if (value->info_slot == BY_NO_SLOT)
        return;
    value->graph->value_info.at[value->info_slot] = NULL;
    value->graph->unsettled = true;
    value->info_slot = BY_NO_SLOT;
}

int by_value_take_name(struct baryon_value *old, struct baryon_value *new_value,
                       struct baryon_error *err)
{
    struct by_map *values = &old->graph->values;
    const char *name = old->name;
    if (check_not_pinned(old, err) || check_not_pinned(new_value, err) ||
        check_seen(new_value, old, err))
        return -1;
    const char *fresh = by_model_fresh_name(old->graph->model, name, err);
    if (!fresh || by_map_put(values, fresh, old, err))
        return -1;
    if (by_map_put(values, name, new_value, err)) {
        by_map_remove(values, fresh);
        return -1;
    }
    by_map_remove(values, new_value->name);
    write_name(old, fresh);
    write_name(new_value, name);
    by_value_drop_own_info(new_value);
    return 0;
}
