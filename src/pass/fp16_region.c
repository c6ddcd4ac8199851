/*
 * Regions of a float16 model in float32: a Cast for every value that enters or leaves, under the
 * names that the outside knows.
 */
#include "pass/edit.h"
#include "pass/fp16.h"

#include <stdio.h>
#include <string.h>

struct region {
    struct by_pass_context *context;
    struct baryon_graph *graph;
    struct by_arena arena;
    bool *inside; /* nodes by index, as many as there were */
    size_t count;
    size_t *casts; /* of values by index: 1 + the place among `made`; 0: none yet */
    size_t value_count;
    struct by_ptrs made;
};

/* --- which nodes --- */

/* The node itself, or what it came from, has the name. */
static bool has_name(const struct by_pass_context *context, const struct baryon_node *node,
                     const char *name)
{
    size_t count = 0, users;
    if (node->name && strcmp(node->name, name) == 0)
        return true;
    if (!context->origins)
        return false;
    const struct by_user_node *user = by_origins_user(context->origins, &users);
    const size_t *of = by_origins_of(context->origins, node, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(user[of[i]].name, name) == 0)
            return true;
    return false;
}

/* Nodes of those names; all of them where there are no names. */
static int find_nodes(const struct region *r, const char *const *names, size_t count,
                      struct baryon_node **nodes, size_t *found, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    *found = 0;
    for (size_t i = 0; i < r->count && !count; i++)
        nodes[(*found)++] = r->graph->node.at[i];
    for (size_t n = 0; n < count; n++) {
        size_t before = *found;
        for (size_t i = 0; i < r->count; i++)
            if (has_name(r->context, r->graph->node.at[i], names[n]) && *found < r->count)
                nodes[(*found)++] = r->graph->node.at[i];
        if (*found == before)
            return by_fail(err, BARYON_ERR_USAGE,
                           "a region of float32 names the node %s, which the graph has not",
                           by_quote(quoted, names[n]));
    }
    return 0;
}

static int mark_region(struct region *r, const struct by_pass_region *region,
                       struct baryon_error *err)
{
    size_t starts, ends;
    struct baryon_node **first = by_arena_alloc(&r->arena, r->count + 1, sizeof *first, err);
    struct baryon_node **last = by_arena_alloc(&r->arena, r->count + 1, sizeof *last, err);
    bool *marks = by_arena_alloc(&r->arena, r->count + 1, sizeof *marks, err);
    if (!first || !last || !marks ||
        find_nodes(r, region->starts, region->start_count, first, &starts, err) ||
        find_nodes(r, region->ends, region->end_count, last, &ends, err) ||
        by_graph_between(r->graph, first, starts, last, ends, marks, err))
        return -1;
    for (size_t i = 0; i < r->count; i++)
        r->inside[i] = r->inside[i] || marks[i];
    return 0;
}

static bool is_inside(const struct region *r, const struct baryon_node *node)
{
    return node && node->graph == r->graph && node->index < r->count && r->inside[node->index];
}

static bool is_read_inside_only(const struct region *r, const struct baryon_value *value)
{
    for (size_t i = 0; i < value->use_count; i++)
        if (value->uses[i].graph != r->graph || !is_inside(r, value->uses[i].node))
            return false;
    return true;
}

/* Weights that a DequantizeLinear gives to the region alone come out as float32 at once. */
static void take_in_dequantizers(struct region *r)
{
    for (size_t i = 0; i < r->count; i++) {
        const struct baryon_node *node = r->graph->node.at[i];
        const struct baryon_value *scale = by_node_in(node, 1), *out = by_node_out(node, 0);
        if (by_node_is(node, "DequantizeLinear") && scale && out && scale->initializer &&
            scale->elem == BY_ELEM_FLOAT16 && out->use_count && is_read_inside_only(r, out))
            r->inside[i] = true;
    }
}

static int check_nested(const struct region *r, struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    for (size_t i = 0; i < r->count; i++) {
        struct by_nested at = {0};
        const struct baryon_node *node = r->graph->node.at[i];
        if (r->inside[i] && by_node_nested(node, &at))
            return by_fail(err, BARYON_ERR_UNSUPPORTED,
                           "%s has a graph in it, only whole models with such nodes become float32",
                           by_node_label(node, label, sizeof label));
    }
    return 0;
}

/* --- what enters --- */

static struct baryon_node *add_cast(struct region *r, struct baryon_value *value, const char *stem,
                                    int64_t to, struct baryon_error *err)
{
    struct baryon_node *cast = by_pass_add_node(r->graph, "Cast", stem, &value, 1, err);
    return cast && !by_node_set_int(cast, "to", to, err) ? cast : NULL;
}

