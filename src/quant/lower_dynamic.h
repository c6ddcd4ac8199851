/* What the files of dynamic lowering share. */
#ifndef BY_LOWER_DYNAMIC_H
#define BY_LOWER_DYNAMIC_H

#include "base/par.h"
#include "quant/lower_node.h"
#include "quant/plan.h"

/* A tensor that is quantized while the model runs; lives in the plan. */
struct by_dynamic_input {
    struct baryon_value *levels, *scale, *zero;
};

/* Integers of a constant in the graph. */
struct by_dynamic_weight {
    struct baryon_value *levels, *scale, *zero;
};

struct by_dynamic {
    struct by_quant_plan *plan;
    struct baryon_graph *graph;
    struct by_pool *pool;
    struct by_map inputs;  /* value -> struct by_dynamic_input */
    struct by_map weights; /* row and form -> struct by_dynamic_weight */
};

/* How an operator wants a constant. */
struct by_dynamic_form {
    int64_t dims[4]; /* as which the tensor is seen: channels along `axis` */
    size_t rank;
    int axis;
    bool transposed;       /* the last two axes change places */
    bool flat;             /* it is stored with these dims, not its own */
    bool equal_zeros;      /* the operator takes no others */
    bool one_zero;         /* it takes one number for all channels */
    int64_t scale_dims[4]; /* of scales and zero points */
    size_t scale_rank;
};

/* --- lower_dynamic_weight.c --- */

/*
 * Integers of a row's constant with parameters by its spec, made once. int8 is stored as uint8 with
 * zero points 128 greater: it means the same, and products of uint8 with int8 overflow 16 bits in
 * processors without VNNI.
 */
int by_dynamic_weight(struct by_dynamic *dynamic, size_t row, const struct by_dynamic_form *form,
                      struct by_dynamic_weight **weight, struct baryon_error *err);

/* --- lower_dynamic_layer.c --- */

int by_dynamic_matmul(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                      struct baryon_error *err);
int by_dynamic_conv(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                    struct baryon_error *err);
int by_dynamic_attention(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                         struct baryon_error *err);
int by_dynamic_lstm(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                    struct baryon_error *err);
int by_dynamic_recurrent(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                         struct baryon_error *err);
int by_dynamic_gather(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                      struct baryon_error *err);

#endif
