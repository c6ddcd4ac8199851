/*
 * What the files of lowering to integer operators share.
 *
 * They rewrite a graph of pairs: DequantizeLinear -> operator -> QuantizeLinear becomes one
 * operator on integers. A row of the table (lower_qoperator.c) builds a draft of it from a node,
 * or answers false, and then the pairs stay. Only carrying it out changes nodes.
 */
#ifndef BY_LOWER_QOPERATOR_H
#define BY_LOWER_QOPERATOR_H

#include "quant/lower_node.h"

#define BY_QOP_CLIP_OPSET 12 /* Clip on integers */

struct by_qop {
    const struct by_quant_plan *plan;
    struct baryon_model *model;
    struct baryon_graph *graph;
    int64_t opset;
    struct by_arena arena; /* for the time of one node */
    struct baryon_error *err;
    bool failed; /* questions answer false from then on */
};

/* As they stand in the graph. */
struct by_qop_params {
    struct baryon_value *scale, *zero;
    int64_t elem;
    size_t count;
    int axis; /* -1 where count is 1 */
    const float *scales;
    const int64_t *zeros;
};

struct by_qop_input {
    struct baryon_value *levels;
    struct by_qop_params params;
};

struct by_qop_output {
    struct baryon_value *value;     /* what the node gives */
    struct baryon_node *activation; /* Relu or Clip between the node and its QuantizeLinear */
    struct baryon_node *quantize;   /* NULL: nobody reads the output */
    struct by_qop_params params;
    int64_t low, high; /* levels that an activation leaves */
};

struct by_qop_draft {
    struct baryon_node *node;
    struct baryon_value **inputs;
    size_t count, cap;
    struct by_qop_output *outputs;
    size_t output_count;
};

/* --- lower_qoperator_ask.c --- */

/* What a DequantizeLinear with constant parameters gives. */
bool by_qop_input(struct by_qop *qop, const struct baryon_value *value, struct by_qop_input *input);
/* The same with 8 bits and one scale. */
bool by_qop_tensor(struct by_qop *qop, const struct baryon_value *value,
                   struct by_qop_input *input);
/* The only reader is a QuantizeLinear of 8 bits and one scale, after an activation maybe. */
bool by_qop_output(struct by_qop *qop, struct baryon_value *value, struct by_qop_output *output);
bool by_qop_equal(const struct by_qop_params *a, const struct by_qop_params *b);
/* Where Relu or Clip cut, as levels; false when the bounds are not constant. */
bool by_qop_bounds(struct by_qop *qop, const struct baryon_node *node,
                   const struct by_qop_params *params, int64_t *low, int64_t *high);
/* The level of a number, limited to the type's. */
int64_t by_qop_level(const struct by_qop_params *params, double number);
void by_qop_range(int64_t elem, int64_t *low, int64_t *high);

/* --- lower_qoperator_draft.c --- */

/* Room for so many inputs and outputs. */
bool by_qop_draft(struct by_qop *qop, struct baryon_node *node, size_t inputs, size_t outputs,
                  struct by_qop_draft *draft);
void by_qop_add(struct by_qop_draft *draft, struct baryon_value *value);
void by_qop_add_params(struct by_qop_draft *draft, const struct by_qop_params *params);
void by_qop_add_input(struct by_qop_draft *draft, const struct by_qop_input *input);
/* The same constant between int8 and uint8. */
void by_qop_change_sign(struct by_qop *qop, struct by_qop_input *input);
/* The new node takes the place of the old one, of its activations and QuantizeLinear; what
 * only they needed goes. op_type NULL: that of the old node. */
struct baryon_node *by_qop_carry_out(struct by_qop *qop, const struct by_qop_draft *draft,
                                     const char *op_type, const char *domain);

/* --- The builders of drafts --- */

typedef bool by_qop_build(struct by_qop *qop, struct baryon_node *node, struct by_qop_draft *draft);

/* lower_qoperator_layer.c */
by_qop_build by_qop_conv, by_qop_matmul, by_qop_gemm;
/* lower_qoperator_math.c */
by_qop_build by_qop_unary, by_qop_binary, by_qop_average, by_qop_concat, by_qop_where;
/* lower_qoperator_move.c: operators that work on integers as they are */
by_qop_build by_qop_move, by_qop_join, by_qop_pool, by_qop_pad, by_qop_resize, by_qop_clip;

#endif
