/*
 * What a plan says, for reports: gathered before lowering, after which a plan's nodes and values
 * may be gone.
 */
#ifndef BY_QUANT_PLAN_VIEW_H
#define BY_QUANT_PLAN_VIEW_H

#include "quant/plan.h"

struct by_view_node {
    const char *name, *op_type, *why;
    enum by_node_state state;
    double macs;
    bool open; /* some sizes are not known, and so its multiply-adds */
};

struct by_view_row {
    const char *tensor, *type, *brief, *why; /* "int8, symmetric, per channel", "int8 by channel" */
    const char *remarks;                     /* sentences, "; " between them */
    enum by_role role;
    const char *shares; /* tensor whose parameters it has; NULL: its own */
    size_t params;      /* scales; 0: none known */
    double scale;       /* the first, and the last of several */
    double last_scale;
    int64_t zero;
    double low, high; /* range of an activation; both NAN: unknown */
    size_t readers;
};

/* Of the nodes of one operator. */
struct by_view_op {
    const char *op_type;
    size_t nodes, quantized;
    double macs, quantized_macs;
    bool open;
    const char *activation, *weight, *bias; /* types, "int8/int16" when they differ; "" none */
};

/* Why nodes that could be quantized stay float. */
struct by_view_reason {
    const char *why, *first; /* first: the name of one of them */
    size_t nodes;
    double macs;
    bool open;
};

struct by_plan_view {
    struct by_arena arena;
    struct by_view_node *nodes;
    size_t node_count;
    struct by_view_row *rows;
    size_t row_count;
    struct {
        struct by_view_op *at;
        size_t count, cap;
    } ops; /* most multiply-adds first, then most nodes, then by name */
    struct {
        struct by_view_reason *at;
        size_t count, cap;
    } reasons; /* most multiply-adds first, then most nodes */
    size_t quantized, stays_float;
    double macs, quantized_macs;
    bool open;
    uint64_t bytes_before, bytes_after; /* the second: about */
};

/* About how many bytes the quantized model has, of one with so many. */
uint64_t by_plan_predict_size(const struct by_quant_plan *plan, uint64_t bytes_before);

/* bytes_before: of the model's file and its data. */
int by_plan_view_make(struct by_plan_view *view, const struct by_quant_plan *plan,
                      uint64_t bytes_before, struct baryon_error *err);
void by_plan_view_release(struct by_plan_view *view);

#endif
