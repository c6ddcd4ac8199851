/* QLinearConv and the like, by a rewrite of the graph of pairs. */
#include "quant/lower_qoperator.h"
#include "quant/lower.h"

#include <string.h>

/* --- Attributes that are not simply those of the float operator --- */

typedef int attributes_fn(struct by_qop *qop, struct baryon_node *made);

/* The sum's factor of the bias is in its scale. */
static int gemm_attributes(struct by_qop *qop, struct baryon_node *made)
{
    (void)qop;
    by_node_remove_attr(made, "beta");
    return 0;
}

/* The operator follows the ONNX version that it is told; without an axis it takes -1. */
static int softmax_attributes(struct by_qop *qop, struct baryon_node *made)
{
    const int64_t axis = by_node_int(made, "axis", qop->opset < 13 ? 1 : -1);
    return by_node_set_int(made, "axis", axis, qop->err) ||
           by_node_set_int(made, "opset", qop->opset, qop->err);
}

/* Between different scales: a LeakyRelu that leaks nothing. */
static int relu_attributes(struct by_qop *qop, struct baryon_node *made)
{
    return by_node_set_float(made, "alpha", 0, qop->err);
}

static int no_attributes(struct by_qop *qop, struct baryon_node *made)
{
    (void)qop;
    by_node_remove_attr(made, "min");
    by_node_remove_attr(made, "max");
    return 0;
}

/* --- The table: of an operator's rows the first that fits is taken --- */

struct rewrite {
    const char *op_type;
    int64_t since; /* opset from which the integer form is there */
    by_qop_build *build;
    const char *made; /* NULL: the same operator, on integers */
    const char *domain;
    attributes_fn *attributes;
};

static const struct rewrite rewrites[] = {
    {"Conv", 10, by_qop_conv, "QLinearConv", NULL, NULL},
    {"MatMul", 10, by_qop_matmul, "QLinearMatMul", NULL, NULL},
    {"Gemm", 10, by_qop_gemm, "QGemm", BY_MICROSOFT, gemm_attributes},

    {"Add", 7, by_qop_binary, "QLinearAdd", BY_MICROSOFT, NULL},
    {"Mul", 7, by_qop_binary, "QLinearMul", BY_MICROSOFT, NULL},
    {"Where", 9, by_qop_where, "QLinearWhere", BY_MICROSOFT, NULL},
    {"Sigmoid", 6, by_qop_unary, "QLinearSigmoid", BY_MICROSOFT, NULL},
    {"LeakyRelu", 6, by_qop_unary, "QLinearLeakyRelu", BY_MICROSOFT, NULL},
    {"Softmax", 1, by_qop_unary, "QLinearSoftmax", BY_MICROSOFT, softmax_attributes},
    {"GlobalAveragePool", 1, by_qop_unary, "QLinearGlobalAveragePool", BY_MICROSOFT, NULL},
    {"AveragePool", 7, by_qop_average, "QLinearAveragePool", BY_MICROSOFT, NULL},

    {"Concat", 4, by_qop_join, NULL, NULL, NULL},
    {"Concat", 4, by_qop_concat, "QLinearConcat", BY_MICROSOFT, NULL},
    {"Relu", BY_QOP_CLIP_OPSET, by_qop_clip, "Clip", NULL, no_attributes},
    {"Relu", 6, by_qop_unary, "QLinearLeakyRelu", BY_MICROSOFT, relu_attributes},
    {"Clip", BY_QOP_CLIP_OPSET, by_qop_clip, "Clip", NULL, no_attributes},

    {"MaxPool", 12, by_qop_pool, NULL, NULL, NULL},
    {"Pad", 11, by_qop_pad, NULL, NULL, NULL},
    {"Resize", 11, by_qop_resize, NULL, NULL, NULL},
    {"Expand", 8, by_qop_move, NULL, NULL, NULL},
    {"Flatten", 9, by_qop_move, NULL, NULL, NULL},
    {"Gather", 1, by_qop_move, NULL, NULL, NULL},
    {"Identity", 1, by_qop_move, NULL, NULL, NULL},
    {"Reshape", 5, by_qop_move, NULL, NULL, NULL},
    {"Slice", 1, by_qop_move, NULL, NULL, NULL},
    {"Split", 2, by_qop_move, NULL, NULL, NULL},
    {"Squeeze", 1, by_qop_move, NULL, NULL, NULL},
    {"Tile", 6, by_qop_move, NULL, NULL, NULL},
    {"Transpose", 1, by_qop_move, NULL, NULL, NULL},
    {"Unsqueeze", 1, by_qop_move, NULL, NULL, NULL},
};

static int carry_out(struct by_qop *qop, const struct rewrite *rewrite,
                     const struct by_qop_draft *draft)
{
    struct baryon_node *made = by_qop_carry_out(qop, draft, rewrite->made, rewrite->domain);
    if (!made || (rewrite->attributes && rewrite->attributes(qop, made)))
        return -1;
    return rewrite->domain ? by_lower_import_microsoft(qop->model, qop->err) : 0;
}

/* A node that is to stay float may stand between integers of its neighbours all the same. */
static bool stays_float(const struct by_qop *qop, const struct baryon_node *node)
{
    const struct by_quant_node *planned = by_quant_node_of(qop->plan, node);
    return planned && planned->state != BY_NODE_QUANTIZED;
}

static int visit_qoperator_node(struct by_qop *qop, struct baryon_node *node)
{
    if (stays_float(qop, node))
        return 0;
    for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++) {
        const struct rewrite *rewrite = &rewrites[i];
        struct by_qop_draft draft;
        if (!by_node_is(node, rewrite->op_type) || qop->opset < rewrite->since)
            continue;
        if (rewrite->build(qop, node, &draft))
            return carry_out(qop, rewrite, &draft);
        if (qop->failed)
            return -1;
    }
    return 0;
}

/* Pairs stand in the main graph alone. */
static int rewrite(struct by_qop *qop)
{
    const size_t count = qop->graph->node.count;
    for (size_t i = 0; i < count; i++) {
        struct baryon_node *node = qop->graph->node.at[i];
        if (!node)
            continue;
        by_arena_init(&qop->arena, 0);
        const int failed = visit_qoperator_node(qop, node);
        by_arena_release(&qop->arena);
        if (failed)
            return -1;
    }
    return by_model_settle(qop->model, qop->err);
}

int by_lower_qoperator(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err)
{
    struct by_qop qop = {
        .plan = plan, .model = plan->model, .graph = plan->model->graph, .err = err};
    qop.opset = by_model_opset(qop.model, "");
    return by_lower_qdq(plan, pool, err) || rewrite(&qop) ? -1 : 0;
}
