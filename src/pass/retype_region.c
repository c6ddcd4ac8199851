/* Regions by the names of the nodes they begin and end with. */
#include "base/str.h"
#include "pass/retype_internal.h"

#include <string.h>

/* A node without a name goes by that of its first output. */
static const char *name_of(const struct baryon_node *node)
{
    const struct baryon_value *out = by_node_out(node, 0);
    return node->name && *node->name ? node->name : out ? out->name : "";
}

static bool user_has_name(const struct by_user_node *user, const char *name)
{
    return strcmp(*user->name || !user->output ? user->name : user->output, name) == 0;
}

/* The node itself, or what it came from, has the name. */
static bool has_name(const struct by_pass_context *context, const struct baryon_node *node,
                     const char *name)
{
    size_t count = 0, users;
    if (strcmp(name_of(node), name) == 0)
        return true;
    if (!context->origins)
        return false;
    const struct by_user_node *user = by_origins_user(context->origins, &users);
    const size_t *of = by_origins_of(context->origins, node, &count);
    for (size_t i = 0; i < count; i++)
        if (user_has_name(&user[of[i]], name))
            return true;
    return false;
}

static int no_such_node(const struct by_retype *r, const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    size_t total = 0, count = 0;
    for (size_t p = 0; p < r->parts.count; p++)
        total += r->parts.at[p]->node_count;
    const char **names = by_alloc(total + 1, sizeof *names, err);
    if (!names)
        return -1;
    for (size_t p = 0; p < r->parts.count; p++)
        for (size_t i = 0; i < r->parts.at[p]->node_count; i++) {
            const struct baryon_node *node = r->parts.at[p]->graph->node.at[i];
            if (node)
                names[count++] = name_of(node);
        }
    const char *near = by_nearest(name, names, count);
    by_fail(err, BARYON_ERR_USAGE, "a region names node %s, which is not in the model",
            by_quote(quoted, name));
    if (near)
        by_err_hint(err, "did you mean %s?", by_quote(quoted, near));
    by_free(names);
    return -1;
}

/* --- Nodes of one graph --- */

struct ends {
    struct baryon_node **at;
    size_t count, cap;
};

static int add_end(struct by_retype *r, struct ends *ends, struct baryon_node *node,
                   struct baryon_error *err)
{
    if (by_list_reserve(&r->arena, ends, 1, sizeof *ends->at, err))
        return -1;
    ends->at[ends->count++] = node;
    return 0;
}

/* All of one graph: the first name picks it. */
static int check_graph(const struct by_retype_part *part, const struct by_retype_part *found,
                       const char *name, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    if (!found || found == part)
        return 0;
    by_fail(err, BARYON_ERR_USAGE, "a region names node %s, which is in another graph",
            by_quote(quoted, name));
    return by_err_hint(err, "a region must start and end in one graph; nested graphs are included");
}

static int find_name(struct by_retype *r, const char *name, struct ends *ends,
                     struct by_retype_part **found, struct baryon_error *err)
{
    const size_t before = ends->count;
    for (size_t p = 0; p < r->parts.count; p++) {
        struct by_retype_part *part = r->parts.at[p];
        for (size_t i = 0; i < part->node_count; i++) {
            struct baryon_node *node = part->graph->node.at[i];
            if (!node || !has_name(r->context, node, name))
                continue;
            if (check_graph(part, *found, name, err) || add_end(r, ends, node, err))
                return -1;
            *found = part;
        }
    }
    return ends->count == before ? no_such_node(r, name, err) : 0;
}

static int find_names(struct by_retype *r, const char *const *names, size_t count,
                      struct ends *ends, struct by_retype_part **found, struct baryon_error *err)
{
    for (size_t i = 0; i < count; i++)
        if (find_name(r, names[i], ends, found, err))
            return -1;
    return 0;
}

/* Without names all nodes of the graph. */
static int fill_ends(struct by_retype *r, const struct by_retype_part *part, struct ends *ends,
                     struct baryon_error *err)
{
    for (size_t i = 0; i < part->node_count; i++)
        if (part->graph->node.at[i] && add_end(r, ends, part->graph->node.at[i], err))
            return -1;
    return 0;
}

/* --- Marks --- */

static int no_way(const struct by_pass_region *region, struct baryon_error *err)
{
    char start[BY_QUOTE_MAX], end[BY_QUOTE_MAX];
    by_fail(err, BARYON_ERR_USAGE, "no path leads from %s to %s",
            by_quote(start, region->starts[0]), by_quote(end, region->ends[0]));
    return by_err_hint(err, "a region is the nodes on all paths from its starts to its ends");
}

static int mark_region(struct by_retype *r, const struct by_pass_region *region,
                       struct baryon_error *err)
{
    struct ends starts = {0}, ends = {0};
    struct by_retype_part *part = NULL;
    if (find_names(r, region->starts, region->start_count, &starts, &part, err) ||
        find_names(r, region->ends, region->end_count, &ends, &part, err))
        return -1;
    if (!part)
        return by_fail(err, BARYON_ERR_USAGE, "a region requires a start or an end");
    bool *marks = by_arena_alloc(&r->arena, part->node_count + 1, sizeof *marks, err), any = false;
    if (!marks || (!region->start_count && fill_ends(r, part, &starts, err)) ||
        (!region->end_count && fill_ends(r, part, &ends, err)) ||
        by_graph_between(part->graph, starts.at, starts.count, ends.at, ends.count, marks, err))
        return -1;
    for (size_t i = 0; i < part->node_count; i++) {
        part->inside[i] = part->inside[i] || marks[i];
        any = any || marks[i];
    }
    return any ? 0 : no_way(region, err);
}

/* Graphs nested in what is inside are inside as a whole; parts are in that order. */
static void mark_nested(struct by_retype *r)
{
    for (size_t p = 0; p < r->parts.count; p++) {
        struct by_retype_part *part = r->parts.at[p];
        if (part->graph->owner && by_retype_is_inside(r, part->graph->owner))
            for (size_t i = 0; i < part->node_count; i++)
                part->inside[i] = true;
    }
}

static bool is_read_inside_only(const struct by_retype *r, const struct baryon_value *value)
{
    for (size_t i = 0; i < value->use_count; i++)
        if (!by_retype_is_inside(r, value->uses[i].node))
            return false;
    return true;
}

/* Weights that a DequantizeLinear gives to the region alone come out in its type at once. */
static void take_in_dequantizers(struct by_retype *r)
{
    for (size_t p = 0; p < r->parts.count; p++) {
        struct by_retype_part *part = r->parts.at[p];
        for (size_t i = 0; i < part->node_count; i++) {
            const struct baryon_node *node = part->graph->node.at[i];
            const struct baryon_value *scale = node ? by_node_in(node, 1) : NULL;
            const struct baryon_value *out = node ? by_node_out(node, 0) : NULL;
            if (scale && out && by_node_is(node, "DequantizeLinear") && scale->initializer &&
                out->use_count && is_read_inside_only(r, out))
                part->inside[i] = true;
        }
    }
}

int by_retype_regions(struct by_retype *r, struct baryon_error *err)
{
    for (size_t p = 0; p < r->parts.count && !r->options->region_count; p++)
        for (size_t i = 0; i < r->parts.at[p]->node_count; i++)
            r->parts.at[p]->inside[i] = true;
    for (size_t i = 0; i < r->options->region_count; i++)
        if (mark_region(r, &r->options->regions[i], err))
            return -1;
    if (r->options->region_count) {
        mark_nested(r);
        take_in_dequantizers(r);
    }
    return 0;
}
