/* Writes decisions as rules that a config has: names of nodes and tensors, and their types. */
#include "search/decision_internal.h"

#include "base/json.h"

#include <string.h>

/* --- Names --- */

/* As a pattern that picks this name alone. */
static void put_pattern(struct by_str *text, const char *name)
{
    if (!strncmp(name, "re:", 3) || *name == '^')
        by_str_puts(text, "\\");
    for (const char *at = name; *at; at++) {
        if (strchr("*?[\\", *at))
            by_str_puts(text, "\\");
        by_str_add(text, at, 1);
    }
}

static void put_name(struct by_str *yaml, const char *name)
{
    struct by_json json;
    struct by_str pattern;
    by_str_init(&pattern);
    put_pattern(&pattern, name);
    by_json_init(&json, yaml, true);
    by_json_text(&json, NULL, by_str_text(&pattern));
    yaml->failed = yaml->failed || pattern.failed;
    by_str_release(&pattern);
}

/* As drafts have it: a node without a name is called by what it gives. */
static const char *draft_name(const struct baryon_node *node)
{
    if (node->name && *node->name)
        return node->name;
    return node->output.count ? node->output.at[0] : "";
}

/* --- Rules --- */

static void put_tensors(const struct by_decisions *d, size_t source, const char *type,
                        struct by_str *yaml)
{
    const struct by_quant_plan *plan = d->q->plan;
    for (size_t i = 0; i < plan->rows.count; i++) {
        if (d->work->source_of[i] != source || plan->rows.at[i].converts != BY_NO_ROW)
            continue;
        by_str_puts(yaml, "  ");
        put_name(yaml, plan->rows.at[i].value->name);
        const bool whole = *type == '{' || !strcmp(type, BY_DECIDE_AS_FLOAT);
        by_str_printf(yaml, whole ? ": %s\n" : ": {type: %s}\n", type);
    }
}

static bool has_decision(const struct by_decisions *d, const bool *on, size_t place)
{
    for (size_t i = 0; i < d->decision_count; i++)
        if (on[i] && d->decisions[i].place == place)
            return true;
    return false;
}

/* What a decision about a layer says of its inputs; a decision about the tensor is stronger. */
static void put_inputs(const struct by_decisions *d, const bool *on, size_t decision,
                       struct by_str *yaml)
{
    const struct by_decide_work *work = d->work;
    const struct by_decide_layer *layer = &work->layers[work->layer_of[decision]];
    for (size_t i = layer->first; i < layer->first + layer->input_count; i++)
        if (work->alone[i] && !has_decision(d, on, work->inputs[i]))
            put_tensors(d, work->inputs[i], d->decisions[decision].alternative->activation, yaml);
}

/* Once for each name; `put` are those that were. */
static void put_node(const struct by_alternative *row, const char *name, struct by_map *put,
                     struct by_str *yaml)
{
    if (by_map_get(put, name))
        return;
    yaml->failed = yaml->failed || by_map_put(put, name, put, NULL) < 0;
    by_str_puts(yaml, "  ");
    put_name(yaml, name);
    if (row->kind == BY_DECIDE_FLOAT || row->around)
        by_str_puts(yaml, ": float\n");
    else
        by_str_printf(yaml, ": {weight: %s}\n", row->weight);
}

static bool is_about_node(const struct by_decisions *d, size_t decision)
{
    const size_t layer = d->work->layer_of[decision];
    return layer != BY_NONE && (d->decisions[decision].alternative->kind == BY_DECIDE_FLOAT ||
                                d->work->layers[layer].weight != BY_NONE);
}

static void put_region(const struct by_decisions *d, size_t decision, bool users,
                       struct by_map *put, struct by_str *yaml)
{
    const struct by_decide_region *region = &d->work->regions[decision];
    for (size_t i = 0; i < region->count; i++) {
        const struct baryon_node *node = d->work->region_nodes.at[region->first + i];
        put_node(d->decisions[decision].alternative,
                 users ? by_decide_users_name(d->q, node) : draft_name(node), put, yaml);
    }
}

static void put_nodes(const struct by_decisions *d, const bool *on, bool users, struct by_str *yaml)
{
    struct by_map put;
    by_map_init(&put);
    for (size_t i = 0; i < d->decision_count; i++)
        if (on[i])
            put_region(d, i, users, &put, yaml);
    for (size_t i = 0; i < d->decision_count; i++)
        if (on[i] && is_about_node(d, i))
            put_node(d->decisions[i].alternative,
                     users ? d->decisions[i].name
                           : draft_name(d->work->layers[d->work->layer_of[i]].node),
                     &put, yaml);
    by_map_release(&put);
}

static void put_all_tensors(const struct by_decisions *d, const bool *on, struct by_str *yaml)
{
    for (size_t i = 0; i < d->decision_count; i++) {
        if (!on[i] || d->decisions[i].alternative->around)
            continue;
        if (d->work->layer_of[i] == BY_NONE)
            put_tensors(d, d->work->source_at[i], d->decisions[i].alternative->activation, yaml);
        else if (d->decisions[i].alternative->kind == BY_DECIDE_LAYER)
            put_inputs(d, on, i, yaml);
    }
}

/* A map under its key; nothing where it is empty. */
static void put_map(const char *key, const struct by_str *map, struct by_str *yaml)
{
    if (map->size)
        by_str_printf(yaml, "%s:\n%s", key, by_str_text(map));
    yaml->failed = yaml->failed || map->failed;
}

static void put_rules(const struct by_decisions *d, const bool *on, bool users, struct by_str *yaml)
{
    struct by_str nodes, tensors;
    by_str_init(&nodes);
    by_str_init(&tensors);
    put_nodes(d, on, users, &nodes);
    put_all_tensors(d, on, &tensors);
    put_map("nodes", &nodes, yaml);
    put_map("tensors", &tensors, yaml);
    by_str_release(&nodes);
    by_str_release(&tensors);
}

int by_decisions_write(const struct by_decisions *d, const bool *on, struct by_str *yaml,
                       struct baryon_error *err)
{
    put_rules(d, on, true, yaml);
    return by_str_error(yaml, err);
}

static int read_rules(const struct by_str *yaml, struct by_arena *arena, struct by_rule_list *rules,
                      struct baryon_error *err)
{
    struct by_doc_node *root;
    if (!yaml->size)
        return 0;
    if (by_yaml_parse(arena, yaml->text, yaml->size, "decisions", &root, err) < 0)
        return -1;
    const struct by_doc_node *nodes = by_doc_get(root, "nodes");
    const struct by_doc_node *tensors = by_doc_get(root, "tensors");
    if (nodes && by_rules_read(arena, BY_RULE_NODE, nodes, "decisions", rules, err) < 0)
        return -1;
    return tensors ? by_rules_read(arena, BY_RULE_TENSOR, tensors, "decisions", rules, err) : 0;
}

int by_decide_rules(const struct by_decisions *d, const bool *on, bool users,
                    struct by_arena *arena, struct by_rule_list *rules, struct baryon_error *err)
{
    struct by_str yaml;
    by_str_init(&yaml);
    put_rules(d, on, users, &yaml);
    const int status = by_str_error(&yaml, err) < 0 ? -1 : read_rules(&yaml, arena, rules, err);
    by_str_release(&yaml);
    return status;
}

int by_decisions_rules(const struct by_decisions *d, const bool *on, struct by_arena *arena,
                       struct by_rule_list *rules, struct baryon_error *err)
{
    return by_decide_rules(d, on, true, arena, rules, err);
}
