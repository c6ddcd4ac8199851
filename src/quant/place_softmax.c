/*
 * A Softmax written out in single operators stays float: one operator would compute all of it in
 * floats as well. The maximum that is taken off must be the greatest of the values that it is
 * taken from. Rounded or clipped by a pair of its own, it is not, and the power of what is left
 * over multiplies all results.
 */
#include "ir/softmax_parts.h"
#include "quant/place_internal.h"

static const char in_softmax[] = "it is part of a Softmax of several nodes";

void by_place_softmaxes(struct by_placing *placing)
{
    struct by_softmax_parts parts;
    for (size_t i = 0; i < placing->node_count; i++) {
        const struct baryon_node *node = placing->graph->node.at[i];
        if (!node || !by_softmax_parts(node, &parts) || parts.count == 1)
            continue;
        for (size_t k = 0; k < parts.count; k++)
            if (parts.nodes[k]->graph == placing->graph)
                by_place_keep(placing, parts.nodes[k], in_softmax);
    }
}
