/* Opens a plan and adds, finds and links its rows. */
#include "quant/plan.h"

#include "ir/tensor.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int by_quant_plan_open(struct by_quant_plan **plan, struct baryon_model *model,
                       const struct by_recipe *recipe, struct baryon_error *err)
{
    struct by_quant_plan *made = by_alloc_zero(1, sizeof *made, err);
    if (!made)
        return -1;
    by_arena_init(&made->arena, 0);
    by_map_init(&made->looked);
    by_map_init(&made->row_of);
    by_map_init(&made->node_of);
    made->model = model;
    made->recipe = recipe;
    *plan = made;
    return 0;
}

void by_quant_plan_close(struct by_quant_plan *plan)
{
    if (!plan)
        return;
    by_map_release(&plan->looked);
    by_map_release(&plan->row_of);
    by_map_release(&plan->node_of);
    by_arena_release(&plan->arena);
    by_free(plan);
}

/* Keys are the pointers themselves: names of values are only unique in a graph and those in it. */
static void *number(size_t place)
{
    return (void *)(uintptr_t)(place + 1);
}

size_t by_quant_find(const struct by_quant_plan *plan, const struct baryon_value *value)
{
    const void *found = value ? by_map_get_bytes(&plan->row_of, &value, sizeof value) : NULL;
    return found ? (size_t)(uintptr_t)found - 1 : BY_NO_ROW;
}

struct by_quant_node *by_quant_node_of(const struct by_quant_plan *plan,
                                       const struct baryon_node *node)
{
    const void *found = node ? by_map_get_bytes(&plan->node_of, &node, sizeof node) : NULL;
    return found ? &plan->nodes[(size_t)(uintptr_t)found - 1] : NULL;
}

int by_quant_set_nodes(struct by_quant_plan *plan, struct by_quant_node *nodes, size_t count,
                       struct baryon_error *err)
{
    plan->nodes = nodes;
    plan->node_count = count;
    for (size_t i = 0; i < count; i++) {
        struct baryon_node **key = BY_ARENA_NEW(&plan->arena, struct baryon_node *, err);
        if (!key)
            return -1;
        *key = nodes[i].node;
        if (by_map_put_bytes(&plan->node_of, key, sizeof *key, number(i), err))
            return -1;
    }
    return 0;
}

static void set_defaults(const struct by_quant_plan *plan, struct by_quant_row *row)
{
    row->converts = row->second = row->shares = row->range_of = row->input_row = row->weight_row =
        BY_NO_ROW;
    row->beta = 1;
    row->error = NAN;
    row->params.axis = row->params.group_axis = -1;
    row->params.groups = 1;
    row->keep_float = row->role == BY_ROLE_WEIGHT && plan->recipe->keep_float_weights;
}

/* A float type holds the values themselves: they are multiples of 1. */
static int set_float(struct by_quant_plan *plan, struct by_quant_row *row, struct baryon_error *err)
{
    struct by_params *params = &row->params;
    const bool kept = by_spec_is_block(&row->spec) ? row->spec.elem == BY_ELEM_FLOAT
                                                   : plan->recipe->keep_float_weights &&
                                                         plan->recipe->floats != BY_FLOATS_COMPILER;
    row->keep_float = row->role != BY_ROLE_ACTIVATION && kept;
    if (by_spec_is_scaled(&row->spec))
        return 0;
    row->has_params = true;
    params->scales = BY_ARENA_NEW(&plan->arena, float, err);
    params->zeros = BY_ARENA_NEW(&plan->arena, int64_t, err);
    if (!params->scales || !params->zeros)
        return -1;
    params->scales[0] = 1;
    params->count = 1;
    return 0;
}

size_t by_quant_add(struct by_quant_plan *plan, struct baryon_value *value, enum by_role role,
                    const struct by_tensor_spec *spec, const char *why, struct baryon_error *err)
{
    struct baryon_value **key = BY_ARENA_NEW(&plan->arena, struct baryon_value *, err);
    if (!key || by_list_reserve(&plan->arena, &plan->rows, 1, sizeof *plan->rows.at, err))
        return BY_NO_ROW;
    *key = value;
    if (by_map_put_bytes(&plan->row_of, key, sizeof *key, number(plan->rows.count), err))
        return BY_NO_ROW;
    struct by_quant_row *row = &plan->rows.at[plan->rows.count];
    *row = (struct by_quant_row){.value = value, .role = role, .spec = *spec, .why = why};
    set_defaults(plan, row);
    if (spec->format && set_float(plan, row, err))
        return BY_NO_ROW;
    return plan->rows.count++;
}

