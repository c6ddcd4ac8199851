/* Writes moved scales of a raised plan back into the model they came from. */
#include "quant/rescale_internal.h"

#include "base/str.h"
#include "ir/tensor.h"
#include "pass/edit.h"
#include "quant/form.h"
#include "quant/raise.h"

#include <math.h>

/* --- Nodes of rows --- */

/* What a QuantizeLinear gives is a row by who reads it. */
static size_t row_of_node(const struct by_quant_plan *plan, const struct baryon_node *node)
{
    const struct baryon_value *out = by_node_out(node, 0);
    if (!out || by_form_dequantizes(node))
        return by_quant_find(plan, out);
    for (size_t i = 0; by_form_quantizes(node) && i < out->use_count; i++) {
        const struct by_use *use = &out->uses[i];
        if (use->node && use->slot == 0 && by_form_dequantizes(use->node))
            return by_quant_find(plan, by_node_out(use->node, 0));
    }
    return BY_NO_ROW;
}

static bool is_half(const struct baryon_node *node)
{
    return node && (by_form_dequantizes(node) || by_form_quantizes(node));
}

/* --- Before --- */

static int copy_params(struct by_quant_plan *plan, const struct by_params *from,
                       struct by_params *to, struct baryon_error *err)
{
    *to = *from;
    to->scales = by_arena_alloc(&plan->arena, from->count, sizeof *to->scales, err);
    to->zeros = by_arena_alloc(&plan->arena, from->count, sizeof *to->zeros, err);
    for (size_t i = 0; to->scales && to->zeros && i < from->count; i++) {
        to->scales[i] = from->scales[i];
        to->zeros[i] = from->zeros[i];
    }
    return to->scales && to->zeros ? 0 : -1;
}

static bool is_plain_scale(const struct by_params *params)
{
    for (size_t i = 0; i < params->count; i++)
        if (!(params->scales[i] > 0) || !isfinite(params->scales[i]))
            return false;
    return params->count > 0;
}

/* Both nodes say the same, in integers with one scale or one a channel. */
static int fix_what_stays(struct by_quant_plan *plan, const struct baryon_node *node,
                          struct baryon_error *err)
{
    const size_t index = row_of_node(plan, node);
    struct by_params params;
    if (index == BY_NO_ROW)
        return 0;
    if (by_raise_params(plan, node, &params, err))
        return -1;
    struct by_quant_row *row = &plan->rows.at[index];
    const struct by_elem_info *info = by_elem_info(row->spec.elem);
    row->has_params |= !info || info->class != BY_CLASS_INT || !is_plain_scale(&params) ||
                       !by_params_equal(&params, &row->params) ||
                       by_node_int(node, "block_size", 0) != 0;
    return 0;
}

int by_rescale_open(struct by_rescaling *rescaling, struct by_quant_plan *plan,
                    struct baryon_error *err)
{
    const struct by_ptrs *nodes = &plan->model->graph->node;
    *rescaling = (struct by_rescaling){.plan = plan};
    rescaling->was = by_arena_alloc(&plan->arena, plan->rows.count, sizeof *rescaling->was, err);
    if (!rescaling->was)
        return -1;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (copy_params(plan, &plan->rows.at[i].params, &rescaling->was[i], err))
            return -1;
    for (size_t i = 0; i < nodes->count; i++)
        if (is_half(nodes->at[i]) && fix_what_stays(plan, nodes->at[i], err))
            return -1;
    return 0;
}

/* --- After --- */

struct writing {
    const struct by_rescaling *rescaling;
    struct by_quant_plan *plan;
    const struct by_log *log;
    struct by_map made; /* values that stand in the graph anew */
    size_t *saturated;  /* of each row */
};

static bool moved(const struct by_rescaling *rescaling, size_t row)
{
    return !by_params_equal(&rescaling->plan->rows.at[row].params, &rescaling->was[row]);
}

static bool zeros_moved(const struct by_rescaling *rescaling, size_t row)
{
    const struct by_params *now = &rescaling->plan->rows.at[row].params;
    const struct by_params *was = &rescaling->was[row];
    for (size_t i = 0; now->count == was->count && i < now->count; i++)
        if (now->zeros[i] != was->zeros[i])
            return true;
    return now->count != was->count;
}

/* Another row whose nodes may go on sharing the constant. */
static bool moves_alike(const struct by_rescaling *rescaling, size_t one, size_t other)
{
    const struct by_quant_row *rows = rescaling->plan->rows.at;
    return one == other || (rows[one].spec.elem == rows[other].spec.elem &&
                            by_params_equal(&rows[one].params, &rows[other].params) &&
                            by_params_equal(&rescaling->was[one], &rescaling->was[other]));
}

static bool uses_for(const struct writing *writing, const struct by_use *use, size_t row,
                     enum by_rescale_slot slot)
{
    if (!is_half(use->node) || use->slot != slot ||
        (slot == BY_SLOT_VALUES && !by_form_dequantizes(use->node)))
        return false;
    const size_t other = row_of_node(writing->plan, use->node);
    return other != BY_NO_ROW && moves_alike(writing->rescaling, row, other);
}

