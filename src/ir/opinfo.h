/*
 * What is known about operators: one row each, in opinfo_table.h.
 *
 * Adding an operator is one row (CONTRIBUTING.md). A row says which inputs are
 * weights, bias and data, along which axis the output channels of the weight lie,
 * which attributes there are, how element types pass through, and which function
 * finds the output shapes.
 */
#ifndef BY_OPINFO_H
#define BY_OPINFO_H

#include "ir/graph.h"
#include "ir/shape.h"

/* How the element type of an output is found. */
enum by_type_rule {
    BY_TYPE_NONE,      /* no rule: a traced run fills it in */
    BY_TYPE_SAME,      /* all outputs as input `type_arg` */
    BY_TYPE_FIXED,     /* all outputs are the type `type_arg` */
    BY_TYPE_ATTR,      /* named by an attribute ("to", "dtype"), else type_arg */
    BY_TYPE_SPECIAL,   /* the row's own function */
};

struct by_infer;

struct by_op_attr {
    const char *name;
    enum by_attr_type type;
    bool required;
};

struct by_opinfo {
    const char *op_type;
    const char *domain; /* "" for ONNX's own */
    int since;          /* first opset with the operator */
    int min_in, max_in;   /* max -1: any number */
    int min_out, max_out;
    int weight, bias;   /* input slots, -1: none */
    int channel_axis;   /* output-channel axis of the weight (Gemm: for transB 0); -1: none */
    int data_axis;      /* channel axis of the data output, -1: none */
    uint32_t data_inputs; /* bit i: input i is data that quantization looks at */
    enum by_type_rule type_rule;
    int type_arg;
    const char *type_attr;
    /* Sets shapes (and types, for BY_TYPE_SPECIAL) of the outputs; NULL: no rule. */
    int (*infer)(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err);
    const struct by_op_attr *attrs; /* ends with a NULL name; NULL: not listed */
};

/* NULL when the operator is not known. */
const struct by_opinfo *by_opinfo(const char *op_type, const char *domain);
/* All rows, for tests and documentation. */
const struct by_opinfo *by_opinfo_rows(size_t *count);
/* Output-channel axis of this node's weight (looks at transB, group, rank); -1: none. */
int by_node_channel_axis(const struct baryon_node *node);

#endif
