/* Gathers the nodes, tensors, reasons and sizes of a plan for reports. */
#include "quant/plan_view.h"

#include "base/map.h"
#include "base/str.h"
#include "base/text.h"
#include "ir/tensor.h"
#include "quant/lower_block.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- Texts that outlive the plan --- */

static const char *keep_view_text(struct by_plan_view *view, const char *text,
                                  struct baryon_error *err)
{
    return by_arena_text(&view->arena, text ? text : "", text ? strlen(text) : 0, err);
}

/* A node without a name is called by its first output. */
static const char *node_name(const struct baryon_node *node)
{
    if (node->name && *node->name)
        return node->name;
    return node->output.count ? node->output.at[0] : "";
}

static int take_node(struct by_plan_view *view, const struct by_quant_node *from,
                     struct by_view_node *node, struct baryon_error *err)
{
    *node = (struct by_view_node){.state = from->state, .macs = from->macs, .open = from->open};
    node->name = keep_view_text(view, node_name(from->node), err);
    node->op_type = keep_view_text(view, from->node->op_type, err);
    node->why = keep_view_text(view, from->why, err);
    return node->name && node->op_type && node->why ? 0 : -1;
}

/* --- Rows --- */

static const char *remarks_of(struct by_plan_view *view, const struct by_quant_row *row,
                              struct baryon_error *err)
{
    struct by_str text;
    by_str_init(&text);
    for (size_t i = 0; i < row->remarks.count; i++)
        by_str_printf(&text, "%s%s", i ? "; " : "", row->remarks.at[i].text);
    const char *kept = keep_view_text(view, by_str_text(&text), err);
    by_str_release(&text);
    return kept;
}

static void take_params(const struct by_quant_plan *plan, size_t index, struct by_view_row *row)
{
    const struct by_params *params = by_quant_params(plan, index);
    const struct by_quant_row *from = &plan->rows.at[index];
    row->low = row->high = NAN;
    if (from->role == BY_ROLE_ACTIVATION) {
        row->low = from->range.low;
        row->high = from->range.high;
    }
    if (!params || !params->count || (from->spec.format && !by_spec_is_scaled(&from->spec)))
        return;
    row->params = params->count;
    row->scale = (double)params->scales[0];
    row->last_scale = (double)params->scales[params->count - 1];
    row->zero = params->zeros ? params->zeros[0] : 0;
}

/* What differs from row to row; the rest is in the recipe. */
static const char *short_type(const struct by_tensor_spec *spec, char *buf, size_t size)
{
    char type[32];
    struct by_text text;
    by_text_init(&text, buf, size);
    by_text_add(&text, "%s", by_spec_stored_type(spec, type, sizeof type));
    if (spec->granularity == BY_PER_CHANNEL)
        by_text_add(&text, " per channel");
    if (spec->granularity == BY_PER_GROUP)
        by_text_add(&text, " by %d", (int)spec->group);
    return buf;
}

static int take_row(struct by_plan_view *view, const struct by_quant_plan *plan, size_t index,
                    struct by_view_row *row, struct baryon_error *err)
{
    char type[160];
    const struct by_quant_row *from = &plan->rows.at[index];
    const size_t owner = by_quant_owner(plan, index);
    *row = (struct by_view_row){.role = from->role, .readers = from->readers.count};
    row->tensor = keep_view_text(view, from->value->name, err);
    row->type = keep_view_text(view, by_spec_stored_text(&from->spec, type, sizeof type), err);
    row->brief = keep_view_text(view, short_type(&from->spec, type, sizeof type), err);
    row->why = keep_view_text(view, from->why, err);
    row->remarks = remarks_of(view, from, err);
    if (owner != index)
        row->shares = keep_view_text(view, plan->rows.at[owner].value->name, err);
    take_params(plan, index, row);
    return row->tensor && row->type && row->brief && row->why && row->remarks &&
                   (owner == index || row->shares)
               ? 0
               : -1;
}

/* --- Operators --- */

static struct by_view_op *op_of(struct by_plan_view *view, struct by_map *map, const char *op_type,
                                struct baryon_error *err)
{
    const size_t found = (size_t)(uintptr_t)by_map_get(map, op_type);
    if (found)
        return &view->ops.at[found - 1];
    if (by_list_reserve(&view->arena, &view->ops, 1, sizeof *view->ops.at, err) < 0)
        return NULL;
    struct by_view_op *op = &view->ops.at[view->ops.count];
    *op = (struct by_view_op){
        .op_type = keep_view_text(view, op_type, err), .activation = "", .weight = "", .bias = ""};
    if (!op->op_type ||
        by_map_put(map, op->op_type, (void *)(uintptr_t)(view->ops.count + 1), err) < 0)
        return NULL;
    view->ops.count++;
    return op;
}

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; *at; at += strcspn(at, "/"), at += *at == '/')
        if (strcspn(at, "/") == length && !strncmp(at, word, length))
            return true;
    return false;
}

