/* Casts for values that cross, under the names that the outside knows. */
#include "pass/retype_internal.h"

#include <stdio.h>
#include <string.h>

static const char *short_name(int64_t elem)
{
    return elem == BY_ELEM_FLOAT ? "fp32" : elem == BY_ELEM_FLOAT16 ? "fp16" : "bf16";
}

/* --- Who reads in the other type --- */

struct crossing {
    struct baryon_value *value;
    int64_t elem;                   /* that the others want */
    struct by_use *nodes, *outputs; /* of the others */
    size_t node_count, output_count;
    struct baryon_node *cast; /* the first one made */
    bool named;               /* an output of the model took the name */
};

static int find_others(struct by_retype *r, struct crossing *at, enum by_retype_want other,
                       struct baryon_error *err)
{
    const struct baryon_value *value = at->value;
    at->nodes = by_arena_alloc(&r->arena, value->use_count + 1, sizeof *at->nodes, err);
    at->outputs = by_arena_alloc(&r->arena, value->output_count + 1, sizeof *at->outputs, err);
    if (!at->nodes || !at->outputs)
        return -1;
    for (size_t i = 0; i < value->use_count; i++) {
        const struct by_use *use = &value->uses[i];
        if (by_retype_wants(r, use) != other)
            continue;
        if (use->node)
            at->nodes[at->node_count++] = *use;
        else
            at->outputs[at->output_count++] = *use;
    }
    return 0;
}

/* What a Cast made the value of, where it has the type that is wanted. */
static struct baryon_value *source(const struct crossing *at)
{
    const struct baryon_node *producer = at->value->producer;
    struct baryon_value *from =
        producer && by_node_is(producer, "Cast") ? by_node_in(producer, 0) : NULL;
    return from && from->elem == at->elem ? from : NULL;
}

/* --- Casts --- */

static int set_cast(struct by_retype *r, const struct crossing *at, struct baryon_node *cast,
                    struct baryon_error *err)
{
    cast->outs[0]->elem = at->elem;
    cast->outs[0]->shape = at->value->shape;
    r->report->casts++;
    r->context->changes++;
    return by_node_set_int(cast, "to", at->elem, err);
}

/* The output said what type it has, which ONNX Runtime cannot find out after an operator that is
 * not of ONNX's. */
static int declare_custom(struct baryon_value *value, struct baryon_error *err)
{
    const struct by_opinfo *info = value->producer ? by_node_opinfo(value->producer) : NULL;
    return info && !*info->domain ? 0 : by_value_declare(value, err);
}

static int cast_output(struct by_retype *r, struct crossing *at, const struct by_use *use,
                       struct baryon_error *err)
{
    struct baryon_node *cast =
        by_graph_insert_before_output(use->graph, use->slot, "Cast", "", NULL, 0, err);
    if (!cast || set_cast(r, at, cast, err) || declare_custom(at->value, err))
        return -1;
    at->named = at->named || !use->graph->owner;
    if (use->graph == at->value->graph && !at->cast)
        at->cast = cast;
    return 0;
}

static int make_cast(struct by_retype *r, struct crossing *at, bool leaves,
                     struct baryon_error *err)
{
    char stem[BY_NAME_MAX + 32];
    if (leaves)
        snprintf(stem, sizeof stem, "%s_subgraph_exit_%s", at->value->name, short_name(r->to));
    else
        snprintf(stem, sizeof stem, "%s_subgraph_entry_cast", at->value->name);
    at->cast = by_pass_add_node(at->value->graph, "Cast", stem, &at->value, 1, err);
    return at->cast ? set_cast(r, at, at->cast, err) : -1;
}

/* The outside keeps the name that it knows, what is inside gets another. */
static int give_name(struct by_retype *r, struct crossing *at, const char *name,
                     struct baryon_error *err)
{
    char stem[BY_NAME_MAX + 32];
    struct baryon_value *value = at->value;
    if (!value->producer || value->pinned)
        return 0;
    snprintf(stem, sizeof stem, "%s_subgraph_exit_%s", name, short_name(r->to));
    const char *inner = by_model_fresh_name(r->context->model, stem, err);
    if (!inner || by_value_rename(value, inner, err))
        return -1;
    return at->named ? 0 : by_value_rename(at->cast->outs[0], name, err);
}

static int connect(const struct crossing *at, struct baryon_value *value, struct baryon_error *err)
{
    for (size_t i = 0; i < at->node_count; i++)
        if (by_node_set_input(at->nodes[i].node, at->nodes[i].slot, value, err))
            return -1;
    return 0;
}

static int add_casts(struct by_retype *r, struct crossing *at, bool leaves,
                     struct baryon_error *err)
{
    const char *name = at->value->name;
    struct baryon_value *from = source(at);
    for (size_t i = 0; i < at->output_count; i++)
        if (cast_output(r, at, &at->outputs[i], err))
            return -1;
    if (!at->cast && at->node_count && from) {
        r->report->cancelled++;
        return connect(at, from, err);
    }
    if (!at->cast && at->node_count && make_cast(r, at, leaves, err))
        return -1;
    if (!at->cast || connect(at, at->cast->outs[0], err))
        return at->cast ? -1 : 0;
    return leaves ? give_name(r, at, name, err) : 0;
}

int by_retype_cross(struct by_retype *r, struct baryon_value *value, struct baryon_error *err)
{
    const int64_t was = by_retype_was(r, value);
    struct crossing at = {.value = value, .elem = was ? was : r->to};
    if (find_others(r, &at, was ? BY_WANTS_OLD : BY_WANTS_NEW, err))
        return -1;
    return at.node_count || at.output_count ? add_casts(r, &at, was != 0, err) : 0;
}

/* --- Casts that there were --- */

int by_retype_cancel(struct by_retype *r, const struct by_retype_part *part,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < part->node_count; i++) {
        struct baryon_node *node = part->graph->node.at[i];
        struct baryon_value *from = node && by_node_is(node, "Cast") ? by_node_in(node, 0) : NULL;
        bool done = false;
        if (!from || from->elem != by_node_int(node, "to", 0) ||
            (!by_retype_was(r, from) && !by_retype_was(r, by_node_out(node, 0))))
            continue;
        if (by_pass_bypass(node, from, &done, err))
            return -1;
        r->report->cancelled += done;
    }
    return 0;
}
