/*
 * Nodes on the paths between places in a model, by the names that people give.
 *
 * A name is that of a node or a tensor, or a pattern with * ? [...]; several are
 * separated by commas. A tensor stands for the node that makes it, an input of the
 * model for the nodes that read it.
 */
#ifndef BY_BETWEEN_H
#define BY_BETWEEN_H

#include "config/config.h"
#include "ir/graph.h"

/* Marks, by node->index in the main graph, what lies on the way of any of the spans. */
int by_between(struct baryon_model *model, const struct by_setting_pairs *spans,
               struct by_arena *arena, bool **marks, size_t *count, struct baryon_error *err);

#endif
