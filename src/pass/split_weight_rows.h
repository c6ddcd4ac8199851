/*
 * Rows of a matrix far above the others become a product of their own: x W = x W' + x[rows]
 * W[rows], where W' is W with zeros there. With one scale for all of a weight they alone decided
 * its steps. Both products are as good in integers, so that NPUs compute them too.
 */
#ifndef BY_PASS_SPLIT_WEIGHT_ROWS_H
#define BY_PASS_SPLIT_WEIGHT_ROWS_H

#include "ir/graph.h"

#include <stdbool.h>

struct by_split_rows {
    size_t count; /* 0: the others have 20 dB with them, or gain less than half a bit */
    size_t of;    /* so many that the weight has */
};

/* Of the constant weight of a MatMul or Gemm; none of other nodes. levels: of the weight, to each
 * side of zero. write: edits the graph. */
int by_split_weight_rows(struct baryon_node *node, double levels, bool write,
                         struct by_split_rows *rows, struct baryon_error *err);

#endif
