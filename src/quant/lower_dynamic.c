/* Emits layers with dynamic quantization, whose activations are quantized while the model runs. */
#include "quant/lower_dynamic.h"

#include "quant/lower.h"

#include <string.h>

typedef int layer_fn(struct by_dynamic *dynamic, struct baryon_node *node, size_t row,
                     struct baryon_error *err);

static const struct layer {
    const char *op_type, *domain;
    size_t slot; /* of the constant */
    layer_fn *lower;
} layers[] = {
    {"MatMul", "", 1, by_dynamic_matmul}, {"Gemm", "", 1, by_dynamic_matmul},
    {"Conv", "", 1, by_dynamic_conv},     {"Attention", BY_MICROSOFT, 1, by_dynamic_attention},
    {"LSTM", "", 1, by_dynamic_lstm},     {"Gather", "", 0, by_dynamic_gather},
    {"GRU", "", 1, by_dynamic_recurrent}, {"RNN", "", 1, by_dynamic_recurrent},
};

static const struct layer *layer_of(const struct baryon_node *node)
{
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++)
        if (node->op_type && strcmp(node->op_type, layers[i].op_type) == 0 &&
            strcmp(by_domain(node->domain), layers[i].domain) == 0)
            return &layers[i];
    return NULL;
}

static int lower_node(struct by_dynamic *dynamic, struct baryon_node *node,
                      struct baryon_error *err)
{
    char label[BY_QUOTE_MAX + 80];
    const struct layer *layer = layer_of(node);
    const size_t row =
        layer ? by_quant_find(dynamic->plan, by_node_in(node, layer->slot)) : BY_NO_ROW;
    by_node_label(node, label, sizeof label);
    if (row == BY_NO_ROW)
        return 0;
    return layer->lower(dynamic, node, row, err) ? by_err_in(err, "%s", label) : 0;
}

static int lower_all(struct by_dynamic *dynamic, struct baryon_error *err)
{
    struct by_quant_plan *plan = dynamic->plan;
    for (size_t i = 0; i < plan->node_count; i++)
        if (plan->nodes[i].state == BY_NODE_QUANTIZED &&
            lower_node(dynamic, plan->nodes[i].node, err))
            return -1;
    for (size_t i = 0; i < plan->rows.count; i++)
        if (plan->rows.at[i].role == BY_ROLE_WEIGHT && by_lower_drop(plan->rows.at[i].value, err))
            return -1;
    return by_lower_import_microsoft(plan->model, err) || by_model_settle(plan->model, err) ? -1
                                                                                            : 0;
}

static int too_old(const struct baryon_model *model, struct baryon_error *err)
{
    by_fail(err, BARYON_ERR_UNSUPPORTED,
            "DynamicQuantizeLinear requires opset %d, the model has %lld", BY_DYNAMIC_OPSET,
            (long long)by_model_opset(model, ""));
    return by_err_hint(err, "convert the model with --opset %d", BY_DYNAMIC_OPSET);
}

int by_lower_dynamic(struct by_quant_plan *plan, struct by_pool *pool, struct baryon_error *err)
{
    struct by_dynamic dynamic = {.plan = plan, .graph = plan->model->graph, .pool = pool};
    if (by_model_opset(plan->model, "") < BY_DYNAMIC_OPSET)
        return too_old(plan->model, err);
    by_map_init(&dynamic.inputs);
    by_map_init(&dynamic.weights);
    const int failed = lower_all(&dynamic, err);
    by_map_release(&dynamic.inputs);
    by_map_release(&dynamic.weights);
    return failed;
}
