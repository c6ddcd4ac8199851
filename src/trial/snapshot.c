/* Takes and restores what a candidate may change of a plan and of constants. */
#include "trial/snapshot.h"

#include "quant/floats.h"

#include <string.h>

struct by_snapshot_row {
    struct by_quant_row row; /* with the plan's pointers; after them: */
    float *scales;
    int64_t *zeros;
    struct by_quant_remark *remarks;
    struct by_quant_reader *readers;
};

struct by_snapshot_constant {
    struct baryon_tensor *tensor;
    struct baryon_tensor was;
    float *values;
    size_t count;
};

/* --- Taking --- */

/* NULL of NULL, which is no failure. */
static void *copy_of(struct by_snapshot *snapshot, const void *from, size_t count, size_t size,
                     struct baryon_error *err)
{
    void *to = from ? by_arena_alloc(&snapshot->arena, count + 1, size, err) : NULL;
    if (to && count)
        memcpy(to, from, count * size);
    return to;
}

static int take_row(struct by_snapshot *snapshot, const struct by_quant_row *row,
                    struct by_snapshot_row *to, struct baryon_error *err)
{
    const struct by_params *params = &row->params;
    to->row = *row;
    to->scales = copy_of(snapshot, params->scales, params->count, sizeof *to->scales, err);
    to->zeros = copy_of(snapshot, params->zeros, params->count, sizeof *to->zeros, err);
    to->remarks = copy_of(snapshot, row->remarks.at, row->remarks.count, sizeof *to->remarks, err);
    to->readers = copy_of(snapshot, row->readers.at, row->readers.count, sizeof *to->readers, err);
    return !to->scales != !params->scales || !to->zeros != !params->zeros ||
                   !to->remarks != !row->remarks.at || !to->readers != !row->readers.at
               ? -1
               : 0;
}

static int take_constant(struct by_snapshot *snapshot, const struct baryon_value *value,
                         struct baryon_error *err)
{
    struct by_snapshot_constant *to = &snapshot->constants[snapshot->constant_count];
    to->tensor = value->initializer;
    to->was = *to->tensor;
    float *values = by_floats_copy(to->tensor, &to->count, err);
    to->values = copy_of(snapshot, values, to->count, sizeof *values, err);
    by_free(values);
    snapshot->constant_count += to->values != NULL;
    return to->values ? 0 : -1;
}

static int take_all(struct by_snapshot *snapshot, const struct by_quant_plan *plan,
                    struct baryon_value *const *constants, size_t count, struct baryon_error *err)
{
    struct by_arena *arena = &snapshot->arena;
    snapshot->row_count = plan->rows.count;
    snapshot->node_count = plan->node_count;
    snapshot->rows = by_arena_alloc(arena, plan->rows.count + 1, sizeof *snapshot->rows, err);
    snapshot->nodes =
        plan->nodes ? copy_of(snapshot, plan->nodes, plan->node_count, sizeof *plan->nodes, err)
                    : NULL;
    snapshot->constants = by_arena_alloc(arena, count + 1, sizeof *snapshot->constants, err);
    if (!snapshot->rows || !snapshot->nodes != !plan->nodes || !snapshot->constants)
        return -1;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (take_row(snapshot, &plan->rows.at[i], &snapshot->rows[i], err) < 0)
            return -1;
    for (size_t i = 0; i < count; i++)
        if (constants[i] && take_constant(snapshot, constants[i], err) < 0)
            return -1;
    return 0;
}

int by_snapshot_take(struct by_snapshot *snapshot, const struct by_quant_plan *plan,
                     struct baryon_value *const *constants, size_t count, struct baryon_error *err)
{
    by_snapshot_release(snapshot);
    by_arena_init(&snapshot->arena, 0);
    const int status = take_all(snapshot, plan, constants, count, err);
    if (status < 0)
        by_snapshot_release(snapshot);
    return status;
}

void by_snapshot_release(struct by_snapshot *snapshot)
{
    by_arena_release(&snapshot->arena);
    *snapshot = (struct by_snapshot){0};
}

float by_snapshot_scale(const struct by_snapshot *snapshot, size_t row)
{
    const struct by_snapshot_row *from = &snapshot->rows[row];
    return from->row.params.count ? from->scales[0] : 0;
}