size_t by_quant_add_second(struct by_quant_plan *plan, size_t first,
                           const struct by_tensor_spec *spec, const char *why,
                           struct baryon_error *err)
{
    struct baryon_value *value = plan->rows.at[first].value;
    const size_t row = by_quant_add(plan, value, BY_ROLE_ACTIVATION, spec, why, err);
    if (row == BY_NO_ROW || by_quant_alias(plan, first, value, err))
        return BY_NO_ROW;
    plan->rows.at[row].converts = first;
    size_t last = first;
    while (plan->rows.at[last].second != BY_NO_ROW)
        last = plan->rows.at[last].second;
    plan->rows.at[last].second = row;
    return row;
}

bool by_quant_reads(const struct by_quant_row *row, const struct baryon_node *node, size_t slot)
{
    for (size_t i = 0; i < row->readers.count; i++)
        if (row->readers.at[i].node == node && row->readers.at[i].slot == slot)
            return true;
    return false;
}

size_t by_quant_read(const struct by_quant_plan *plan, const struct baryon_node *node, size_t slot)
{
    const size_t first = by_quant_find(plan, by_node_in(node, slot));
    if (first == BY_NO_ROW)
        return first;
    for (size_t row = plan->rows.at[first].second; row != BY_NO_ROW;
         row = plan->rows.at[row].second)
        if (by_quant_reads(&plan->rows.at[row], node, slot))
            return row;
    return first;
}

int by_quant_alias(struct by_quant_plan *plan, size_t row, struct baryon_value *value,
                   struct baryon_error *err)
{
    struct baryon_value **key = BY_ARENA_NEW(&plan->arena, struct baryon_value *, err);
    if (!key)
        return -1;
    *key = value;
    return by_map_put_bytes(&plan->row_of, key, sizeof *key, number(row), err);
}

int by_quant_add_reader(struct by_quant_plan *plan, size_t row, struct baryon_node *node,
                        struct baryon_graph *graph, size_t slot, struct baryon_error *err)
{
    struct by_quant_row *at = &plan->rows.at[row];
    if (by_list_reserve(&plan->arena, &at->readers, 1, sizeof *at->readers.at, err))
        return -1;
    at->readers.at[at->readers.count++] = (struct by_quant_reader){node, graph, slot};
    return 0;
}

int by_quant_remark(struct by_quant_plan *plan, size_t row, const char *rule,
                    struct baryon_error *err, const char *text, ...)
{
    struct by_quant_row *at = &plan->rows.at[row];
    char buf[512];
    va_list args;
    va_start(args, text);
    const int size = vsnprintf(buf, sizeof buf, text, args);
    va_end(args);
    const size_t kept = size < 0 ? 0 : (size_t)size < sizeof buf ? (size_t)size : sizeof buf - 1;
    const char *copy = by_arena_text(&plan->arena, buf, kept, err);
    if (!copy || by_list_reserve(&plan->arena, &at->remarks, 1, sizeof *at->remarks.at, err))
        return -1;
    at->remarks.at[at->remarks.count++] = (struct by_quant_remark){rule, copy};
    return 0;
}

size_t by_quant_owner(const struct by_quant_plan *plan, size_t row)
{
    while (plan->rows.at[row].shares != BY_NO_ROW)
        row = plan->rows.at[row].shares;
    return row;
}

const struct by_params *by_quant_params(const struct by_quant_plan *plan, size_t row)
{
    return &plan->rows.at[by_quant_owner(plan, row)].params;
}

int by_scale_position(float scale)
{
    return (int)nearbyintf(-log2f(scale));
}

const struct by_ints *by_quant_dims(const struct by_quant_row *row)
{
    return row->matrix.count ? &row->matrix : &row->value->initializer->dims;
}
