/* Nodes that hand on what they read: one row an operator. */
#include "pass/edit.h"
#include "pass/passes.h"

/* The value that the node's first output equals, NULL when it does something. */
typedef int noop_fn(const struct baryon_node *node, struct by_arena *scratch,
                    struct baryon_value **same, struct baryon_error *err);

static int64_t opset_of(const struct baryon_node *node)
{
    return by_model_opset(node->graph->model, "");
}

static int identity(const struct baryon_node *node, struct by_arena *scratch,
                    struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch, (void)err;
    *same = by_node_in(node, 0);
    return 0;
}

/* Training is asked for by the third input, or in old models by the attribute. */
static int dropout(const struct baryon_node *node, struct by_arena *scratch,
                   struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch, (void)err;
    const struct baryon_tensor *training = by_pass_tensor(by_node_in(node, 2));
    const struct by_span flag = training ? training->raw_data : (struct by_span){0};
    bool off = !by_node_in(node, 2) || (flag.size == 1 && flag.data[0] == 0);
    if (by_pass_sole_output(node) && off && opset_of(node) >= 7)
        *same = by_node_in(node, 0);
    return 0;
}

static int cast(const struct baryon_node *node, struct by_arena *scratch,
                struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch, (void)err;
    struct baryon_value *value = by_node_in(node, 0);
    if (value && value->elem && value->elem == by_node_int(node, "to", 0))
        *same = value;
    return 0;
}

static int transpose(const struct baryon_node *node, struct by_arena *scratch,
                     struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch, (void)err;
    struct baryon_value *value = by_node_in(node, 0);
    const struct baryon_attribute *perm = by_node_attr(node, "perm");
    if (!perm && by_pass_rank(value) != 1)
        return 0;
    for (size_t i = 0; perm && i < perm->ints.count; i++)
        if (perm->ints.at[i] != (int64_t)i)
            return 0;
    *same = value;
    return 0;
}

/* Same sizes: nothing was moved by an operator that keeps the order of elements. At most one
 * size may be unknown, the others leave it no choice. */
static int reshape(const struct baryon_node *node, struct by_arena *scratch,
                   struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch, (void)err;
    struct baryon_value *from = by_node_in(node, 0), *to = by_node_out(node, 0);
    if (!from || !from->shape || !to->shape || from->shape->rank != to->shape->rank)
        return 0;
    size_t open = 0;
    for (size_t i = 0; i < to->shape->rank; i++) {
        if (by_extent_equal(from->shape->dims[i], to->shape->dims[i])) {
            if (from->shape->dims[i].size == 0)
                return 0;
            continue;
        }
        if (by_extent_is_known(from->shape->dims[i]) && by_extent_is_known(to->shape->dims[i]))
            return 0;
        open++;
    }
    if (open <= 1)
        *same = from;
    return 0;
}

/* For operators that may broadcast or repeat: every size has to be known. */
static bool keeps_shape(const struct baryon_value *from, const struct baryon_value *to)
{
    if (!from || !from->shape || !to->shape || from->shape->rank != to->shape->rank)
        return false;
    for (size_t i = 0; i < to->shape->rank; i++)
        if (!by_extent_equal(from->shape->dims[i], to->shape->dims[i]))
            return false;
    return true;
}

static int expand(const struct baryon_node *node, struct by_arena *scratch,
                  struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch, (void)err;
    if (keeps_shape(by_node_in(node, 0), by_node_out(node, 0)))
        *same = by_node_in(node, 0);
    return 0;
}

static int all_are(const struct baryon_node *node, size_t slot, const char *attr, int64_t wanted,
                   struct by_arena *scratch, bool *are, struct baryon_error *err)
{
    const struct baryon_attribute *list = by_node_attr(node, attr);
    int64_t *values = list ? list->ints.at : NULL;
    size_t count = list ? list->ints.count : 0;
    if (!list &&
        by_pass_ints(by_node_in(node, slot), 2 * BY_RANK_MAX, scratch, &values, &count, err))
        return -1;
    *are = values && count;
    for (size_t i = 0; i < count; i++)
        *are = *are && values[i] == wanted;
    return 0;
}

static int pad(const struct baryon_node *node, struct by_arena *scratch, struct baryon_value **same,
               struct baryon_error *err)
{
    bool zero;
    if (all_are(node, 1, "pads", 0, scratch, &zero, err))
        return -1;
    if (zero)
        *same = by_node_in(node, 0);
    return 0;
}

static int tile(const struct baryon_node *node, struct by_arena *scratch,
                struct baryon_value **same, struct baryon_error *err)
{
    bool once;
    if (all_are(node, 1, "repeats", 1, scratch, &once, err))
        return -1;
    if (once)
        *same = by_node_in(node, 0);
    return 0;
}

#define FAR INT32_MAX /* exporters write it, or more, for "up to the end" */