/* --- Restoring --- */

static void copy_back(void *to, const void *from, size_t count, size_t size)
{
    if (from && count)
        memcpy(to, from, count * size);
}

/* Lists keep the memory that they have grown into since: theirs has room for what they had. */
static void restore_row(const struct by_snapshot_row *from, struct by_quant_row *row)
{
    const struct by_quant_row now = *row;
    *row = from->row;
    row->remarks.at = now.remarks.at;
    row->remarks.cap = now.remarks.cap;
    row->readers.at = now.readers.at;
    row->readers.cap = now.readers.cap;
    copy_back(row->params.scales, from->scales, row->params.count, sizeof *from->scales);
    copy_back(row->params.zeros, from->zeros, row->params.count, sizeof *from->zeros);
    copy_back(row->remarks.at, from->remarks, row->remarks.count, sizeof *from->remarks);
    copy_back(row->readers.at, from->readers, row->readers.count, sizeof *from->readers);
}

static int constant_is_same(const struct by_snapshot_constant *from, bool *same,
                            struct baryon_error *err)
{
    struct by_floats_view now;
    if (by_floats_open(&now, from->tensor, err) < 0)
        return -1;
    *same = now.count == from->count &&
            (!now.count || !memcmp(now.values, from->values, now.count * sizeof *now.values));
    by_floats_close(&now);
    return 0;
}

/* An edit gives a tensor another payload; one in the payload's own memory is undone, too. */
static int restore_constant(const struct by_snapshot_constant *from, struct by_quant_plan *plan,
                            struct baryon_error *err)
{
    bool same;
    *from->tensor = from->was;
    if (constant_is_same(from, &same, err) < 0)
        return -1;
    return same ? 0 : by_floats_write(plan->model, from->tensor, from->values, from->count, err);
}

int by_snapshot_restore(const struct by_snapshot *snapshot, struct by_quant_plan *plan,
                        struct baryon_error *err)
{
    if (plan->rows.count != snapshot->row_count || plan->node_count != snapshot->node_count)
        return by_fail(err, BARYON_ERR_INTERNAL, "the plan has %zu rows, its snapshot %zu",
                       plan->rows.count, snapshot->row_count);
    for (size_t i = 0; i < snapshot->row_count; i++)
        restore_row(&snapshot->rows[i], &plan->rows.at[i]);
    copy_back(plan->nodes, snapshot->nodes, snapshot->node_count, sizeof *snapshot->nodes);
    for (size_t i = 0; i < snapshot->constant_count; i++)
        if (restore_constant(&snapshot->constants[i], plan, err) < 0)
            return -1;
    return 0;
}

/* --- Comparing --- */

static bool same_bytes(const void *was, const void *now, size_t count, size_t size)
{
    return !was == !now && (!was || !count || !memcmp(was, now, count * size));
}

static bool same_number(double was, double now)
{
    return !memcmp(&was, &now, sizeof was);
}

static bool same_type(const struct by_tensor_spec *was, const struct by_tensor_spec *now)
{
    return was->elem == now->elem && was->format == now->format && was->scaled == now->scaled &&
           was->block.size == now->block.size && was->block.axis == now->block.axis &&
           was->block.one_axis == now->block.one_axis &&
           was->block.from_bf16 == now->block.from_bf16 && was->block.ties == now->block.ties &&
           was->bits == now->bits && was->symmetric == now->symmetric &&
           was->reduce_range == now->reduce_range && was->scale == now->scale &&
           was->granularity == now->granularity && was->group == now->group &&
           was->method == now->method && was->calib.own == now->calib.own &&
           same_number(was->calib.headroom, now->calib.headroom);
}

static bool same_readers(const struct by_snapshot_row *from, const struct by_quant_row *now)
{
    bool same = from->row.readers.count == now->readers.count;
    for (size_t i = 0; same && i < now->readers.count; i++) {
        const struct by_quant_reader *one = &from->readers[i], *other = &now->readers.at[i];
        same = one->node == other->node && one->graph == other->graph && one->slot == other->slot;
    }
    return same;
}

