/*
 * Concat nodes whose inputs differ too much in range, and what scales them after it, stay float
 * where samples prefer that (joins.h lists them, trial/choices.c asks).
 */
#include "quant/place_internal.h"

#include <string.h>

static bool is_listed(const struct by_recipe *recipe, const struct baryon_node *node)
{
    const struct baryon_value *out = by_node_out(node, 0);
    for (size_t i = 0; out && i < recipe->float_joins.count; i++)
        if (!strcmp(recipe->float_joins.at[i], out->name))
            return true;
    return false;
}

void by_place_joins(struct by_placing *placing)
{
    if (!placing->recipe->float_joins.on)
        return;
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        if (node && is_listed(placing->recipe, node))
            by_place_keep(placing, node, "what is joined differs too much in range for one scale");
    }
}