static int note_type(struct by_plan_view *view, const char **types,
                     const struct by_tensor_spec *spec, struct baryon_error *err)
{
    char text[128], type[32];
    const char *name = by_spec_stored_type(spec, type, sizeof type);
    if (!spec->elem || has_word(*types, name))
        return 0;
    struct by_text joined;
    by_text_init(&joined, text, sizeof text);
    by_text_add(&joined, "%s%s%s", *types, **types ? "/" : "", name);
    *types = keep_view_text(view, text, err);
    return *types ? 0 : -1;
}

/* Who gives a row's value has an output of its type, each reader an input. */
static int note_producer(struct by_plan_view *view, struct by_map *map,
                         const struct by_quant_row *row, struct baryon_error *err)
{
    const struct baryon_node *node = row->value->producer;
    struct by_view_op *op = node ? op_of(view, map, node->op_type, err) : NULL;
    if (!node || row->role != BY_ROLE_ACTIVATION || row->converts != BY_NO_ROW)
        return 0;
    return op ? note_type(view, &op->activation, &row->spec, err) : -1;
}

static int note_readers(struct by_plan_view *view, struct by_map *map,
                        const struct by_quant_row *row, struct baryon_error *err)
{
    for (size_t i = 0; i < row->readers.count; i++) {
        const struct baryon_node *node = row->readers.at[i].node;
        struct by_view_op *op = node ? op_of(view, map, node->op_type, err) : NULL;
        if (!node)
            continue;
        if (!op || note_type(view,
                             row->role == BY_ROLE_WEIGHT ? &op->weight
                             : row->role == BY_ROLE_BIAS ? &op->bias
                                                         : &op->activation,
                             &row->spec, err) < 0)
            return -1;
    }
    return 0;
}

static int by_weight_of_op(const void *a, const void *b)
{
    const struct by_view_op *one = a, *other = b;
    if (one->macs != other->macs)
        return one->macs > other->macs ? -1 : 1;
    if (one->nodes != other->nodes)
        return one->nodes > other->nodes ? -1 : 1;
    return strcmp(one->op_type, other->op_type);
}

static int count_ops(struct by_plan_view *view, const struct by_quant_plan *plan,
                     struct by_map *map, struct baryon_error *err)
{
    for (size_t i = 0; i < view->node_count; i++) {
        const struct by_view_node *node = &view->nodes[i];
        struct by_view_op *op = op_of(view, map, node->op_type, err);
        if (!op)
            return -1;
        const bool quantized = node->state == BY_NODE_QUANTIZED;
        op->nodes++;
        op->quantized += quantized;
        op->macs += node->macs;
        op->quantized_macs += quantized ? node->macs : 0;
        op->open |= node->open;
        view->quantized += quantized;
        view->stays_float += node->state == BY_NODE_FLOAT;
        view->macs += node->macs;
        view->quantized_macs += quantized ? node->macs : 0;
        view->open |= node->open;
    }
    for (size_t i = 0; i < plan->rows.count; i++)
        if (note_producer(view, map, &plan->rows.at[i], err) < 0 ||
            note_readers(view, map, &plan->rows.at[i], err) < 0)
            return -1;
    if (view->ops.count)
        qsort(view->ops.at, view->ops.count, sizeof *view->ops.at, by_weight_of_op);
    return 0;
}

/* --- Reasons --- */

static struct by_view_reason *reason_of(struct by_plan_view *view, struct by_map *map,
                                        const struct by_view_node *node, struct baryon_error *err)
{
    const size_t found = (size_t)(uintptr_t)by_map_get(map, node->why);
    if (found)
        return &view->reasons.at[found - 1];
    if (by_list_reserve(&view->arena, &view->reasons, 1, sizeof *view->reasons.at, err) < 0 ||
        by_map_put(map, node->why, (void *)(uintptr_t)(view->reasons.count + 1), err) < 0)
        return NULL;
    struct by_view_reason *reason = &view->reasons.at[view->reasons.count++];
    *reason = (struct by_view_reason){.why = node->why, .first = node->name};
    return reason;
}

static int by_weight_of_reason(const void *a, const void *b)
{
    const struct by_view_reason *one = a, *other = b;
    if (one->macs != other->macs)
        return one->macs > other->macs ? -1 : 1;
    if (one->nodes != other->nodes)
        return one->nodes > other->nodes ? -1 : 1;
    return strcmp(one->why, other->why);
}

static int count_reasons(struct by_plan_view *view, struct by_map *map, struct baryon_error *err)
{
    for (size_t i = 0; i < view->node_count; i++) {
        const struct by_view_node *node = &view->nodes[i];
        if (node->state != BY_NODE_FLOAT)
            continue;
        struct by_view_reason *reason = reason_of(view, map, node, err);
        if (!reason)
            return -1;
        reason->nodes++;
        reason->macs += node->macs;
        reason->open |= node->open;
    }
    if (view->reasons.count)
        qsort(view->reasons.at, view->reasons.count, sizeof *view->reasons.at, by_weight_of_reason);
    return 0;
}

