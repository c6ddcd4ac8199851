/*
 * How each operator is quantized: one row an operator. Which inputs are weights, bias and data
 * is said by ir/opinfo.
 */
#ifndef BY_PLACE_OPS_H
#define BY_PLACE_OPS_H

#include "ir/graph.h"

/* Lists that an operator is in, bits. */
#define BY_LIST_CNN         (1u << 0) /* quantized by itself */
#define BY_LIST_NPU         (1u << 1)
#define BY_LIST_TRANSFORMER (1u << 2)
#define BY_LIST_DYNAMIC     (1u << 3)
#define BY_LIST_NBITS       (1u << 5) /* MatMulNBits */
#define BY_LIST_OURS        (1u << 4) /* besides the first two, where nobody compares */
#define BY_LIST_WEIGHTS     (1u << 6) /* besides the first one, where weights alone are quantized */

enum by_place_rule {
    BY_PLACE_PLAIN,      /* what it reads and gives, each with parameters of its own */
    BY_PLACE_MOVE,       /* input 0, and outputs, which have the parameters of input 0 */
    BY_PLACE_ACTIVATION, /* input 0 and output, only after a quantized tensor */
};

/* Bits. */
#define BY_PLACE_BEHIND       (1u << 0)  /* may be asked for only after a quantized tensor */
#define BY_PLACE_ONLY_BEHIND  (1u << 1)  /* is quantized only there */
#define BY_PLACE_JOINS        (1u << 2)  /* as _BEHIND, with all that it reads quantized */
#define BY_PLACE_ALL_INPUTS   (1u << 3)  /* every float input, not only those opinfo names */
#define BY_PLACE_DATA_ONLY    (1u << 4)  /* weights and bias stay float */
#define BY_PLACE_BIAS_WEIGHT  (1u << 5)  /* its bias has a scale of its own always */
#define BY_PLACE_PEER_PLAIN   (1u << 6)  /* the peer does not see that it only moves values */
#define BY_PLACE_PEER_MOVES   (1u << 7)  /* the peer gives it its input's parameters, list CNN */
#define BY_PLACE_LINEAR_MOVES (1u << 8)  /* moves or mixes; cubic interpolation does not */
#define BY_PLACE_PAD_MOVES    (1u << 9)  /* only moves where it pads with what a zero point holds */
#define BY_PLACE_TABLE        (1u << 10) /* input 0 may be a constant, which it moves */
#define BY_PLACE_UNIT         (1u << 11) /* output lies in [0, 1] */
#define BY_PLACE_HARD_SIGMOID (1u << 12) /* hardware has it with alpha 1/6 and beta 1/2 alone */
#define BY_PLACE_RECURRENT    (1u << 13) /* weights are inputs 1 and 2, matrices of each direction */

struct by_place_op {
    const char *op_type, *domain;
    unsigned lists;
    enum by_place_rule rule;
    unsigned flags;
    int64_t since; /* opset of its domain from which on; 0: any */
};

/* The row of a node's operator; that of an operator without a row says PLAIN and no list. */
const struct by_place_op *by_place_op(const struct baryon_node *node);
/* All rows, for documentation and tests. */
const struct by_place_op *by_place_ops(size_t *count);

#endif