static bool same_placement(const struct by_quant_row *was, const struct by_quant_row *now)
{
    return was->value == now->value && was->role == now->role && was->why == now->why &&
           was->dedicated == now->dedicated && was->keep_float == now->keep_float &&
           was->block_axis == now->block_axis && was->converts == now->converts &&
           was->second == now->second && was->shares == now->shares &&
           was->range_of == now->range_of && was->input_row == now->input_row &&
           was->weight_row == now->weight_row && same_number(was->beta, now->beta);
}

static bool same_range(const struct by_quant_row *was, const struct by_quant_row *now)
{
    return was->has_range == now->has_range &&
           was->range.constant_zero == now->range.constant_zero &&
           same_number(was->range.low, now->range.low) &&
           same_number(was->range.high, now->range.high) &&
           same_number(was->range.error, now->range.error);
}

static bool same_params(const struct by_snapshot_row *from, const struct by_quant_row *now)
{
    const struct by_params *was = &from->row.params, *is = &now->params;
    return was->count == is->count && was->axis == is->axis && was->group_axis == is->group_axis &&
           was->groups == is->groups && from->row.has_params == now->has_params &&
           same_bytes(from->scales, is->scales, is->count, sizeof *is->scales) &&
           same_bytes(from->zeros, is->zeros, is->count, sizeof *is->zeros) &&
           same_number(from->row.error, now->error);
}

/* A solver makes an array of its own for each choice and leaves that as it is. */
static bool same_integers(const struct by_quant_row *was, const struct by_quant_row *now)
{
    return was->rounded == now->rounded && was->solved == now->solved;
}

static bool same_remarks(const struct by_snapshot_row *from, const struct by_quant_row *now)
{
    bool same = from->row.remarks.count == now->remarks.count;
    for (size_t i = 0; same && i < now->remarks.count; i++)
        same = from->remarks[i].rule == now->remarks.at[i].rule &&
               from->remarks[i].text == now->remarks.at[i].text;
    return same;
}

/* NULL: nothing. */
static const char *what_differs(const struct by_snapshot_row *from, const struct by_quant_row *now)
{
    return !same_placement(&from->row, now)          ? "placement"
           : !same_readers(from, now)                ? "readers"
           : !same_type(&from->row.spec, &now->spec) ? "type"
           : !same_range(&from->row, now)            ? "range"
           : !same_params(from, now)                 ? "parameters"
           : !same_integers(&from->row, now)         ? "solved integers"
           : !same_remarks(from, now)                ? "remarks"
                                                     : NULL;
}

static int fail_at(const char *name, const char *what, struct baryon_error *err)
{
    char quoted[BY_QUOTE_MAX];
    return by_fail(err, BARYON_ERR_INTERNAL, "tensor %s: %s differ from the snapshot",
                   by_quote(quoted, name ? name : ""), what);
}

static int check_constants(const struct by_snapshot *snapshot, struct baryon_error *err)
{
    for (size_t i = 0; i < snapshot->constant_count; i++) {
        bool same;
        if (constant_is_same(&snapshot->constants[i], &same, err) < 0)
            return -1;
        if (!same)
            return fail_at(snapshot->constants[i].was.name, "values", err);
    }
    return 0;
}

static bool same_node(const struct by_quant_node *was, const struct by_quant_node *now)
{
    return was->node == now->node && was->state == now->state && was->why == now->why &&
           same_number(was->macs, now->macs) && was->open == now->open &&
           was->folded == now->folded;
}

int by_snapshot_check(const struct by_snapshot *snapshot, const struct by_quant_plan *plan,
                      struct baryon_error *err)
{
    if (plan->rows.count != snapshot->row_count || plan->node_count != snapshot->node_count)
        return by_fail(err, BARYON_ERR_INTERNAL, "the plan has %zu rows, its snapshot %zu",
                       plan->rows.count, snapshot->row_count);
    for (size_t i = 0; i < snapshot->row_count; i++) {
        const char *what = what_differs(&snapshot->rows[i], &plan->rows.at[i]);
        if (what)
            return fail_at(plan->rows.at[i].value->name, what, err);
    }
    for (size_t i = 0; i < snapshot->node_count; i++)
        if (!same_node(&snapshot->nodes[i], &plan->nodes[i]))
            return by_fail(err, BARYON_ERR_INTERNAL, "node %zu differs from the snapshot", i);
    return check_constants(snapshot, err);
}