/* --- Size --- */

#define NODE_BYTES  40  /* of a node besides names, about */
#define QUARK_BYTES 35  /* of its operator's domain and longer name */
#define BLOCK_BYTES 200 /* of the attributes of one for blocks */

/* A row's integers, scales and zero points. */
static double constant_bytes(const struct by_quant_plan *plan, size_t index, size_t elements)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    if (row->spec.format && plan->recipe->floats == BY_FLOATS_COMPILER)
        return 4 * (double)elements;
    const struct by_elem_info *info = by_elem_info(row->spec.elem);
    const struct by_params *params = by_quant_params(plan, index);
    const double bits = info ? info->bits : 32;
    if (by_lower_is_stored(row)) /* scales of whole blocks, no zero points */
        return ceil((double)elements *
                    (bits + by_elem_info(by_lower_block_scale(plan->recipe))->bits /
                                (double)row->spec.format->block.size) /
                    8);
    const double count = params ? (double)params->count : 1;
    return ceil((double)elements * bits / 8) + count * (4 + bits / 8);
}

/* Names of a pair: each of its nodes, values and parameters has the tensor's in it. */
static double pair_bytes(const struct by_recipe *recipe, const struct by_quant_row *row)
{
    const bool constant = row->role != BY_ROLE_ACTIVATION, format = row->spec.format;
    const double name = (double)strlen(row->value->name) + 16;
    const double pairs = row->dedicated ? (double)row->readers.count : 1;
    const double nodes = constant && !row->keep_float ? 1 : 2 * pairs;
    if (by_spec_is_block(&row->spec) && !by_lower_is_stored(row))
        return pairs * (NODE_BYTES + BLOCK_BYTES + 2.5 * name);
    if (format && recipe->floats == BY_FLOATS_COMPILER && constant)
        return 0;
    if (format && recipe->floats != BY_FLOATS_QUARK)
        return nodes * (NODE_BYTES + 3 * name);
    return nodes * (NODE_BYTES + (format ? QUARK_BYTES : 0) + 5 * name) +
           2 * (name + NODE_BYTES / 2);
}

static double saved_bytes(const struct by_quant_plan *plan, size_t index)
{
    const struct by_quant_row *row = &plan->rows.at[index];
    const struct baryon_tensor *tensor = row->value->initializer;
    size_t elements, bytes;
    if (!row->spec.elem)
        return 0;
    if (row->role == BY_ROLE_ACTIVATION || row->keep_float || !tensor ||
        by_tensor_count(tensor, &elements, NULL) < 0 ||
        by_elem_bytes(tensor->data_type, elements, &bytes, NULL) < 0)
        return -pair_bytes(plan->recipe, row);
    return (double)bytes - constant_bytes(plan, index, elements) - pair_bytes(plan->recipe, row);
}

uint64_t by_plan_predict_size(const struct by_quant_plan *plan, uint64_t bytes_before)
{
    double bytes = (double)bytes_before;
    for (size_t i = 0; i < plan->rows.count; i++)
        bytes -= saved_bytes(plan, i);
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static int fill_plan_view(struct by_plan_view *view, const struct by_quant_plan *plan,
                          struct baryon_error *err)
{
    view->node_count = plan->node_count;
    view->row_count = plan->rows.count;
    view->nodes = by_arena_alloc(&view->arena, view->node_count, sizeof *view->nodes, err);
    view->rows = by_arena_alloc(&view->arena, view->row_count, sizeof *view->rows, err);
    if (!view->nodes || !view->rows)
        return -1;
    for (size_t i = 0; i < view->node_count; i++)
        if (take_node(view, &plan->nodes[i], &view->nodes[i], err) < 0)
            return -1;
    for (size_t i = 0; i < view->row_count; i++)
        if (take_row(view, plan, i, &view->rows[i], err) < 0)
            return -1;
    struct by_map ops, reasons;
    by_map_init(&ops);
    by_map_init(&reasons);
    const int status =
        count_ops(view, plan, &ops, err) < 0 ? -1 : count_reasons(view, &reasons, err);
    by_map_release(&reasons);
    by_map_release(&ops);
    return status;
}

int by_plan_view_make(struct by_plan_view *view, const struct by_quant_plan *plan,
                      uint64_t bytes_before, struct baryon_error *err)
{
    *view = (struct by_plan_view){.node_count = 0};
    by_arena_init(&view->arena, 0);
    if (fill_plan_view(view, plan, err) < 0) {
        by_plan_view_release(view);
        return -1;
    }
    view->bytes_before = bytes_before;
    view->bytes_after = by_plan_predict_size(plan, bytes_before);
    return 0;
}

void by_plan_view_release(struct by_plan_view *view)
{
    by_arena_release(&view->arena);
    view->node_count = view->row_count = 0;
}