/* From the beginning to the end in steps of one. */
static int slice(const struct baryon_node *node, struct by_arena *scratch,
                 struct baryon_value **same, struct baryon_error *err)
{
    int64_t *ends;
    size_t count;
    bool zero, one = true;
    if (opset_of(node) < 10)
        return 0;
    if (all_are(node, 1, "starts", 0, scratch, &zero, err) ||
        by_pass_ints(by_node_in(node, 2), BY_RANK_MAX, scratch, &ends, &count, err) ||
        (by_node_in(node, 4) && all_are(node, 4, "steps", 1, scratch, &one, err)))
        return -1;
    if (!zero || !one || !ends)
        return 0;
    for (size_t i = 0; i < count; i++)
        if (ends[i] < FAR && !(by_shape_is_static(by_node_out(node, 0)->shape) &&
                               keeps_shape(by_node_in(node, 0), by_node_out(node, 0))))
            return 0;
    *same = by_node_in(node, 0);
    return 0;
}

static int of_one(const struct baryon_node *node, struct by_arena *scratch,
                  struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch, (void)err;
    if (node->input.count == 1)
        *same = by_node_in(node, 0);
    return 0;
}

static bool is_float_value(const struct baryon_value *value)
{
    return value && by_elem_is_float(value->elem);
}

/* Adding 0 or multiplying by 1. -0 + 0 is 0, which no later operator but 1/x tells apart. */
static int neutral(const struct baryon_node *node, double element, bool either,
                   struct baryon_value **same, struct baryon_error *err)
{
    for (size_t slot = either ? 0 : 1; slot < 2; slot++) {
        struct baryon_value *other = by_node_in(node, 1 - slot);
        double found;
        bool is;
        if (!is_float_value(other) || by_pass_tensor(other) ||
            !keeps_shape(other, by_node_out(node, 0)))
            continue;
        if (by_pass_uniform(by_node_in(node, slot), &is, &found, err))
            return -1;
        if (is && found == element)
            *same = other;
    }
    return 0;
}

static int is_neutral_add(const struct baryon_node *node, struct by_arena *scratch,
                          struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch;
    return neutral(node, 0, true, same, err);
}

static int sub(const struct baryon_node *node, struct by_arena *scratch, struct baryon_value **same,
               struct baryon_error *err)
{
    (void)scratch;
    return neutral(node, 0, false, same, err);
}

static int mul(const struct baryon_node *node, struct by_arena *scratch, struct baryon_value **same,
               struct baryon_error *err)
{
    (void)scratch;
    return neutral(node, 1, true, same, err);
}

static int divide(const struct baryon_node *node, struct by_arena *scratch,
                  struct baryon_value **same, struct baryon_error *err)
{
    (void)scratch;
    return neutral(node, 1, false, same, err);
}

static const struct noop {
    const char *op_type;
    noop_fn *same;
} noops[] = {
    {"Add", is_neutral_add},
    {"Cast", cast},
    {"Concat", of_one},
    {"Div", divide},
    {"Dropout", dropout},
    {"Expand", expand},
    {"Flatten", reshape},
    {"Identity", identity},
    {"Max", of_one},
    {"Mean", of_one},
    {"Min", of_one},
    {"Mul", mul},
    {"Pad", pad},
    {"Pow", divide},
    {"Reshape", reshape},
    {"Slice", slice},
    {"Squeeze", reshape},
    {"Sub", sub},
    {"Sum", of_one},
    {"Tile", tile},
    {"Transpose", transpose},
};

static const struct noop *find_noop_row(const struct baryon_node *node)
{
    for (size_t i = 0; i < sizeof noops / sizeof *noops; i++)
        if (by_node_is(node, noops[i].op_type))
            return &noops[i];
    return NULL;
}

static int look_for_noop(struct by_pass_context *context, struct baryon_node *node,
                         struct baryon_error *err)
{
    const struct noop *row = find_noop_row(node);
    struct baryon_value *same = NULL;
    struct by_arena scratch;
    bool done = false;
    if (!row || by_pass_is_excluded(context, node) || !by_node_out(node, 0))
        return 0;
    by_arena_init(&scratch, 0);
    int failed = row->same(node, &scratch, &same, err);
    if (!failed && same)
        failed = by_pass_bypass(node, same, &done, err);
    by_arena_release(&scratch);
    context->changes += done;
    return failed;
}

static int run_remove_noops(struct by_pass_context *context, struct baryon_error *err)
{
    return by_pass_each_node(context, look_for_noop, err);
}

const struct by_pass by_pass_remove_noops = {
    .name = "remove-noops",
    .help = "Remove nodes without effect: Identity, Dropout, Cast to the same type, Reshape to the "
            "same shape, Add of 0 and similar nodes",
    .exact = true,
    .again = true,
    .shapes = true,
    .run = run_remove_noops,
};
