/* Which nodes and values change their type, and the order in which that is done. */
#include "pass/retype_internal.h"

#include "ir/tensor.h"

/* --- Parts --- */

struct by_retype_part *by_retype_part(const struct by_retype *r, const struct baryon_graph *graph)
{
    return by_map_get_bytes(&r->by_graph, &graph, sizeof graph);
}

static int add_part(void *context, struct baryon_graph *graph, unsigned depth,
                    struct baryon_error *err)
{
    (void)depth;
    struct by_retype *r = context;
    struct by_retype_part *part = BY_ARENA_NEW(&r->arena, struct by_retype_part, err);
    if (!part || by_list_reserve(&r->arena, &r->parts, 1, sizeof(void *), err))
        return -1;
    part->graph = graph;
    part->node_count = graph->node.count;
    part->value_count = graph->all_values.count;
    part->inside = by_arena_alloc(&r->arena, part->node_count + 1, sizeof *part->inside, err);
    part->counts = by_arena_alloc(&r->arena, part->value_count + 1, sizeof *part->counts, err);
    part->was = by_arena_alloc(&r->arena, part->value_count + 1, sizeof *part->was, err);
    if (!part->inside || !part->counts || !part->was ||
        by_map_put_bytes(&r->by_graph, &part->graph, sizeof part->graph, part, err))
        return -1;
    r->parts.at[r->parts.count++] = part;
    return 0;
}

bool by_retype_is_inside(const struct by_retype *r, const struct baryon_node *node)
{
    const struct by_retype_part *part = node ? by_retype_part(r, node->graph) : NULL;
    return part && node->index < part->node_count && part->inside[node->index];
}

int64_t by_retype_was(const struct by_retype *r, const struct baryon_value *value)
{
    const struct by_retype_part *part = by_retype_part(r, value->graph);
    return part && value->index < part->value_count ? part->was[value->index] : 0;
}

/* --- Who wants what --- */

static bool takes_any(const struct baryon_node *node, size_t slot)
{
    return by_node_is(node, "Cast") || by_node_is(node, "Shape") || by_node_is(node, "Size") ||
           (by_node_is(node, "CastLike") && slot == 0);
}

enum by_retype_want by_retype_wants(const struct by_retype *r, const struct by_use *use)
{
    if (!use->node) {
        const struct baryon_node *owner = use->graph->owner;
        return (owner ? by_retype_is_inside(r, owner) : r->interface) ? BY_WANTS_NEW : BY_WANTS_OLD;
    }
    if (takes_any(use->node, use->slot))
        return BY_TAKES_ANY;
    return by_retype_is_inside(r, use->node) && !by_retype_slot_stays(use->node, use->slot)
               ? BY_WANTS_NEW
               : BY_WANTS_OLD;
}

/* A constant changes where nobody needs it as it was; others read it through a Cast. */
static bool constant_changes(const struct by_retype *r, const struct baryon_value *value)
{
    if (r->whole)
        return true;
    size_t wanted = 0;
    for (size_t i = 0; i < value->use_count; i++) {
        const enum by_retype_want wants = by_retype_wants(r, &value->uses[i]);
        if (wants == BY_WANTS_OLD)
            return false;
        wanted += wants == BY_WANTS_NEW;
    }
    return wanted > 0 && !by_value_is_kept(value);
}

static bool value_changes(const struct by_retype *r, const struct baryon_value *value)
{
    if (!by_retype_is_from(r, value->elem))
        return false;
    if (value->is_input) {
        const struct baryon_node *owner = value->graph->owner;
        return owner ? by_retype_is_inside(r, owner) : r->interface;
    }
    if (value->producer)
        return by_retype_is_inside(r, value->producer) &&
               by_retype_follows(r, value->producer, value->slot);
    return constant_changes(r, value);
}

/* --- The steps --- */

static void choose_values(struct by_retype *r)
{
    for (size_t p = 0; p < r->parts.count; p++) {
        const struct by_retype_part *part = r->parts.at[p];
        for (size_t i = 0; i < part->value_count; i++) {
            const struct baryon_value *value = part->graph->all_values.at[i];
            part->was[i] = value && value_changes(r, value) ? value->elem : 0;
        }
    }
}

