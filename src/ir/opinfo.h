/*
 * What is known about operators: one row each, in opinfo_table.h.
 *
 * Adding an operator is one row (CONTRIBUTING.md). A row says which inputs are
 * weights, bias and data, along which axis the output channels of the weight lie,
 * which attributes there are, how element types pass through, and which function
 * finds the output shapes. Versions and arity hold for opset 7 and up.
 */
#ifndef BY_OPINFO_H
#define BY_OPINFO_H

#include "ir/graph.h"
#include "ir/shape.h"

/* How the element types of the outputs are found. */
enum by_type_rule {
    BY_TYPE_NONE,         /* no rule: a traced run fills it in */
    BY_TYPE_SAME,         /* all outputs as input `type_arg` */
    BY_TYPE_FIXED,        /* all outputs are the type `type_arg` */
    BY_TYPE_ATTR,         /* named by the attribute `type_text`, else `type_arg` */
    BY_TYPE_ATTR_OR_SAME, /* named by the attribute `type_text`, else as input `type_arg` */
    BY_TYPE_EACH,         /* `type_text` has one word an output, see below */
    BY_TYPE_SPECIAL,      /* the row's own function */
};

/*
 * Words of BY_TYPE_EACH: the number of an input, the name of a type, "?" for no rule;
 * "3|0" is input 3, or input 0 where that is left out.
 */

#define BY_AXIS_NONE (-1)
#define BY_AXIS_LAST (-2)
#define BY_SLOT_NONE (-1)

/* An attribute in the opsets of one range; until 0: up to the newest. */
struct by_op_attr {
    const char *name;
    enum by_attr_type type;
    bool required;
    int since, until;
};

struct by_infer;

/* Sets shapes (and types, for BY_TYPE_SPECIAL) of a node's outputs; see infer_internal.h. */
typedef int by_infer_fn(struct by_infer *infer, struct baryon_node *node, struct baryon_error *err);

struct by_opinfo {
    const char *op_type;
    const char *domain; /* "" for ONNX's own */
    int since, until;   /* opsets of the domain with the operator; until 0: up to the newest */
    int min_in, max_in; /* max -1: any number */
    uint32_t may_lack;  /* bit i: input i may be left out, though others after it may not */
    int min_out, max_out;
    uint32_t data_inputs; /* bit i: input i is data that quantization looks at */
    /* Input slots, BY_SLOT_NONE: none. The weight counts as one where it is constant; where
     * it is not, and its bit in data_inputs is set, it is data. */
    int weight, bias;
    /* Axes count from the front; BY_AXIS_LAST, BY_AXIS_NONE. by_node_channel_axis() says
     * which output-channel axis the weight of one node has. */
    int channel_axis;
    int data_axis; /* channel axis of the data output */
    enum by_type_rule type_rule;
    int type_arg;
    const char *type_text;
    by_infer_fn *infer;             /* NULL: no rule for shapes */
    const struct by_op_attr *attrs; /* ends with a NULL name; NULL: there are none */
};

/* NULL when the operator is not known. Domain NULL and "ai.onnx" are "". */
const struct by_opinfo *by_opinfo(const char *op_type, const char *domain);
/* The row of a node's operator; NULL when it is not known. */
const struct by_opinfo *by_node_opinfo(const struct baryon_node *node);
/* All rows, by domain and then by name, for tests and documentation. */
const struct by_opinfo *by_opinfo_rows(size_t *count);

/* The attribute as it is in that opset of the operator's domain; NULL when it has none. */
const struct by_op_attr *by_op_attr(const struct by_opinfo *info, const char *name, int64_t opset);
/* False when the operator is not in that opset of its domain. */
bool by_opinfo_in_opset(const struct by_opinfo *info, int64_t opset);
/* Output 0 has the axes of the data inputs, each element at its own place or, of those smaller,
 * repeated. */
bool by_op_keeps_places(const struct by_opinfo *info);
/* "INT", "FLOATS", ... as ONNX writes them. */
const char *by_attr_type_name(int64_t type);

/* Output-channel axis of this node's weight (looks at transB, group, rank); -1: none. */
int by_node_channel_axis(const struct baryon_node *node);

#endif
