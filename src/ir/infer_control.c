/* Operators that run nested graphs: If, Loop, Scan. */
#include "ir/infer_internal.h"

#include <string.h>

/* The value of an input of a nested graph; NULL when there is none. */
static struct baryon_value *body_input(const struct baryon_graph *graph, size_t slot)
{
    const struct by_value_info *info = slot < graph->input.count ? graph->input.at[slot] : NULL;
    return info && info->name ? by_map_get(&graph->values, info->name) : NULL;
}

static void bind_tensor(struct baryon_graph *graph, size_t slot, int64_t elem,
                        const struct by_shape *shape)
{
    struct baryon_value *value = body_input(graph, slot);
    if (!value)
        return;
    value->elem = elem;
    value->shape = shape;
}

/* All that is known of another value, but for its elements and, on request, its shape. */
static void bind_value(struct by_infer *infer, struct baryon_graph *graph, size_t slot,
                       const struct baryon_value *from, bool keep_shape)
{
    struct baryon_value *value = body_input(graph, slot);
    if (!value || !from)
        return;
    struct by_fact *fact = by_fact_of(infer, value);
    *fact = *by_fact_of(infer, from);
    fact->content = NULL;
    fact->shape = keep_shape ? fact->shape : NULL;
    bind_tensor(graph, slot, from->elem, keep_shape ? from->shape : NULL);
}

/* Where both agree; NULL when not even the ranks do. */
static const struct by_shape *common_shape(struct by_infer *infer, const struct by_shape *a,
                                           const struct by_shape *b, struct baryon_error *err)
{
    if (!a || !b || a->rank != b->rank)
        return NULL;
    struct by_shape *common = by_new_copy(infer, a, err);
    for (size_t i = 0; common && i < a->rank; i++)
        if (!by_extent_equal(a->dims[i], b->dims[i]))
            common->dims[i] = by_extent_unknown();
    return common;
}

/* The output may be one thing or the other: keeps what holds for both. */
static int meet(struct by_infer *infer, struct baryon_node *node, size_t slot,
                const struct baryon_value *other, struct baryon_error *err)
{
    struct baryon_value *out = by_node_out(node, slot);
    if (!out || !other)
        return 0;
    struct by_fact *fact = by_fact_of(infer, out);
    const struct by_fact *more = by_fact_of(infer, other);
    if (out->elem && other->elem && out->elem != other->elem)
        return by_infer_fail(node, err, "output %zu is %s or %s, must be one type", slot,
                             by_elem_name(out->elem), by_elem_name(other->elem));
    out->elem = out->elem ? out->elem : other->elem;
    struct baryon_error local;
    by_err_clear(&local);
    out->shape = common_shape(infer, out->shape, other->shape, &local);
    fact->shape = common_shape(infer, fact->shape, more->shape, &local);
    fact->elem = fact->elem ? fact->elem : more->elem;
    fact->content = fact->content == more->content ? fact->content : NULL;
    if (fact->kind == BY_KIND_TENSOR)
        fact->kind = more->kind;
    if (local.code && err)
        *err = local;
    return local.code ? -1 : 0;
}

/* In a branch that is certain to be taken, or the first of two, outputs are the branch's. */
static int run_branch(struct by_infer *infer, struct baryon_node *node, struct baryon_graph *branch,
                      bool replaces, bool joins, struct baryon_error *err)
{
    struct by_infer_frame frame;
    int status = 0;
    if (by_infer_enter(infer, branch, &frame, err))
        return -1;
    if (by_infer_graph(infer, err))
        status = -1;
    for (size_t i = 0; !status && i < node->output.count; i++) {
        if (replaces)
            by_out_same(infer, node, i, by_graph_out(branch, i));
        else if (joins)
            status = meet(infer, node, i, by_graph_out(branch, i), err);
    }
    by_infer_leave(infer);
    return status;
}

int by_infer_if(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_graph *branches[] = {by_attr_graph(node, "then_branch"),
                                       by_attr_graph(node, "else_branch")};
    const struct by_item condition = by_in_item(infer, node, 0);
    const bool certain = condition.kind == BY_ITEM_INT;
    const int taken = certain && !condition.i;
    if (!branches[0] || !branches[1])
        return 0;
    for (int i = 0; i < 2; i++) {
        if (branches[i]->output.count != node->output.count)
            return by_infer_fail(node, err, "a branch has %zu outputs, the node %zu",
                                 branches[i]->output.count, node->output.count);
        const bool replaces = certain ? i == taken : i == 0;
        if (run_branch(infer, node, branches[i], replaces, !certain, err))
            return -1;
    }
    return 0;
}

