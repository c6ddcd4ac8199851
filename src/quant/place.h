/*
 * Placement: which tensors of a model are quantized, for which readers. Rows and nodes of the plan
 * come from here, each with its reason; parameters do not.
 */
#ifndef BY_PLACE_H
#define BY_PLACE_H

#include "pass/pass.h"
#include "quant/plan.h"

/*
 * Marks the user's nodes that stay float: exclusions by name, operator and span, input and output
 * nodes, nodes to quantize. To be called before passes run, on the user's graph. A pattern that
 * picks nothing is an error with the nearest name; so is a span without a path. log may be NULL.
 */
int by_exclude_resolve(const struct by_recipe *recipe, struct baryon_model *model,
                       struct by_origins *origins, const struct by_log *log,
                       struct baryon_error *err);
/* Fills an empty plan from the model as passes left it. Notices name rules that have no effect; log
 * NULL: none are wanted. */
int by_place(struct by_quant_plan *plan, const struct by_origins *origins, const struct by_log *log,
             struct baryon_error *err);
/* Multiply-adds of a node by the shapes that its values have. Sizes that are not known count as 1,
 * and set *open. */
double by_place_macs(const struct baryon_node *node, bool *open);

/* Nodes that stay float since no layer reads their integers. */
size_t by_place_spared(const struct by_quant_plan *plan);

/* Names of nodes that steps on the float model add: they stay float. */
#define BY_SMOOTH_MUL     "smooth_mul"    /* divides by factors of smoothing */
#define BY_ROTATE_MATMUL  "rotate_matmul" /* turns what no weight of a rotation can */
#define BY_OUTLIER_MASK   "outlier_mask"  /* a Mul: split channels become zero */
#define BY_OUTLIER_GATHER "outlier_gather"
#define BY_OUTLIER_MATMUL "outlier_matmul"
#define BY_OUTLIER_ADD    "outlier_add"
/* Some of them read the float tensor where others read its integers. */
bool by_place_reads_floats(const struct baryon_node *node);

/* True when nodes stay float since a logarithm follows. */
bool by_place_kept_logarithms(const struct by_quant_plan *plan);
/* True when layers are quantized that compute a spectrum before a logarithm. */
bool by_place_has_front_end(const struct by_quant_plan *plan);

#endif