static struct baryon_node *entry_cast(struct region *r, struct baryon_value *value,
                                      struct baryon_error *err)
{
    char stem[BY_NAME_MAX + 32];
    if (r->casts[value->index])
        return r->made.at[r->casts[value->index] - 1];
    snprintf(stem, sizeof stem, "%s_subgraph_entry_cast", value->name);
    struct baryon_node *cast = add_cast(r, value, stem, BY_ELEM_FLOAT, err);
    if (!cast || by_list_reserve(&r->arena, &r->made, 1, sizeof(void *), err))
        return NULL;
    r->made.at[r->made.count++] = cast;
    r->casts[value->index] = r->made.count;
    return cast;
}

static bool is_own_constant(const struct region *r, const struct baryon_value *value)
{
    return (value->initializer || value->sparse) && !value->is_input && value->graph == r->graph &&
           !by_value_is_kept(value) && is_read_inside_only(r, value);
}

static int enter(struct region *r, struct baryon_node *node, struct baryon_error *err)
{
    for (size_t i = 0; i < node->input.count; i++) {
        struct baryon_value *value = by_node_in(node, i);
        if (!value || value->elem != BY_ELEM_FLOAT16 || value->index >= r->value_count ||
            is_inside(r, value->producer))
            continue;
        if (is_own_constant(r, value)) {
            if (by_fp16_initializer(value, err))
                return -1;
            if (value->info)
                by_fp16_type(value->info->type);
            continue;
        }
        struct baryon_node *cast = entry_cast(r, value, err);
        if (!cast || by_node_set_input(node, i, cast->outs[0], err))
            return -1;
    }
    return 0;
}

/* --- what leaves --- */

struct seat {
    struct baryon_node *node;
    size_t slot;
};

/* The places inside that read the value; *outside: others do as well. */
static int find_seats(struct region *r, const struct baryon_value *value, struct seat **seats,
                      size_t *count, bool *outside, struct baryon_error *err)
{
    *count = 0;
    *outside = false;
    if (!(*seats = by_arena_alloc(&r->arena, value->use_count + 1, sizeof **seats, err)))
        return -1;
    for (size_t i = 0; i < value->use_count; i++) {
        const struct by_use *use = &value->uses[i];
        if (use->graph == r->graph && is_inside(r, use->node))
            (*seats)[(*count)++] = (struct seat){use->node, use->slot};
        else
            *outside = true;
    }
    return 0;
}

/* The Cast takes name and readers, those inside read the value itself again. */
static int leave_by_cast(struct region *r, struct baryon_value *value, const struct seat *seats,
                         size_t count, struct baryon_error *err)
{
    char stem[BY_NAME_MAX + 32];
    const char *name = value->name;
    const bool is_output = by_value_is_output(value);
    snprintf(stem, sizeof stem, "%s_subgraph_exit_fp32", name);
    struct baryon_node *cast = add_cast(r, value, stem, BY_ELEM_FLOAT16, err);
    const char *inner = by_model_fresh_name(r->graph->model, stem, err);
    if (!cast || !inner || by_value_replace_uses(value, cast->outs[0], cast, err))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (by_node_set_input(seats[i].node, seats[i].slot, value, err))
            return -1;
    if (by_value_rename(value, inner, err))
        return -1;
    return is_output ? 0 : by_value_rename(cast->outs[0], name, err);
}

static int leave(struct region *r, struct baryon_node *node, struct baryon_error *err)
{
    for (size_t i = 0; i < node->output.count; i++) {
        struct baryon_value *value = by_node_out(node, i);
        struct seat *seats;
        size_t count;
        bool outside;
        if (!value || value->elem != BY_ELEM_FLOAT16)
            continue;
        if (find_seats(r, value, &seats, &count, &outside, err))
            return -1;
        if (outside && leave_by_cast(r, value, seats, count, err))
            return -1;
        if (value->info)
            by_fp16_type(value->info->type);
        value->elem = BY_ELEM_FLOAT;
    }
    return 0;
}

/* --- all of it --- */

static int convert(struct region *r, struct baryon_error *err)
{
    const struct by_pass_context *context = r->context;
    for (size_t i = 0; i < context->region_count; i++)
        if (mark_region(r, &context->regions[i], err))
            return -1;
    take_in_dequantizers(r);
    if (check_nested(r, err))
        return -1;
    for (size_t i = 0; i < r->count; i++) {
        struct baryon_node *node = r->graph->node.at[i];
        if (!r->inside[i])
            continue;
        if (enter(r, node, err) || leave(r, node, err) ||
            by_fp16_attributes(context->model, node, err))
            return -1;
        r->context->changes++;
    }
    return 0;
}

int by_fp16_regions(struct by_pass_context *context, struct baryon_error *err)
{
    struct baryon_graph *graph = context->model->graph;
    struct region r = {.context = context,
                       .graph = graph,
                       .count = graph->node.count,
                       .value_count = graph->all_values.count};
    by_arena_init(&r.arena, 0);
    r.inside = by_arena_alloc(&r.arena, r.count + 1, sizeof *r.inside, err);
    r.casts = by_arena_alloc(&r.arena, r.value_count + 1, sizeof *r.casts, err);
    int failed = r.inside && r.casts ? convert(&r, err) : -1;
    by_arena_release(&r.arena);
    return failed;
}