/* One more dimension in front, of the trips made. */
static int out_stacked(struct by_infer *infer, struct baryon_node *node, size_t slot,
                       const struct baryon_value *each, size_t axis, struct by_extent trips,
                       struct baryon_error *err)
{
    struct by_extent dims[BY_RANK_MAX + 1];
    if (!each)
        return 0;
    by_out_elem(node, slot, each->elem);
    if (!each->shape || axis > each->shape->rank)
        return 0;
    const size_t rank = each->shape->rank;
    memcpy(dims, each->shape->dims, axis * sizeof *dims);
    dims[axis] = trips;
    memcpy(dims + axis + 1, each->shape->dims + axis, (rank - axis) * sizeof *dims);
    return by_out_dims(infer, node, slot, dims, rank + 1, err);
}

/* Inputs: trips, condition, carried values; outputs: carried values, stacked ones. */
static int run_loop(struct by_infer *infer, struct baryon_node *node, struct baryon_graph *body,
                    struct baryon_error *err)
{
    const size_t carried = node->input.count > 2 ? node->input.count - 2 : 0;
    bind_tensor(body, 0, BY_ELEM_INT64, NULL);
    bind_tensor(body, 1, BY_ELEM_BOOL, NULL);
    for (size_t i = 0; i < carried; i++)
        bind_value(infer, body, i + 2, by_node_in(node, i + 2), false);
    if (by_infer_graph(infer, err))
        return -1;
    for (size_t i = 0; i < node->output.count; i++) {
        const struct baryon_value *result = by_graph_out(body, i + 1);
        if (i >= carried) {
            if (out_stacked(infer, node, i, result, 0, by_extent_unknown(), err))
                return -1;
            continue;
        }
        by_out_same(infer, node, i, result);
        by_out_content(infer, node, i, NULL);
        /* Without a trip the value comes out as it went in. */
        if (meet(infer, node, i, by_node_in(node, i + 2), err))
            return -1;
    }
    return 0;
}

static int check_body(const struct baryon_node *node, const struct baryon_graph *body,
                      size_t inputs, size_t outputs, struct baryon_error *err)
{
    if (body->input.count == inputs && body->output.count == outputs)
        return 0;
    return by_infer_fail(node, err,
                         "the body has %zu inputs and %zu outputs, must have %zu and %zu",
                         body->input.count, body->output.count, inputs, outputs);
}

int by_infer_loop(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct baryon_graph *body = by_attr_graph(node, "body");
    struct by_infer_frame frame;
    if (!body)
        return 0;
    if (node->input.count < 2 || node->output.count + 2 < node->input.count)
        return by_infer_fail(node, err, "%zu inputs and %zu outputs, must carry each value",
                             node->input.count, node->output.count);
    if (check_body(node, body, node->input.count, node->output.count + 1, err) ||
        by_infer_enter(infer, body, &frame, err))
        return -1;
    const int status = run_loop(infer, node, body, err);
    by_infer_leave(infer);
    return status;
}

/* `lead` is 1 in opset 8: sequence lengths come first, tensors have a batch axis. */
struct scan {
    struct baryon_graph *body;
    size_t states, scanned, stacked, lead;
    struct by_extent trips, batch;
};

static int read_scan(const struct by_infer *infer, const struct baryon_node *node,
                     struct scan *scan, struct baryon_error *err)
{
    const int64_t scanned = by_node_int(node, "num_scan_inputs", 0);
    scan->lead = infer->opset <= 8;
    if (node->input.count < scan->lead)
        return by_infer_fail(node, err, "there are no inputs");
    const size_t inputs = node->input.count - scan->lead;
    if (scanned < 1 || (size_t)scanned > inputs)
        return by_infer_fail(node, err, "num_scan_inputs is %lld, must be in [1, %zu]",
                             (long long)scanned, inputs);
    scan->scanned = (size_t)scanned;
    scan->states = inputs - scan->scanned;
    if (node->output.count < scan->states)
        return by_infer_fail(node, err, "%zu outputs for %zu states", node->output.count,
                             scan->states);
    scan->stacked = node->output.count - scan->states;
    return check_body(node, scan->body, inputs, node->output.count, err);
}

static int listed_axis(const struct baryon_node *node, const char *name, size_t i, size_t rank,
                       size_t *axis, struct baryon_error *err)
{
    const struct by_ints *axes = by_attr_ints(node, name);
    *axis = 0;
    return axes && i < axes->count ? by_axis(node, axes->at[i], rank, axis, err) : 0;
}