/* Its own readers get the new one, under the old name when no reader is left. */
static int take_place(struct writing *writing, size_t row, enum by_rescale_slot slot,
                      struct baryon_value *old, struct baryon_value *now, struct baryon_error *err)
{
    const char *name = old->name;
    for (size_t i = 0; i < old->use_count;) {
        const struct by_use use = old->uses[i];
        if (!uses_for(writing, &use, row, slot))
            i++;
        else if (by_node_set_input(use.node, use.slot, now, err))
            return -1;
    }
    if (old->use_count || by_value_is_kept(old))
        return 0;
    return by_graph_remove_initializer(old, err) || by_value_rename(now, name, err) ? -1 : 0;
}

static int note_made(struct writing *writing, struct baryon_value *value, struct baryon_error *err)
{
    struct baryon_value **key = BY_ARENA_NEW(&writing->plan->arena, struct baryon_value *, err);
    if (!key)
        return -1;
    *key = value;
    return by_map_put_bytes(&writing->made, key, sizeof *key, value, err);
}

static int write_slot(struct writing *writing, struct baryon_node *node, size_t row,
                      enum by_rescale_slot slot, struct baryon_error *err)
{
    struct baryon_value *old = by_node_in(node, slot);
    if (!old || !old->initializer || by_map_get_bytes(&writing->made, &old, sizeof old))
        return 0;
    struct baryon_tensor *tensor = by_rescale_tensor(
        writing->rescaling, row, slot, old->initializer, &writing->saturated[row], err);
    struct baryon_value *now =
        tensor ? by_pass_add_tensor(writing->plan->model->graph, tensor, err) : NULL;
    if (!now || note_made(writing, now, err))
        return -1;
    return take_place(writing, row, slot, old, now, err);
}

/* A zero point that was left out and is 0 no longer. */
static int give_zero(struct writing *writing, struct baryon_node *node, size_t row,
                     struct baryon_error *err)
{
    const struct by_quant_row *at = &writing->plan->rows.at[row];
    const struct baryon_tensor like = {.name = by_node_in(node, 1)->name,
                                       .data_type = at->spec.elem};
    struct baryon_tensor *tensor =
        by_rescale_tensor(writing->rescaling, row, BY_SLOT_ZERO, &like, NULL, err);
    struct baryon_value *now =
        tensor ? by_pass_add_tensor(writing->plan->model->graph, tensor, err) : NULL;
    return !now || note_made(writing, now, err) ? -1
                                                : by_node_set_input(node, BY_SLOT_ZERO, now, err);
}

static int write_node(struct writing *writing, struct baryon_node *node, size_t row,
                      struct baryon_error *err)
{
    const struct by_params *params = &writing->plan->rows.at[row].params;
    const bool zeros = zeros_moved(writing->rescaling, row);
    if ((by_form_dequantizes(node) && write_slot(writing, node, row, BY_SLOT_VALUES, err)) ||
        write_slot(writing, node, row, BY_SLOT_SCALE, err))
        return -1;
    if (zeros && (by_node_in(node, BY_SLOT_ZERO) ? write_slot(writing, node, row, BY_SLOT_ZERO, err)
                                                 : give_zero(writing, node, row, err)))
        return -1;
    return params->count > 1 && writing->rescaling->was[row].count != params->count
               ? by_node_set_int(node, "axis", params->axis, err)
               : 0;
}

/* --- Telling --- */

static void tell_row(const struct writing *writing, size_t index)
{
    const struct by_quant_row *row = &writing->plan->rows.at[index];
    char quoted[BY_QUOTE_MAX];
    by_quote(quoted, row->value->name);
    for (size_t i = 0; i < row->remarks.count; i++)
        by_log(writing->log, BY_LOG_INFO, "%s: %s: %s", quoted, row->remarks.at[i].rule,
               row->remarks.at[i].text);
    if (writing->saturated[index])
        by_log(writing->log, BY_LOG_WARNING,
               "%s: its scale moved from %.9g to %.9g, and %zu of its integers are at the end of "
               "%s now",
               quoted, (double)writing->rescaling->was[index].scales[0],
               (double)row->params.scales[0], writing->saturated[index],
               by_elem_name(row->spec.elem));
}

static int write_all(struct writing *writing, size_t *changes, struct baryon_error *err)
{
    struct by_quant_plan *plan = writing->plan;
    const struct by_ptrs *nodes = &plan->model->graph->node;
    for (size_t i = 0; i < nodes->count; i++) {
        const size_t row = is_half(nodes->at[i]) ? row_of_node(plan, nodes->at[i]) : BY_NO_ROW;
        if (row != BY_NO_ROW && moved(writing->rescaling, row) &&
            write_node(writing, nodes->at[i], row, err))
            return -1;
    }
    for (size_t i = 0; i < plan->rows.count; i++) {
        tell_row(writing, i);
        *changes += moved(writing->rescaling, i);
    }
    return 0;
}

int by_rescale_write(const struct by_rescaling *rescaling, const struct by_log *log,
                     size_t *changes, struct baryon_error *err)
{
    struct by_quant_plan *plan = rescaling->plan;
    struct writing writing = {.rescaling = rescaling, .plan = plan, .log = log};
    *changes = 0;
    writing.saturated =
        by_arena_alloc(&plan->arena, plan->rows.count, sizeof *writing.saturated, err);
    if (!writing.saturated)
        return -1;
    by_map_init(&writing.made);
    const int failed = write_all(&writing, changes, err);
    by_map_release(&writing.made);
    return failed;
}
