/*
 * What there is in a model, counted: for 'inspect'.
 *
 * Constants are initializers, sparse ones too, and the tensors of Constant nodes; their
 * elements are the model's parameters. Each is counted once, for the operator that reads
 * it first; nodes that only convert or rearrange it (DequantizeLinear, Transpose, ...) are
 * looked through. Tensors in functions, training graphs, sparse indices and attributes of
 * other nodes stand in one row "(elsewhere)".
 */
#ifndef BY_SUMMARY_H
#define BY_SUMMARY_H

#include "ir/graph.h"
#include "ir/tensor.h"
#include "quant/form.h"

struct by_tally {
    uint64_t nodes, tensors, parameters, bytes;
};

struct by_op_tally {
    const char *domain, *op_type; /* "" when it is no operator but a place: "(unused)" */
    struct by_tally tally;
};

/* How a model is quantized: what its nodes and constants say. */
enum by_quant_part { BY_PART_WEIGHT, BY_PART_ACTIVATION };
enum by_quant_grain { BY_GRAIN_TENSOR, BY_GRAIN_CHANNEL, BY_GRAIN_BLOCK };

struct by_quant_kind {
    enum by_quant_part role;
    enum by_quant_grain grain;
    int64_t elem;
    uint64_t count;
};

#define BY_QUANT_KINDS_MAX 32

struct by_quant {
    uint64_t forms[BY_QUANT_FORMS]; /* nodes of each form */
    struct by_quant_kind kinds[BY_QUANT_KINDS_MAX];
    size_t kind_count;
};

struct by_summary {
    struct baryon_model *model;
    struct by_arena arena;
    uint64_t graphs, nodes; /* nested graphs count, functions do not */
    struct {
        struct by_op_tally *at;
        size_t count, cap;
    } ops; /* most bytes first, then most nodes, then by name */
    struct by_tally types[BY_ELEM_COUNT];
    struct by_tally total;
    struct by_quant quant;
};

/* The model must be linked. */
int by_summary_make(struct by_summary *summary, struct baryon_model *model,
                    struct baryon_error *err);
void by_summary_release(struct by_summary *summary);

/* Adds what one node says about quantization. */
void by_quant_look(struct by_quant *quant, const struct baryon_node *node);
/* "QDQ form", ... */
const char *by_quant_grain_name(enum by_quant_grain grain);

#endif
