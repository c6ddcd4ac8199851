/* Checks the names of nodes and reports those that are quantized already. */
#include "onnx/check_rule.h"

#include <stdio.h>
#include <string.h>

/* --- names --- */

struct node_names {
    struct by_map seen;
    struct by_mark unnamed, twice;
    const char *first_twice;
    size_t nodes;
};

static int start_names(struct by_check *check, struct baryon_error *err)
{
    struct node_names *names = check->state;
    (void)err;
    by_map_init(&names->seen);
    return 0;
}

static int note_name(struct by_check *check, const struct baryon_node *node,
                     struct baryon_error *err)
{
    struct node_names *names = check->state;
    if (check->scope.function)
        return 0;
    names->nodes++;
    if (!node->name || !*node->name) {
        by_mark(check, &names->unnamed, &node->msg, NULL);
        return 0;
    }
    if (!by_map_get(&names->seen, node->name))
        return by_map_put(&names->seen, node->name, check, err);
    if (!names->twice.count)
        names->first_twice = node->name;
    by_mark(check, &names->twice, &node->msg, NULL);
    return 0;
}

static int report_names(struct by_check *check, struct baryon_error *err)
{
    const struct node_names *names = check->state;
    char quoted[BY_QUOTE_MAX];
    if (names->unnamed.count) {
        by_fail(err, BARYON_ERR_INPUT, "%zu of %zu nodes %s no name", names->unnamed.count,
                names->nodes, names->unnamed.count == 1 ? "has" : "have");
        if (by_report_mark(check, BY_FINDING_NOTICE, &names->unnamed, err))
            return -1;
    }
    if (!names->twice.count)
        return 0;
    by_fail(err, BARYON_ERR_INPUT,
            "%zu of %zu nodes %s a name that is already used, the first is %s", names->twice.count,
            names->nodes, names->twice.count == 1 ? "has" : "have",
            by_quote(quoted, names->first_twice));
    return by_report_mark(check, BY_FINDING_NOTICE, &names->twice, err);
}

static void forget_names(void *state)
{
    by_map_release(&((struct node_names *)state)->seen);
}

const struct by_model_rule by_rule_node_names = {
    .worst = BY_FINDING_NOTICE,
    .state_size = sizeof(struct node_names),
    .start = start_names,
    .node = note_name,
    .finish = report_names,
    .release = forget_names,
};

/* --- already quantized --- */

struct quantized_count {
    struct by_mark mark;
    const char *first;
};

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* QuantizeLinear, QLinearConv, ConvInteger, MatMulNBits, BFPQuantizeDequantize, QGemm, ... */
static bool is_quantized(const char *op_type)
{
    return strstr(op_type, "Quantize") || strstr(op_type, "quantize") || strstr(op_type, "NBits") ||
           strncmp(op_type, "QLinear", 7) == 0 || strncmp(op_type, "QOrdered", 8) == 0 ||
           strcmp(op_type, "QGemm") == 0 || strcmp(op_type, "QAttention") == 0 ||
           strcmp(op_type, "QMoE") == 0 || strcmp(op_type, "MatMulBnb4") == 0 ||
           ends_with(op_type, "Integer") || ends_with(op_type, "IntegerToFloat");
}

static int note_quantized(struct by_check *check, const struct baryon_node *node,
                          struct baryon_error *err)
{
    struct quantized_count *quantized = check->state;
    (void)err;
    if (!node->op_type || check->node.callee || !is_quantized(node->op_type))
        return 0;
    if (!quantized->mark.count)
        quantized->first = node->op_type;
    by_mark(check, &quantized->mark, &node->msg, NULL);
    return 0;
}

static int report_quantized(struct by_check *check, struct baryon_error *err)
{
    const struct quantized_count *quantized = check->state;
    char quoted[BY_QUOTE_MAX];
    if (!quantized->mark.count)
        return 0;
    by_fail(err, BARYON_ERR_INPUT, "already quantized: %zu node%s like %s", quantized->mark.count,
            quantized->mark.count == 1 ? "" : "s", by_quote(quoted, quantized->first));
    return by_report_mark(check, BY_FINDING_NOTICE, &quantized->mark, err);
}

const struct by_model_rule by_rule_quantized = {
    .worst = BY_FINDING_NOTICE,
    .state_size = sizeof(struct quantized_count),
    .node = note_quantized,
    .finish = report_quantized,
};
