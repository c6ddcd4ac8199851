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
static const char *draft_name(const struct by_decisions *d, size_t decision)
{
    const struct baryon_node *node = d->work->layers[d->work->layer_of[decision]].node;
    if (node->name && *node->name)
        return node->name;
    return node->output.count ? node->output.at[0] : "";
}

/* --- Rules --- */

static void put_tensors(const struct by_decisions *d, size_t decision, struct by_str *yaml)
{
    const struct by_quant_plan *plan = d->q->plan;
    const char *type = d->decisions[decision].alternative->activation;
    for (size_t i = 0; i < plan->rows.count; i++) {
        if (d->work->source_of[i] != d->work->source_at[decision] ||
            plan->rows.at[i].converts != BY_NO_ROW)
            continue;
        by_str_puts(yaml, "  ");
        put_name(yaml, plan->rows.at[i].value->name);
        const bool whole = *type == '{' || !strcmp(type, BY_DECIDE_AS_FLOAT);
        by_str_printf(yaml, whole ? ": %s\n" : ": {type: %s}\n", type);
    }
}

static void put_node(const struct by_decisions *d, size_t decision, bool users, struct by_str *yaml)
{
    const struct by_alternative *row = d->decisions[decision].alternative;
    by_str_puts(yaml, "  ");
    put_name(yaml, users ? d->decisions[decision].name : draft_name(d, decision));
    if (row->kind == BY_DECIDE_FLOAT) {
        by_str_puts(yaml, ": float\n");
        return;
    }
    const bool inputs = row->kind == BY_DECIDE_LAYER && row->activation;
    by_str_puts(yaml, ": {");
    if (inputs)
        by_str_printf(yaml, "input: %s", row->activation);
    if (row->weight)
        by_str_printf(yaml, "%sweight: %s", inputs ? ", " : "", row->weight);
    by_str_puts(yaml, "}\n");
}

static bool has_any(const struct by_decisions *d, const bool *on, bool tensors)
{
    for (size_t i = 0; i < d->decision_count; i++)
        if (on[i] && (d->work->layer_of[i] == BY_NONE) == tensors)
            return true;
    return false;
}

static void put_rules(const struct by_decisions *d, const bool *on, bool users, struct by_str *yaml)
{
    for (int tensors = 0; tensors < 2; tensors++) {
        if (!has_any(d, on, tensors))
            continue;
        by_str_puts(yaml, tensors ? "tensors:\n" : "nodes:\n");
        for (size_t i = 0; i < d->decision_count; i++) {
            if (!on[i] || (d->work->layer_of[i] == BY_NONE) != tensors)
                continue;
            if (tensors)
                put_tensors(d, i, yaml);
            else
                put_node(d, i, users, yaml);
        }
    }
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