static int change_values(struct by_retype *r, const struct by_retype_part *part,
                         struct baryon_error *err)
{
    for (size_t i = 0; i < part->value_count; i++) {
        struct baryon_value *value = part->graph->all_values.at[i];
        if (!value || !part->was[i])
            continue;
        if ((value->initializer || value->sparse) && by_retype_initializer(r, value, err))
            return -1;
        value->elem = r->to;
        r->context->changes++;
    }
    return 0;
}

static int change_nodes(struct by_retype *r, const struct by_retype_part *part,
                        struct baryon_error *err)
{
    for (size_t i = 0; i < part->node_count; i++) {
        struct baryon_node *node = part->graph->node.at[i];
        if (!node || !part->inside[i])
            continue;
        r->report->nodes += by_retype_touches(r, node);
        if (by_retype_attributes(r, node, err))
            return -1;
    }
    return 0;
}

static int cross(struct by_retype *r, const struct by_retype_part *part, struct baryon_error *err)
{
    for (size_t i = 0; i < part->value_count; i++) {
        struct baryon_value *value = part->graph->all_values.at[i];
        if (value && (part->was[i] || by_retype_is_from(r, value->elem)) &&
            by_retype_cross(r, value, err))
            return -1;
    }
    return 0;
}

typedef int part_fn(struct by_retype *r, const struct by_retype_part *part,
                    struct baryon_error *err);

static int each_part(struct by_retype *r, part_fn *visit, struct baryon_error *err)
{
    for (size_t i = 0; i < r->parts.count; i++)
        if (visit(r, r->parts.at[i], err))
            return -1;
    return 0;
}

static int declare(struct by_retype *r, const struct by_retype_part *part, struct baryon_error *err)
{
    (void)err;
    by_retype_declare(r, part->graph);
    return 0;
}

static int change(struct by_retype *r, struct baryon_error *err)
{
    if (by_model_each_graph(r->context->model, add_part, r, err) || by_retype_regions(r, err) ||
        by_retype_fit(r, err))
        return -1;
    choose_values(r);
    if (each_part(r, change_nodes, err) || each_part(r, change_values, err) ||
        each_part(r, cross, err) || each_part(r, by_retype_cancel, err) ||
        each_part(r, declare, err))
        return -1;
    return r->whole ? by_retype_functions(r, err) : 0;
}

static int check_opset(const struct by_retype *r, struct baryon_error *err)
{
    const int64_t has = by_model_opset(r->context->model, ""), needs = by_elem_info(r->to)->opset;
    if (has >= needs)
        return 0;
    by_fail(err, BARYON_ERR_UNSUPPORTED, "%s requires opset %lld, the model has %lld",
            by_elem_name(r->to), (long long)needs, (long long)has);
    return by_err_hint(err, "convert the model with --opset %lld", (long long)needs);
}

/* Not 0 where a node stays as it is whatever is asked. */
static int find_bits(void *context, struct baryon_graph *graph, unsigned depth,
                     struct baryon_error *err)
{
    (void)context;
    (void)depth;
    (void)err;
    for (size_t i = 0; i < graph->node.count; i++)
        if (graph->node.at[i] && by_node_is(graph->node.at[i], "BitCast"))
            return -1;
    return 0;
}

int by_retype(struct by_pass_context *context, uint64_t from, int64_t to, struct baryon_error *err)
{
    static const struct by_retype_options none;
    struct by_retype_report unseen = {.arena = NULL};
    const struct by_retype_options *options = context->retype ? context->retype : &none;
    struct by_retype r = {
        .context = context,
        .options = options,
        .report = options->report ? options->report : &unseen,
        .from = from,
        .to = to,
        .narrows = to != BY_ELEM_FLOAT,
        .interface = !options->keep_io && !options->region_count,
    };
    r.whole = !r.narrows && r.interface && !options->keep_excluded &&
              !by_model_each_graph(context->model, find_bits, NULL, NULL);
    by_arena_init(&r.arena, 0);
    by_map_init(&r.by_graph);
    if (!r.report->arena)
        r.report->arena = &r.arena;
    r.report->runs++;
    const int failed = check_opset(&r, err) || change(&r, err);
    by_map_release(&r.by_graph);
    by_arena_release(&r.arena);
    return failed ? -1 : 0;
}