/* The shape of an input, without its leading axis in opset 8, which is the batch. */
static int scan_shape(struct by_infer *infer, const struct baryon_node *node, struct scan *scan,
                      size_t slot, const struct by_shape **shape, struct baryon_error *err)
{
    *shape = by_in_shape(node, slot);
    if (!*shape || !scan->lead || !(*shape)->rank)
        return 0;
    by_extent_unify(scan->batch, (*shape)->dims[0], &scan->batch);
    struct by_shape *rest = by_new_shape(infer, (*shape)->rank - 1, err);
    if (!rest)
        return -1;
    memcpy(rest->dims, (*shape)->dims + 1, rest->rank * sizeof *rest->dims);
    *shape = rest;
    return 0;
}

static int bind_scanned(struct by_infer *infer, struct baryon_node *node, struct scan *scan,
                        size_t i, struct baryon_error *err)
{
    const size_t slot = scan->lead + scan->states + i;
    const struct by_shape *shape;
    size_t axis;
    if (scan_shape(infer, node, scan, slot, &shape, err))
        return -1;
    if (!shape || !shape->rank) {
        bind_tensor(scan->body, scan->states + i, by_in_elem(node, slot), NULL);
        return 0;
    }
    if (listed_axis(node, "scan_input_axes", i, shape->rank, &axis, err))
        return -1;
    if (!by_extent_unify(scan->trips, shape->dims[axis], &scan->trips))
        return by_infer_fail(node, err, "inputs have lengths %lld and %lld",
                             (long long)scan->trips.size, (long long)shape->dims[axis].size);
    struct by_shape *each = by_new_shape(infer, shape->rank - 1, err);
    if (!each)
        return -1;
    memcpy(each->dims, shape->dims, axis * sizeof *each->dims);
    memcpy(each->dims + axis, shape->dims + axis + 1, (each->rank - axis) * sizeof *each->dims);
    bind_tensor(scan->body, scan->states + i, by_in_elem(node, slot), each);
    return 0;
}

static int out_state(struct by_infer *infer, struct baryon_node *node, const struct scan *scan,
                     size_t i, struct baryon_error *err)
{
    const struct baryon_value *result = by_graph_out(scan->body, i);
    if (scan->lead)
        return out_stacked(infer, node, i, result, 0, scan->batch, err);
    by_out_same(infer, node, i, result);
    by_out_content(infer, node, i, NULL);
    return 0;
}

static int out_scanned(struct by_infer *infer, struct baryon_node *node, const struct scan *scan,
                       size_t i, struct baryon_error *err)
{
    const size_t slot = scan->states + i;
    const struct baryon_value *each = by_graph_out(scan->body, slot);
    size_t axis = 0;
    if (each && each->shape &&
        listed_axis(node, "scan_output_axes", i, each->shape->rank + 1, &axis, err))
        return -1;
    if (out_stacked(infer, node, slot, each, axis, scan->trips, err))
        return -1;
    const struct baryon_value *out = by_node_out(node, slot);
    return scan->lead ? out_stacked(infer, node, slot, out, 0, scan->batch, err) : 0;
}

static int run_scan(struct by_infer *infer, struct baryon_node *node, struct scan *scan,
                    struct baryon_error *err)
{
    for (size_t i = 0; i < scan->states; i++) {
        const size_t slot = scan->lead + i;
        const struct by_shape *shape;
        if (scan_shape(infer, node, scan, slot, &shape, err))
            return -1;
        bind_tensor(scan->body, i, by_in_elem(node, slot), shape);
    }
    for (size_t i = 0; i < scan->scanned; i++)
        if (bind_scanned(infer, node, scan, i, err))
            return -1;
    if (by_infer_graph(infer, err))
        return -1;
    for (size_t i = 0; i < scan->states; i++)
        if (out_state(infer, node, scan, i, err))
            return -1;
    for (size_t i = 0; i < scan->stacked; i++)
        if (out_scanned(infer, node, scan, i, err))
            return -1;
    return 0;
}

int by_infer_scan(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err)
{
    struct scan scan = {.body = by_attr_graph(node, "body"),
                        .trips = by_extent_unknown(),
                        .batch = by_extent_unknown()};
    struct by_infer_frame frame;
    if (!scan.body)
        return 0;
    if (read_scan(infer, node, &scan, err) || by_infer_enter(infer, scan.body, &frame, err))
        return -1;
    const int status = run_scan(infer, node, &scan, err);
    by_infer_leave(infer);
    return status;
}
