/* Recognizes the operators of quantized models and names their form. */
#include "quant/form.h"

#include <string.h>

static const char *const form_names[] = {
    [BY_QUANT_QDQ] = "QDQ",
    [BY_QUANT_OPERATOR] = "quantized operators",
    [BY_QUANT_CUSTOM] = "custom operators",
    [BY_QUANT_WEIGHT_ONLY] = "weights only",
};

const char *by_quant_form_name(enum by_quant_form form)
{
    return form_names[form];
}

static bool is_one_of(const char *op_type, const char *const *names)
{
    for (; *names; names++)
        if (!strcmp(op_type, *names))
            return true;
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

enum by_quant_form by_quant_form_of(const struct baryon_node *node)
{
    static const char *const weight_only[] = {"MatMulNBits", "MatMulBnb4", "GatherBlockQuantized",
                                              "QMoE", NULL};
    static const char *const operators[] = {"DynamicQuantizeLinear",
                                            "DynamicQuantizeMatMul",
                                            "DynamicQuantizeLSTM",
                                            "MatMulIntegerToFloat",
                                            "QAttention",
                                            "QGemm",
                                            "QEmbedLayerNormalization",
                                            "QOrderedMatMul",
                                            "QuantizeWithOrder",
                                            "DequantizeWithOrder",
                                            NULL};
    static const char *const custom[] = {"com.amd.quark", "com.vai.quantize", NULL};
    const char *op_type = node->op_type;
    if (!op_type)
        return BY_QUANT_FORMS;
    if (is_one_of(by_domain(node->domain), custom))
        return BY_QUANT_CUSTOM;
    if (!strcmp(op_type, "QuantizeLinear") || !strcmp(op_type, "DequantizeLinear"))
        return BY_QUANT_QDQ;
    if (is_one_of(op_type, weight_only))
        return BY_QUANT_WEIGHT_ONLY;
    if (!strncmp(op_type, "QLinear", 7) || ends_with(op_type, "Integer") ||
        is_one_of(op_type, operators))
        return BY_QUANT_OPERATOR;
    return BY_QUANT_FORMS;
}

/* Other domains may have a longer name for it. */
static bool is_half_of_pair(const struct baryon_node *node, const char *op_type)
{
    return node->op_type && (*by_domain(node->domain) ? ends_with(node->op_type, op_type)
                                                      : !strcmp(node->op_type, op_type));
}

bool by_form_dequantizes(const struct baryon_node *node)
{
    return is_half_of_pair(node, "DequantizeLinear");
}

/* The other word ends in this one, too. */
bool by_form_quantizes(const struct baryon_node *node)
{
    return is_half_of_pair(node, "QuantizeLinear") && !by_form_dequantizes(node);
}
