/* Loop, If and Scan stay float, and what they carry may be a weight that layers outside have as
 * integers: they read what these make of it, so that the file has it once. */
#include "quant/place_internal.h"

static bool is_shared(const struct by_quant_row *row)
{
    const struct baryon_tensor *tensor = row->value->initializer;
    return row->role == BY_ROLE_WEIGHT && by_spec_is_integer(&row->spec) && tensor &&
           tensor->dims.count > 1;
}

static int takes(struct by_placing *placing, const struct by_use *use, bool *taken,
                 struct baryon_error *err)
{
    struct by_nested nested = {0};
    *taken = false;
    if (!use->node || use->graph != placing->graph || !by_node_nested(use->node, &nested) ||
        (placing->origins && by_origins_excluded(placing->origins, use->node)))
        return 0;
    bool excluded;
    if (by_place_any_picks(&placing->recipe->exclude_op_types, use->node->op_type, &excluded, err))
        return -1;
    *taken = !excluded;
    return 0;
}

int by_place_nested(struct by_placing *placing, struct baryon_error *err)
{
    struct by_quant_plan *plan = placing->plan;
    if (placing->recipe->approach != BY_APPROACH_STATIC || placing->recipe->format != BY_FORMAT_QDQ)
        return 0;
    for (size_t i = 0; i < plan->rows.count; i++) {
        const struct baryon_value *value = plan->rows.at[i].value;
        for (size_t k = 0; is_shared(&plan->rows.at[i]) && k < value->use_count; k++) {
            const struct by_use *use = &value->uses[k];
            bool taken;
            if (takes(placing, use, &taken, err) ||
                (taken && by_quant_add_reader(plan, i, use->node, use->graph, use->slot, err)))
                return -1;
        }
    }
    return 0;
}
